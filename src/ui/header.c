// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/bar.h"
#include "ui/bars.h"

#define COUNTS_COLS    49  /* usual width of the counts in the line of samples */
#define WORTH_SAYING   1.0 /* percent of stacks that are truncated or waiting */
#define SOME_TRUNCATED 5.0
#define MANY_TRUNCATED 20.0
#define TIGHT_ROWS     16 /* with fewer rows the view needs the lines more */
#define READING_BAR    20
#define READING_COLS   76
/* seconds; a sparkline that moves every second would be sent whole every second */
#define SPARK_STEP 5

static bool has_trouble(const struct app *a)
{
    return a->status.fatal[0] || a->status.targets_gone || a->status.n_notes;
}

int header_rows(const struct app *a, int screen_rows)
{
    if (screen_rows < 12)
        return 1;
    return (screen_rows < TIGHT_ROWS ? 1 : 3) + (has_trouble(a) ? 1 : 0);
}

/* --- event and scope --- */

enum { SEG_PROGRAM, SEG_WHERE, SEG_RELEASE, SEG_CPUS, SEG_EVENT, SEG_SCOPE, SEG_MODE, SEG_STACKS, SEGMENTS };
struct segment {
    char text[160];
    enum style style;
    int rank; /* highest is dropped first without room; 0: never dropped */
};

static void frequency_text(const struct session_status *s, char *dst, size_t cap)
{
    char number[32];
    if (s->freq_hz)
        (void)snprintf(dst, cap, "%.100s %lluHz", s->event, (unsigned long long)s->freq_hz);
    else if (s->period > 1)
        (void)snprintf(dst, cap, "%.100s every %s", s->event,
                       text_thousands(number, sizeof number, s->period));
    else
        (void)snprintf(dst, cap, "%.100s%s", s->event, s->period ? " each" : "");
    size_t used = strlen(dst);
    if (s->n_group_sums > 1)
        (void)snprintf(dst + used, cap - used, " [%u/%u]", s->group_column_index + 1, s->n_group_sums);
}

/* Returns ":u" if only user space is sampled or shown. */
static const char *mode_text(const struct app *a)
{
    bool user = a->status.no_kernel || a->query.mode == VIEW_MODE_USER;
    bool kernel = a->status.no_user || a->query.mode == VIEW_MODE_KERNEL;
    return user ? (kernel ? ":u and :k" : ":u") : kernel ? ":k" : "";
}

static void fill_segments(const struct app *a, struct segment seg[SEGMENTS])
{
    static const int ranks[SEGMENTS] = {
        [SEG_PROGRAM] = 3, [SEG_WHERE] = 2, [SEG_RELEASE] = 5, [SEG_CPUS] = 4, [SEG_STACKS] = 1
    };
    const struct session_status *s = &a->status;
    for (int i = 0; i < SEGMENTS; i++)
        seg[i] = (struct segment){ .style = STYLE_NORMAL, .rank = ranks[i] };
    seg[SEG_PROGRAM] = (struct segment){ "flametop", STYLE_NAME, ranks[SEG_PROGRAM] };
    text_elide(seg[SEG_WHERE].text, sizeof seg->text, s->file ? s->input : s->host, 40, true);
    (void)snprintf(seg[SEG_CPUS].text, sizeof seg->text, "%u cpu%s", s->cpus, s->cpus == 1 ? "" : "s");
    frequency_text(s, seg[SEG_EVENT].text, sizeof seg->text);
    if (a->data.wall)
        (void)snprintf(seg[SEG_EVENT].text, sizeof seg->text, "wall clock: %% of thread time");
    seg[SEG_EVENT].style = STYLE_LABEL;
    (void)snprintf(seg[SEG_MODE].text, sizeof seg->text, "%s", mode_text(a));
    seg[SEG_MODE].style = STYLE_TAGGED;
    (void)snprintf(seg[SEG_STACKS].text, sizeof seg->text, "stacks: %s", s->stacks);
    if (s->file) { /* the next line describes the recorded system */
        seg[SEG_WHERE].rank = 0;
        seg[SEG_CPUS].text[0] = '\0';
        return;
    }
    (void)snprintf(seg[SEG_RELEASE].text, sizeof seg->text, "%s", s->release);
    (void)snprintf(seg[SEG_SCOPE].text, sizeof seg->text, "scope: %s", s->scope);
}

static int segments_width(const struct segment *seg)
{
    int width = 0;
    for (int i = 0; i < SEGMENTS; i++)
        width += seg[i].text[0] ? text_width(seg[i].text) + 2 : 0;
    return width;
}

static void shrink(struct segment *seg, int which, int least, int room)
{
    int excess = segments_width(seg) - room, width = text_width(seg[which].text);
    char shorter[sizeof seg->text];
    if (excess <= 0 || width <= least)
        return;
    text_elide(shorter, sizeof shorter, seg[which].text, width - excess > least ? width - excess : least,
               true);
    memcpy(seg[which].text, shorter, sizeof shorter);
}

static void fit_segments(struct segment *seg, int room)
{
    while (segments_width(seg) > room) {
        int worst = -1;
        for (int i = 0; i < SEGMENTS; i++)
            if (seg[i].text[0] && seg[i].rank > 0 && (worst < 0 || seg[i].rank > seg[worst].rank))
                worst = i;
        if (worst < 0)
            break;
        seg[worst].text[0] = '\0';
    }
    shrink(seg, SEG_SCOPE, 20, room);
    shrink(seg, SEG_WHERE, 12, room);
    shrink(seg, SEG_EVENT, 12, room);
    shrink(seg, SEG_SCOPE, 8, room);
}

/* Writes "READING [####......] 42%  Esc: stop"; narrow screens have only the number. */
static void reading_text(const struct app *a, char *dst, size_t cap, int cols)
{
    char bar[READING_BAR + 1] = "", key[16];
    double share = a->status.read_share;
    for (int i = 0; i < READING_BAR; i++)
        bar[i] = share * READING_BAR >= i + 1 ? '#' : '.';
    if (cols < READING_COLS)
        (void)snprintf(dst, cap, "READING %.0f%%", 100 * share);
    else
        (void)snprintf(dst, cap, "READING [%s] %.0f%%  %s: stop", bar, 100 * share,
                       keymap_first(a->keymap, ACTION_BACK, key));
}

static void draw_first_line(const struct app *a, struct area area)
{
    const struct session_status *s = &a->status;
    struct segment seg[SEGMENTS];
    char time[32], state[96];
    const char *word = a->held ? "ENDED" : s->frozen ? "FROZEN" : s->file ? "FILE" : "LIVE";
    text_duration(time, sizeof time, s->elapsed_ns / 1000000000u);
    if (s->reading)
        reading_text(a, state, sizeof state, area.cols);
    else
        (void)snprintf(state, sizeof state, "%s %s", word, time);
    int width = text_width(state), col = 0;
    fill_segments(a, seg);
    fit_segments(seg, area.cols - width);
    for (int i = 0; i < SEGMENTS; i++)
        if (seg[i].text[0])
            col +=
                2 + draw_elided(area, 0, col, area.cols - width - 1 - col, seg[i].style, seg[i].text, true);
    draw_text(area, 0, area.cols - width, s->frozen ? STYLE_FROZEN : STYLE_LIVE, state);
}

/* --- the system --- */

static int draw_rate(struct area area, int row, int col, const char *label, double rate)
{
    char number[32], text[64];
    if (rate < 0)
        return 0;
    text_si(number, sizeof number, rate);
    (void)snprintf(text, sizeof text, "  %s %s/s", label, number);
    return draw_text(area, row, col, STYLE_NORMAL, text);
}

static void draw_meter(struct area area, int row, int col, int cols, const struct session_status *s)
{
    const double share[3] = { s->user_percent, s->system_percent, s->iowait_percent };
    const enum style styles[3] = { STYLE_METER_USER, STYLE_METER_SYSTEM, STYLE_METER_IOWAIT };
    const char *marks = term_colors() ? "|||" : "|#."; /* bold alone is hard to distinguish */
    double sum = 0;
    int at = 0;
    draw_text(area, row, col, STYLE_NORMAL, "[");
    for (int i = 0; i < 3; i++) {
        sum += share[i] > 0 ? share[i] : 0;
        int end = (int)(sum * cols / 100 + 0.5);
        end = end > cols ? cols : end;
        if (end > at)
            term_fill(area.y + row, area.x + col + 1 + at, end - at, styles[i], marks[i]);
        at = end > at ? end : at;
    }
    draw_text(area, row, col + 1 + cols, STYLE_NORMAL, "]");
}

static void draw_recorded(const struct session_status *s, struct area area, int row)
{
    int col = draw_text(area, row, 0, STYLE_LABEL, "recorded");
    if (s->host[0])
        col += draw_printf(area, row, col, STYLE_NORMAL, " on %s", s->host);
    if (s->release[0])
        col += draw_printf(area, row, col, STYLE_NORMAL, "  %s", s->release);
    if (s->cpus)
        draw_printf(area, row, col, STYLE_NORMAL, "  %u cpu%s", s->cpus, s->cpus == 1 ? "" : "s");
}

static void draw_machine_line(const struct app *a, struct area area, int row)
{
    const struct session_status *s = &a->status;
    char shares[96], ipc[32] = "";
    if (s->file) {
        draw_recorded(s, area, row);
        return;
    }
    if (s->user_percent < 0) {
        draw_text(area, row, 0, STYLE_NORMAL, "cpu ...");
        return;
    }
    (void)snprintf(shares, sizeof shares, " usr %2.0f%% sys %2.0f%%", s->user_percent, s->system_percent);
    if (s->iowait_percent >= 0.5)
        (void)snprintf(shares + strlen(shares), sizeof shares - strlen(shares), " iow %2.0f%%",
                       s->iowait_percent);
    if (s->ipc >= 0)
        (void)snprintf(ipc, sizeof ipc, "  IPC %.2f", s->ipc);
    else if (area.cols >= 90)
        (void)snprintf(ipc, sizeof ipc, "  IPC n/a");
    int room = area.cols - 4 - 2 - text_width(shares) - text_width(ipc) - 30;
    int bar = room < 8 ? 8 : room > 60 ? 60 : room;
    draw_text(area, row, 0, STYLE_LABEL, "cpu");
    draw_meter(area, row, 4, bar, s);
    int col = 6 + bar;
    col += draw_text(area, row, col, STYLE_NORMAL, shares);
    col += draw_text(area, row, col, STYLE_NORMAL, ipc);
    col += draw_rate(area, row, col, "cs", s->switches_per_sec);
    draw_rate(area, row, col, "flt", s->faults_per_sec);
}

/* --- the samples --- */

struct count {
    char text[48];
    enum style style;
};
#define COUNTS_MAX 7

static void add_count(struct count *counts, int *n, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void add_count(struct count *counts, int *n, enum style style, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(counts[*n].text, sizeof counts->text, fmt, ap);
    va_end(ap);
    counts[(*n)++].style = style;
}

/* A few truncated stacks are normal; with many, the numbers of callers are wrong. */
static enum style truncated_style(double percent)
{
    return percent >= MANY_TRUNCATED   ? STYLE_ALERT
           : percent >= SOME_TRUNCATED ? STYLE_DEGRADED
                                       : STYLE_NORMAL;
}

static int fill_counts(const struct app *a, struct count counts[COUNTS_MAX])
{
    const struct session_status *s = &a->status;
    const struct result *r = &a->data.result;
    char number[32];
    int n = 0;
    bool times = view_has_durations(&a->data);
    double all = (double)(times ? a->data.all_weight : a->data.all_samples);
    double idle = (double)(times ? a->data.idle_weight : a->data.idle_samples);
    uint64_t waiting = session_stacks_waiting(s, r->broken_samples);
    double cut = r->samples ? 100.0 * (double)(r->broken_samples - waiting) / (double)r->samples : 0;
    double waits = r->samples ? 100.0 * (double)waiting / (double)r->samples : 0;
    add_count(counts, &n, STYLE_NORMAL, "samples %s",
              text_thousands(number, sizeof number, s->event_samples));
    if (all > 0)
        add_count(counts, &n, STYLE_NORMAL, "idle %.0f%%", 100 * idle / all);
    add_count(counts, &n, s->lost ? STYLE_DEGRADED : STYLE_NORMAL, "lost %s",
              text_thousands(number, sizeof number, s->lost));
    if (waits >= WORTH_SAYING) /* for unwind tables */
        add_count(counts, &n, STYLE_NORMAL, "waiting %.0f%%", waits);
    if (cut >= WORTH_SAYING) /* the doctor lists which, and why */
        add_count(counts, &n, truncated_style(cut), "truncated %.0f%%", cut);
    if (s->throttled)
        add_count(counts, &n, STYLE_DEGRADED, "throttled %s",
                  text_thousands(number, sizeof number, s->throttled));
    if (!s->file)
        add_count(counts, &n, STYLE_NORMAL, "self %.1f%%", s->self_percent);
    return n;
}

static void draw_counts(const struct count *counts, int n, struct area area, int row, int col)
{
    for (int i = 0; i < n; i++)
        col += 2 + draw_text(area, row, col, counts[i].style, counts[i].text);
}

static void draw_samples_line(const struct app *a, struct area area, int row)
{
    const struct session_status *s = &a->status;
    char spark[SESSION_SPARK * 4 + 1], label[32];
    struct count counts[COUNTS_MAX];
    int n = fill_counts(a, counts), width = -2;
    for (int i = 0; i < n; i++)
        width += 2 + text_width(counts[i].text);
    /* The width depends on the screen, not on the digits, so that the time shown is stable. */
    int room = area.cols - width - 2 - 9, cols = area.cols - COUNTS_COLS - 2 - 9;
    cols = cols > SESSION_SPARK ? SESSION_SPARK : cols;
    cols = cols > room ? room : cols;
    if (cols < 8) {
        draw_counts(counts, n, area, row, 0);
        return;
    }
    draw_counts(counts, n, area, row, 9 + cols + 2);
    if (s->fetching[0]) { /* while it is running */
        draw_elided(area, row, 0, 9 + cols, STYLE_LABEL, s->fetching, true);
        return;
    }
    (void)snprintf(label, sizeof label, "last %ds", cols);
    draw_text(area, row, 0, STYLE_LABEL, label);
    int room_left = s->file ? 0 : SPARK_STEP - 1 - (int)(s->spark_sec % SPARK_STEP);
    int n_spark = cols - room_left; /* at most SESSION_SPARK */
    bar_spark(spark, sizeof spark, s->spark + SESSION_SPARK - n_spark, (size_t)n_spark, 0, term_glyphs());
    draw_text(area, row, 9, STYLE_SPARK, spark);
}

/* --- problems --- */

static void draw_ended(const struct app *a, struct area area, int row)
{
    char text[400], what[160], write[16], pick[16], help[16];
    int status = session_command_status(a->session);
    keymap_first(a->keymap, ACTION_WRITE, write);
    if (status >= 0)
        (void)snprintf(what, sizeof what, "the command, with status %d (%s: its output)", status,
                       keymap_first(a->keymap, ACTION_HELP, help));
    else
        (void)snprintf(what, sizeof what, "%.100s (%s: pick another)", a->status.scope,
                       keymap_first(a->keymap, ACTION_PROCESSES, pick));
    (void)snprintf(text, sizeof text, "ENDED %s: its samples stay, %s writes them", what, write);
    draw_elided(area, row, 0, area.cols, STYLE_DEGRADED, text, false);
}

/* Returns the first note about wrong or incomplete numbers, else the first note. */
static const struct live_note *first_note(const struct session_status *s)
{
    for (uint32_t i = 0; i < s->n_notes; i++)
        if (!s->notes[i].calm)
            return &s->notes[i];
    return &s->notes[0];
}

/* Draws the problem and its fix or, without room, the problem and which key shows the fix. */
static void draw_note(const struct app *a, struct area area, int row)
{
    const struct session_status *s = &a->status;
    const struct live_note *note = first_note(s);
    const char *word = live_note_word(note);
    enum style style = note->calm ? STYLE_DIM : STYLE_DEGRADED;
    char text[640], key[16], more[48] = "";
    keymap_first(a->keymap, ACTION_HELP, key);
    if (s->n_notes > 1)
        (void)snprintf(more, sizeof more, " (+%u, %s)", s->n_notes - 1, key);
    (void)snprintf(text, sizeof text, "%s %s%s%s", word, note->what, note->fix[0] ? ": " : "", note->fix);
    if (text_width(text) + text_width(more) > area.cols && note->fix[0]) {
        (void)snprintf(text, sizeof text, "%s %s", word, note->what);
        if (s->n_notes > 1)
            (void)snprintf(more, sizeof more, " (+%u; %s: how to fix it)", s->n_notes - 1, key);
        else
            (void)snprintf(more, sizeof more, " (%s: how to fix it)", key);
    }
    int used = draw_elided(area, row, 0, area.cols - text_width(more), style, text, false);
    draw_text(area, row, used, style, more);
}

static void draw_trouble(const struct app *a, struct area area, int row)
{
    char text[200];
    if (a->status.fatal[0]) {
        (void)snprintf(text, sizeof text, "STOPPED %s", a->status.fatal);
        draw_elided(area, row, 0, area.cols, STYLE_ALERT, text, false);
    } else if (a->status.targets_gone) {
        draw_ended(a, area, row);
    } else {
        draw_note(a, area, row);
    }
}

void header_draw(const struct app *a, struct area area)
{
    int row = 1;
    draw_first_line(a, area);
    if (area.rows >= 3) {
        draw_machine_line(a, area, row++);
        draw_samples_line(a, area, row++);
    }
    if (has_trouble(a) && row < area.rows)
        draw_trouble(a, area, row);
}
