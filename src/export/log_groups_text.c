// SPDX-License-Identifier: GPL-2.0-or-later
/* The log grouped by fields as text: a table with counts and sums, and histograms of the summed number by
 * powers of two, as argdist has. */
#include "base/clock.h"
#include "base/text.h"
#include "export/export.h"
#include "export/text_table.h"

#define HISTOGRAMS 10 /* of the largest groups, and of all */
#define VALUE_COLS 26 /* at least, of all but the last field */
#define VALUE_TEXT (LOG_VALUE_MAX + 16)

struct printed {
    const struct log_groups *g;
    const struct log_by *by;
    struct buf *out;
};

/* ---- the table ---- */

static void put_number(const struct printed *p, const struct value_number *number)
{
    struct buf text = { 0 };
    char length[24];
    if (p->g->is_time)
        buf_puts(&text, text_length(length, sizeof length, number->bits));
    else
        value_number_put(number, &text);
    buf_printf(p->out, " %16s", buf_str(&text));
    buf_done(&text);
}

static void put_sum(const struct printed *p, const struct value_group *group)
{
    struct buf text = { 0 };
    char length[24];
    if (p->g->is_time)
        buf_puts(&text, text_length(length, sizeof length, group->plus));
    else
        value_group_put_sum(group, &text);
    buf_printf(p->out, " %20s", buf_str(&text));
    buf_done(&text);
}

static void put_average(const struct printed *p, const struct value_group *group)
{
    char length[24];
    double average = value_group_sum(group) / (double)group->numbers;
    if (p->g->is_time)
        buf_printf(p->out, " %14s", text_length(length, sizeof length, (uint64_t)average));
    else
        buf_printf(p->out, " %14.2f", average);
}

static void put_numbers(const struct printed *p, const struct value_group *group)
{
    uint64_t middle;
    if (!group->numbers) {
        buf_printf(p->out, " %20s %14s %16s %16s", "-", "-", "-", "-");
        return;
    }
    put_sum(p, group);
    put_average(p, group);
    if (value_group_percentile(group, 0.5, &middle))
        put_number(p, &(struct value_number){ middle, false });
    else
        buf_printf(p->out, " %16s", "<0");
    put_number(p, &group->max);
}

static void put_values(const struct printed *p, const struct value_group *group)
{
    char text[VALUE_TEXT];
    for (uint32_t i = 0; i < p->by->n; i++) {
        size_t from = p->out->len + 2;
        buf_printf(p->out, "  %s", log_group_value(p->g, group, i, text, sizeof text));
        if (i + 1 < p->by->n)
            text_table_pad(p->out, from, VALUE_COLS);
    }
    buf_putc(p->out, '\n');
}

static void put_row(const struct printed *p, const struct value_group *group)
{
    char text[32];
    double all = (double)p->g->all->count, ns = (double)p->g->span_ns;
    buf_printf(p->out, "%13s", text_thousands(text, sizeof text, group->count));
    buf_printf(p->out, " %6.2f%%", all > 0 ? 100 * (double)group->count / all : 0);
    buf_printf(p->out, " %8s",
               ns > 0 ? text_si(text, sizeof text, (double)group->count * NS_PER_SEC / ns) : "-");
    if (*p->by->value)
        put_numbers(p, group);
    put_values(p, group);
}

static void put_table(const struct printed *p)
{
    buf_printf(p->out, "\n        COUNT   SHARE       /S");
    if (*p->by->value)
        buf_printf(p->out, " %20s %14s %16s %16s", "SUM", "AVERAGE", "P50", "MAXIMUM");
    for (uint32_t i = 0; i < p->by->n; i++) {
        size_t from = p->out->len + 2;
        buf_printf(p->out, "  %s", p->by->fields[i]);
        if (i + 1 < p->by->n)
            text_table_pad(p->out, from, VALUE_COLS);
    }
    buf_putc(p->out, '\n');
    for (size_t i = 0; i < p->g->n; i++)
        put_row(p, p->g->rows[i]);
    if (p->g->n > 1)
        put_row(p, p->g->all);
}

/* ---- histograms ---- */

/* The numbers of a bucket, both ends included; the last one is open. */
static void put_ends(const struct printed *p, uint32_t power)
{
    uint64_t from = power ? UINT64_C(1) << (power - 1) : 0, to = power ? (UINT64_C(1) << power) - 1 : 0;
    char text[24];
    if (p->g->is_time)
        buf_printf(p->out, "%20s", text_length(text, sizeof text, from));
    else
        buf_printf(p->out, "%20llu", (unsigned long long)from);
    if (power + 1 == DURATION_POWERS)
        buf_printf(p->out, " %20s", "and more");
    else if (p->g->is_time)
        buf_printf(p->out, " %20s", text_length(text, sizeof text, to));
    else
        buf_printf(p->out, " %20llu", (unsigned long long)to);
}

static void put_histogram(const struct printed *p, const struct value_group *group)
{
    char count[32], text[VALUE_TEXT];
    uint64_t most = group->below;
    uint32_t first = DURATION_POWERS, last = 0;
    for (uint32_t i = 0; i < DURATION_POWERS && group->sizes; i++) {
        uint64_t n = durations_power(group->sizes, i);
        most = n > most ? n : most;
        first = n && first == DURATION_POWERS ? i : first;
        last = n ? i : last;
    }
    buf_printf(p->out, "\n%s of %s", p->by->value, log_group_value(p->g, group, 0, text, sizeof text));
    if (p->by->n > 1 && group != p->g->all)
        buf_printf(p->out, ", %s", log_group_value(p->g, group, 1, text, sizeof text));
    buf_printf(p->out, "\n%20s %20s %13s\n", "FROM", "TO", "COUNT");
    if (group->below) {
        buf_printf(p->out, "%20s %20s %13s", "less", "-1", text_thousands(count, sizeof count, group->below));
        buf_puts(p->out, "  ");
        text_table_bar(p->out, group->below, most);
    }
    for (uint32_t i = first; i <= last && i < DURATION_POWERS; i++) {
        uint64_t n = durations_power(group->sizes, i);
        put_ends(p, i);
        buf_printf(p->out, " %13s", text_thousands(count, sizeof count, n));
        buf_puts(p->out, "  ");
        text_table_bar(p->out, n, most);
    }
}

static void put_histograms(const struct printed *p)
{
    size_t shown = 0, left = 0;
    if (!*p->by->value || !p->g->all->numbers)
        return;
    put_histogram(p, p->g->all);
    for (size_t i = 0; i < p->g->n && p->g->n > 1; i++) {
        if (p->g->rows[i]->numbers && shown < HISTOGRAMS)
            put_histogram(p, p->g->rows[i]);
        left += p->g->rows[i]->numbers && shown >= HISTOGRAMS;
        shown += p->g->rows[i]->numbers > 0;
    }
    if (left)
        buf_printf(p->out, "\n%zu more groups have no histogram here\n", left);
}

/* ---- all of it ---- */

static void put_notes(const struct printed *p, struct session *s)
{
    struct session_status st;
    char count[32];
    session_get_status(s, &st);
    if (*p->by->value && p->g->all->numbers < p->g->all->count)
        buf_printf(p->out, "\nwithout a number %s: %s samples\n", p->by->value,
                   text_thousands(count, sizeof count, p->g->all->count - p->g->all->numbers));
    if (p->g->dropped)
        buf_printf(p->out, "\nnot counted: %s samples dropped to keep memory within --history\n",
                   text_thousands(count, sizeof count, p->g->dropped));
    if (st.lost)
        buf_printf(p->out, "\nnot counted: %s lost samples\n", text_thousands(count, sizeof count, st.lost));
}

bool log_groups_text(struct session *s, const struct view_query *q, const struct log_by *by, struct buf *out,
                     struct error *e)
{
    struct log_groups g = { .n = 0 };
    struct view_query all = *q;
    all.all_events = true;
    bool ok = session_log_groups(s, &all, &(struct log_filter){ .n = 0 }, by, &g, e);
    struct printed p = { &g, by, out };
    if (ok) {
        report_header(s, q, g.view, out);
        if (g.n)
            put_table(&p);
        else
            buf_puts(out, "\nno samples\n");
        put_histograms(&p);
        put_notes(&p, s);
    }
    log_groups_done(&g);
    return ok;
}
