// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines above a table of a text format. */
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/export.h"
#include "session/coverage.h"
#include "session/operation_rows.h"

/* Puts host, kernel and CPUs, which a recording may lack. */
static void put_machine(const struct session_status *st, struct buf *out)
{
    if (*st->host)
        buf_printf(out, "%s %s  ", st->host, st->release);
    if (st->cpus)
        buf_printf(out, "%u cpu%s  ", st->cpus, st->cpus == 1 ? "" : "s");
}

void export_put_selection(struct buf *out, const char *before, const struct session_status *st,
                          const struct view_query *q)
{
    static const char *const modes[] = { "", ", kernel only", ", user space only" };
    struct buf text = { 0 };
    char durations[64];
    double first = (double)(st->now_ns - st->elapsed_ns);
    buf_puts(&text, modes[q->mode]);
    if (q->to_ns)
        buf_printf(&text, ", seconds %.2f..%.2f", ((double)q->from_ns - first) / NS_PER_SEC,
                   ((double)q->to_ns - first) / NS_PER_SEC);
    else if (q->window_ns && !st->file)
        buf_printf(&text, ", the last %g s", (double)q->window_ns / NS_PER_SEC);
    if (q->max_ns && text_begins_with(st->event, "latency:")) {
        operation_range_text(q->min_ns, q->max_ns, true, durations, sizeof durations);
        buf_printf(&text, ", operations of %s", durations);
    }
    if (*q->filter)
        buf_printf(&text, ", filter %s", q->filter);
    for (uint32_t i = 0; i < q->n_zooms && i < VIEW_ZOOMS_MAX; i++)
        buf_printf(&text, ", in %s %s", zoom_words[q->zooms[i].kind], q->zooms[i].text);
    if (text.len)
        buf_printf(out, "%s%s", before, buf_str(&text) + strlen(", "));
    buf_done(&text);
}

void report_header(struct session *s, const struct view_query *q, const struct view *v, struct buf *out)
{
    struct session_status st;
    struct view_query of = *q;
    char elapsed[32], samples[32], lost[32];
    session_get_status(s, &st);
    uint64_t broken = v->result.broken_samples, waiting = session_stacks_waiting(&st, broken);
    buf_puts(out, "flametop - ");
    put_machine(&st, out);
    buf_puts(out, st.event);
    if (st.freq_hz)
        buf_printf(out, " %lluHz", (unsigned long long)st.freq_hz);
    else if (st.period)
        buf_printf(out, " period %llu", (unsigned long long)st.period);
    buf_printf(out, "  scope: %s  stacks: %s  %s\n", st.scope, st.stacks,
               text_duration(elapsed, sizeof elapsed, st.elapsed_ns / NS_PER_SEC));
    buf_printf(out, "samples %s  idle %llu  broken stacks %llu",
               text_thousands(samples, sizeof samples, v->result.samples),
               (unsigned long long)v->idle_samples, (unsigned long long)(broken - waiting));
    if (waiting) /* for unwind tables */
        buf_printf(out, "  waiting %llu", (unsigned long long)waiting);
    buf_printf(out, "  lost %s", text_thousands(lost, sizeof lost, st.lost));
    if (!st.file && st.user_percent >= 0)
        buf_printf(out, "  cpu usr %.1f%% sys %.1f%% idle %.1f%%  self %.1f%%", st.user_percent,
                   st.system_percent, st.idle_percent, st.self_percent);
    buf_putc(out, '\n');
    size_t line = out->len;
    of.window_ns = 0; /* in each live report */
    export_put_selection(out, "selected: ", &st, &of);
    if (out->len > line)
        buf_putc(out, '\n');
    for (uint32_t i = 0; i < st.n_notes; i++) {
        const struct live_note *n = &st.notes[i];
        buf_printf(out, "%s %s", live_note_word(n), n->what);
        if (n->fix[0])
            buf_printf(out, " (%s)", n->fix);
        buf_putc(out, '\n');
    }
    if (*st.fatal)
        buf_printf(out, "%s\n", st.fatal);
}
