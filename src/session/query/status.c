// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects what the header shows. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/text.h"
#include "perfdata/spool.h"
#include "session/session_state.h"

static void add_note(struct session_status *out, const char *what, const char *fix)
{
    if (out->n_notes == sizeof out->notes / sizeof *out->notes)
        return;
    struct live_note *n = &out->notes[out->n_notes++];
    snprintf(n->what, sizeof n->what, "%s", what);
    snprintf(n->fix, sizeof n->fix, "%s", fix);
    n->calm = false;
}

/* A NOTE, since no number is wrong. */
static void add_calm_note(struct session_status *out, const char *what, const char *fix)
{
    uint32_t before = out->n_notes;
    add_note(out, what, fix);
    if (out->n_notes > before)
        out->notes[before].calm = true;
}

static void note_cost(const struct session *s, struct session_status *out)
{
    char what[160], fix[96], number[32];
    const struct session_event *ev = period_find_event(s);
    if (!(s->source.cost.per_second > 0) || !ev)
        return;
    uint64_t period = ev->period ? ev->period : 1;
    double per_second = s->source.cost.per_second;
    uint32_t cpus = s->collect.system_stats.cpus;
    uint64_t better =
        period * rate_period_for(per_second, rate_budget(s->source.callchain, cpus, s->cfg.budget_percent));
    double share = rate_cost_percent(per_second, s->source.callchain, cpus);
    snprintf(what, sizeof what, "%s samples a second of %.80s use about %.0f%% of the CPUs",
             text_si(number, sizeof number, per_second), ev->event.name, share > 100 ? 100 : share);
    snprintf(fix, sizeof fix, "sample one in %llu: -c %llu, or pick it again: e", (unsigned long long)better,
             (unsigned long long)better);
    add_note(out, what, fix);
}

static void note_thin(const struct session *s, struct session_status *out)
{
    char what[160], fix[120];
    if (thin_tell(s, what, sizeof what, fix, sizeof fix))
        add_note(out, what, fix);
    if (selection_tell(s, what, sizeof what, fix, sizeof fix))
        add_note(out, what, fix);
    if (thin_wakers_by_fp(s))
        add_calm_note(out, "many wakeups: stacks of wakers by frame pointers",
                      "m, dwarf to force dumps of them");
}

static void note_ended(const struct session *s, struct session_status *out)
{
    char what[160];
    if (!s->source.lost_cpus || !s->store.n_events)
        return;
    snprintf(what, sizeof what, "%.80s stopped on %u CPU%s: was its PMU's kernel module unloaded?",
             s->store.events[s->store.live_event].event.name, s->source.lost_cpus,
             s->source.lost_cpus == 1 ? "" : "s");
    add_note(out, what, "it resumes when it can be opened again; or another event: e");
}

/* Notes threads without samples. Where all CPUs are sampled, samples are missing only if they were lost,
 * which has its own note. */
static void note_unseen(const struct session *s, struct session_status *out)
{
    char what[160];
    struct session_coverage c;
    coverage_get(s, &c);
    unsigned long long unseen = source_unseen(s);
    if (session_coverage_is_short(&c) && !s->source.runs_wide)
        snprintf(what, sizeof what, "samples cover %.0f%% of %.1f CPU seconds: short threads have none",
                 c.percent, (double)c.cpu_ns / (double)NS_PER_SEC);
    else if (c.unknown && unseen)
        snprintf(what, sizeof what, "%llu threads ended before their first sample: their time is missing",
                 unseen);
    else
        return;
    add_note(out, what, s->source.fix_wide);
}

static void note_starved(const struct session *s, struct session_status *out)
{
    char what[160];
    if (!s->source.starved || !s->store.n_events)
        return;
    const struct event *ev = &s->store.events[s->store.live_event].event;
    snprintf(what, sizeof what, "%.80s%s never got a counter: others use them", ev->name,
             ev->members > 1 ? " and its group" : "");
    add_note(out, what,
             ev->members > 1
                 ? "end the other profiler, sysctl kernel.nmi_watchdog=0, or fewer events in the group"
                 : "end the other profiler, sysctl kernel.nmi_watchdog=0, or another event: e");
}

/* Explains an empty file: an empty table would not say whether something was lost. */
static void note_empty(struct session *s, struct session_status *out)
{
    const struct perfdata_count *counts;
    bool of_stat = false;
    if (!s->load.file || !s->load.loaded || s->load.stopped || history_count(s->store.history))
        return;
    for (uint32_t i = perfdata_counts(s->load.file, &counts); i-- > 0;)
        of_stat |= counts[i].name && !strcmp(counts[i].name, "STAT");
    if (of_stat)
        add_note(out, "perf stat wrote this file: it has counts, and no samples",
                 "perf stat report -i shows them");
    else
        add_note(out, "there are no samples in this file", "--export json shows its contents");
}

static void note_memory(const struct session *s, struct session_status *out)
{
    char what[160], limit[32], budget[32];
    if (!s->collect.memory_limit)
        return;
    snprintf(what, sizeof what, "the cgroup of flametop allows %s of memory: the history has %s",
             text_bytes(limit, sizeof limit, s->collect.memory_limit),
             text_bytes(budget, sizeof budget, s->collect.budget_bytes));
    add_note(out, what, "the history is shorter: raise the limit, or start flametop in another cgroup");
}

static void note_hidden(const struct session *s, struct session_status *out)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    char what[160];
    uint32_t n = o->runs ? o->waits.n_unseen : 0;
    if (!n)
        return;
    snprintf(what, sizeof what,
             "switches of %u thread%s are hidden from this machine's events (%s%s): %s waits are not counted",
             n, n == 1 ? "" : "s", o->unseen_comm, n == 1 ? "" : ", ...", n == 1 ? "its" : "their");
    add_calm_note(out, what, "threads now (N on their process) shows what they do");
}

/* NOTEs, too: they explain numbers. */
static void note_limits(const struct session *s, struct session_status *out)
{
    char what[160], fix[120];
    if (limits_tell(s, what, sizeof what, fix, sizeof fix))
        add_calm_note(out, what, fix);
    if (idle_cpus_tell(s, what, sizeof what, fix, sizeof fix))
        add_calm_note(out, what, fix);
}

static void note_lost(const struct session *s, struct session_status *out)
{
    char what[160], crowded[160], fix[120];
    bool is_crowded = crowd_tell(s, crowded, sizeof crowded, fix, sizeof fix);
    if (s->source.lost_recent_ns && !s->load.file &&
        clock_now_ns() - s->source.lost_recent_ns < 10 * NS_PER_SEC) {
        snprintf(what, sizeof what, "samples were lost in the last 10 s (%llu in all)",
                 (unsigned long long)(s->source.lost_before + s->source.stats.lost));
        add_note(out, what, is_crowded ? "flametop did not get a CPU in time" : "lower the rate: f");
    }
    if (is_crowded)
        add_note(out, crowded, fix);
}

/* Notes what is missing of a file. */
static void note_file(struct session *s, struct session_status *out)
{
    char what[160];
    if (s->load.stopped && s->load.loaded) {
        snprintf(what, sizeof what, "reading the file was stopped at %.0f%%", 100 * s->load.stopped_at);
        add_note(out, what, "what was read by then is shown");
    }
    const char *const *damage;
    uint32_t n = s->load.file && s->load.loaded ? perfdata_damage(s->load.file, &damage) : 0;
    for (uint32_t i = 0; i < n; i++)
        add_note(out, damage[i], "what could be read is shown");
    if (world_spaces_left_out(s->store.world)) {
        snprintf(what, sizeof what,
                 "%llu child processes lack their parents' mappings: too many for a file of this size",
                 (unsigned long long)world_spaces_left_out(s->store.world));
        add_note(out, what, "their own mappings are used");
    }
    if (s->load.left_out) {
        snprintf(what, sizeof what, "%llu samples are left out: the file has more than %d events",
                 (unsigned long long)s->load.left_out, SAMPLE_EVENTS);
        add_note(out, what, "record fewer events at a time");
    }
    note_empty(s, out);
}

static void note_names(struct session *s, struct session_status *out)
{
    char what[160];
    struct symbolizer_stats names;
    symbolizer_stats(s->store.symbolizer, &names);
    out->pending_modules = names.pending;
    snprintf(out->fetching, sizeof out->fetching, "%s", names.fetching);
    if (names.worker_note[0])
        add_note(out, names.worker_note,
                 "no file is read for names and stacks: run flametop as another user than root, or "
                 "with CAP_SETUID and CAP_SETGID");
    if (names.given_up) {
        snprintf(what, sizeof what, "%u files were given up: reading them took too long", names.given_up);
        add_note(out, what, "the doctor and the log name them, their owners and the reason");
    }
    if (names.kernel_hidden && !s->source.scope.no_kernel)
        add_note(out, "kernel addresses are hidden: no kernel names", names.kernel_note);
    if (names.kernel_foreign)
        add_note(out, "no kernel names: recorded on another kernel, or on an unknown one",
                 "--kallsyms FILE (its /proc/kallsyms) or --vmlinux FILE gives them");
    if (names.jit_of_now)
        add_note(out, "names of code made at run time are from present maps, not from the recording",
                 "code that was moved since has wrong names");
}

static void status_notes(struct session *s, struct session_status *out)
{
    note_ended(s, out);
    note_starved(s, out);
    note_unseen(s, out);
    note_thin(s, out);
    note_cost(s, out); /* lost samples are the consequence */
    note_lost(s, out);
    note_memory(s, out);
    note_hidden(s, out);
    note_limits(s, out);
    for (uint32_t i = 0; i < s->source.n_notes && out->n_notes < sizeof out->notes / sizeof *out->notes; i++)
        out->notes[out->n_notes++] = s->source.notes[i];
    note_file(s, out);
    note_names(s, out);
    if (s->store.frozen_ns && history_first_ns(s->store.history) > s->store.clear_ns &&
        history_dropped(s->store.history))
        add_note(out, "the oldest samples have left the history", "--history SIZE keeps more");
}

static void status_machine(struct session *s, struct session_status *out)
{
    struct utsname u;
    const struct perfdata_info *info = s->load.file ? &s->load.info : NULL;
    if (info) {
        text_clean(out->host, sizeof out->host, info->hostname, strlen(info->hostname));
        text_clean(out->release, sizeof out->release, info->release, strlen(info->release));
        const char *name = strcmp(s->cfg.input, SPOOL_STANDARD_INPUT) ? s->cfg.input : "standard input";
        text_clean(out->input, sizeof out->input, name, strlen(name));
        out->cpus = info->cpus_online;
    } else if (uname(&u) == 0) {
        text_clean(out->host, sizeof out->host, u.nodename, strlen(u.nodename));
        text_clean(out->release, sizeof out->release, u.release, strlen(u.release));
        out->cpus = s->collect.system_stats.cpus;
    }
}

/* Stack mode of the shown event's recording, unless the file states it. */
static void file_stacks(const struct session *s, char *dst, size_t cap)
{
    const struct perf_event_attr *a = &s->store.events[s->store.current_event].attr;
    if (*s->load.stacks)
        snprintf(dst, cap, "%s", s->load.stacks);
    else if (a->sample_type & PERF_SAMPLE_STACK_USER)
        snprintf(dst, cap, a->sample_stack_user % 1024 ? "dwarf %u" : "dwarf %uK",
                 a->sample_stack_user % 1024 ? a->sample_stack_user : a->sample_stack_user / 1024);
    else if (a->sample_type & PERF_SAMPLE_BRANCH_STACK &&
             a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
        snprintf(dst, cap, "lbr");
    else
        snprintf(dst, cap, a->sample_type & PERF_SAMPLE_CALLCHAIN ? "fp" : "none");
}

/* Stack mode. Without user space there is nothing to dump, and no problem to show. */
void status_stacks(const struct session *s, char *dst, size_t cap)
{
    static const char *const words[] = { "none", "fp", "auto", "dwarf", "lbr" };
    enum callchain_mode asked = s->cfg.callchain, runs = s->source.callchain;
    bool user = !s->source.scope.no_user &&
                !(s->store.n_events && s->store.events[s->store.current_event].attr.exclude_user);
    unsigned kib = s->source.stack_bytes / 1024;
    if (s->load.file)
        file_stacks(s, dst, cap);
    else if (runs == CALLCHAIN_DWARF &&
             (asked == CALLCHAIN_DWARF || s->source.stack_bytes != LIVE_STACK_BYTES)) {
        if (asked == CALLCHAIN_AUTO) /* rounded: the maximum is 8 bytes less than 64 KB */
            snprintf(dst, cap, "%s %uK", words[asked], (s->source.stack_bytes + 1023) / 1024);
        else if (s->source.stack_bytes % 1024)
            snprintf(dst, cap, "%s %u", words[asked], s->source.stack_bytes);
        else
            snprintf(dst, cap, "%s %uK", words[asked], kib);
    } else if (user && runs == CALLCHAIN_FP && asked != runs) {
        snprintf(dst, cap, "%s->fp", words[asked]);
    } else {
        snprintf(dst, cap, "%s", words[asked]);
    }
}

static void describe_scope(struct session *s, char *dst, size_t cap)
{
    char label[sizeof s->source.scope.cgroup], cpus[32];
    if (scope_cgroups(&s->source.scope) != 1) {
        scope_describe(&s->source.scope, dst, (unsigned)cap);
        return;
    }
    containers_label(s->containers, s->source.scope.cgroup, label, sizeof label);
    scope_describe_cpus(&s->source.scope, cpus, sizeof cpus);
    snprintf(dst, cap, "cgroup %s%s", label, cpus);
}

/* True if sampled at the same time as the shown event; over a file: if it has samples. */
static bool is_of_group(const struct session *s, const struct session_event *ev)
{
    if (s->load.file)
        return (ev->samples && session_event_is_listed(ev)) || ev == &s->store.events[s->store.current_event];
    return ev->first == s->store.events[s->store.current_event].first && !ev->left_out &&
           session_event_is_listed(ev);
}

static void status_source(struct session *s, struct session_status *out)
{
    if (s->store.n_events) {
        const struct session_event *ev = &s->store.events[s->store.current_event];
        snprintf(out->event, sizeof out->event, "%s", ev->event.name);
        out->freq_hz = ev->freq_hz;
        out->period = ev->period;
    }
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        out->n_events += session_event_is_listed(&s->store.events[i]);
        if (is_of_group(s, &s->store.events[i])) {
            out->group_column_index += i < s->store.current_event;
            out->n_group_sums++;
        }
    }
    out->event_index = s->store.current_event;
    if (s->load.file)
        snprintf(out->scope, sizeof out->scope, "file");
    else
        describe_scope(s, out->scope, sizeof out->scope);
    out->no_kernel = s->source.scope.no_kernel;
    out->no_user = s->source.scope.no_user;
    out->callchain = s->cfg.callchain;
    status_stacks(s, out->stacks, sizeof out->stacks);
}

static uint64_t stacks_waiting(const struct user_stacks *u)
{
    uint64_t n = u->aside.n;
    for (size_t i = 0; i < u->aside.n; i++)
        n += u->aside.items[i].n_again + u->aside.items[i].parts.n;
    return n;
}

static void status_time(struct session *s, struct session_status *out)
{
    if (s->load.file) {
        out->now_ns = s->load.last_ns;
        out->elapsed_ns = s->load.last_ns - s->load.first_ns;
    } else {
        out->now_ns = s->store.frozen_ns ? s->store.frozen_ns : clock_now_ns();
        out->elapsed_ns = out->now_ns > s->store.clear_ns ? out->now_ns - s->store.clear_ns : 0;
    }
    out->reading = s->load.file && !s->load.loaded;
    out->read_share = s->load.progress;
    out->frozen = s->store.frozen_ns != 0;
    out->spark_sec = s->collect.spark_sec;
    for (unsigned i = 0; i < SESSION_SPARK; i++)
        out->spark[i] = s->collect.spark[(s->collect.spark_sec + 1 + i) % SESSION_SPARK];
}

void session_get_status(struct session *s, struct session_status *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&s->store.lock);
    out->file = s->load.file != NULL;
    status_machine(s, out);
    status_source(s, out);
    status_time(s, out);
    status_notes(s, out);
    out->budget_percent = s->cfg.budget_percent;
    out->samples = s->store.samples - s->store.forgotten;
    out->event_samples = s->store.n_events ? s->store.events[s->store.current_event].samples : 0;
    out->lost = s->source.lost_before + s->source.stats.lost;
    out->throttled = s->source.throttled_before + s->source.stats.throttled;
    out->history_samples = history_count(s->store.history);
    out->history_dropped = history_dropped(s->store.history);
    out->history_bytes = s->collect.budget_bytes;
    out->self_percent = s->collect.self_percent;
    out->user_percent = s->collect.system_stats.user_percent;
    out->system_percent = s->collect.system_stats.system_percent;
    out->idle_percent = s->collect.system_stats.idle_percent;
    out->iowait_percent = s->collect.system_stats.iowait_percent;
    out->switches_per_sec = s->collect.system_stats.switches_per_sec;
    out->faults_per_sec = s->collect.system_stats.faults_per_sec;
    out->ipc = s->collect.system_stats.ipc;
    out->stacks_waiting = stacks_waiting(&s->unwind.user);
    out->targets_gone = s->source.targets_gone;
    snprintf(out->said, sizeof out->said, "%s", s->said);
    out->said_number = s->said_number;
    snprintf(out->fatal, sizeof out->fatal, "%s", s->fatal);
    pthread_mutex_unlock(&s->store.lock);
}

uint64_t session_generation(struct session *s)
{
    return s->store.generation + symbolizer_generation(s->store.symbolizer) +
           containers_generation(s->containers);
}
