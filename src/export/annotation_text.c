// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the hottest functions by instruction, as text like perf annotate --stdio: percent of a function's
 * own samples, and its source lines between its instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/export.h"
#include "session/annotate.h"

#define FUNCTIONS_MAX 10
#define PERCENT_LEAST 1.0  /* of all samples; the hottest function is always listed */
#define LONG_ROWS     1000 /* of a function with more rows, only rows near a sample are listed */
#define NEAR_ROWS     10   /* rows before and after a sample that are near it */

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

static void put_text(const struct annotation *an, struct session *s, const struct annotate_row *r,
                     struct buf *out)
{
    char text[512];
    if (r->kind == ANNOTATE_INSN) {
        buf_puts(out, annotate_text(an, s, r->slot, true, text, sizeof text));
    } else if (r->kind == ANNOTATE_SOURCE) {
        if (r->new_file)
            buf_printf(out, "%s:", r->file);
        buf_printf(out, "%u", r->line);
        if (r->inlined)
            buf_printf(out, " [%s]", r->inlined);
        buf_printf(out, "  %s", annotate_source(an, r, text, sizeof text));
    }
}

static void put_row(const struct annotation *an, struct session *s, const struct annotate_row *r,
                    struct buf *out)
{
    const struct annotate_sum *sum = &an->sums[r->slot];
    uint64_t bias = an->code ? an->code->view.header.bias : 0;
    if (r->kind == ANNOTATE_SOURCE)
        buf_printf(out, "%35s", "");
    else if (sum->self_samples)
        buf_printf(out, "%7.2f %9u %16" PRIx64, percent(sum->self, an->all.self), sum->self_samples,
                   r->offset + bias);
    else
        buf_printf(out, "%17s %16" PRIx64, "", r->offset + bias);
    buf_puts(out, r->kind == ANNOTATE_SOURCE ? "" : "  ");
    put_text(an, s, r, out);
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_putc(out, '\n');
}

static bool is_near_samples(const struct annotation *an, uint32_t slot)
{
    uint32_t from = slot < NEAR_ROWS ? 0 : slot - NEAR_ROWS;
    for (uint32_t i = from; i < an->n_sums && i <= slot + NEAR_ROWS; i++)
        if (an->sums[i].self_samples)
            return true;
    return false;
}

static void put_function(const struct annotation *an, struct session *s, struct buf *out)
{
    char count[32], module[140];
    bool skipped = false;
    text_clean(module, sizeof module, an->location.module->name, strlen(an->location.module->name));
    buf_printf(out, "\n# %s (%s): %s samples, %.2f%% of all\n", an->location.name, module,
               text_thousands(count, sizeof count, an->all.self_samples),
               percent(an->all.self, an->result_weight));
    if (!an->location.size)
        buf_puts(out, "# no instructions: the start and end of this function are not known\n");
    if (an->code && an->code->trouble[0])
        buf_printf(out, "# no instructions: %s\n", an->code->trouble);
    if (an->code && an->code->note[0])
        buf_printf(out, "# %s\n", an->code->note);
    if (annotate_source_trouble(an)[0])
        buf_printf(out, "# %s\n", annotate_source_trouble(an));
    buf_puts(out, "# SELF%   SAMPLES          ADDRESS  INSTRUCTION\n");
    for (uint32_t i = 0; i < an->n_rows; i++) {
        bool left_out = an->n_rows > LONG_ROWS && !is_near_samples(an, an->rows[i].slot);
        if (left_out && !skipped)
            buf_puts(out, "...\n");
        skipped = left_out;
        if (!left_out)
            put_row(an, s, &an->rows[i], out);
    }
}

/* Annotates the function of this rank. Returns false if it has too few samples to be listed. */
static bool annotate(struct session *s, const struct view *v, uint32_t rank, uint64_t end_ns, struct buf *out)
{
    struct annotation an = { 0 };
    struct annotate_location location;
    if (!annotate_find_hottest(s, v, rank, &location))
        return false;
    annotate_open(&an, &location, false);
    annotate_update(&an, s, v, true);
    for (uint64_t now = clock_now_ns(); annotate_is_pending(&an) && now < end_ns; now = clock_now_ns()) {
        annotate_wait(s, end_ns - now);
        annotate_update(&an, s, v, true);
    }
    bool shown = !rank || percent(an.all.self, an.result_weight) >= PERCENT_LEAST;
    if (shown)
        put_function(&an, s, out);
    annotate_done(&an);
    return shown;
}

static bool stream(struct session *s, const struct view_query *q, const struct export_options *o,
                   struct export_sink *to, struct error *e)
{
    uint64_t end_ns = clock_now_ns() + session_patience_ns(s);
    struct view_query machine = *q;
    struct view v = { 0 };
    char skid[200];
    (void)o;
    (void)e;
    machine.no_inlines = true; /* inlined instructions belong to the calling function */
    machine.group = VIEW_GROUP_SYMBOL;
    export_query(s, &machine, &v);
    report_header(s, q, &v, &to->text);
    annotate_skid(s, skid, sizeof skid);
    buf_printf(&to->text, "# %s\n", skid);
    for (uint32_t rank = 0;
         rank < FUNCTIONS_MAX && annotate(s, &v, rank, end_ns, &to->text) && export_flush(to);)
        rank++;
    view_done(&v);
    return true;
}

const struct exporter export_annotate = {
    .name = "annotate",
    .suffix = ".annotate.txt",
    .sections = true,
    .help = "the hottest functions by instruction, as perf annotate --stdio",
    .stream = stream,
};
