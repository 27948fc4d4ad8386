// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line and the config file, checks their combination, and prints --help. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#define FREQ_DEFAULT     99
#define HISTORY_DEFAULT  (UINT64_C(64) << 20)
#define WINDOW_DEFAULT_S 60

#define LONG_BASE 256 /* getopt_long() returns this plus the id for a long option */

static void getopt_tables(char *letters, struct option *longs)
{
    *letters++ = '+'; /* stop at the command: its options belong to it */
    *letters++ = ':';
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        int argument = !*option_table[i].arg         ? no_argument
                       : *option_table[i].arg == '[' ? optional_argument
                                                     : required_argument;
        longs[i] = (struct option){ option_table[i].name, argument, NULL, LONG_BASE + i };
        if (!option_table[i].letter)
            continue;
        *letters++ = option_table[i].letter;
        if (argument == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
}

/* Reports an unknown option. arg: the last argument that getopt read; for a letter it may be the previous
 * one. */
static bool unknown_option(const char *arg, struct error *e)
{
    const char *names[OPTION_COUNT_ALL];
    char word[64];
    for (int i = 0; i < OPTION_COUNT_ALL; i++)
        names[i] = option_table[i].name;
    if (optopt >= LONG_BASE)
        return error_set(e, ERROR_ARGUMENT, "--%s takes no argument", option_table[optopt - LONG_BASE].name);
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
        snprintf(option, sizeof option, "--%s", option_table[optopt - LONG_BASE].name);
    else
        snprintf(option, sizeof option, "-%c", optopt);
    return error_set(e, ERROR_ARGUMENT, "%s: an argument is needed (see flametop --help)", option);
}

static enum option_id id_of(int c)
{
    if (c >= LONG_BASE)
        return (enum option_id)(c - LONG_BASE);
    for (int i = 0; i < OPTION_COUNT_ALL; i++)
        if (option_table[i].letter == c)
            return (enum option_id)i;
    return OPTION_COUNT_ALL;
}

/* Parses argv in two passes: the first sets the options that are FIRST in options.def, the second all others.
 * The config file is read between the two. */
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
        if (*option_table[id].arg == '[' && !value && optind < argc && argv[optind][0] != '-')
            value = argv[optind++];
        if ((option_table[id].where == WHERE_FIRST) == first && !options_set(o, id, value, e))
            return false;
    }
    if (optind < argc) {
        if (strcmp(argv[optind - 1], "--"))
            return error_set(e, ERROR_ARGUMENT,
                             "%s is not an option: a command to run and profile goes after --", argv[optind]);
        o->session.command = argv + optind;
    }
    return true;
}

static bool refuse(struct error *e, const char *what)
{
    return error_set(e, ERROR_ARGUMENT, "%s", what);
}

bool options_only_count(const struct options *o)
{
    return o->mode == RUN_BATCH && o->ui.view && !strcmp(o->ui.view, "counters");
}

static bool check_combinations(struct options *o, struct error *e)
{
    const struct session_config *s = &o->session;
    struct error why = { 0 };
    if (s->command && s->scope.kind != SCOPE_ALL)
        return refuse(e,
                      "a command after -- and -p, -t, -u or -G exclude each other: the command is the scope");
    if (s->scope.no_inherit && !s->command && !scope_may_stop_inheriting(&s->scope, &why))
        return error_set(e, why.class, "--no-inherit: %s", why.text);
    if (o->mode == RUN_BATCH && o->output)
        return refuse(e,
                      "-b prints to standard output: leave out -o, or record with --duration in place of -b");
    if (s->scope.no_kernel && s->scope.no_user)
        return refuse(e, "-K and -U together leave nothing to sample");
    if (o->mode == RUN_STAT && s->input)
        return refuse(e, "--stat counts live events: leave out -i");
    if (o->mode == RUN_THREADS && s->scope.kind != SCOPE_PIDS)
        return refuse(e, "--threads lists the threads of processes: -p PID is needed");
    if (o->mode == RUN_THREADS && (o->output || o->duration_s > 0))
        return refuse(e, "--threads prints the present threads: leave out -o and --duration");
    if (s->freq_named && s->period)
        return refuse(e, "-F and -c exclude each other: a frequency or a period");
    if (o->mode == RUN_BATCH && (o->diff || o->diff_range))
        return refuse(e, "--diff and --diff-range print one comparison: leave out -b");
    if (o->export_format && options_only_count(o) && strcmp(o->export_format, "json"))
        return error_set(e, ERROR_ARGUMENT,
                         "--export %s: counters are printed as text or as JSON: leave it out, "
                         "or give json",
                         o->export_format);
    if (o->export_format && !o->output && !options_only_count(o))
        return refuse(e, "--export needs -o FILE (- is standard output)");
    if (o->mode == RUN_SCREEN && o->duration_s > 0)
        o->mode = RUN_RECORD;
    if (o->mode == RUN_SCREEN && s->input && (o->output || !isatty(STDOUT_FILENO)))
        o->mode = RUN_REPORT;
    if (o->mode == RUN_SCREEN && o->output) /* like perf record -o: until the command ends or ^C */
        o->mode = RUN_RECORD;
    if (o->latencies && o->mode == RUN_SCREEN)
        o->mode = s->input ? RUN_REPORT : RUN_RECORD;
    o->session.command_to_log = o->session.leaves_in_time = o->mode == RUN_SCREEN;
    if ((o->mode == RUN_BATCH || (o->mode == RUN_REPORT && !o->output)) &&
        o->given[OPTION_VIEW] == GIVEN_ON_LINE &&
        (!strcmp(o->ui.view, "flame") || !strcmp(o->ui.view, "time")))
        return refuse(e, "--view flame and --view time need the screen: -o FILE.svg writes a flame graph, "
                         "--view callgraph lists the callers");
    if (o->iterations && o->mode != RUN_BATCH)
        return refuse(e, "-n goes with -b: the number of text updates");
    return true;
}

/* Refuses comparison options without a comparison. */
static bool check_comparison(const struct options *o, struct error *e)
{
    if (o->diff || o->diff_range)
        return true;
    if (o->given[OPTION_NEGATE])
        return refuse(
            e, "--negate swaps the signs of a comparison: give --diff FILE or --diff-range, or leave it out");
    if (o->given[OPTION_DIFF_BY])
        return refuse(
            e,
            "--diff-by selects what a comparison counts: give --diff FILE or --diff-range, or leave it out");
    return true;
}

/* The waits view shows nothing else than time off the CPU. */
static bool wants_waits(const struct options *o)
{
    return o->given[OPTION_VIEW] == GIVEN_ON_LINE && !strcmp(o->ui.view, "waits") &&
           !o->session.event_named && !o->session.input;
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
    o->ui.query.window_ns = WINDOW_DEFAULT_S * NS_PER_SEC;
    o->ui.query.group_sums = true;
    if (!parse_arguments(o, argc, argv, true, e))
        return false;
    if (o->mode == RUN_LIST_EVENTS && o->mode_arg && text_begins_with(o->mode_arg, PROBES_MARKERS))
        return parse_arguments(o, argc, argv, false, e) && options_take_scope(o, e); /* for -p */
    if (o->mode != RUN_SCREEN)
        return true; /* --help works even if the config is broken */
    o->in_config = true;
    if (!config_read(o, e))
        return false;
    o->in_config = false;
    /* -e replaces the config's events, and -c its frequency. */
    struct session_config *s = &o->session;
    bool config_events = s->event_named;
    s->event_named = false;
    bool ok = parse_arguments(o, argc, argv, false, e);
    if (ok && wants_waits(o))
        ok = options_set_off_cpu(o, "", e);
    s->freq_named = o->given[OPTION_FREQ] == GIVEN_ON_LINE;
    if (s->freq_named || s->period) /* overrides the rates of a preset */
        memset(s->samplings, 0, sizeof s->samplings);
    if (ok && s->event_named && options_only_count(o)) /* events of the config are for sampling only */
        ok = error_set(e, ERROR_ARGUMENT,
                       "-b --view counters counts a fixed set of events: --stat counts those of -e");
    s->event_named |= config_events;
    s->freq_named |= o->given[OPTION_FREQ] && !s->period;
    o->ui.keys = o->keys.items;
    o->ui.n_keys = o->keys.n;
    s->chosen = o->chosen.items;
    s->n_chosen = o->chosen.n;
    if (o->session.input && !o->given[OPTION_WINDOW])
        o->ui.query.window_ns = 0; /* show the whole file */
    return ok && options_take_scope(o, e) && check_combinations(o, e) && check_comparison(o, e) &&
           options_take_events(o, e);
}

void options_done(struct options *o)
{
    for (size_t i = 0; i < o->strings.n; i++)
        mem_free(o->strings.items[i]);
    mem_free(o->strings.items);
    mem_free(o->keys.items);
    mem_free(o->servers);
    preset_list_done(&o->presets);
    scope_done(&o->session.scope);
    event_list_done(&o->events);
    mem_free(o->chosen.items);
}

/* Puts the text from column 29 on, with a line break after the separator where a word would pass column
 * 100. */
static void help_text(struct buf *out, const char *text, char between)
{
    int column = 29;
    while (*text) {
        int word = (int)(strchrnul(text, between) - text);
        if (column + word > 100) {
            buf_printf(out, "\n%29s", "");
            column = 29;
        }
        word += text[word] != '\0';
        buf_printf(out, "%.*s", word, text);
        column += word;
        text += word;
    }
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
    buf_printf(out, "%-28s ", left);
    if (strlen(left) > 28)
        buf_printf(out, "\n%29s", "");
    help_text(out, r->help, ' ');
    if (strchr(r->arg, '|')) {
        buf_printf(out, "\n%29s(", "");
        help_text(out, r->arg, '|');
        buf_putc(out, ')');
    }
    buf_putc(out, '\n');
}

void options_help(struct buf *out)
{
    const char *heading = "";
    buf_puts(out, "flametop [options] [-- command [args...]]\n"
                  "See live which functions burn the CPU, and follow the hot path into the kernel.\n");
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        if (strcmp(heading, option_table[i].heading)) {
            heading = option_table[i].heading;
            buf_printf(out, "\n%s\n", heading);
        }
        help_row(out, &option_table[i]);
    }
    buf_puts(out, "\nKeys: F1 in the program. Manual: man flametop.\n");
}
