// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of threads with off-CPU or wall-clock time: the state of a thread in each column, as a colour or a
 * letter.
 *
 * A column shows the state with most of its time. If another state has at least a quarter of it, the right
 * half of the cell has that state's colour; without colours the letter is lower case. Columns within the life
 * of a thread of which nothing is known are "?". */
#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/range.h"
#include "ui/view_time.h"

#define MIXED_PART 4 /* a second state is shown from a quarter of a column on */

static const struct {
    const char *name, *brief;
    char letter;
    enum style style;
} states[TIMES_STATES] = {
    [TIMES_UNKNOWN] = { "unknown", "unknown", '?', STYLE_STATE_UNKNOWN },
    [TIMES_RUNNING] = { "running", "running", 'R', STYLE_STATE_RUNNING },
    [TIMES_RUNNABLE] = { "runnable (waits for a CPU)", "runnable", 'Q', STYLE_STATE_RUNNABLE },
    [TIMES_WAITING] = { "waiting", "waiting", 'S', STYLE_STATE_WAITING },
    [TIMES_ON_DISK] = { "waiting for a disk", "disk", 'D', STYLE_STATE_ON_DISK },
    [TIMES_STOPPED] = { "stopped", "stopped", 'T', STYLE_STATE_STOPPED },
    [TIMES_FOR_WORK] = { "waiting for work", "for work", '.', STYLE_STATE_FOR_WORK },
};

/* ---- sums ---- */

static uint64_t length_of(const struct time_rows *r, uint32_t first, uint32_t last)
{
    uint64_t from = time_axis_ns(&r->axis, first), to = time_axis_ns(&r->axis, last + 1);
    to = to < r->axis.to_ns ? to : r->axis.to_ns;
    return to > from ? to - from : 1;
}

static const struct activity_row *activity_of(const struct time_rows *r, uint32_t row)
{
    const struct activity *a = &r->counts.activity;
    return row < a->n_rows ? &a->rows[row] : NULL;
}

static void sum_row(const struct time_rows *r, uint32_t row, struct time_row_sums *out)
{
    uint64_t kinds[1][ACTIVITY_KINDS];
    *out = (struct time_row_sums){ 0 };
    if (!activity_of(r, row))
        return;
    activity_sums(activity_of(r, row), r->axis.from_ns, r->axis.to_ns - r->axis.from_ns + 1, kinds, 1);
    for (uint32_t k = 0; k < ACTIVITY_KINDS; k++)
        *(k == TIMES_RAN                        ? &out->ran_ns
          : times_state_of(k) == TIMES_FOR_WORK ? &out->for_work_ns
                                                : &out->waited_ns) += kinds[0][k];
}

void time_states_sum(struct time_rows *r)
{
    uint32_t n = r->counts.timeline.n_rows;
    VEC_RESERVE(&r->sums, (size_t)n + 1);
    for (uint32_t row = 0; row < n; row++)
        sum_row(r, row, &r->sums.items[row]);
}

/* ---- cells ---- */

/* The states with most time in a column, `second` only if it has a part worth showing. */
struct mix {
    enum times_state first, second;
    bool any, mixed;
};

static struct mix mix_of(const uint64_t *kinds, uint64_t alive_ns)
{
    uint64_t ns[TIMES_STATES] = { 0 }, known = 0, all;
    struct mix m = { 0 };
    for (uint32_t k = 0; k < ACTIVITY_KINDS; k++) {
        ns[times_state_of(k)] += kinds[k];
        known += kinds[k];
    }
    ns[TIMES_UNKNOWN] = alive_ns > known ? alive_ns - known : 0;
    all = ns[TIMES_UNKNOWN] + known;
    for (int i = 0; i < TIMES_STATES; i++)
        if (ns[i] > ns[m.first])
            m.first = (enum times_state)i;
    m.second = m.first == TIMES_UNKNOWN ? TIMES_RUNNING : TIMES_UNKNOWN;
    for (int i = 0; i < TIMES_STATES; i++)
        if (i != (int)m.first && ns[i] > ns[m.second])
            m.second = (enum times_state)i;
    m.any = all > 0;
    m.mixed = all && ns[m.second] >= (all + MIXED_PART - 1) / MIXED_PART;
    return m;
}

static bool is_coloured(const struct app *a, enum times_state state)
{
    return a->theme.styles[term_depth()][states[state].style].bg >= 0;
}

static void draw_cell(const struct app *a, struct area area, int y, int x, struct mix m)
{
    char letter[2] = { states[m.first].letter };
    if (!m.any)
        return;
    if (m.mixed && is_coloured(a, m.first) && is_coloured(a, m.second)) {
        draw_half(area, y, x, states[m.first].style, states[m.second].style);
        return;
    }
    if (is_coloured(a, m.first))
        letter[0] = ' ';
    else if (m.mixed)
        letter[0] = (char)tolower(letter[0]);
    draw_text(area, y, x, states[m.first].style, letter);
}

void time_states_draw(const struct app *a, struct area area, int y, int left, const struct time_rows *r,
                      uint32_t row)
{
    const struct activity_row *line = activity_of(r, row);
    uint32_t n = r->axis.columns;
    uint64_t born, ended, step = time_axis_step(&r->axis);
    if (!line || !activity_extent(line, &born, &ended))
        return;
    uint64_t(*kinds)[ACTIVITY_KINDS] = mem_array(n, sizeof *kinds);
    activity_sums(line, r->axis.from_ns, step, kinds, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t from = time_axis_ns(&r->axis, i), to = from + step;
        from = from > born ? from : born;
        to = to < ended ? to : ended;
        draw_cell(a, area, y, left + (int)i, mix_of(kinds[i], to > from ? to - from : 0));
    }
    mem_free(kinds);
}

/* ---- the lines below ---- */

static int draw_legend(const struct app *a, struct area area, int y, bool brief, bool draws)
{
    int col = 0;
    for (int i = TIMES_RUNNING; i <= TIMES_STATES; i++) {
        enum times_state s = (enum times_state)(i % TIMES_STATES);
        const char *name = brief ? states[s].brief : states[s].name;
        if (draws) {
            draw_cell(a, area, y, col, (struct mix){ .first = s, .any = true });
            draw_text(area, y, col + 2, STYLE_LABEL, name);
        }
        col += 2 + text_width(name) + 2;
    }
    return col;
}

void time_states_legend(const struct app *a, struct area area, int y)
{
    static const char mixed[] = "lower case: less than 3/4 of the column";
    bool brief = draw_legend(a, area, y, false, false) > area.cols;
    int col = draw_legend(a, area, y, brief, true);
    if (!term_colors() && col + (int)sizeof mixed <= area.cols)
        draw_text(area, y, col, STYLE_DIM, mixed);
}

struct share {
    uint32_t kind;
    uint64_t ns;
};

/* The kinds with any time, the largest first. Returns their number. */
static uint32_t sort_kinds(const uint64_t *kinds, struct share *out)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < ACTIVITY_KINDS; k++) {
        uint32_t at = n;
        if (!kinds[k])
            continue;
        for (n++; at && out[at - 1].ns < kinds[k]; at--)
            out[at] = out[at - 1];
        out[at] = (struct share){ k, kinds[k] };
    }
    return n;
}

/* Draws "futex 61 %, running 14 %" as far as there is room. */
static int draw_shares(struct area area, int y, int col, const uint64_t *kinds, uint64_t length)
{
    struct share shares[ACTIVITY_KINDS + 1];
    uint32_t n = sort_kinds(kinds, shares);
    uint64_t known = 0;
    char text[64];
    for (uint32_t i = 0; i < n; i++)
        known += shares[i].ns;
    if (known < length) /* last, since it is the rest */
        shares[n++] = (struct share){ ACTIVITY_KINDS, length - known };
    for (uint32_t i = 0; i < n; i++) {
        const char *name = shares[i].kind < ACTIVITY_KINDS ? times_kind_name(shares[i].kind) : "unknown";
        double percent = 100.0 * (double)shares[i].ns / (double)length;
        (void)snprintf(text, sizeof text, "%s%s %.0f %%", i ? ", " : "", name, percent);
        if (percent < 0.5 || col + text_width(text) > area.cols)
            continue;
        col += draw_text(area, y, col, STYLE_NORMAL, text);
    }
    return col;
}

void time_states_detail(const struct app *a, struct area area, int y, const struct time_rows *r,
                        uint32_t first, uint32_t last)
{
    uint64_t kinds[1][ACTIVITY_KINDS] = { { 0 } }, step = time_axis_step(&r->axis), base = range_base(a);
    uint64_t length = length_of(r, first, last), at = time_axis_ns(&r->axis, first);
    char from[32], to[32], hint[64], mark[16], drill[16];
    if (r->list.cursor >= r->list.n)
        return;
    uint32_t row = r->order[r->list.cursor];
    if (activity_of(r, row))
        activity_sums(activity_of(r, row), at, length, kinds, 1);
    at = at > base ? at - base : 0;
    int col = draw_text(area, y, 0, STYLE_NAME, r->counts.labels.items[row].text);
    col += draw_printf(area, y, col, STYLE_LABEL, " %s%s%s: ", time_text(from, sizeof from, at, step),
                       term_unicode() ? "–" : "-", time_text(to, sizeof to, at + length, step));
    col = draw_shares(area, y, col, kinds[0], length);
    (void)snprintf(hint, sizeof hint, "%s: mark a range, %s: its waits",
                   keymap_first(a->keymap, ACTION_TIME_MARK, mark),
                   keymap_first(a->keymap, ACTION_DRILL, drill));
    if (col + 2 + text_width(hint) <= area.cols)
        draw_right(area, y, col, area.cols - col, STYLE_DIM, hint);
}
