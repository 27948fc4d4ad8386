// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a session without a screen: text updates of -b, recordings of --duration or -o, and reports of -i. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "export/export.h"
#include "cli/options.h"
#include "perf/probe.h"

#define BATCH_ROWS    40
#define FETCH_WAIT_NS (300 * NS_PER_SEC)
#define NAMES_WAIT_NS (30 * NS_PER_SEC)
#define SILENCE_NS    (2 * NS_PER_SEC) /* after this long a message says what the program waits for */

static volatile sig_atomic_t batch_signal, batch_signals;

static void on_signal(int sig)
{
    batch_signal = sig;
    batch_signals++;
}

static bool stopped(void)
{
    return batch_signal != 0;
}

static struct {
    sig_atomic_t signals; /* batch_signals when the wait began */
    uint64_t tell_ns;     /* when to print the message; 0: it was printed */
} wait_for_names;

static bool hurried(void)
{
    if (wait_for_names.tell_ns && clock_now_ns() >= wait_for_names.tell_ns) {
        wait_for_names.tell_ns = 0;
        fprintf(stderr,
                "flametop: names, source lines and unwind tables are still being read, for %llu s at most; "
                "^C writes what is read by now\n",
                (unsigned long long)(NAMES_WAIT_NS / NS_PER_SEC));
    }
    return batch_signals != wait_for_names.signals;
}

/* Lets the last result wait for names up to NAMES_WAIT_NS: unlike a screen, it is not updated later. */
static void be_patient(struct session *s)
{
    wait_for_names.signals = batch_signals;
    wait_for_names.tell_ns = clock_now_ns() + SILENCE_NS;
    session_set_patience(s, NAMES_WAIT_NS, hurried);
}

/* Prints what the written result lacks because it was not read in time. */
static void tell_missing(struct session *s)
{
    struct session_missing m;
    if (!session_missing(s, &m))
        return;
    struct buf text = { 0 };
    if (m.modules)
        buf_printf(&text, ", names of %u file%s", m.modules, m.modules == 1 ? "" : "s");
    if (m.mangled)
        buf_printf(&text, ", %u demangled name%s", m.mangled, m.mangled == 1 ? "" : "s");
    if (m.stacks)
        buf_printf(&text, ", unwind tables of %llu stack%s (truncated)", (unsigned long long)m.stacks,
                   m.stacks == 1 ? "" : "s");
    fprintf(stderr, "flametop: missing because it was not read in time: %s\n", buf_str(&text) + 2);
    buf_done(&text);
}

static void catch_signals(void)
{
    struct sigaction sa = { .sa_handler = on_signal };
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &sa, NULL);
    probe_release_signals();
}

static bool over(struct session *s)
{
    struct session_status st;
    session_get_status(s, &st);
    return st.targets_gone || st.file || *st.fatal || session_command_status(s) >= 0;
}

/* Returns the exporter with the name of the view, which prints it as text; NULL: the functions table. */
static const struct exporter *view_text(const struct options *o)
{
    for (size_t i = 0; o->ui.view && i < export_table_n; i++)
        if (!strcmp(o->ui.view, export_table[i]->name))
            return export_table[i];
    return o->latencies ? &export_latency : NULL;
}

static bool print_text(struct session *s, const struct options *o, const struct view_query *q, struct view *v,
                       struct buf *out, struct error *e)
{
    const struct exporter *x = view_text(o);
    if (x)
        return export_text(x, s, q, &o->exports, out, e);
    export_query(s, q, v); /* waits for names: text is not updated later */
    report_print(s, q, v, BATCH_ROWS, out);
    return true;
}

/* Refuses --took without an event that it applies to. */
static bool check_took(struct session *s, const struct options *o, struct error *e)
{
    struct session_chosen *list;
    if (!o->ui.query.max_ns)
        return true;
    uint32_t n = session_chosen(s, &list), i = 0;
    while (i < n && !list[i].latency)
        i++;
    mem_free(list);
    return i < n || error_set(e, ERROR_ARGUMENT,
                              "--took: no event has durations of operations: -e latency:ROW chooses one, and "
                              "--list-latency lists them");
}

static bool print_frame(struct session *s, const struct options *o, struct view *v, struct error *e)
{
    struct view_query q = o->ui.query;
    struct buf out = { 0 };
    struct session_chosen *list;
    uint32_t n = session_chosen(s, &list), printed = 0;
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        if ((list[i].samples && !list[i].implied) || (i + 1 == n && !printed)) {
            ok = (!list[i].samples || session_show_event(s, i, e)) && print_text(s, o, &q, v, &out, e);
            buf_putc(&out, '\n');
            printed++;
        }
    mem_free(list);
    ok = ok && file_write_all(STDOUT_FILENO, buf_str(&out), out.len, e);
    buf_done(&out);
    return ok;
}

/* Appends the samples since the last call, and how many were lost meanwhile. */
struct log_stream {
    struct log_rows rows;
    struct log_ask ask;
    uint64_t lost;
};
static bool print_log(struct session *s, const struct options *o, struct log_stream *log, struct buf *out,
                      struct error *e)
{
    if (o->exports.log_by.n) {
        bool ok = export_text(&export_log, s, &o->ui.query, &o->exports, out, e);
        buf_putc(out, '\n');
        return ok;
    }
    struct session_status st;
    struct view_query q = o->ui.query;
    q.all_events = true;
    q.window_ns = 0;
    if (!log->ask.most)
        log_text_head(out);
    log->ask.most = SIZE_MAX;
    if (!session_log_rows(s, &q, &log->ask, &log->rows, e))
        return false;
    uint64_t base_ns = log_text_base(s);
    for (size_t i = 0; i < log->rows.n; i++)
        log_text_row(&log->rows, i, base_ns, out);
    log->ask.from = log->rows.next;
    session_get_status(s, &st);
    if (st.lost > log->lost)
        buf_printf(out, "[lost: %llu]\n", (unsigned long long)(st.lost - log->lost));
    log->lost = st.lost;
    return true;
}

static bool write_log(struct session *s, const struct options *o, struct log_stream *log, struct error *e)
{
    struct buf out = { 0 };
    bool ok = print_log(s, o, log, &out, e) && file_write_all(STDOUT_FILENO, buf_str(&out), out.len, e);
    buf_done(&out);
    return ok;
}

static bool run_frames(struct session *s, const struct options *o, struct error *e)
{
    struct view v = { 0 };
    struct log_stream log = { 0 };
    bool streams = view_text(o) == &export_log;
    uint64_t delay_ns = (uint64_t)(o->ui.delay_s * NS_PER_SEC);
    uint64_t now_ns = clock_now_ns();
    uint64_t end_ns = o->duration_s > 0 ? now_ns + (uint64_t)(o->duration_s * NS_PER_SEC) : UINT64_MAX;
    bool ok = check_took(s, o, e), last = false;
    for (uint64_t i = 0; ok && !last && (!o->iterations || i < o->iterations); i++) {
        session_wait(s, end_ns - now_ns < delay_ns ? end_ns - now_ns : delay_ns, stopped);
        now_ns = clock_now_ns();
        last = stopped() || over(s) || now_ns >= end_ns;
        if (last) {
            session_stop(s); /* the last update includes every sample */
            be_patient(s);
        }
        ok = streams ? write_log(s, o, &log, e) : print_frame(s, o, &v, e);
    }
    log_rows_done(&log.rows);
    view_done(&v);
    return ok;
}

/* Waits for debug files from servers, up to FETCH_WAIT_NS or ^C. */
static void fetch_names(struct session *s, const struct view_query *q)
{
    struct view v = { 0 };
    export_query(s, q, &v);
    session_settle_fetches(s, FETCH_WAIT_NS, hurried);
    view_done(&v);
}

/* Exports by a plan: lists what the file will hold, then writes it. */
static bool export_planned(const struct exporter *x, struct session *s, const struct view_query *q,
                           const struct options *o, const char *path, struct error *e)
{
    struct buf list = { 0 };
    void *plan = export_make_plan(x->plan, s, q, &o->exports, path, e);
    if (!plan)
        return false;
    x->plan->list(plan, &list);
    fprintf(stderr, "flametop: %s will hold\n%s", path, buf_str(&list));
    bool ok = x->plan->write(plan, path, e);
    x->plan->free(plan);
    buf_done(&list);
    return ok;
}

/* Checks a range of --diff-range: its beginning must be within the recording. */
static bool check_range(struct session *s, const char *of, double from_s, double to_s, struct error *e)
{
    struct session_status st;
    session_get_status(s, &st);
    double lasts = (double)st.elapsed_ns / NS_PER_SEC;
    if (to_s > 0 && from_s >= lasts)
        return error_set(e, ERROR_ARGUMENT, "--diff-range %.15g..%.15g is past the end: %s lasts %.3f s",
                         from_s, to_s, of, lasts);
    if (st.file && to_s > lasts + 0.001)
        fprintf(stderr, "flametop: %s lasts %.3f s: --diff-range %.15g..%.15g is compared only up to there\n",
                of, lasts, from_s, to_s);
    return true;
}

static bool check_ranges(struct session *s, const struct options *o, struct error *e)
{
    const struct session_baseline *b = &o->exports.baseline;
    const char *own = o->session.input ? o->session.input : "the recording";
    if (!o->diff_range)
        return true;
    if (b->session && b->session != s)
        session_wait(b->session, UINT64_MAX / 4, NULL); /* until the file is read */
    return (!b->session || check_range(b->session, b->session == s ? own : o->diff, b->from_s, b->to_s, e)) &&
           check_range(s, own, o->from_s, o->to_s, e);
}

/* Warns about a file extension that no format has: it may be a typing error. */
static void tell_of_ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (dot && dot[1] && strcmp(dot, export_perfdata.suffix))
        fprintf(
            stderr,
            "flametop: no format has the extension %s: wrote a perf.data (--export NAME chooses a format, "
            "--list-exports lists them)\n",
            dot);
}

/* Says which event a format of one event holds, if other events have samples too. */
static void tell_of_events(struct session *s, const struct exporter *x)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(s, &list), with_samples = 0;
    const char *shown = "";
    for (uint32_t i = 0; i < n; i++) {
        with_samples += list[i].samples > 0 && !list[i].wakers && !list[i].implied;
        if (list[i].shown)
            shown = list[i].name;
    }
    if (with_samples > 1 && !x->all_events && !x->sections)
        fprintf(stderr, "flametop: %u events have samples; %s holds only %s: -e chooses another\n",
                with_samples, x->name, shown);
    mem_free(list);
}

static void tell_of_file(struct session *s, const struct exporter *x, const char *path,
                         const struct view_query *q)
{
    struct session_status st;
    struct buf selected = { 0 };
    session_get_status(s, &st);
    export_put_selection(&selected, "; selected: ", &st, q);
    fprintf(stderr, "flametop: wrote %s (%s; %llu samples, %llu lost%s)\n", path, x->name,
            (unsigned long long)st.samples, (unsigned long long)st.lost, buf_str(&selected));
    buf_done(&selected);
}

/* Writes the output of -o, or prints the report. No view was chosen: formats for other tools hold all
 * samples, as from perf record. */
static bool write_output(struct session *s, const struct options *o, struct error *e)
{
    const char *path = o->output ? o->output : "-";
    const struct exporter *text = view_text(o) ? view_text(o) : &export_report;
    const struct exporter *x = o->output ? export_find(o->export_format, path, e) : text;
    struct view_query q = o->ui.query;
    struct export_options exports = o->exports;
    if (!x)
        return false;
    exports.each_event = true;
    be_patient(s);
    if (!check_ranges(s, o, e) || !check_took(s, o, e))
        return false;
    if (o->to_s > 0)
        session_set_range(s, o->from_s, o->to_s, &q);
    else if (!o->given[OPTION_WINDOW])
        q.window_ns = 0;
    q.show_idle |= x->whole;
    q.all_events = x->all_events;
    tell_of_events(s, x);
    if (x != &export_perfdata && o->session.debuginfod)
        fetch_names(s, &q);
    if (!(x->plan ? export_planned(x, s, &q, o, path, e) : export_run(x, s, &q, &exports, path, e)))
        return false;
    tell_missing(s);
    if (strcmp(path, "-") && !o->export_format && x == &export_perfdata)
        tell_of_ending(path);
    if (strcmp(path, "-"))
        tell_of_file(s, x, path, &q);
    return true;
}

/* Without a time limit and a command nothing else shows that sampling has begun, and how it ends. */
static void tell_of_end(const struct options *o)
{
    if (o->duration_s <= 0 && !o->session.command && isatty(STDERR_FILENO))
        fputs("flametop: recording until ^C\n", stderr);
}

static bool run_record(struct session *s, const struct options *o, struct error *e)
{
    uint64_t ns = o->duration_s > 0 ? (uint64_t)(o->duration_s * NS_PER_SEC) : UINT64_MAX / 4;
    tell_of_end(o);
    session_wait(s, ns, stopped);
    session_stop(s);
    return write_output(s, o, e);
}

/* Reads the file to its end. ^C stops reading and keeps what was read. */
static void read_file(struct session *s)
{
    session_wait(s, UINT64_MAX / 4, stopped);
    if (!stopped())
        return;
    session_stop_reading(s);
    session_wait(s, UINT64_MAX / 4, NULL);
}

int batch_run(struct session *s, const struct options *o, struct error *e)
{
    catch_signals();
    bool ok;
    if (o->mode == RUN_BATCH) {
        if (o->session.input)
            read_file(s);
        ok = run_frames(s, o, e);
    } else if (o->mode == RUN_REPORT) {
        read_file(s);
        ok = write_output(s, o, e);
    } else {
        ok = run_record(s, o, e);
    }
    struct session_status st;
    session_get_status(s, &st);
    if (ok && *st.fatal)
        ok = error_set(e, ERROR_SYSTEM, "%s", st.fatal);
    int command = session_command_status(s);
    /* A command may fail before it is sampled: its own status then says more than "nothing to write". */
    if (!ok)
        return command > 0 && e->class == ERROR_MISSING ? command : 1;
    if (o->mode == RUN_REPORT)
        return 0;
    /* like perf record, which also writes its file */
    return command > 0 ? command : batch_signal ? 128 + batch_signal : 0;
}
