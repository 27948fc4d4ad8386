// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/module.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define NAME_MAX_BYTES 256

static const char deleted_suffix[] = " (deleted)";

/* Names that the kernel and perf give to mappings that are not code files: memory filled at run time. */
static const struct {
    const char *prefix;
    bool whole;
    const char *path;
} pseudo[] = {
    { "//anon", true, "//anon" },         { "/anon_hugepage", true, "//anon" },
    { "/dev/zero", true, "//anon" },      { "/memfd:", false, "//anon" },
    { "/SYSV", false, "//anon" },         { "anon_inode:", false, "//anon" },
    { "[anon", false, "//anon" },         { "[stack", false, "[stack]" },
    { "[heap]", true, "[heap]" },         { "[uprobes]", true, "[uprobes]" },
    { "[vsyscall]", true, "[vsyscall]" },
};

/* Returns the length without " (deleted)". */
static size_t path_length(const char *path)
{
    size_t n = strlen(path), suffix = sizeof deleted_suffix - 1;

    return n > suffix && !strcmp(path + n - suffix, deleted_suffix) ? n - suffix : n;
}

enum module_kind module_classify(const char **path)
{
    size_t n = path_length(*path);

    if (!n) {
        *path = "//anon";
        return MODULE_JIT;
    }
    if (!strcmp(*path, "[vdso]") || !strcmp(*path, MODULE_VDSO32))
        return MODULE_VDSO;
    for (size_t i = 0; i < sizeof pseudo / sizeof *pseudo; i++) {
        size_t prefix = strlen(pseudo[i].prefix);

        if (!strncmp(*path, pseudo[i].prefix, prefix) && (!pseudo[i].whole || n == prefix)) {
            *path = pseudo[i].path;
            return MODULE_JIT;
        }
    }
    return MODULE_FILE;
}

bool module_is_memfd(const char *path)
{
    return !strncmp(path, "/memfd:", 7);
}

bool module_is_absolute(enum module_kind kind)
{
    return kind != MODULE_FILE && kind != MODULE_VDSO && kind != MODULE_BROKEN;
}

static size_t base_of(const char *path, size_t n)
{
    size_t at = n;

    while (at && path[at - 1] != '/')
        at--;
    return at;
}

/* Makes "[xfs]" of "/lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz", "[xfs]" or "xfs". Dashes become underscores,
 * as in the kernel. */
static void kmod_name(char *dst, size_t cap, const char *path, size_t n)
{
    size_t at = base_of(path, n);
    const char *ko = strstr(path + at, ".ko");
    int len;

    if (path[at] == '[') {
        at++;
        n -= n > at && path[n - 1] == ']';
    } else if (ko && (size_t)(ko - path) < n && (ko[3] == '\0' || ko[3] == '.' || path + n == ko + 3)) {
        n = (size_t)(ko - path);
    }
    len = n - at < cap ? (int)(n - at) : (int)cap;
    snprintf(dst, cap, "[%.*s]", len, path + at);
    for (; *dst; dst++)
        if (*dst == '-')
            *dst = '_';
}

static void file_name(char *dst, size_t cap, const char *path, size_t n)
{
    size_t at = module_is_memfd(path) ? 1 : base_of(path, n);

    if (!text_clean(dst, cap, path + at, n - at))
        snprintf(dst, cap, "[unknown]");
}

static void make_name(char *dst, size_t cap, const struct module *m, const char *path, size_t n)
{
    static const char *const fixed[] = {
        [MODULE_KERNEL] = "[kernel]",      [MODULE_KSYM] = "[bpf]",      [MODULE_VDSO] = "[vdso]",
        [MODULE_UNKNOWN] = "[unknown]",    [MODULE_BROKEN] = "[broken]", [MODULE_GUEST] = "[guest]",
        [MODULE_SCRIPT] = "[interpreted]", [MODULE_WAIT] = "[off-CPU]",  [MODULE_OPERATION] = "[operation]",
    };

    if (m->kind == MODULE_FILE)
        file_name(dst, cap, path, n);
    else if (m->kind == MODULE_KMOD)
        kmod_name(dst, cap, path, n);
    else if (m->kind == MODULE_JIT)
        snprintf(dst, cap, "%.*s", path[0] == '[' ? (int)n : 5, path[0] == '[' ? path : "[JIT]");
    else
        snprintf(dst, cap, "%s", fixed[m->kind]);
}

struct module *module_new(const struct module *like)
{
    const char *path = like->path ? like->path : "";
    size_t path_n = path_length(path), name_n;
    char name[NAME_MAX_BYTES];
    struct module *m;
    char *strings;

    if (like->name)
        snprintf(name, sizeof name, "%s", like->name);
    else
        make_name(name, sizeof name, like, path, path_n);
    name_n = text_clean(name, sizeof name, name, sizeof name);
    m = mem_alloc(sizeof *m + path_n + name_n + 2);
    *m = *like;
    strings = (char *)(m + 1);
    memcpy(strings, path, path_n);
    strings[path_n] = '\0';
    memcpy(strings + path_n + 1, name, name_n + 1);
    m->path = strings;
    m->name = strings + path_n + 1;
    m->deleted = like->deleted || path[path_n];
    m->refs = 1;
    return m;
}

struct module module_value(const struct module *m)
{
    struct module value = { 0 };

    memcpy(&value, m, offsetof(struct module, refs));
    return value;
}

struct module *module_get(struct module *m)
{
    __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void module_put(struct module *m)
{
    if (m && __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL) == 0)
        mem_free(m);
}
