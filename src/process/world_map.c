// SPDX-License-Identifier: GPL-2.0-or-later
/* Applies mappings of processes and of the kernel, from records and from /proc/modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "process/proc.h"
#include "process/world_state.h"

static bool range_of(uint64_t addr, uint64_t len, uint64_t *end)
{
    if (__builtin_add_overflow(addr, len, end))
        *end = UINT64_MAX;
    return *end > addr;
}

/* simpleperf marks the part of a JIT's code that has symbols with it (PROT_JIT_SYMFILE_MAP in its
 * thread_tree.h). */
#define PROT_JIT_SYMFILE 0x4000u

/* True if each method is then a part of one file, whose symbols are at the addresses where they ran. */
static bool is_jit_symfile(const struct world *w, const struct record *r)
{
    return !w->live && r->mmap.prot == PROT_JIT_SYMFILE;
}

static void map_user(struct world *w, const struct record *r, struct proc *p, uint64_t end)
{
    struct module like = {
        .path = r->mmap.path ? r->mmap.path : "",
        .maj = r->mmap.maj,
        .min = r->mmap.min,
        .ino = r->mmap.ino,
        .ino_generation = r->mmap.ino_generation,
        .build_id_size = r->mmap.build_id_size,
        .map_start = r->mmap.addr,
        .map_end = end,
    };
    struct space_map map = { .start = r->mmap.addr, .end = end, .time_ns = r->id.time_ns };
    struct space *s = image_writable(w, p->image, p->pid);

    if (like.build_id_size > sizeof like.build_id)
        like.build_id_size = 0;
    memcpy(like.build_id, r->mmap.build_id, sizeof like.build_id);
    bool memfd = w->live && module_is_memfd(like.path);
    bool program = memfd && (memfd_is_elf(w, like.ino) || proc_runs(p->pid, like.maj, like.min, like.ino));
    map.mod = user_mod(w, p, &like, program);
    if (map.mod->module->kind == MODULE_JIT || is_jit_symfile(w, r))
        map.pgoff = map.start;
    else if (map.mod->module->kind == MODULE_FILE)
        map.pgoff = r->mmap.pgoff;
    const struct space_map *under =
        map.mod->module->kind == MODULE_JIT && !memfd ? space_find(s, map.start) : NULL;
    if (under && under->mod->module->kind == MODULE_FILE) {
        struct space_map copy = map;
        copy.pgoff = under->pgoff + (map.start - under->start);
        copy.end = under->end < map.end ? under->end : map.end;
        remap_wait(w, p, under->mod->module, &copy);
    }
    map_add(w, s, &map);
    if (memfd && !program) {
        map.pgoff = r->mmap.pgoff;
        memfd_mapped(w, p, &like, &map);
    }
}

static void unmap_user(struct world *w, struct proc *p, uint64_t start, uint64_t end)
{
    struct space *s;
    size_t before;

    if (!p->image->space->n)
        return;
    s = image_writable(w, p->image, p->pid);
    before = space_bytes(s);
    space_changed(w, s, before, space_cut(s, &w->modules, start, end, true));
}

/* ---- the kernel ---- */

static struct space_map kernel_piece(struct world *w, enum module_kind kind, const char *path,
                                     const char *name, uint64_t start, uint64_t end)
{
    struct module like = {
        .kind = kind, .path = path, .name = name, .start = start, .size = end - start, .live = w->live
    };
    return (struct space_map){
        .start = start, .end = end, .pgoff = start, .mod = modtab_get(&w->modules, &like, 0)
    };
}

static void add_kernel_piece(struct world *w, enum module_kind kind, const char *path, const char *name,
                             uint64_t start, uint64_t end)
{
    size_t before = space_bytes(w->kernel);

    /* the previous code is gone and not kept: no output contains it */
    bool removed = space_cut(w->kernel, &w->modules, start, end, false);
    space_changed(w, w->kernel, before, removed);
    struct space_map map = kernel_piece(w, kind, path, name, start, end);
    map_add(w, w->kernel, &map);
}

/* perf writes "[kernel.kallsyms]_text" or "…_stext" for the core, and the path or "[name]" of each module. */
static void map_kernel(struct world *w, const char *path, uint64_t start, uint64_t end)
{
    struct mod *core = modtab_find(&w->modules, MODULE_ID_KERNEL);
    struct module changed = module_value(core->module);

    if (strncmp(path, "[kernel.", 8)) {
        if (*path == '/' || *path == '[')
            add_kernel_piece(w, MODULE_KMOD, path, NULL, start, end);
        return;
    }
    /* x86 entry trampolines have records of the same name, far from the core */
    if (strstr(path, "]__entry"))
        return;
    changed.start = start;
    changed.size = end - start;
    modtab_replace(&w->modules, core, &changed);
}

/* Frames of ART's interpreter are in bytecode, in files mapped without execute permission: simpleperf has
 * them in its callchains. */
static bool holds_bytecode(const char *path)
{
    static const char *const endings[] = { ".vdex", ".dex", ".jar", ".apk" };
    const char *ending = path ? strrchr(path, '.') : NULL;

    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(ending, endings[i]))
            return true;
    return path && strstr(path, "dex extracted in memory from ");
}

static bool is_code(const struct world *w, const struct record *r)
{
    uint32_t prot = r->mmap.prot;

    return w->with_data || prot & PROT_EXEC || (!prot && !(r->misc & PERF_RECORD_MISC_MMAP_DATA)) ||
           is_jit_symfile(w, r) || (!w->live && holds_bytecode(r->mmap.path));
}

void apply_mmap(struct world *w, const struct record *r)
{
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    uint64_t end;

    if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER ||
        !range_of(r->mmap.addr, r->mmap.len, &end))
        return;
    if (mode == PERF_RECORD_MISC_KERNEL || r->mmap.pid == WORLD_NO_PID) {
        map_kernel(w, r->mmap.path ? r->mmap.path : "", r->mmap.addr, end);
        return;
    }
    struct proc *p = task_of(w, r->mmap.pid, r->mmap.tid)->proc;
    if (is_code(w, r))
        map_user(w, r, p, end);
    else
        unmap_user(w, p, r->mmap.addr, end);
}

void apply_ksymbol(struct world *w, const struct record *r)
{
    bool bpf = r->ksymbol.ksym_type == PERF_RECORD_KSYMBOL_TYPE_BPF;
    size_t before = space_bytes(w->kernel);
    uint64_t end;

    if (!range_of(r->ksymbol.addr, r->ksymbol.len, &end))
        return;
    if (r->ksymbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
        space_changed(w, w->kernel, before, space_cut(w->kernel, &w->modules, r->ksymbol.addr, end, false));
    else
        add_kernel_piece(w, MODULE_KSYM, r->ksymbol.name ? r->ksymbol.name : "", bpf ? "[bpf]" : "[kernel]",
                         r->ksymbol.addr, end);
}

static int by_start(const void *a, const void *b)
{
    const struct kernel_module *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Parses lines such as "xfs 2019328 1 - Live 0xffffffffc0a31000". The address is 0 without the privilege to
 * read it. */
static void parse_kernel_modules(const char *text, struct kernel_modules *out)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        struct kernel_module m = { 0 };
        unsigned long long size, start;
        if (sscanf(line, "%63s %llu %*s %*s %*s 0x%llx", m.name, &size, &start) != 3 || !start)
            continue;
        m.start = start;
        if (range_of(start, size, &m.end))
            *VEC_PUSH(out) = m;
    }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_start);
}

static bool has_module(const struct kernel_modules *list, const struct kernel_module *m)
{
    const struct kernel_module *found =
        list->n ? bsearch(m, list->items, list->n, sizeof *m, by_start) : NULL;
    return found && found->end == m->end && !strcmp(found->name, m->name);
}

/* Unmaps modules of this name, or all if it is NULL, in a range; BPF programs in it stay. */
static void unmap_kernel_modules(struct world *w, const char *path, uint64_t start, uint64_t end)
{
    struct space *s = w->kernel;
    size_t before = space_bytes(s);
    bool changed = false;
    for (uint32_t i = s->n; i--;) {
        const struct space_map *m = &s->maps[i];
        if (m->mod->module->kind == MODULE_KMOD && m->start < end && m->end > start &&
            (!path || !strcmp(m->mod->module->path, path)))
            changed |= space_cut(s, &w->modules, m->start > start ? m->start : start,
                                 m->end < end ? m->end : end, false);
    }
    space_changed(w, s, before, changed);
}

static void map_kernel_module(struct world *w, const char *path, uint64_t start, uint64_t end)
{
    unmap_kernel_modules(w, NULL, start, end);
    struct space_map map = kernel_piece(w, MODULE_KMOD, path, NULL, start, end);
    map_fill(w, w->kernel, &map);
}

/* Since Linux 6.4, the parts of a module are at different addresses: `start` is that of its code, but the
 * size is that of all parts, so that the range may reach into the code of the next module. */
static uint64_t end_of_module(const struct kernel_modules *list, uint32_t i)
{
    const struct kernel_module *m = &list->items[i];
    return i + 1 < list->n && m[1].start < m->end ? m[1].start : m->end;
}

bool apply_kernel_modules(struct world *w, const char *text)
{
    struct kernel_modules old = w->kernel_modules, now = { 0 };
    char path[sizeof now.items->name + 2];
    bool changed = false;
    parse_kernel_modules(text, &now);
    for (uint32_t i = 0; i < old.n; i++) {
        const struct kernel_module *m = &old.items[i];
        if (has_module(&now, m))
            continue;
        snprintf(path, sizeof path, "[%s]", m->name);
        unmap_kernel_modules(w, path, m->start, m->end);
        changed = true;
    }
    for (uint32_t i = 0; i < now.n; i++) {
        const struct kernel_module *m = &now.items[i];
        if (has_module(&old, m))
            continue;
        snprintf(path, sizeof path, "[%s]", m->name);
        map_kernel_module(w, path, m->start, end_of_module(&now, i));
        changed = true;
    }
    VEC_FREE(&w->kernel_modules);
    w->kernel_modules = now;
    return changed;
}

bool world_read_kernel_modules(struct world *w)
{
    struct buf text = { 0 };
    if (!file_read("/proc/modules", 1 << 20, &text, NULL))
        return false;
    bool changed = apply_kernel_modules(w, buf_str(&text));
    buf_done(&text);
    return changed;
}
