// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of requests. Code here may crash, loop or use up memory: the parent handles it. */
#include "symbols/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "symbols/codeformat.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/jitdump.h"
#include "symbols/kallsyms.h"
#include "symbols/linesformat.h"
#include "symbols/perfmap.h"
#include "symbols/probeformat.h"
#include "symbols/table.h"
#include "unwind/coderows.h"

#define FIRST_BYTES (1u << 20) /* then it doubles */

/* Read a file from its start, at most `max` bytes, even if its size is unknown (procfs). */
static char *read_whole(int fd, size_t max, size_t *n, struct error *e)
{
    char *text = NULL;
    size_t cap = 0;

    lseek(fd, 0, SEEK_SET);
    for (*n = 0; *n < max;) {
        ssize_t got;
        if (*n == cap && !MEM_TRY_GROW(text, cap, cap ? cap + 1 : FIRST_BYTES)) {
            error_set(e, ERROR_LIMIT, "no memory to read it");
            break;
        }
        got = read(fd, text + *n, (cap < max ? cap : max) - *n);
        if (got == 0)
            return text;
        if (got > 0)
            *n += (size_t)got;
        else if (errno != EINTR) {
            error_sys(e, errno, "cannot read it");
            break;
        }
    }
    if (*n >= max)
        return text;
    mem_free(text);
    return NULL;
}

/* Copies n bytes into the reply's blob. */
static bool reply_blob(struct job_reply *reply, const void *bytes, size_t n, struct error *e)
{
    if (n > WORKER_BLOB_MAX)
        return error_set(e, ERROR_LIMIT, "the result for the file exceeds 1 GB");
    if (!file_write_all(reply->blob_fd, bytes, n, NULL))
        return error_sys(e, errno, "cannot write the result for the file to memory");
    reply->blob_size = n;
    return true;
}

/* The replies below are made only if `ok`; they free what they are made of. */
static bool reply_table(bool ok, struct table_builder *b, enum table_overlap overlap, struct job_reply *reply,
                        struct error *e)
{
    void *blob = NULL;
    size_t size;

    ok = ok && table_build(b, overlap, &blob, &size, e) && reply_blob(reply, blob, size, e);
    mem_free(blob);
    table_builder_done(b);
    return ok;
}

static bool reply_buf(bool ok, struct buf *blob, struct job_reply *reply, struct error *e)
{
    ok = ok && reply_blob(reply, blob->data, blob->len, e);
    buf_done(blob);
    return ok;
}

static bool do_elf(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct table_builder b = { .as_perf = q->head.payload_n };

    return reply_table(elf_read(q->fds[0], &b, e), &b, TABLE_NESTED, reply, e);
}

static bool do_vmlinux(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct table_builder b = { 0 };

    return reply_table(elf_read_kernel(q->fds[0], &b, e), &b, TABLE_NESTED, reply, e);
}

static bool do_elf_debug(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct table_builder b = { .as_perf = q->head.payload_n };

    return reply_table(elf_read_with_debug(q->fds[0], q->fds[1], &b, e), &b, TABLE_NESTED, reply, e);
}

static bool do_kallsyms(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct table_builder b = { 0 };
    size_t n;
    char *text = read_whole(q->fds[0], KALLSYMS_BYTES_MAX, &n, e);

    if (text)
        kallsyms_parse(text, n, &b);
    mem_free(text);
    /* Of aliases, keep the last one, as perf does: they have no sizes. */
    return reply_table(text != NULL, &b, TABLE_REPLACED, reply, e);
}

static bool do_jit(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct table_builder b = { 0 };
    bool ok = true;

    for (unsigned i = 0; ok && i < q->n_fds; i++)
        ok = jitdump_is_one(q->fds[i]) ? jitdump_read(q->fds[i], &b, e) : perfmap_read(q->fds[i], &b, e);
    return reply_table(ok, &b, TABLE_REPLACED, reply, e);
}

static bool do_demangle(const struct job *q, struct job_reply *reply, struct error *e)
{
    const char *p = q->payload, *end = p + q->head.payload_n;

    for (; p < end; p += strlen(p) + 1) {
        char *name = reply->payload + reply->payload_n;
        if (sizeof reply->payload - reply->payload_n < DEMANGLE_OUTPUT_MAX)
            return error_set(e, ERROR_LIMIT, "too many names at once");
        if (!demangle_name(p, name, DEMANGLE_OUTPUT_MAX))
            name[0] = '\0';
        reply->payload_n += strlen(name) + 1;
    }
    return true;
}

/* Build the unwind table. The debug link is returned in any case: a file without a table may have a debug
 * file. */
static bool do_unwind(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct error why = { 0 };
    char link[ELF_LINK_MAX] = "";
    void *blob;
    size_t size;
    bool ok = elf_read_unwind(q->fds[0], q->n_fds > 1 ? q->fds[1] : -1, &blob, &size, link, &why);

    reply->payload_n = (size_t)snprintf(reply->payload, sizeof reply->payload, "%s%c%s", link, 0, why.text);
    if (!ok)
        return why.class == ERROR_MISSING || error_set(e, why.class, "%s", why.text);
    ok = reply_blob(reply, blob, size, e);
    mem_free(blob);
    return ok;
}

static struct lines_server open_modules;

static bool do_lines(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct buf blob = { 0 };
    bool ok = lines_serve(&open_modules, q->payload, q->head.payload_n, q->fds, q->n_fds, &blob, e);

    return reply_buf(ok, &blob, reply, e);
}

void job_let_go(void)
{
    lines_server_done(&open_modules);
}

static bool do_code(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct buf blob = { 0 };
    bool ok = code_serve(q->payload, q->head.payload_n, q->fds, q->n_fds, &blob, e);

    return reply_buf(ok, &blob, reply, e);
}

static bool do_calls(const struct job *q, struct job_reply *reply, struct error *e)
{
    void *blob = NULL;
    size_t size;
    bool ok = elf_read_calls(q->fds[0], &blob, &size, e) && reply_blob(reply, blob, size, e);

    mem_free(blob);
    return ok;
}

/* Read code of a process. Size 0: not readable. */
static uint8_t *read_code(int fd, uint64_t wanted, size_t *size)
{
    size_t want = wanted < CODEROWS_MOST ? (size_t)wanted : CODEROWS_MOST;
    uint8_t *bytes = mem_try_array(want, 1);
    ssize_t n = bytes ? pread(fd, bytes, want, 0) : -1;

    *size = n > 0 ? (size_t)n : 0;
    return bytes;
}

static bool do_jit_rows(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct coderows_input whole[WORKER_FDS_MAX];
    struct codeahead_input ahead[WORKER_FDS_MAX];
    struct worker_code of[WORKER_FDS_MAX];
    uint8_t *code[WORKER_FDS_MAX];
    void *blob = NULL;
    size_t size;
    bool ok;

    if (q->head.payload_n != q->n_fds * sizeof *of)
        return error_set(e, ERROR_FORMAT, "the symbol worker does not know this request");
    memcpy(of, q->payload, q->head.payload_n);
    for (unsigned i = 0; i < q->n_fds; i++) {
        code[i] = read_code(q->fds[i], of[i].size, &size);
        whole[i] = (struct coderows_input){ code[i], size, of[i].start, &of[i].start, 1 };
        ahead[i] = (struct codeahead_input){ code[i], size, of[i].start, of[i].pc, of[i].exact };
    }
    ok = (of[0].pc ? coderows_build_ahead(ahead, q->n_fds, &blob, &size, e)
                   : coderows_build(whole, q->n_fds, &blob, &size, e)) &&
         reply_blob(reply, blob, size, e);
    mem_free(blob);
    for (unsigned i = 0; i < q->n_fds; i++)
        mem_free(code[i]);
    return ok;
}

static bool do_probe(const struct job *q, struct job_reply *reply, struct error *e)
{
    struct buf blob = { 0 };
    bool ok = probefile_serve(q->payload, q->head.payload_n, q->fds, q->n_fds, &blob, e);

    return reply_buf(ok, &blob, reply, e);
}

bool job_do(const struct job *q, struct job_reply *reply, struct error *e)
{
    static const struct {
        bool (*run)(const struct job *, struct job_reply *, struct error *);
        unsigned n_fds, more_fds; /* more_fds: optional ones */
    } kinds[] = {
        [WORKER_ELF] = { do_elf, 1, 0 },
        [WORKER_ELF_DEBUG] = { do_elf_debug, 2, 0 },
        [WORKER_KALLSYMS] = { do_kallsyms, 1, 0 },
        [WORKER_JIT] = { do_jit, 1, 1 },
        [WORKER_DEMANGLE] = { do_demangle, 0, 0 },
        [WORKER_UNWIND] = { do_unwind, 1, 0 },
        [WORKER_UNWIND_DEBUG] = { do_unwind, 2, 0 },
        [WORKER_LINES] = { do_lines, 0, WORKER_FDS_MAX },
        [WORKER_VMLINUX] = { do_vmlinux, 1, 0 },
        [WORKER_CODE] = { do_code, 1, 0 },
        [WORKER_CALLS] = { do_calls, 1, 0 },
        [WORKER_JIT_ROWS] = { do_jit_rows, 1, WORKER_FDS_MAX - 1 },
        [WORKER_PROBE] = { do_probe, 1, 1 },
    };
    uint32_t kind = q->head.kind;

    if (kind >= sizeof kinds / sizeof *kinds || !kinds[kind].run || q->n_fds < kinds[kind].n_fds ||
        q->n_fds > kinds[kind].n_fds + kinds[kind].more_fds)
        return error_set(e, ERROR_UNSUPPORTED, "the symbol worker does not know this request");
    return kinds[kind].run(q, reply, e);
}
