// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets each option from its text, for the command line and for the config file. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/script.h"

#define FREQ_MAX    1000000
#define HISTORY_MIN (UINT64_C(1) << 20)
#define DELAY_MIN_S 0.1

static bool set_number(uint64_t *to, enum option_id id, const char *value, uint64_t min, uint64_t max,
                       struct error *e)
{
    return text_parse_u64(value, min, max, to) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: a whole number from %llu to %llu is needed",
                     option_row(id)->name, value, (unsigned long long)min, (unsigned long long)max);
}

static bool set_seconds(double *to, enum option_id id, const char *value, struct error *e)
{
    return (text_parse_seconds(value, to) && *to <= 1e7) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: seconds are needed, such as 0.5 or 10",
                     option_row(id)->name, value);
}

static bool set_delay(struct options *o, const char *value, struct error *e)
{
    return set_seconds(&o->ui.delay_s, OPTION_DELAY, value, e) &&
           (o->ui.delay_s >= DELAY_MIN_S ||
            error_set(e, ERROR_ARGUMENT, "--delay %s: at least %g seconds", value, DELAY_MIN_S));
}

static bool set_preset(struct options *o, const char *value, struct error *e)
{
    struct session_config *s = &o->session;
    struct error why = { 0 };
    if (s->input)
        return o->in_config || error_set(e, ERROR_ARGUMENT,
                                         "--preset applies to live sampling, not to a file: leave out "
                                         "--preset or -i; -e chooses an event of the file");
    preset_list_done(&o->presets);
    const struct preset *p = preset_read(&o->presets, e) ? preset_find(&o->presets, value, e) : NULL;
    uint32_t n = s->event_named ? (uint32_t)o->events.n : 0;
    if (!p || !preset_set_scope(p, &s->scope, e))
        return false;
    if (!options_set_event(o, p->events, &why))
        return error_set(e, why.class, "%s%s", p->from, why.text);
    for (; n < o->events.n && n < SESSION_EVENTS_MAX; n++)
        s->samplings[n] = p->how;
    o->ui.view = p->view ? p->view : o->ui.view;
    o->ui.group = p->group >= 0 ? (enum view_group)p->group : o->ui.group;
    return true;
}

static bool set_history(struct options *o, const char *value, struct error *e)
{
    if (!text_parse_bytes(value, &o->session.history_bytes))
        return error_set(e, ERROR_ARGUMENT, "--history %s: a size is needed, such as 64M", value);
    if (o->session.history_bytes < HISTORY_MIN || o->session.history_bytes > UINT64_C(1) << 44)
        return error_set(e, ERROR_ARGUMENT, "--history %s: at least 1M, and no more than this machine has",
                         value);
    return true;
}

int options_word_of(enum option_id id, const char *value, struct error *e)
{
    char words[256];
    const char *names[32];
    size_t n = 0;
    snprintf(words, sizeof words, "%s", option_row(id)->arg);
    for (char *save, *word = strtok_r(words, "|", &save); word && n < 32; word = strtok_r(NULL, "|", &save))
        names[n++] = strsep(&word, "[");
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], value))
            return (int)i;
    int near = text_nearest(value, names, n);
    error_set(e, ERROR_ARGUMENT, "--%s %s: one of %s is needed", option_row(id)->name, value,
              option_row(id)->arg);
    if (near >= 0)
        error_hint(e, "did you mean %s?", names[near]);
    return -1;
}

static bool set_stack_bytes(struct options *o, const char *text, struct error *e)
{
    uint64_t bytes;
    if (!text_parse_bytes(text, &bytes))
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: a size is needed, such as 16K", text);
    if (bytes == 0 || bytes % 8)
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: the size must be a multiple of 8 bytes",
                         text);
    if (bytes > LIVE_STACK_BYTES_MAX)
        return error_set(e, ERROR_ARGUMENT,
                         "--call-graph dwarf,%s: the kernel copies %d bytes of a stack at most", text,
                         LIVE_STACK_BYTES_MAX);
    o->session.stack_bytes = (uint32_t)bytes;
    return true;
}

static bool set_call_graph(struct options *o, const char *value, struct error *e)
{
    static const enum callchain_mode modes[] = { CALLCHAIN_AUTO, CALLCHAIN_FP, CALLCHAIN_DWARF, CALLCHAIN_LBR,
                                                 CALLCHAIN_NONE };
    char name[32];
    size_t length = strcspn(value, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), value);
    int word = options_word_of(OPTION_CALL_GRAPH, name, e);
    if (word < 0)
        return false;
    o->session.callchain = modes[word];
    o->session.stack_bytes = 0;
    if (!value[length])
        return true;
    return modes[word] == CALLCHAIN_DWARF
               ? set_stack_bytes(o, value + length + 1, e)
               : error_set(e, ERROR_ARGUMENT, "--call-graph %s: only dwarf takes a size", value);
}

static bool set_group(struct options *o, const char *value, struct error *e)
{
    int word = options_word_of(OPTION_GROUP_BY, value, e);
    for (int g = 0; g < VIEW_GROUP_COUNT && word >= 0; g++)
        if (!strcmp(view_group_names[g], value))
            o->ui.group = (enum view_group)g;
    return word >= 0;
}

/* Sets --detail or --split. The words are in the order of the values. */
static bool set_counters(struct options *o, enum option_id id, const char *value, struct error *e)
{
    int word = options_word_of(id, value, e);
    if (word >= 0 && id == OPTION_DETAIL)
        o->ui.counters_detail = (unsigned)word + 1;
    else if (word >= 0)
        o->ui.counters_by = (enum count_by)word;
    return word >= 0;
}

/* Refuses a second kind of scope. CPUs combine with each kind. */
static bool is_only_target(struct options *o, enum option_id id, struct error *e)
{
    enum option_id before = o->target ? o->target : id;
    o->target = id;
    return before == id ||
           error_set(
               e, ERROR_ARGUMENT,
               "-%c and -%c exclude each other: the kernel samples processes, threads, a user or cgroups, "
               "not one within another; -C combines with each",
               option_row(before)->letter, option_row(id)->letter);
}

/* Sets --cgroup. Several cgroups are compared side by side: rows are then grouped by cgroup. */
static bool set_cgroup(struct options *o, const char *value, struct error *e)
{
    if (!is_only_target(o, OPTION_CGROUP, e) || !scope_set_cgroup(&o->session.scope, value, e))
        return false;
    if (scope_cgroups(&o->session.scope) > 1 && o->ui.group == VIEW_GROUP_SYMBOL)
        o->ui.group = VIEW_GROUP_CGROUP_SYMBOL;
    return true;
}

static bool set_window(struct options *o, const char *value, struct error *e)
{
    double seconds = 0;
    if (strcmp(value, "0") && !set_seconds(&seconds, OPTION_WINDOW, value, e))
        return false;
    o->ui.window_ns = (uint64_t)(seconds * NS_PER_SEC);
    o->window_named = true;
    return true;
}

bool options_set_flag(bool *to, enum option_id id, const char *value, struct error *e)
{
    static const char *const yes[] = { "yes", "true", "on", "1" }, *const no[] = { "no", "false", "off",
                                                                                   "0" };
    *to = true;
    for (int i = 0; value && i < 4; i++)
        if (!strcmp(value, yes[i]))
            return true;
    *to = !value;
    for (int i = 0; value && i < 4; i++)
        if (!strcmp(value, no[i]))
            return true;
    return !value ||
           error_set(e, ERROR_ARGUMENT, "%s = %s: yes or no is needed", option_row(id)->name, value);
}

static bool set_stat(struct options *o, const char *value, struct error *e)
{
    o->mode = RUN_STAT;
    o->stat_csv = value && !strcmp(value, "csv");
    return !value || o->stat_csv || !strcmp(value, "text") ||
           error_set(e, ERROR_ARGUMENT, "--stat %s: text or csv is needed, or nothing", value);
}

bool options_set(struct options *o, enum option_id id, const char *value, struct error *e)
{
    struct session_config *s = &o->session;
    switch (id) {
    case OPTION_EVENT:
        return options_set_event(o, value, e);
    case OPTION_PRESET:
        return set_preset(o, value, e);
    case OPTION_FILTER:
        return options_set_filter(o, value, e);
    case OPTION_STAT:
        return set_stat(o, value, e);
    case OPTION_FREQ:
        s->freq_named = true;
        return set_number(&s->freq_hz, id, value, 1, FREQ_MAX, e);
    case OPTION_COUNT:
        return set_number(&s->period, id, value, 1, UINT64_C(1) << 62, e);
    case OPTION_CALL_GRAPH:
        return set_call_graph(o, value, e);
    case OPTION_G:
        s->callchain = CALLCHAIN_AUTO;
        s->stack_bytes = 0;
        return true;
    case OPTION_HIDE_KERNEL:
        return options_set_flag(&s->scope.no_kernel, id, value, e);
    case OPTION_NO_INTERPRETED:
        return options_set_flag(&o->session.no_interpreted, id, value, e);
    case OPTION_HIDE_USER:
        return options_set_flag(&s->scope.no_user, id, value, e);
    case OPTION_PID:
        return is_only_target(o, id, e) && scope_set_pids(&s->scope, value, false, e);
    case OPTION_TID:
        return is_only_target(o, id, e) && scope_set_pids(&s->scope, value, true, e);
    case OPTION_USER:
        return is_only_target(o, id, e) && scope_set_user(&s->scope, value, e);
    case OPTION_CPU:
        return scope_set_cpus(&s->scope, value, e);
    case OPTION_CGROUP:
        return set_cgroup(o, value, e);
    case OPTION_NO_INHERIT:
        return options_set_flag(&s->scope.no_inherit, id, value, e);
    case OPTION_HISTORY:
        return set_history(o, value, e);
    case OPTION_DELAY:
        return set_delay(o, value, e);
    case OPTION_SORT:
        o->ui.sort = value;
        return true;
    case OPTION_COLUMNS:
        o->ui.columns = value;
        return true;
    case OPTION_VIEW:
        o->ui.view = value;
        o->view_named |= !o->in_config;
        return true;
    case OPTION_DETAIL:
    case OPTION_SPLIT:
        return set_counters(o, id, value, e);
    case OPTION_GROUP_BY:
        return set_group(o, value, e);
    case OPTION_WINDOW:
        return set_window(o, value, e);
    case OPTION_IDLE:
        return options_set_flag(&o->ui.show_idle, id, value, e);
    case OPTION_NO_INLINE:
        return options_set_flag(&o->ui.no_inlines, id, value, e);
    case OPTION_THEME:
        o->ui.theme = value;
        return true;
    case OPTION_NO_COLOR:
        return options_set_flag(&o->ui.no_color, id, value, e);
    case OPTION_NO_UNICODE:
        return options_set_flag(&o->ui.no_unicode, id, value, e);
    case OPTION_MOUSE:
        return options_set_flag(&o->ui.mouse, id, value, e);
    case OPTION_COMPRESS:
        return options_set_flag(&o->session.compress, id, value, e);
    case OPTION_NO_CACHE:
        return options_set_flag(&o->session.no_cache, id, value, e);
    case OPTION_DEBUGINFOD:
        return options_set_debuginfod(o, value, e);
    case OPTION_BATCH:
        o->mode = RUN_BATCH;
        return true;
    case OPTION_ITERATIONS:
        return set_number(&o->iterations, id, value, 1, UINT32_MAX, e);
    case OPTION_DURATION:
        return set_seconds(&o->duration_s, id, value, e);
    case OPTION_OUTPUT:
        o->output = value;
        return *value || error_set(e, ERROR_ARGUMENT, "-o: a file name is needed, or - for standard output");
    case OPTION_EXPORT:
        o->export_format = value;
        return true;
    case OPTION_FOLD:
        return options_set_fold(o, value, e);
    case OPTION_AS_PERF:
        return options_set_flag(&o->exports.as_perf, id, value, e);
    case OPTION_FIELDS:
        o->exports.fields = value;
        return script_fields(value, &(unsigned){ 0 }, e);
    case OPTION_INPUT:
        s->input = value;
        return true;
    case OPTION_SYMFS:
        s->symfs = value;
        return true;
    case OPTION_KALLSYMS:
        s->kallsyms = value;
        return true;
    case OPTION_VMLINUX:
        s->vmlinux = value;
        return true;
    case OPTION_CONFIG:
        o->config_path = value;
        return true;
    case OPTION_LIST_EVENTS:
        o->mode = RUN_LIST_EVENTS;
        o->list_glob = value;
        return true;
    case OPTION_LIST_PRESETS:
        o->mode = RUN_LIST_PRESETS;
        return true;
    case OPTION_LIST_EXPORTS:
        o->mode = RUN_LIST_EXPORTS;
        return true;
    case OPTION_GENERATE:
        o->mode = RUN_GENERATE;
        o->generate = value;
        return true;
    case OPTION_COMPLETE:
        o->mode = RUN_COMPLETE;
        o->generate = value;
        return true;
    case OPTION_VERSION:
        o->mode = RUN_VERSION;
        return true;
    case OPTION_HELP:
        o->mode = RUN_HELP;
        return true;
    case OPTION_DIFF_RANGE:
        return options_set_diff_range(o, value, e);
    case OPTION_DIFF:
        o->diff = value;
        return true;
    default:
        return options_set_picture(&o->exports, id, value, e);
    }
}
