// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the kernel's table: kallsyms or, if it is hidden or missing, a vmlinux of the same build, if the
 * kernel's address is known. */
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "symbols/codecache.h"
#include "symbols/debugfile.h"
#include "symbols/machine.h"
#include "symbols/symbolizer_state.h"

static bool is_kernels(const struct symbolizer *sy, int fd)
{
    struct opened of;

    return opened_facts(fd, &of) && of.id_size && of.id_size == sy->kernel_build_id_size &&
           !memcmp(of.id, sy->kernel_build_id, of.id_size);
}

static int take_if_kernels(const struct symbolizer *sy, int fd)
{
    if (fd < 0 || is_kernels(sy, fd))
        return fd;
    close(fd);
    return -1;
}

/* Below flametop's own root these paths are the system's: only root may be allowed to read a kernel. */
static struct opener_user user_of(const struct symbolizer *sy)
{
    return (struct opener_user){ .kind = sy->symfs ? OPENER_FOR_STARTER : OPENER_FOR_US };
}

static int open_by_build_id(const struct symbolizer *sy, const char *root)
{
    struct debugfile_search search = { .user = user_of(sy),
                                       .root = root,
                                       .module_path = "",
                                       .build_id = sy->kernel_build_id,
                                       .build_id_size = sy->kernel_build_id_size };

    return take_if_kernels(sy, debugfile_open_next(&search));
}

static int open_by_release(const struct symbolizer *sy, const char *root)
{
    static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s", "/boot/vmlinux-%s",
                                          "/usr/lib/debug/lib/modules/%s/vmlinux",
                                          "/lib/modules/%s/build/vmlinux", "/lib/modules/%s/vmlinux" };
    const struct opener_user user = user_of(sy);
    struct utsname name;
    char path[160];
    size_t i;
    int fd = -1;

    if (uname(&name))
        return -1;
    for (i = 0; i < sizeof places / sizeof *places && fd < 0; i++) {
        snprintf(path, sizeof path, places[i], name.release);
        fd = take_if_kernels(sy, opener_open(&user, root, path, true));
    }
    return fd;
}

int resolve_vmlinux(const struct symbolizer *sy)
{
    const char *root = sy->symfs ? sy->symfs : "/";
    int fd = sy->vmlinux_fd >= 0 ? fcntl(sy->vmlinux_fd, F_DUPFD_CLOEXEC, 3) : open_by_build_id(sy, root);

    return fd < 0 ? open_by_release(sy, root) : fd;
}

/* Whether the kernel's address is known. A recording contains it; of a running kernel with hidden addresses
 * it is only known that the kernel did not move. */
static bool is_placed(const struct module *kernel)
{
    return kernel->live ? machine_kernel_stays() : kernel->start != 0;
}

static void try_vmlinux(struct symbolizer *sy, const struct module *kernel, struct outcome *out)
{
    struct symbol_table *t = NULL;
    int fd = resolve_vmlinux(sy);

    if (fd < 0)
        return;
    if (is_placed(kernel))
        t = resolve_table(sy, WORKER_VMLINUX, fd, -1, NULL, out);
    else
        error_set(&out->trouble, ERROR_PERMISSION,
                  "the kernel hides its addresses; its vmlinux is here, but its KASLR offset is not known");
    close(fd);
    if (!t)
        return;
    tables_drop(sy, out->table);
    out->table = t;
    error_clear(&out->trouble);
}

/* Set the key of the kept kallsyms table. Writing kallsyms takes the kernel longer than the rest of a start.
 * Its core is constant until the next boot; modules and programs change. */
static bool kept_key(struct symbolizer *sy, struct cache_key *key)
{
    uint64_t boot = sy->cache && sy->kernel_ours && !sy->kallsyms_supplied ? machine_boot() : 0;

    *key = (struct cache_key){ .kind = CACHE_NAMES, .version = sy->cache_version, .stamp = boot };
    key->id_size = (uint8_t)sy->kernel_build_id_size;
    memcpy(key->id, sy->kernel_build_id, sizeof key->id);
    return boot != 0;
}

static struct symbol_table *kept_table(struct symbolizer *sy, const struct symbol_module *mod,
                                       struct outcome *out)
{
    struct error ignored = { 0 };
    struct cache_key key;
    const void *blob;
    size_t size;
    bool more;

    pthread_mutex_lock(&sy->lock);
    more = sy->kernel_wanted;
    out->kernel_modified = sy->kernel_modified;
    pthread_mutex_unlock(&sy->lock);
    if (more || mod->module->kind != MODULE_KERNEL || !kept_key(sy, &key) ||
        !cache_get(sy->cache, &key, &blob, &size, NULL))
        return NULL;
    return tables_new(CACHE_NAMES, blob, size, &ignored);
}

static void keep_table(struct symbolizer *sy, const struct symbol_table *t)
{
    struct cache_key key;

    if (!(t->view.header->flags & TABLE_HIDDEN) && t->view.header->core_end && kept_key(sy, &key) &&
        !cache_has(sy->cache, &key))
        cache_put(sy->cache, &key, t->blob, t->size, "");
}

static void read_kallsyms(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    out->table = kept_table(sy, mod, out);
    out->kept = out->table != NULL;
    if (!out->table)
        out->table = resolve_table(sy, WORKER_KALLSYMS, sy->kallsyms_fd, -1, NULL, out);
    if (out->table && !out->kept)
        keep_table(sy, out->table);
}

void resolve_kernel(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    bool core = mod->module->kind == MODULE_KERNEL;

    if (core && sy->vmlinux_fd >= 0) {
        try_vmlinux(sy, mod->module, out);
        if (out->table || out->retry)
            return;
    }
    if (!sy->kernel_usable)
        error_set(&out->trouble, ERROR_MISSING,
                  "recorded on another kernel; give its kallsyms (--kallsyms FILE)");
    else if (sy->kallsyms_fd < 0)
        error_set(&out->trouble, ERROR_MISSING, "this kernel has no readable /proc/kallsyms");
    else
        read_kallsyms(sy, mod, out);
    if (!out->retry && core && sy->vmlinux_fd < 0 &&
        (!out->table || out->table->view.header->flags & TABLE_HIDDEN))
        try_vmlinux(sy, mod->module, out);
}
