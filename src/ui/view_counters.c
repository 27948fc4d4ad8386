// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters view: what `perf stat -a -d` prints, live, per interval, with its history and per CPU. It
 * counts only while it is looked at. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/count.h"
#include "session/box.h"
#include "ui/app.h"
#include "ui/bars.h"
#include "ui/list.h"
#include "ui/view.h"

#define TREND 60 /* intervals kept per row */

struct counters_view {
    struct count_set *set;
    struct error why_not;                /* when set is NULL */
    char opened_for[160];                /* the scope that set counts */
    uint32_t trend[COUNT_EVENTS][TREND]; /* per second, scaled down to fit; the newest is last */
    double rates[COUNT_EVENTS][TREND];
    uint32_t n_trend;
    struct box_cpus cpus;
    bool per_cpu, first_read_done;
    struct list list; /* scrolls the CPUs when there are many */
};

static void *counters_create(struct app *a)
{
    struct counters_view *c = mem_zalloc(sizeof *c);
    (void)a;
    c->per_cpu = true;
    return c;
}

static void counters_close(struct counters_view *c)
{
    if (c->set)
        count_close(c->set);
    c->set = NULL;
    c->n_trend = 0;
    c->first_read_done = false;
    c->opened_for[0] = '\0';
}

static void counters_destroy(void *v)
{
    struct counters_view *c = v;
    counters_close(c);
    box_cpus_done(&c->cpus);
    mem_free(c);
}

/* Leaving the view stops the counting: a counter that nobody reads costs a little at every context switch. */
static void counters_hide(void *v, struct app *a)
{
    (void)a;
    counters_close(v);
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    (void)ctx;
    return row + 1;
}

static void counters_open(struct counters_view *c, struct app *a)
{
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s %d %d", a->status.scope, a->status.no_kernel, a->status.no_user);
    if (!strcmp(wanted, c->opened_for))
        return;
    counters_close(c);
    error_clear(&c->why_not);
    snprintf(c->opened_for, sizeof c->opened_for, "%s", wanted);
    c->set = count_open(session_running_scope(a->session), &c->why_not);
}

/* Sparklines want whole numbers: each rate as thousandths of the row's largest. */
static void push_trend(struct counters_view *c)
{
    double seconds = count_interval_ns(c->set) / 1e9;
    uint32_t keep = c->n_trend < TREND ? c->n_trend : TREND - 1;
    for (uint32_t row = 0; row < count_rows(c->set) && row < COUNT_EVENTS; row++) {
        struct count_value v = count_total(c->set, row);
        memmove(c->rates[row], c->rates[row] + (c->n_trend - keep), keep * sizeof c->rates[row][0]);
        c->rates[row][keep] = v.state == COUNT_OK && seconds > 0 ? v.value / seconds : 0;
        double peak = 0;
        for (uint32_t i = 0; i <= keep; i++)
            peak = c->rates[row][i] > peak ? c->rates[row][i] : peak;
        for (uint32_t i = 0; i <= keep; i++)
            c->trend[row][i] = peak > 0 ? (uint32_t)(1000 * c->rates[row][i] / peak) : 0;
    }
    c->n_trend = keep + 1;
}

static void counters_update(void *v, struct app *a)
{
    struct counters_view *c = v;
    if (a->status.file || a->status.frozen)
        return;
    counters_open(c, a);
    box_cpus_look(&c->cpus);
    if (!c->set || !count_read(c->set, &c->why_not))
        return;
    if (c->first_read_done)
        push_trend(c);
    c->first_read_done = true;
    list_update(&c->list, count_cpus(c->set), row_key, NULL);
}

/* ---- drawing ---- */

static void format_rate(const struct counters_view *c, uint32_t row, char *dst, size_t cap)
{
    struct count_value v = count_total(c->set, row);
    double seconds = count_interval_ns(c->set) / 1e9;
    char number[32];
    if (v.state == COUNT_NOT_SUPPORTED)
        snprintf(dst, cap, "<not supported>");
    else if (v.state == COUNT_NOT_COUNTED)
        snprintf(dst, cap, "<not counted>");
    else if (count_event_of(c->set, row) == COUNT_CLOCK)
        snprintf(dst, cap, "%.1f ms", seconds > 0 ? v.value / 1e6 / seconds : 0);
    else
        snprintf(dst, cap, "%s", text_si(number, sizeof number, seconds > 0 ? v.value / seconds : 0));
}

static bool without_pmu(const struct counters_view *c)
{
    int row = count_find(c->set, "cycles");
    return row >= 0 && count_total(c->set, (uint32_t)row).state == COUNT_NOT_SUPPORTED;
}

/* A line below the table says once what would be the same in each row. */
static const char *why_not(const struct counters_view *c, uint32_t row)
{
    const char *why = count_why_not(c->set, row);
    if (count_total(c->set, row).state == COUNT_NOT_SUPPORTED && without_pmu(c))
        return "";
    return why ? why : "never scheduled: too many events at a time";
}

/* perf's "/sec" are seconds of the time that CPUs (or tasks) were watched for, not of the clock on the
 * wall. */
static void draw_metric(const struct counters_view *c, struct area area, int y, uint32_t row)
{
    struct count_metric metric;
    if (!count_metric(c->set, row, &metric))
        return;
    const char *per = strstr(metric.unit, "/sec");
    if (per)
        draw_printf(area, y, 49, STYLE_NORMAL, "%s %.*s%sper CPU second", metric.value,
                    (int)(per - metric.unit), metric.unit, per > metric.unit ? " " : "");
    else
        draw_printf(area, y, 49, STYLE_NORMAL, "%s %s", metric.value, metric.unit);
}

static void draw_row(const struct counters_view *c, struct area area, int y, uint32_t row)
{
    char rate[40], spark[TREND * 4 + 1];
    struct count_value v = count_total(c->set, row);
    bool counted = v.state == COUNT_OK;
    format_rate(c, row, rate, sizeof rate);
    draw_elided(area, y, 0, 25, counted ? STYLE_NORMAL : STYLE_DIM, count_name(c->set, row), false);
    draw_right(area, y, 25, 16, counted ? STYLE_NAME : STYLE_DIM, rate);
    if (!counted) {
        draw_elided(area, y, 49, area.cols - 49, STYLE_DIM, why_not(c, row), false);
        return;
    }
    draw_printf(area, y, 41, STYLE_NORMAL, "%6.0f", 100 * v.running);
    draw_metric(c, area_sub(area, 0, 0, -1, area.cols >= 84 ? 74 : area.cols), y, row);
    int columns = area.cols - 76;
    if (columns >= 8) {
        bar_spark_fit(spark, sizeof spark, c->trend[row], c->n_trend,
                      columns < TREND ? (size_t)columns : TREND, term_glyphs());
        draw_text(area, y, 75, STYLE_SPARK, spark);
    }
}

static void draw_cpu(const struct counters_view *c, struct area area, int y, int col, uint32_t i)
{
    uint32_t number = count_cpu_number(c->set, i);
    const struct box_cpu *use = box_cpus_find(&c->cpus, number);
    double busy = use ? use->busy_percent : -1, ipc;
    char bar[128];
    draw_printf(area, y, col, STYLE_LABEL, "%4u", number);
    if (busy < 0) {
        draw_text(area, y, col + 5, STYLE_DIM, "...");
        return;
    }
    bar_horizontal(bar, sizeof bar, busy / 100, 16, term_glyphs());
    draw_text(area, y, col + 5, app_share_style(busy), bar);
    draw_printf(area, y, col + 22, STYLE_NORMAL, "%3.0f%%", busy);
    if (count_ipc(c->set, (int)i, &ipc))
        draw_printf(area, y, col + 27, STYLE_NORMAL, "IPC %.2f", ipc);
}

#define CPU_COLUMNS 38
static void draw_cpus(struct counters_view *c, struct area area)
{
    uint32_t n = count_cpus(c->set);
    int across = area.cols / CPU_COLUMNS > 0 ? area.cols / CPU_COLUMNS : 1;
    if (!n || area.rows < 2)
        return;
    int rows = area.rows - 1;
    uint32_t lines = (n + (uint32_t)across - 1) / (uint32_t)across;
    uint32_t first = lines > (uint32_t)rows ? c->list.cursor / (uint32_t)across : 0;
    if (first + (uint32_t)rows > lines)
        first = lines > (uint32_t)rows ? lines - (uint32_t)rows : 0;
    double ipc;
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 0, STYLE_TABLE_HEAD, " CPU  BUSY%s%s", count_ipc(c->set, 0, &ipc) ? ", IPC" : "",
                lines > (uint32_t)rows ? "   (more: arrows)" : "");
    for (uint32_t i = first * (uint32_t)across; i < n; i++) {
        int y = 1 + (int)(i / (uint32_t)across - first);
        if (y > rows)
            break;
        draw_cpu(c, area, y, (int)(i % (uint32_t)across) * CPU_COLUMNS, i);
    }
}

static void draw_nothing(const struct counters_view *c, const struct app *a, struct area area)
{
    char text[sizeof c->why_not.text], key[16];
    struct area in = area_sub(area, 1, 2, -1, area.cols - 4);
    (void)snprintf(text, sizeof text, "counting ...");
    if (a->status.file)
        (void)snprintf(text, sizeof text,
                       "Counters are of a running machine: a perf.data holds samples only.");
    else if (a->held)
        (void)snprintf(text, sizeof text, "What was sampled has ended: there is nothing to count.");
    else if (a->status.frozen)
        (void)snprintf(text, sizeof text, "Frozen before anything was counted here: %s thaws.",
                       keymap_first(a->keymap, ACTION_FREEZE, key));
    else if (*c->why_not.text)
        (void)snprintf(text, sizeof text, "%s", c->why_not.text);
    (void)draw_wrapped(in, 0, STYLE_DIM, text);
}

static void counters_draw(void *v, struct app *a, struct area area)
{
    struct counters_view *c = v;
    int y = 0;
    if (a->status.file || !c->set || !c->first_read_done) {
        draw_nothing(c, a, area);
        return;
    }
    draw_fill(area, y, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, y, 0, STYLE_TABLE_HEAD, "%-25s%16s%6s  %-26s%s", "EVENT", "COUNT/s", "RUN%", "METRIC",
                area.cols >= 84 ? "TREND" : "");
    for (uint32_t row = 0; row < count_rows(c->set) && row < COUNT_EVENTS; row++)
        draw_row(c, area, ++y, row);
    const char *note = count_scope_note(c->set);
    if (note)
        draw_elided(area, ++y, 0, area.cols, STYLE_DEGRADED, note, false);
    if (without_pmu(c))
        y += draw_wrapped(area, y + 1, STYLE_DIM,
                          "no hardware counters: a hypervisor has to give the guest a virtual PMU (KVM: -cpu "
                          "host,pmu=on)");
    if (c->per_cpu)
        draw_cpus(c, area_sub(area, y + 2, 0, area.rows - y - 2, -1));
}

static unsigned counters_act(void *v, struct app *a, enum action action)
{
    struct counters_view *c = v;
    (void)a;
    if (action == ACTION_COUNTERS_CPUS) {
        c->per_cpu = !c->per_cpu;
        return APP_REDRAW;
    }
    return list_act(&c->list, action, row_key, NULL) ? APP_REDRAW : APP_IGNORED;
}

static void counters_describe(void *v, struct app *a, char *dst, size_t cap)
{
    (void)v;
    snprintf(dst, cap, "per second, last %.3g s", a->delay_s);
}

const struct view_ops view_counters_ops = {
    .name = "counters",
    .title = "Counters",
    .intro = "What perf stat -a -d prints, for the present scope: events per second since the last redraw. "
             "RUN% is the "
             "share of the time for which an event had a hardware counter; counts are scaled up by it.",
    .number = 4,
    .scope = SCOPE_KEYS_COUNTERS,
    .no_query = true,
    .create = counters_create,
    .destroy = counters_destroy,
    .hide = counters_hide,
    .update = counters_update,
    .draw = counters_draw,
    .act = counters_act,
    .describe = counters_describe,
};
