// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the code of a function from its source, and source files.
 * The source is the module's file, the kernel's memory or a vmlinux, a jitdump, or the process's memory.
 * Untrusted files go to the worker unread. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "symbols/blob.h"
#include "symbols/codecache.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__i386__)
#define OUR_MACHINE EM_386
#else
#define OUR_MACHINE EM_NONE
#endif

static struct code *read_reply(const struct code_want *want, const struct worker_reply *a, struct error *e)
{
    struct code *c = mem_zalloc(sizeof *c);

    *c = (struct code){
        .start = want->start, .size = want->size, .blob = a->blob, .blob_size = a->blob_size, .refs = 1
    };
    if (!a->blob) {
        error_set(e, ERROR_FORMAT, "the symbol worker sent no instructions");
    } else if (code_view(&c->view, a->blob, a->blob_size, e)) {
        if (c->view.header.no_disassembler)
            snprintf(c->trouble, sizeof c->trouble, "%.400s", c->view.strings);
        return c;
    }
    code_put(c);
    return NULL;
}

/* Closes the descriptor. */
static void request_code(struct symbolizer *sy, const struct code_want *want, const struct code_ask *q,
                         int fd, struct outcome *out)
{
    struct worker_reply *a = mem_alloc(sizeof *a);
    struct worker_request r = {
        .kind = WORKER_CODE, .fds = { fd }, .n_fds = 1, .payload = q, .payload_n = sizeof *q
    };

    error_clear(&out->trouble);
    if (resolve_send(sy, &r, a, out) == WORKER_DONE)
        out->code = read_reply(want, a, &out->trouble);
    close(fd);
    mem_free(a);
}

static struct code_ask query(const struct code_want *want, enum code_source source)
{
    return (
        struct code_ask){ .start = want->start, .size = want->size, .source = source, .intel = want->intel };
}

static void note(struct outcome *out, const char *text)
{
    if (out->code)
        snprintf(out->code->note, sizeof out->code->note, "%s", text);
}

static void ask_bytes(struct symbolizer *sy, const struct code_want *want, const void *bytes,
                      struct outcome *out)
{
    struct code_ask q = query(want, CODE_MEMORY);
    int fd = file_in_memory("flametop-code", bytes, (size_t)want->size);

    q.machine = OUR_MACHINE;
    if (fd < 0) {
        error_set(&out->trouble, ERROR_SYSTEM, "no memory for the code");
        return;
    }
    request_code(sy, want, &q, fd, out);
}

/* ---- files ---- */

static void from_file(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    const struct code_want *want = &mod->code->batch;
    struct code_ask q = query(want, CODE_ELF);
    int fd = resolve_open(sy, mod, out);

    if (fd >= 0)
        request_code(sy, want, &q, fd, out);
}

/* ---- the kernel ---- */

static void from_vmlinux(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    const struct code_want *want = &mod->code->batch;
    struct code_ask q = query(want, CODE_VMLINUX);
    struct error before = out->trouble;
    int fd = resolve_vmlinux(sy);

    if (fd < 0) {
        error_hint(&out->trouble, "and there is no vmlinux of this kernel (give one with --vmlinux FILE)");
        return;
    }
    q.reference = mod->code->reference;
    request_code(sy, want, &q, fd, out);
    if (!out->code)
        out->trouble = before;
    note(out, "from vmlinux: as it was built, not as the kernel has patched it since");
}

static void from_kernel(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    const struct code_want *want = &mod->code->batch;
    void *bytes = sy->kernel_ours ? mem_try_array((size_t)want->size, 1) : NULL;

    if (!sy->kernel_ours)
        error_set(&out->trouble, ERROR_MISSING, "it was recorded on another kernel");
    if (bytes &&
        kcore_read(NULL, want->start - mod->code->kernel_shift, bytes, (size_t)want->size, &out->trouble))
        ask_bytes(sy, want, bytes, out);
    mem_free(bytes);
    if (out->code)
        note(out, "from /proc/kcore: as the kernel runs it now");
    else if (!out->retry && mod->module->kind == MODULE_KERNEL)
        from_vmlinux(sy, mod, out);
}

/* ---- code generated at run time ---- */

/* Return the machine of the process's program. */
static uint16_t machine_of_process(uint32_t pid)
{
    struct opened program;
    int fd = opener_program(pid);
    bool known = fd >= 0 && opened_facts(fd, &program) && program.machine;

    if (fd >= 0)
        close(fd);
    return known ? program.machine : OUR_MACHINE;
}

/* Read the code from the process's memory, which may be mapped from an unresponsive file. */
static void from_process(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    const struct code_want *want = &mod->code->batch;
    struct code_ask q = query(want, CODE_MEMORY);
    uint32_t pid = mod->module->pid;
    int fd = opener_memory(pid, want->start, want->size);

    if (fd < 0 && errno == ESRCH)
        error_set(&out->trouble, ERROR_MISSING, "process %u has ended, and its code with it", pid);
    else if (fd < 0)
        error_sys(&out->trouble, errno, "cannot read the memory of process %u", pid);
    if (fd < 0)
        return;
    q.machine = machine_of_process(pid);
    request_code(sy, want, &q, fd, out);
    note(out, "from the process's memory, as it is now");
}

static void from_jit(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    const struct code_want *want = &mod->code->batch;
    struct code_ask q = query(want, CODE_JITDUMP);
    int fd = mod->code->over ? -1 : resolve_jit_dump(sy, mod);

    if (fd >= 0) {
        request_code(sy, want, &q, fd, out);
        note(out, "from the jitdump");
    }
    if (out->code || out->retry)
        return;
    error_clear(&out->trouble);
    if (mod->code->over)
        error_set(&out->trouble, ERROR_MISSING, "other code has replaced it since it was sampled");
    else if (!mod->module->live)
        error_set(&out->trouble, ERROR_MISSING,
                  "code made at run time is known while its process runs, or from its jitdump");
    else
        from_process(sy, mod, out);
}

/* ---- source files ---- */

/* Open a copy in memory: the file itself may not respond. */
static int copy_source(const struct symbolizer *sy, const struct symbol_module *mod, uint32_t named_by,
                       const char *path, struct opened *of)
{
    struct module_root root;
    int fd = -1;

    for (int own = 0; fd < 0 && own < 2 && resolve_root(sy, mod, named_by, own, &root); own++)
        fd = opener_copy(&root.user, root.path, path, SOURCE_BYTES_MAX, of);
    return fd;
}

/* Whether a source file may be shown. The program's author chose the names of its sources: a file that only
 * root may read must not be shown because a user's program names it. */
static bool may_be_shown(const struct stat *source, const struct stat *program)
{
    return source->st_mode & S_IROTH || (source->st_uid && source->st_uid == program->st_uid);
}

/* Read the source. A file changed since the build is worse than none: its lines would not match the
 * instructions. */
static void read_source(int fd, const struct opened *source, const struct opened *program,
                        const struct symbol_module *mod, struct outcome *out)
{
    const char *path = mod->code->batch.path, *slash = strrchr(path, '/');

    if (source->st.st_mtim.tv_sec > program->st.st_mtim.tv_sec)
        error_set(&out->trouble, ERROR_MISSING, "%.200s is newer than %.100s: not shown",
                  slash ? slash + 1 : path, mod->module->name);
    else if (!may_be_shown(&source->st, &program->st))
        error_set(&out->trouble, ERROR_PERMISSION, "%.200s is not world-readable: not shown", path);
    else if (!(out->source = source_read(fd, &out->trouble)))
        error_hint(&out->trouble, "%.200s is not shown", path);
}

static void from_source(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    const char *path = mod->code->batch.path;
    struct opened source, program;
    int fd = -1, of = resolve_open(sy, mod, out);

    errno = ENOENT;
    if (of < 0 || !opened_facts(of, &program)) {
        error_set(&out->trouble, ERROR_MISSING, "%.200s: the program it belongs to cannot be opened", path);
    } else if (path[0] != '/' || (fd = copy_source(sy, mod, program.st.st_uid, path, &source)) < 0) {
        error_set(&out->trouble, ERROR_MISSING, "%.200s is not on this machine", path);
        if (errno == EACCES || errno == ETIMEDOUT)
            opener_error(&out->trouble, errno, path);
    } else {
        read_source(fd, &source, &program, mod, out);
    }
    if (of >= 0)
        close(of);
    if (fd >= 0)
        close(fd);
}

void resolve_code(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    if (mod->code->batch.path) {
        from_source(sy, mod, out);
        return;
    }
    switch (mod->module->kind) {
    case MODULE_FILE:
    case MODULE_VDSO:
        from_file(sy, mod, out);
        break;
    case MODULE_KERNEL:
    case MODULE_KMOD:
    case MODULE_KSYM:
        from_kernel(sy, mod, out);
        break;
    case MODULE_JIT:
        from_jit(sy, mod, out);
        break;
    default:
        error_set(&out->trouble, ERROR_MISSING, "it has no code");
    }
}
