// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows the names that JITs give to their code while it is sampled. */
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perfdata/format.h"
#include "session/session_state.h"

#define RENEWALS_AT_ONCE 64
#define SCRIPT_NAME_MAX  640

static void follow(struct session *s, uint32_t module)
{
    const struct module *m = world_module(s->store.world, module);
    if (m && m->kind == MODULE_JIT)
        map_put(&s->unwind.jit.followed, module, 0);
}

/* Follows modules of frames that are new since the last call. */
static void follow_new_frames(struct session *s)
{
    const uint32_t *modules = stacks_frame_modules(s->store.stacks);
    uint32_t n = stacks_frame_count(s->store.stacks), last = 0;
    for (uint32_t i = s->unwind.jit.frames_seen ? s->unwind.jit.frames_seen : 1; i < n; i++)
        if (modules[i] != last)
            follow(s, last = modules[i]);
    s->unwind.jit.frames_seen = n;
}

static void renew(struct session *s, uint32_t module)
{
    struct module *m = world_module(s->store.world, module);
    if (!m)
        return;
    struct symbol_table *dates = symbolizer_dated(s->store.symbolizer, m);
    if (dates) {
        jitdates_apply(s, m, dates);
        symbolizer_dated_done(s->store.symbolizer, m, dates);
        return;
    }
    size_t n;
    uint64_t *offsets = stacks_offsets_in(s->store.stacks, module, &n);
    if (symbolizer_differs(s->store.symbolizer, m, offsets, n)) {
        uint32_t next = world_renew_jit(s->store.world, module);
        symbolizer_renew(s->store.symbolizer, m, next ? world_module(s->store.world, next) : NULL, offsets,
                         n);
        if (next)
            follow(s, next);
    }
    mem_free(offsets);
}

void jit_renew(struct session *s)
{
    uint32_t modules[RENEWALS_AT_ONCE];
    uint32_t n = s->load.file ? 0 : symbolizer_renamed(s->store.symbolizer, modules, RENEWALS_AT_ONCE);
    for (uint32_t i = 0; i < n; i++)
        renew(s, modules[i]);
}

void jit_follow(struct session *s, bool now)
{
    uint64_t module;
    if (s->load.file)
        return;
    follow_new_frames(s);
    for (size_t pos = 0; map_next(&s->unwind.jit.followed, &pos, &module, NULL);) {
        struct module *m = world_module(s->store.world, (uint32_t)module);
        if (m)
            symbolizer_refresh(s->store.symbolizer, m, now);
    }
}

void jit_forget_frames(struct session *s)
{
    map_clear(&s->unwind.jit.followed);
    s->unwind.jit.frames_seen = 0;
    jitframe_forget_frames(s);
}

void jit_done(struct session *s)
{
    map_done(&s->unwind.jit.followed);
    mem_free(s->unwind.jit.epochs.items);
    mem_free(s->unwind.jit.pasts.items);
}

/* ---- over a file ---- */

/* Status of the input. A pipe counts as written now. */
static bool look_at_input(const struct session *s, struct stat *st)
{
    if (strcmp(s->cfg.input, "-"))
        return stat(s->cfg.input, st) == 0;
    return clock_gettime(CLOCK_REALTIME, &st->st_mtim) == 0;
}

/* End of the recording by CLOCK_BOOTTIME, if it was made on this system since it was booted; else 0.
 * Samples are stamped with the time since boot, and a file written before the boot is from an earlier one. */
static uint64_t recorded_here(const struct session *s)
{
    const struct perfdata_info *info = perfdata_info(s->load.file);
    uint64_t now_ns = clock_read_ns(CLOCK_REALTIME), up_ns = clock_read_ns(CLOCK_BOOTTIME);
    uint64_t asleep_ns = up_ns - clock_read_ns(CLOCK_MONOTONIC);
    struct utsname u;
    struct stat st;
    if (uname(&u) || strcmp(u.nodename, info->hostname) || strcmp(u.release, info->release) ||
        !look_at_input(s, &st))
        return 0;
    uint64_t written_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
    uint64_t age_ns = now_ns > written_ns ? now_ns - written_ns : 0;
    if (age_ns >= up_ns || info->sample_last_ns > up_ns)
        return 0;
    uint64_t end_ns = up_ns - age_ns, last_ns = info->sample_last_ns + asleep_ns + NS_PER_SEC;
    return info->sample_last_ns && last_ns < end_ns ? last_ns : end_ns;
}

void jit_open(struct session *s, struct symbolizer_config *cfg)
{
    struct jit_names *j = &s->unwind.jit;
    struct jit_epoch epoch;
    size_t n;
    const char *text = perfdata_feature(s->load.file, FORMAT_JIT_NAMES, &n);
    while (text && jittext_next(&text, &n, &epoch))
        *VEC_PUSH(&j->epochs) = epoch;
    cfg->epochs = j->epochs.items;
    cfg->n_epochs = (uint32_t)j->epochs.n;
    cfg->recorded_ns = s->load.bundle ? 0 : recorded_here(s);
}

/* Equal names get one number. */
static void take_scripts(struct session *s, struct jit_epoch epoch)
{
    char text[SCRIPT_NAME_MAX];
    const char *name;
    uint64_t start;
    size_t n;
    while (jittext_line(&epoch, &start, &name, &n)) {
        n = n < sizeof text ? n : sizeof text - 1;
        memcpy(text, name, n);
        text[n] = '\0';
        map_put(&s->unwind.file_scripts, start, symbolizer_script(s->store.symbolizer, text));
    }
}

void jit_open_scripts(struct session *s)
{
    for (uint32_t i = 0; i < s->unwind.jit.epochs.n; i++)
        if (s->unwind.jit.epochs.items[i].pid == JITTEXT_SCRIPTS)
            take_scripts(s, s->unwind.jit.epochs.items[i]);
}

void jit_advance(struct session *s, uint64_t time_ns)
{
    struct jit_names *j = &s->unwind.jit;
    for (; j->next_epoch < j->epochs.n && j->epochs.items[j->next_epoch].from_ns <= time_ns; j->next_epoch++)
        world_set_jit_epoch(s->store.world, j->epochs.items[j->next_epoch].pid, j->next_epoch + 1);
}
