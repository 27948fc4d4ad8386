// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the doctor view as text, and prints its largest problem for reports. */
#include "base/clock.h"
#include "export/export.h"
#include "session/doctor.h"

#define PACKAGES_NS (2 * NS_PER_SEC) /* wait for package names, which are looked up on first use */

static const char *const subjects[] = {
    [DOCTOR_SYSTEM] = "the whole profile",
    [DOCTOR_STACKS] = "of stacks are truncated in",
    [DOCTOR_NAMES] = "of stacks have frames without a name in",
    [DOCTOR_LINES] = "of stacks have frames whose debug information cannot be read in",
};

static void put_where(const struct doctor_row *row, struct buf *out)
{
    if (row->subject == DOCTOR_SYSTEM)
        buf_puts(out, subjects[row->subject]);
    else
        buf_printf(out, "%.1f%% %s %s%s%s%s", row->percent, subjects[row->subject], row->module,
                   *row->process ? " (" : "", row->process, *row->process ? ")" : "");
}

/* Puts the fix: on the screen it is a key, here the option or command that does the same. */
static void put_fix(const struct doctor_row *row, struct buf *out)
{
    switch (row->action) {
    case DOCTOR_AUTO:
        buf_puts(out, "--call-graph auto unwinds by tables instead");
        break;
    case DOCTOR_DEEPER:
        buf_printf(out, "%s--call-graph dwarf,%u copies as much as possible of each stack",
                   row->grows ? "auto copies more when over 5 % are truncated so; " : "", row->stack_bytes);
        break;
    case DOCTOR_JVM_MAP:
        buf_printf(out, "jcmd %u Compiler.perfmap makes the Java VM write its map", row->pid);
        break;
    case DOCTOR_NOTHING:
        buf_puts(out, row->fix);
        break;
    }
}

void doctor_print_worst(struct session *s, const struct view_query *q, struct buf *out)
{
    struct doctor d = { 0 };
    const struct doctor_row *worst;
    uint32_t others = 0;

    session_examine(s, q, &d);
    worst = doctor_worst(&d);
    for (uint32_t i = 0; i < d.rows.n; i++)
        others += d.rows.items[i].subject != DOCTOR_SYSTEM && &d.rows.items[i] != worst;
    if (worst) {
        buf_puts(out, "DEGRADED ");
        put_where(worst, out);
        buf_printf(out, ": %s (", worst->cause);
        put_fix(worst, out);
        if (others)
            buf_printf(out, "; --export doctor: %u more", others);
        buf_puts(out, ")\n");
    }
    doctor_done(&d);
}

static void doctor_text(struct session *s, const struct view_query *q, const struct view *v,
                        const struct export_options *o, struct buf *out)
{
    struct doctor d = { 0 };
    char coverage[200];
    double all;

    (void)o;
    session_examine(s, q, &d);
    session_settle(s, PACKAGES_NS);
    session_examine(s, q, &d);
    all = d.samples ? (double)d.samples : 1;
    report_header(s, q, v, out);
    session_coverage_text(&d.coverage, coverage, sizeof coverage);
    buf_printf(out, "\n%s\n", coverage);
    buf_printf(out,
               "%.1f%% of stacks reach their root, %.1f%% are truncated; every frame has a name in %.1f%%\n",
               100 * (double)d.whole / all, 100 * (double)d.cut / all, 100 - 100 * (double)d.unnamed / all);
    for (uint32_t i = 0; i < d.rows.n; i++) {
        const struct doctor_row *row = &d.rows.items[i];
        buf_putc(out, '\n');
        put_where(row, out);
        buf_printf(out, "\n    %s\n    ", row->cause);
        put_fix(row, out);
        buf_putc(out, '\n');
    }
    doctor_done(&d);
}

const struct exporter export_doctor = {
    .name = "doctor",
    .suffix = ".doctor.txt",
    .help = "what is missing, why, and how to fix it",
    .text = doctor_text,
};
