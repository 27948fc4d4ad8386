// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the symbol table of a JIT's code: from its perf map, its jitdump, or both. They grow while the JIT
 * runs. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "symbols/codecache.h"
#include "symbols/jitdump.h"
#include "symbols/perfmap.h"
#include "symbols/symbolizer_state.h"
#include "symbols/target.h"

#define LEFT_DUMPS_MAX 4096

struct sources {
    int fds[2];
    unsigned n;
    uint64_t stamp;
};

static void add(struct sources *s, int fd)
{
    if (fd < 0)
        return;
    s->fds[s->n++] = fd;
    s->stamp = map_mix(s->stamp + cache_stamp(fd));
}

static bool is_running(uint32_t pid)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/%u", pid);
    return !access(path, F_OK);
}

void symbolizer_jit_dump(struct symbolizer *sy, uint32_t pid, const char *path, uint64_t ino)
{
    pthread_mutex_lock(&sy->lock);
    if (sy->dumps.n < LEFT_DUMPS_MAX)
        *VEC_PUSH(&sy->dumps) = (struct left_dump){ .path = mem_strdup(path), .ino = ino, .pid = pid };
    pthread_mutex_unlock(&sy->lock);
}

/* Open the dump that an ended process left: the file that was mapped, by its inode. It must belong to
 * flametop's user or root. */
static int open_left_dump(struct symbolizer *sy, uint32_t pid)
{
    char *path = NULL;
    uint64_t ino = 0;
    const struct opener_user user = { .kind = OPENER_FOR_STARTER };
    struct opened of;
    int fd = -1;

    pthread_mutex_lock(&sy->lock);
    for (size_t i = 0; i < sy->dumps.n; i++)
        if (sy->dumps.items[i].pid == pid) {
            mem_free(path);
            path = mem_strdup(sy->dumps.items[i].path);
            ino = sy->dumps.items[i].ino;
        }
    pthread_mutex_unlock(&sy->lock);
    if (path)
        fd = opener_open(&user, "/", path, true);
    if (fd >= 0 && (!opened_facts(fd, &of) || (of.st.st_uid != 0 && of.st.st_uid != geteuid()) ||
                    (ino && ino != of.st.st_ino))) {
        close(fd);
        fd = -1;
    }
    mem_free(path);
    return fd;
}

/* Add the jitdump. It stays open until the process ends, because a runtime may write most of it at its end
 * (V8 buffers 2 MB). For a process that ended before it was open, use the dump that it had mapped. */
static void add_dump(struct symbolizer *sy, struct symbol_module *mod, struct sources *s, struct error *e)
{
    const struct module *m = mod->module;
    struct opened now;

    if (mod->dump_fd < 0)
        mod->dump_fd = jitdump_open(m->pid, e);
    if (mod->dump_fd < 0 && m->live && !is_running(m->pid)) {
        mod->dump_fd = open_left_dump(sy, m->pid);
        if (mod->dump_fd >= 0)
            error_clear(e);
    }
    /* The dump may have grown: check again, so that the copy gets another stamp. */
    if (mod->dump_fd >= 0 && opener_look_again(mod->dump_fd, &now))
        add(s, opener_dup(mod->dump_fd));
}

/* Add the map and the dump. A dump says more about the code than a map, so it comes last and takes
 * precedence. The trouble is about a file that exists and cannot be read, or else a missing map. left: the
 * process may have ended, and its map may remain. */
static void open_of_process(struct symbolizer *sy, struct symbol_module *mod, bool left, struct sources *s,
                            struct error *e)
{
    uint32_t pid = mod->module->pid;
    struct error of_dump = { 0 };
    int fd = perfmap_open(pid, e);

    if (fd < 0 && left && !is_running(pid)) {
        error_clear(e);
        fd = perfmap_open_left(pid, e);
    }
    add(s, fd);
    add_dump(sy, mod, s, &of_dump);
    if (is_running(pid) && of_dump.class != ERROR_NONE && of_dump.class != ERROR_MISSING)
        *e = of_dump;
    else if (s->n && e->class == ERROR_MISSING)
        error_clear(e);
}

static void open_left(struct symbolizer *sy, uint32_t pid, struct sources *s, struct error *e)
{
    add(s, perfmap_open_left(pid, e));
    add(s, open_left_dump(sy, pid));
    if (s->n && e->class == ERROR_MISSING)
        error_clear(e);
}

/* Open the files of a profile that was recorded here since the last boot: its processes may still run, or
 * their maps and dumps may remain. The pid may belong to another process now. */
static void open_recorded(struct symbolizer *sy, struct symbol_module *mod, struct sources *s,
                          struct error *e)
{
    uint32_t pid = mod->module->pid;
    struct target t;

    if (!sy->recorded_ns)
        error_set(e, ERROR_MISSING, "names of a JIT's code are known while its process runs");
    else if (!is_running(pid))
        open_left(sy, pid, s, e);
    else if (target_read(pid, &t, e) && t.start_ns > sy->recorded_ns)
        error_set(e, ERROR_MISSING, "pid %u is another process now: the names of its code are lost", pid);
    else if (t.uid != 0 && t.uid != geteuid())
        error_set(e, ERROR_PERMISSION, "process %u is of user %u: its names are not used for a recording",
                  pid, t.uid);
    else
        open_of_process(sy, mod, false, s, e);
}

int resolve_jit_dump(struct symbolizer *sy, struct symbol_module *mod)
{
    const struct module *m = mod->module;
    struct error ignored = { 0 };
    struct sources s = { .n = 0 };
    struct target t;

    if (m->live || (sy->recorded_ns && is_running(m->pid) && target_read(m->pid, &t, &ignored) &&
                    t.start_ns <= sy->recorded_ns && (t.uid == 0 || t.uid == geteuid())))
        add_dump(sy, mod, &s, &ignored);
    else if (sy->recorded_ns)
        add(&s, open_left_dump(sy, m->pid));
    return s.n ? s.fds[0] : -1;
}

/* Open the names that are part of the profile, in the format of perf maps. */
static bool open_kept(const struct symbolizer *sy, const struct module *m, struct sources *s, struct error *e)
{
    const struct jit_epoch *kept;
    int fd;

    if (!m->epoch || m->epoch > sy->n_epochs)
        return false;
    kept = &sy->epochs[m->epoch - 1];
    fd = memfd_create("flametop-jit", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, kept->text, kept->n, NULL))
        error_set(e, ERROR_SYSTEM, "no memory for the names of its code");
    add(s, fd);
    return true;
}

static void say_cut(struct outcome *out)
{
    if (out->table && out->table->view.header->flags & TABLE_CUT)
        error_set(&out->trouble, ERROR_LIMIT,
                  "the map of its code is damaged or too large: only a part of it was read");
}

void resolve_jit(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    const struct module *m = mod->module;
    struct sources s = { .n = 0 };
    bool kept = !m->live && open_kept(sy, m, &s, &out->trouble);

    if (m->live)
        open_of_process(sy, mod, true, &s, &out->trouble);
    else if (!kept)
        open_recorded(sy, mod, &s, &out->trouble);
    /* the earlier names of an ended process remain valid */
    out->unchanged = s.n ? s.stamp == out->map_stamp : out->has_table;
    if (s.n && !out->unchanged)
        out->table = resolve_table(sy, WORKER_JIT, s.fds[0], s.n > 1 ? s.fds[1] : -1, NULL, out);
    if (!out->unchanged)
        out->map_stamp = s.stamp;
    out->of_now = !m->live && !kept && out->table;
    say_cut(out);
    while (s.n)
        close(s.fds[--s.n]);
}
