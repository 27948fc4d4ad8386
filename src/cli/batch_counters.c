// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints -b --view counters: counts as text, like perf stat -I, or as JSON. It opens no session and samples
 * nothing. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/options.h"
#include "export/counters_json.h"
#include "perf/open.h"
#include "perf/targets.h"
#include "session/counters.h"
#include "session/machine_load.h"

static volatile sig_atomic_t stop_signal;
static sigset_t while_asleep;

static void on_signal(int sig)
{
    stop_signal = sig;
}

/* Unblocks the signals only during ppoll(), so that none is missed between the test of stop_signal and the
 * sleep. */
static void catch_signals(void)
{
    struct sigaction sa = { .sa_handler = on_signal };
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &sa, NULL);
        sigaddset(&ours, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &while_asleep);
}

/* Sleeps until ns of the monotonic clock, or a signal. */
static void sleep_until(uint64_t ns)
{
    uint64_t left;
    do {
        uint64_t now = clock_now_ns();
        left = now < ns ? ns - now : 0;
        struct timespec t = { (time_t)(left / NS_PER_SEC), (long)(left % NS_PER_SEC) };
        ppoll(NULL, 0, &t, &while_asleep); /* even if no time is left: a signal may be pending */
    } while (left && !stop_signal);
}

static void end_line(struct buf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_putc(out, '\n');
}

static void print_event(const struct counters *c, uint32_t row, struct buf *out)
{
    struct count_value v = count_total(c->set, row);
    enum count_event event = count_event_of(c->set, row);
    struct count_metric metric;
    char count[40] = "", rate[40], why[512];
    bool fine = event >= COUNT_ENERGY_CORES;
    if (v.state == COUNT_OK)
        (void)snprintf(count, sizeof count, fine ? "%.2f" : "%.0f", v.value);
    count_text(rate, sizeof rate, event, &v, (double)count_interval_ns(c->set) / NS_PER_SEC);
    buf_printf(out, "%-26s %18s %16s ", count_name(c->set, row), count, rate);
    if (v.state == COUNT_OK)
        buf_printf(out, "%5.1f  ", 100 * v.running);
    if (count_metric(c->set, row, &metric))
        buf_printf(out, "%s %s", metric.value, metric.unit);
    if (v.state == COUNT_NOT_COUNTED) {
        counters_explain(c, row, why, sizeof why);
        buf_printf(out, "       %s", strstr(why, ">: ") ? strstr(why, ">: ") + 3 : why);
    } else if (v.state != COUNT_OK && !c->without_pmu) {
        buf_printf(out, "       %s", count_why_not(c->set, row) ? count_why_not(c->set, row) : "");
    }
    end_line(out);
}

static void print_part(const struct counters *c, const struct counters_part *p, struct buf *out)
{
    bool task = c->by == COUNT_BY_PROCESS || c->by == COUNT_BY_THREAD;
    char name[128], text[32];
    if (task)
        (void)snprintf(name, sizeof name, "%u %s", p->part.number, p->part.name);
    else
        (void)snprintf(name, sizeof name, "%s", p->part.name);
    buf_printf(out, "%-26s ", name);
    if (p->busy.now >= 0)
        buf_printf(out, "%6.1f", p->busy.now);
    else
        buf_printf(out, "%6s", "");
    for (uint32_t i = 0; i < count_columns_n; i++) {
        if (!counters_has_column(c, i))
            continue;
        (void)count_column_text(i, p->part.values, count_interval_ns(c->set), text, sizeof text);
        buf_printf(out, " %*s", count_columns[i].width, text);
    }
    end_line(out);
}

static void print_parts(const struct counters *c, struct buf *out)
{
    buf_printf(out, "\n%-26s %6s", count_by_names[c->by], "BUSY%");
    for (uint32_t i = 0; i < count_columns_n; i++)
        if (counters_has_column(c, i))
            buf_printf(out, " %*s", count_columns[i].width, count_columns[i].title);
    end_line(out);
    for (uint32_t i = 0; i < c->n_parts; i++)
        print_part(c, &c->parts[i], out);
}

static void put_frame(const struct counters *c, const struct machine_load *l, const struct scope *scope,
                      struct buf *out)
{
    struct tm tm;
    char when[32], target[600];
    time_t now = time(NULL);
    strftime(when, sizeof when, "%F %T", localtime_r(&now, &tm));
    scope_describe(scope, target, sizeof target);
    buf_printf(out, "flametop counters  %s  %s  %.3f s\n", when, target,
               (double)count_interval_ns(c->set) / NS_PER_SEC);
    if (count_scope_note(c->set))
        buf_printf(out, "%s\n", count_scope_note(c->set));
    buf_printf(out, "%-26s %18s %16s %5s  %s\n", "EVENT", "COUNT", "COUNT/s", "RUN%", "METRIC");
    for (uint32_t row = 0; row < count_rows(c->set); row++)
        print_event(c, row, out);
    if (c->without_pmu)
        buf_printf(out, "%s\n", counters_pmu_hint);
    machine_load_print(l, out);
    print_parts(c, out);
    buf_putc(out, '\n');
}

static bool print_frame(const struct counters *c, const struct machine_load *l, const struct options *o,
                        struct error *e)
{
    struct buf out = { 0 };
    if (o->export_format)
        counters_json(c, l, &o->session.scope, &out);
    else
        put_frame(c, l, &o->session.scope, &out);
    bool ok = file_write_all(STDOUT_FILENO, buf_str(&out), out.len, e);
    buf_done(&out);
    return ok;
}

static bool count(struct counters *c, const struct options *o, struct error *e)
{
    struct targets targets;
    uint64_t start = clock_now_ns(), delay = (uint64_t)((o->ui.delay_s > 0 ? o->ui.delay_s : 1) * NS_PER_SEC),
             next = start;
    uint64_t end = o->duration_s > 0 ? start + (uint64_t)(o->duration_s * NS_PER_SEC) : UINT64_MAX;
    bool ok = true, last = false;
    struct machine_load load = { 0 };
    machine_load_open(&load, &o->session.scope);
    targets_init(&targets, &o->session.scope, false);
    for (uint64_t i = 0; ok && !last && (!o->iterations || i < o->iterations); i++) {
        next = next + delay < end ? next + delay : end;
        sleep_until(next);
        last = stop_signal || clock_now_ns() >= end || !targets_alive(&targets);
        machine_load_read(&load);
        ok = counters_read(c, e) && (!c->counted || print_frame(c, &load, o, e));
    }
    targets_done(&targets);
    machine_load_done(&load);
    return ok;
}

int batch_counters(const struct options *o, struct error *e)
{
    struct counters c = { .how.detail = o->ui.counters_detail, .by = o->ui.counters_by };
    if (o->session.command || o->session.input) {
        error_set(e, ERROR_ARGUMENT,
                  o->session.input ? "counters need a running system: a perf.data holds samples only"
                                   : "-b --view counters counts running processes: give -p PID instead of "
                                     "a command");
        return 1;
    }
    catch_signals();
    open_raise_limit();
    bool ok = counters_open(&c, &o->session.scope, e);
    if (ok && c.by != o->ui.counters_by && o->ui.counters_by)
        fprintf(stderr, "flametop: the totals cannot be split by %s here\n",
                count_by_names[o->ui.counters_by]);
    if (ok && count_total(c.set, 0).state == COUNT_NOT_SUPPORTED)
        ok = error_set(
            e, ERROR_SYSTEM, "nothing can be counted: %s%s", count_why_not(c.set, 0),
            geteuid() && o->session.scope.kind == SCOPE_ALL ? "; -p PID counts one of your processes" : "");
    ok = ok && count(&c, o, e);
    counters_done(&c);
    return ok ? 0 : 1;
}
