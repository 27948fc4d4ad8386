// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the functions table as text, for -b, pipes, logs and tickets. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "export/compare.h"
#include "export/function_order.h"
#include "profile/functions.h"
#include "session/coverage.h"

/* Prints the titles of columns for the other events of the group. A column is as wide as its title, at least
 * 7. */
static void print_group_titles(const struct view *v, struct buf *out)
{
    for (int k = 0; k < GROUP_COLUMN_KINDS; k++)
        if (v->group_sums[k].title[0])
            buf_printf(out, "%7s  ", v->group_sums[k].title);
}

static void print_group_columns(const struct view *v, const struct function_row *r, const uint64_t *sums,
                                struct buf *out)
{
    for (int k = 0; k < GROUP_COLUMN_KINDS; k++) {
        const struct view_group_column *b = &v->group_sums[k];
        int width = (int)strlen(b->title) > 7 ? (int)strlen(b->title) : 7;
        char text[24] = "-";
        double value;
        if (!b->title[0])
            continue;
        if (group_column_value(b, sums, r->self_weight, r->self_count, &value))
            group_column_text(b, value, text, sizeof text);
        buf_printf(out, "%*s%s ", width, text,
                   group_column_is_partial(sums, v->result.group_events, r->self_weight) ? "~" : " ");
    }
}

static void print_rows(const struct view_query *q, const struct view *v, unsigned lines, struct buf *out)
{
    struct functions f = { 0 };
    bool groups = view_group_is_whole(q->group), by_group = groups || view_group_splits(q->group);
    uint32_t *one = NULL;
    uint64_t *sums = NULL;
    size_t sums_cap = 0;
    if (groups) {
        one = mem_array(v->result.n_frames + 1, sizeof *one);
        for (uint32_t i = 0; i <= v->result.n_frames; i++)
            one[i] = 1; /* 0 too: samples without a stack are counted */
    }
    functions_build(&f, &v->result, groups ? one : v->frame_func, groups ? 2 : v->n_funcs, by_group);
    function_order(&f, v, false);
    if (v->result.group_events)
        functions_group_sums(&f, &v->result, groups ? one : v->frame_func, by_group, &sums, &sums_cap);
    /* SELF SAMPLES as in perf report -n; SAMPLES on the screen and in the call graph belong to TOTAL% */
    buf_printf(out, "%7s %7s %12s  ", "SELF%", "TOTAL%", "SELF SAMPLES");
    print_group_titles(v, out);
    if (groups)
        buf_printf(out, "%s\n", view_group_names[q->group]);
    else
        buf_printf(out, "%s%-20s %s\n",
                   q->group == VIEW_GROUP_COMM_SYMBOL     ? "COMM             "
                   : q->group == VIEW_GROUP_CGROUP_SYMBOL ? "CGROUP           "
                                                          : "",
                   "MODULE", q->group == VIEW_GROUP_MODULE ? "" : "FUNCTION");
    double all = v->result.weight ? (double)v->result.weight : 1;
    for (uint32_t i = 0; i < f.n && (!lines || i < lines); i++) {
        const struct function_row *r = &f.rows[i];
        char count[32];
        buf_printf(out, "%7.2f %7.2f %12s  ", 100 * r->self_weight / all, 100 * r->total_weight / all,
                   text_thousands(count, sizeof count, r->self_count));
        if (sums)
            print_group_columns(v, r, &sums[(size_t)i * v->result.group_events], out);
        if (by_group)
            buf_printf(out, groups ? "%s" : "%-16s ", v->groups[r->group].full);
        if (!groups)
            buf_printf(out, "%-20s %s", v->funcs[r->func].module,
                       q->group == VIEW_GROUP_MODULE ? "" : v->funcs[r->func].name);
        while (out->len && out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        buf_putc(out, '\n');
    }
    functions_done(&f);
    mem_free(sums);
    mem_free(one);
}

static void put_coverage(struct session *s, struct buf *out)
{
    char text[200];
    struct session_status st;
    struct session_coverage c;
    session_get_status(s, &st);
    if (st.file)
        return;
    session_get_coverage(s, &c);
    session_coverage_text(&c, text, sizeof text);
    buf_printf(out, "%s\n", text);
}

void report_print(struct session *s, const struct view_query *q, const struct view *v, unsigned lines,
                  struct buf *out)
{
    report_header(s, q, v, out);
    put_coverage(s, out);
    doctor_print_worst(s, q, out);
    buf_putc(out, '\n');
    print_rows(q, v, lines, out);
}

static void report_text(struct session *s, const struct view_query *q, const struct view *v,
                        const struct export_options *o, struct buf *out)
{
    if (o->baseline.session)
        compare_print(s, q, v, o, out);
    else
        report_print(s, q, v, 0, out);
}

const struct exporter export_report = {
    .name = "report",
    .suffix = ".txt",
    .compares = true,
    .sections = true,
    .help = "the functions table as text",
    .text = report_text,
};
