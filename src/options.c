// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/script.h"

#define FREQ_DEFAULT 99
#define FREQ_MAX 1000000
#define HISTORY_DEFAULT (UINT64_C(64) << 20)
#define HISTORY_MIN (UINT64_C(1) << 20)
#define WINDOW_DEFAULT_S 60
#define DELAY_MIN_S      0.1

#define LONG_BASE 256 /* of what getopt_long() returns for long options */

static const struct option_row rows[] = {
#define OPTION(id, letter, name, arg, config, heading, help) { letter, name, arg, config, heading, help },
#include "options.def"
#undef OPTION
};

const struct option_row *option_row(enum option_id id)
{
    return &rows[id];
}

static bool set_number(uint64_t *to, enum option_id id, const char *value, uint64_t min, uint64_t max, struct error *e)
{
    return text_parse_u64(value, min, max, to) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: a whole number from %llu to %llu is needed", rows[id].name, value,
                     (unsigned long long)min, (unsigned long long)max);
}

static bool set_seconds(double *to, enum option_id id, const char *value, struct error *e)
{
    return (text_parse_seconds(value, to) && *to <= 1e7) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: seconds are needed, such as 0.5 or 10", rows[id].name, value);
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
        return error_set(e, ERROR_ARGUMENT, "--history %s: at least 1M, and no more than this machine has", value);
    return true;
}

int options_word_of(enum option_id id, const char *value, struct error *e)
{
    char words[256];
    const char *names[32];
    size_t n = 0;
    snprintf(words, sizeof words, "%s", rows[id].arg);
    for (char *save, *word = strtok_r(words, "|", &save); word && n < 32; word = strtok_r(NULL, "|", &save))
        names[n++] = strsep(&word, "[");
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], value))
            return (int)i;
    int near = text_nearest(value, names, n);
    error_set(e, ERROR_ARGUMENT, "--%s %s: one of %s is needed", rows[id].name, value, rows[id].arg);
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
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: the size must be a multiple of 8 bytes", text);
    if (bytes > LIVE_STACK_BYTES_MAX)
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: the kernel takes %d bytes of a stack at most", text,
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
    return modes[word] == CALLCHAIN_DWARF ? set_stack_bytes(o, value + length + 1, e)
                                          : error_set(e, ERROR_ARGUMENT, "--call-graph %s: only dwarf takes a size",
                                                      value);
}

static bool set_group(struct options *o, const char *value, struct error *e)
{
    int word = options_word_of(OPTION_GROUP_BY, value, e);
    for (int g = 0; g < VIEW_GROUP_COUNT && word >= 0; g++)
        if (!strcmp(view_group_names[g], value))
            o->ui.group = (enum view_group)g;
    return word >= 0;
}

/* The words are in the order of what they mean. */
static bool set_counters(struct options *o, enum option_id id, const char *value, struct error *e)
{
    int word = options_word_of(id, value, e);
    if (word >= 0 && id == OPTION_DETAIL)
        o->ui.counters_detail = (unsigned)word + 1;
    else if (word >= 0)
        o->ui.counters_by = (enum count_by)word;
    return word >= 0;
}

/* Whom to measure is said once; CPUs go with each of them. */
static bool is_only_target(struct options *o, enum option_id id, struct error *e)
{
    enum option_id before = o->target ? o->target : id;
    o->target = id;
    return before == id ||
           error_set(e, ERROR_ARGUMENT,
                     "-%c and -%c exclude each other: the kernel measures processes, threads, users or cgroups, not those of "
                     "one within another; -C goes with each of them",
                     rows[before].letter, rows[id].letter);
}

/* Several cgroups are named to stand side by side. */
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
    static const char *const yes[] = { "yes", "true", "on", "1" }, *const no[] = { "no", "false", "off", "0" };
    *to = true;
    for (int i = 0; value && i < 4; i++) {
        if (!strcmp(value, yes[i]))
            return true;
        *to = false;
        if (!strcmp(value, no[i]))
            return true;
    }
    return !value || error_set(e, ERROR_ARGUMENT, "%s = %s: yes or no is needed", rows[id].name, value);
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

static void getopt_tables(char *letters, struct option *longs)
{
    *letters++ = '+'; /* the command's own options are its own */
    *letters++ = ':';
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        int argument = !*rows[i].arg ? no_argument : *rows[i].arg == '[' ? optional_argument : required_argument;
        longs[i] = (struct option){ rows[i].name, argument, NULL, LONG_BASE + i };
        if (!rows[i].letter)
            continue;
        *letters++ = rows[i].letter;
        if (argument == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
}

/* arg: the one that getopt looked at last; of a letter it may be the one before. */
static bool unknown_option(const char *arg, struct error *e)
{
    const char *names[OPTION_COUNT_ALL];
    char word[64];
    for (int i = 0; i < OPTION_COUNT_ALL; i++)
        names[i] = rows[i].name;
    if (optopt >= LONG_BASE)
        return error_set(e, ERROR_ARGUMENT, "--%s takes no argument", rows[optopt - LONG_BASE].name);
    if (optopt) {
        error_set(e, ERROR_ARGUMENT, "unknown option -%c", optopt);
        return error_hint(e, "flametop --help lists them");
    }
    error_set(e, ERROR_ARGUMENT, "unknown option %s", arg);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
    int near = text_nearest(word, names, OPTION_COUNT_ALL);
    return near >= 0 ? error_hint(e, "did you mean --%s?", names[near])
                     : error_hint(e, "flametop --help lists them");
}

static bool missing_argument(struct error *e)
{
    char option[64];
    if (optopt >= LONG_BASE)
        snprintf(option, sizeof option, "--%s", rows[optopt - LONG_BASE].name);
    else
        snprintf(option, sizeof option, "-%c", optopt);
    return error_set(e, ERROR_ARGUMENT, "%s: an argument is needed; flametop --help tells which", option);
}

static enum option_id id_of(int c)
{
    if (c >= LONG_BASE)
        return (enum option_id)(c - LONG_BASE);
    for (int i = 0; i < OPTION_COUNT_ALL; i++)
        if (rows[i].letter == c)
            return (enum option_id)i;
    return OPTION_COUNT_ALL;
}

/* What must not depend on the config file. */
static bool is_first(enum option_id id)
{
    switch (id) {
    case OPTION_CONFIG:
    case OPTION_LIST_EVENTS:
    case OPTION_LIST_EXPORTS:
    case OPTION_LIST_PRESETS:
    case OPTION_GENERATE:
    case OPTION_VERSION:
    case OPTION_HELP:
        return true;
    default:
        return false;
    }
}

/* The first pass takes --config, --help and their like, the second all else: what the config says stands between. */
static bool parse_arguments(struct options *o, int argc, char **argv, bool first, struct error *e)
{
    char letters[3 * OPTION_COUNT_ALL + 3];
    struct option longs[OPTION_COUNT_ALL + 1] = { 0 };
    getopt_tables(letters, longs);
    opterr = 0;
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        if (c == '?')
            return unknown_option(argv[optind - 1], e);
        if (c == ':')
            return missing_argument(e);
        enum option_id id = id_of(c);
        const char *value = optarg;
        /* --list-events GLOB reads as well as --list-events=GLOB */
        if (*rows[id].arg == '[' && !value && optind < argc && argv[optind][0] != '-')
            value = argv[optind++];
        if (is_first(id) == first && !options_set(o, id, value, e))
            return false;
    }
    if (optind < argc) {
        if (strcmp(argv[optind - 1], "--"))
            return error_set(e, ERROR_ARGUMENT, "%s: what is this? A command to run and profile goes after --",
                             argv[optind]);
        o->session.command = argv + optind;
    }
    return true;
}

static bool refuse(struct error *e, const char *what)
{
    return error_set(e, ERROR_ARGUMENT, "%s", what);
}

static bool check_combinations(struct options *o, struct error *e)
{
    const struct session_config *s = &o->session;
    struct error why = { 0 };
    if (s->command && s->scope.kind != SCOPE_ALL)
        return refuse(e, "a command after -- and -p, -t, -u or -G exclude each other: the command is what is measured");
    if (s->input && (s->command || s->scope.kind != SCOPE_ALL || s->scope.cpus || s->scope.no_kernel ||
                     s->scope.no_user))
        return refuse(e, "-i opens a file: there is nobody to measure (leave out -p, -t, -u, -C, -G, -K, -U and the "
                         "command)");
    if (s->scope.no_inherit && !s->command && !scope_may_stop_inheriting(&s->scope, &why))
        return error_set(e, why.class, "--no-inherit: %s", why.text);
    if (o->mode == RUN_BATCH && o->output)
        return refuse(e, "-b prints to standard output: leave out -o, or record with --duration in place of -b");
    if (s->scope.no_kernel && s->scope.no_user)
        return refuse(e, "-K and -U together leave nothing to sample");
    if (o->mode == RUN_STAT && s->input)
        return refuse(e, "--stat counts what runs now: leave out -i");
    if (s->freq_named && s->period)
        return refuse(e, "-F and -c exclude each other: a frequency or a period");
    if (o->mode == RUN_BATCH && (o->diff || o->diff_range))
        return refuse(e, "--diff and --diff-range make one comparison: leave out -b");
    if (o->export_format && !o->output)
        return refuse(e, "--export needs -o FILE (- is standard output)");
    if (o->mode == RUN_SCREEN && o->duration_s > 0)
        o->mode = RUN_RECORD;
    if (o->mode == RUN_SCREEN && s->input && (o->output || !isatty(STDOUT_FILENO)))
        o->mode = RUN_REPORT;
    if (o->mode == RUN_SCREEN && o->output) /* as perf record -o: until the command ends or ^C */
        o->mode = RUN_RECORD;
    o->session.command_to_log = o->mode == RUN_SCREEN;
    if (o->iterations && o->mode != RUN_BATCH)
        return refuse(e, "-n goes with -b: frames as text");
    return true;
}

bool options_parse(struct options *o, int argc, char **argv, struct error *e)
{
    memset(o, 0, sizeof *o);
    scope_init(&o->session.scope);
    event_default(&o->session.events[0]);
    o->session.n_events = 1;
    o->session.freq_hz = FREQ_DEFAULT;
    o->session.callchain = OPTIONS_DEFAULT_CALLCHAIN;
    o->session.history_bytes = HISTORY_DEFAULT;
    o->ui.delay_s = 1;
    o->ui.window_ns = WINDOW_DEFAULT_S * NS_PER_SEC;
    if (!parse_arguments(o, argc, argv, true, e))
        return false;
    if (o->mode != RUN_SCREEN)
        return true; /* --help helps though the config is broken */
    if (!config_read(o, e))
        return false;
    /* -e replaces what the config names, and -c a frequency of it */
    struct session_config *s = &o->session;
    bool config_events = s->event_named, config_freq = s->freq_named;
    s->event_named = s->freq_named = false;
    bool ok = parse_arguments(o, argc, argv, false, e);
    if (s->freq_named || s->period) /* named beside a preset */
        memset(s->samplings, 0, sizeof s->samplings);
    s->event_named |= config_events;
    s->freq_named |= config_freq && !s->period;
    o->ui.keys = o->keys;
    o->ui.n_keys = o->n_keys;
    if (o->session.input && !o->window_named)
        o->ui.window_ns = 0; /* a file is looked at whole */
    return ok && check_combinations(o, e) && options_take_events(o, e);
}

void options_done(struct options *o)
{
    for (size_t i = 0; i < o->n_strings; i++)
        mem_free(o->strings[i]);
    mem_free(o->strings);
    mem_free(o->keys);
    mem_free(o->servers);
    preset_list_done(&o->presets);
    scope_done(&o->session.scope);
    event_list_done(&o->events);
}

static void help_row(struct buf *out, const struct option_row *r)
{
    char left[64];
    int n = r->letter ? snprintf(left, sizeof left, "  -%c, --%s", r->letter, r->name)
                      : snprintf(left, sizeof left, "      --%s", r->name);
    if (*r->arg && strlen(r->arg) <= 16)
        snprintf(left + n, sizeof left - (size_t)n, " %s", r->arg);
    else if (*r->arg)
        snprintf(left + n, sizeof left - (size_t)n, " WORD");
    const char *help = r->help;
    buf_printf(out, "%-28s ", left);
    if (strlen(left) > 28)
        buf_printf(out, "\n%29s", "");
    for (int column = 29; *help;) { /* broken at spaces, 100 columns */
        int word = (int)strcspn(help, " ");
        if (column + word > 100) {
            buf_printf(out, "\n%29s", "");
            column = 29;
        }
        buf_printf(out, "%.*s%s", word, help, help[word] ? " " : "");
        column += word + 1;
        help += word + (help[word] == ' ');
    }
    if (strchr(r->arg, '|'))
        buf_printf(out, "\n%29s(%s)", "", r->arg);
    buf_putc(out, '\n');
}

void options_help(struct buf *out)
{
    const char *heading = "";
    buf_puts(out, "flametop [options] [-- command [args...]]\n"
                  "See live which functions burn the CPU, and follow the hot path into the kernel.\n");
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        if (strcmp(heading, rows[i].heading)) {
            heading = rows[i].heading;
            buf_printf(out, "\n%s\n", heading);
        }
        help_row(out, &rows[i]);
    }
    buf_puts(out, "\nKeys: F1 in the program. Manual: man flametop.\n");
}
