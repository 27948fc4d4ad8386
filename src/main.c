// SPDX-License-Identifier: GPL-2.0-or-later
/* flametop: a live terminal profiler. main() parses the options and runs the chosen mode.
 *
 * The source tree (a folder uses only folders listed below it; doc/architecture.md says more):
 *
 *   options.def    table of all options; options.c parses the command line, config.c the config file, and
 *                  both set an option by options_set.c
 *   batch.c        runs without a screen: -b, --duration, -i with output to a pipe
 *   document.c     the manual, from the tables; completions.c: shell completions; candidates.c: --complete
 *   features.c     --version
 *   stat.c         --stat: counts events, as perf stat does
 *   threads.c      --threads: what the threads of a process do now
 *   list_events.c  --list-events; list_latency.c: --list-latency
 *   probes.c       --list-probes, --remove-probes, --probe-definition; markers of --list-events
 *   servers.c      --debuginfod: the list of servers
 *   waiting.c      the progress line while a recording is read from a pipe
 *   ui/            the screens: term (curses), app (loop), widgets, one file per view
 *   export/        file formats, one file each
 *   session/       owns the folders below: source and switches, collector, bounds, queries with names,
 *                  snapshots
 *   symbols/       names: the symbolizer, its worker process, and the worker's parsers
 *   unwind/        unwinds stacks from registers and stack memory, by tables that the worker compiles
 *   profile/       stacks, history, queries, functions, call tree, flame layout: numbers only, no names
 *   perfdata/      reads and writes perf.data
 *   process/       processes and their mappings; the opener, a process that opens files of other users
 *   perf/          kernel interface: events, rings, records, counters
 *   base/          memory, strings, maps, files, errors
 */
#include <errno.h>
#if defined(FLAMETOP_STATIC) && __has_include(<nss.h>)
#include <nss.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/export.h"
#include "cli/options.h"
#include "perfdata/spool.h"
#include "process/opener.h"
#include "symbols/jvm.h"
#include "symbols/livestacks.h"
#include "symbols/probes.h"

#define EXIT_USAGE 2

/* Prints an error and returns status. A reader that closed the pipe (EPIPE) is no error. */
static int complain(const struct error *e, int status)
{
    if (e->sys == EPIPE)
        return status;
    fprintf(stderr, "flametop: %s\n", e->text);
    if (*e->shown)
        fprintf(stderr, "  %s\n  %*s^\n", e->shown, (int)e->column, "");
    return status;
}

static int print_and_free(struct buf *out)
{
    struct error e = { 0 };
    bool ok = file_write_all(STDOUT_FILENO, buf_str(out), out->len, &e);
    buf_done(out);
    return ok ? 0 : complain(&e, 1);
}

/* ---- --list-exports ---- */

static int list_exports(void)
{
    struct buf out = { 0 };
    for (size_t i = 0; i < export_table_n; i++)
        buf_printf(&out, "  %-12s %-16s %s\n", export_table[i]->name, export_table[i]->suffix,
                   export_table[i]->help);
    return print_and_free(&out);
}

static int list_presets(void)
{
    struct preset_list presets = { 0 };
    struct buf out = { 0 };
    struct error e = { 0 };
    bool ok = preset_read(&presets, &e);
    preset_print(&presets, &out);
    preset_list_done(&presets);
    int status = print_and_free(&out);
    return ok ? status : complain(&e, EXIT_USAGE);
}

/* ---- the screens ---- */

static int run_screen(struct session *s, struct options *o, struct error *e)
{
    char config[1024];
    o->ui.config_path = config_own_path(o, config, sizeof config);
    o->ui.config_model = config_model_path(o);
    o->ui.baseline = o->exports.baseline;
    o->ui.negate = o->exports.svg.negate;
    o->ui.from_s = o->from_s;
    o->ui.to_s = o->to_s;
    o->ui.exporters = export_table;
    o->ui.n_exporters = export_table_n;
    o->ui.export_options = &o->exports;
    o->ui.export_run = export_run;
    int status = ui_run(s, &o->ui, e);
    return status < 0 ? complain(e, 1) : status;
}

/* Opens the baseline of --diff, if there is one. It is read in the background. */
static bool open_before(struct options *o, struct error *e)
{
    const char *slash = o->diff ? strrchr(o->diff, '/') : NULL;
    if (!o->diff)
        return true;
    struct session_config *cfg = mem_alloc(sizeof *cfg);
    *cfg = o->session;
    cfg->input = o->diff;
    cfg->command = NULL;
    cfg->latency = false;
    cfg->n_chosen = 0; /* the baseline may have other events: the compared event is found by name */
    scope_init(&cfg->scope);
    o->exports.baseline.name = slash ? slash + 1 : o->diff;
    o->exports.baseline.session = session_open(cfg, e);
    mem_free(cfg);
    return o->exports.baseline.session || error_hint(e, "--diff needs a perf.data");
}

/* True if the report needs callchains as recorded. With --fold raw, names and stacks are those of the
 * screen. */
static bool wants_whole_chains(const struct options *o)
{
    struct error e = { 0 };
    const struct exporter *x = o->output ? export_find(o->export_format, o->output, &e) : NULL;
    return o->mode == RUN_REPORT && x && x->as_recorded && !o->exports.fold_raw;
}

/* Latencies are printed without stacks, which cost more than the rest. */
static void leave_stacks_out(struct options *o)
{
    struct error e = { 0 };
    const struct exporter *x = o->output ? export_find(o->export_format, o->output, &e) : &export_latency;
    bool chosen = o->given[OPTION_CALL_GRAPH] == GIVEN_ON_LINE || o->given[OPTION_G];
    if (o->latencies && !chosen && (x == &export_latency || x == &export_json))
        o->session.callchain = CALLCHAIN_NONE;
}

/* Checks that the output format exists and allows the other options. */
static bool check_export(const struct options *o, struct error *e)
{
    const struct exporter *x = o->output ? export_find(o->export_format, o->output, e) : NULL;
    if (o->output && !x)
        return false;
    if (o->exports.as_perf && (!o->session.input || !wants_whole_chains(o)))
        return error_set(e, ERROR_ARGUMENT, "--as-perf needs --export folded or script, and a file (-i)");
    return (!o->diff && !o->diff_range) || !x || x->compares ||
           error_set(e, ERROR_ARGUMENT, "%s cannot compare; --export svg and --export report can", x->name);
}

/* Prints what the command wrote while the screen was on. */
static void print_output(struct session_output *o)
{
    if (o->dropped)
        fprintf(stderr, "flametop: the first %llu bytes of the command's output were dropped\n",
                (unsigned long long)o->dropped);
    (void)file_write_all(STDOUT_FILENO, buf_str(&o->text), o->text.len, NULL);
    buf_done(&o->text);
}

static int run_session(struct options *o)
{
    struct error e = { 0 };
    bool screen = o->mode == RUN_SCREEN;
    struct session_output output = { .dropped = 0 };
    if (!ui_check(&o->ui, &e))
        return complain(&e, EXIT_USAGE);
    bool piped =
        o->session.input && !strcmp(o->session.input, SPOOL_STANDARD_INPUT); /* keys come from /dev/tty */
    if (screen && ((!isatty(STDIN_FILENO) && !piped) || !isatty(STDOUT_FILENO))) {
        error_set(&e, ERROR_ARGUMENT,
                  "the screen needs a terminal; -b prints text updates, --duration SECS -o FILE records");
        return complain(&e, EXIT_USAGE);
    }
    if (!check_export(o, &e))
        return complain(&e, EXIT_USAGE);
    if (options_only_count(o))
        return batch_counters(o, &e) ? complain(&e, 1) : 0;
    if (screen)
        ui_prepare();
    if (!open_before(o, &e))
        return complain(&e, 1);
    o->session.whole_chains = wants_whole_chains(o);
    leave_stacks_out(o);
    o->session.as_perf = o->exports.as_perf;
    o->session.command_output = screen ? &output : NULL;
    o->session.wait = o->session.input ? waiting_begin() : NULL;
    struct session *s = session_open(&o->session, &e);
    if (o->session.wait)
        waiting_end();
    if (!s) {
        session_close(o->exports.baseline.session);
        return complain(&e, 1);
    }
    char range[64];
    if (o->diff_range && !o->diff) {
        snprintf(range, sizeof range, "seconds %.*s", (int)strcspn(o->diff_range, ","), o->diff_range);
        o->exports.baseline.session = s;
        o->exports.baseline.name = range;
    }
    int status = screen ? run_screen(s, o, &e) : batch_run(s, o, &e);
    int command = screen && !status ? session_command_status(s) : 0;
    if (o->diff)
        session_close(o->exports.baseline.session);
    session_close(s);
    print_output(&output);
    if (!screen && status && *e.text)
        complain(&e, status);
    return command > 0 ? command : status;
}

#define FILES_LEAST                                                                                          \
    64 /* for the terminal, the events of a few CPUs, symbol workers and the files that they read */

/* Raises the limit of open files to FILES_LEAST, which root may do. With fewer there are no names, and the
 * messages would be about random files that did not open. */
static bool may_open_files(struct error *e)
{
    struct rlimit lim, more;
    if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= FILES_LEAST)
        return true;
    more.rlim_cur = FILES_LEAST;
    more.rlim_max = lim.rlim_max > FILES_LEAST ? lim.rlim_max : FILES_LEAST;
    return !setrlimit(RLIMIT_NOFILE, &more) ||
           error_set(e, ERROR_LIMIT,
                     "flametop needs %d open files, and %llu are allowed here: ulimit -n %d, or more",
                     FILES_LEAST, (unsigned long long)lim.rlim_max, FILES_LEAST);
}

static int run(struct options *o)
{
    uint32_t removed, kept;
    struct buf out = { 0 };
    struct error e = { 0 };
    if (o->mode <= RUN_STAT && !geteuid()) /* what a flametop that was killed has left behind */
        probe_remove_dead(&removed, &kept, NULL);
    if (o->mode <= RUN_REPORT && !may_open_files(&e)) /* --stat skips events that do not open */
        return complain(&e, 1);
    switch (o->mode) {
    case RUN_HELP:
        options_help(&out);
        return print_and_free(&out);
    case RUN_VERSION:
        features_print(&out);
        return print_and_free(&out);
    case RUN_GENERATE:
        if (!document_generate(o->mode_arg, &out, &e))
            return complain(&e, EXIT_USAGE);
        return print_and_free(&out);
    case RUN_COMPLETE:
        candidates_print(o->mode_arg, &out);
        return print_and_free(&out);
    case RUN_LIST_EVENTS:
        if (o->mode_arg && text_begins_with(o->mode_arg, PROBES_MARKERS))
            return probes_list_markers(o->mode_arg, &o->session.scope, &e) ? 0 : complain(&e, 1);
        return list_events(o->mode_arg);
    case RUN_STAT: {
        int status = stat_run(o, &e);
        return *e.text ? complain(&e, status) : status;
    }
    case RUN_THREADS:
        return threads_run(o, &e) ? 0 : complain(&e, 1);
    case RUN_LIST_EXPORTS:
        return list_exports();
    case RUN_LIST_LATENCY:
        return list_latency(&e) ? 0 : complain(&e, EXIT_USAGE);
    case RUN_LIST_PROBES:
        return probes_list(&e) ? 0 : complain(&e, 1);
    case RUN_REMOVE_PROBES:
        return probes_remove(&e) ? 0 : complain(&e, 1);
    case RUN_PROBE_DEFINITION:
        return probes_print_definition(o->mode_arg, &e) ? 0 : complain(&e, EXIT_USAGE);
    case RUN_LIST_PRESETS:
        return list_presets();
    default:
        return run_session(o);
    }
}

/* Keeps a statically linked program from loading NSS modules of the system's libc, which may be another
 * version. */
static void keep_to_files(void)
{
#if defined(FLAMETOP_STATIC) && __has_include(<nss.h>)
    (void)__nss_configure_lookup("passwd", "files");
#endif
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], SYMBOL_WORKER_ARG))
        symbol_worker_main(3);
    if (argc == 3 && !strcmp(argv[1], JVM_ASK_ARG))
        jvm_ask_main(argv[2]);
    if (argc == 3 && !strcmp(argv[1], SYMBOL_FETCH_ARG))
        symbol_fetch_main(argv[2]);
    if (argc == 3 && !strcmp(argv[1], LIVESTACKS_ARG))
        livestacks_main(argv[2]);
    if (argc > 1 && !strcmp(argv[1], OPENER_ARG))
        opener_main(3);
    opener_enable();
    mem_prepare();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and the file size limit become errors of write(2) */
    signal(SIGXFSZ, SIG_IGN);
    keep_to_files();
    probe_set_finder(probes_find);
    /* static: if it were on the stack, a stack dump of limited size would not reach beyond main() */
    static struct options o;
    struct error e = { 0 };
    int status = options_parse(&o, argc, argv, &e) ? run(&o) : complain(&e, EXIT_USAGE);
    options_done(&o);
    return status;
}
