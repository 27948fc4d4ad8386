// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the state of the system to a bundle: the current state in live sampling; for an opened bundle, the
 * state stored in it. For other files it adds nothing: they may be from another system. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/bundle_file.h"
#include "perf/count.h"
#include "session/bundle.h"

#define PROC_MAX     (8u << 20)
#define KALLSYMS_MAX (64u << 20)
#define COUNT_MS     1000 /* long enough for meaningful rates */

static const struct {
    const char *name, *about;
} machine_files[] = {
    { "proc/version", "the kernel" },
    { "proc/loadavg", "load average" },
    { "proc/meminfo", "memory" },
    { "proc/interrupts", "interrupts by CPU since boot" },
    { "proc/pressure/cpu", "CPU pressure: time that tasks waited for a CPU" },
    { "proc/pressure/io", "I/O pressure: time that tasks waited for I/O" },
    { "proc/pressure/memory", "memory pressure: time that tasks waited for memory" },
    { "proc/pressure/irq", "interrupt pressure: time that interrupts kept tasks from running" },
    { "counters.txt", "counters over one second, as perf stat -a -d; load and pressure" },
    { "kallsyms", "kernel symbols" },
};

static const char *about_of(const char *name)
{
    for (size_t i = 0; i < sizeof machine_files / sizeof *machine_files; i++)
        if (!strcmp(name, machine_files[i].name))
            return machine_files[i].about;
    return NULL;
}

static void add_counter(const struct count_set *c, uint32_t row, struct buf *out)
{
    struct count_value v = count_total(c, row);
    struct count_metric metric;
    if (v.state == COUNT_OK)
        buf_printf(out, "%20.0f", v.value);
    else
        buf_printf(out, "%20s", v.state == COUNT_NOT_SUPPORTED ? "<not supported>" : "<not counted>");
    buf_printf(out, "  %-28s", count_name(c, row));
    if (count_metric(c, row, &metric))
        buf_printf(out, "  %10s %s", metric.value, metric.unit);
    if (v.state == COUNT_OK && v.running < 1)
        buf_printf(out, "  (%.0f%%)", 100 * v.running);
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    buf_putc(out, '\n');
}

bool bundle_counts(const struct bundle_plan *p)
{
    return p->counting && clock_now_ns() - p->counted_from_ns < COUNT_MS * NS_PER_MS;
}

void bundle_add_counters(struct bundle_plan *p)
{
    struct error e = { 0 };
    struct buf out = { 0 };
    struct count_set *c = p->counting;
    if (!c)
        return;
    p->counting = NULL;
    if (count_read(c, &e)) {
        buf_printf(&out, "%.3f seconds%s%s\n\n", (double)count_interval_ns(c) / 1e9,
                   count_scope_note(c) ? "; " : "", count_scope_note(c) ? count_scope_note(c) : "");
        for (uint32_t row = 0; row < count_rows(c); row++)
            add_counter(c, row, &out);
        machine_load_read(&p->load);
        machine_load_print(&p->load, &out);
        bundle_add(p, "counters.txt", about_of("counters.txt"), &out);
    }
    buf_done(&out);
    count_close(c);
}

/* True if kallsyms has addresses. To users that may not see them, the kernel lists zeros. */
static bool has_addresses(const struct buf *kallsyms)
{
    const char *text = buf_str(kallsyms);
    for (int line = 0; line < 64 && text && *text; line++) {
        if (strspn(text, "0") < strcspn(text, " \n"))
            return true;
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return false;
}

static void add_file(struct bundle_plan *p, const char *name, const char *path, size_t max)
{
    struct buf bytes = { 0 };
    if (file_read(path, max, &bytes, NULL) && (strcmp(name, "kallsyms") || has_addresses(&bytes)))
        bundle_add(p, name, about_of(name), &bytes);
    buf_done(&bytes);
}

static void add_own(struct bundle_plan *p, struct session *s)
{
    for (size_t i = 0; i < sizeof machine_files / sizeof *machine_files; i++) {
        char path[128];
        snprintf(path, sizeof path, "/%s", machine_files[i].name);
        if (!strncmp(machine_files[i].name, "proc/", 5))
            add_file(p, machine_files[i].name, path, PROC_MAX);
    }
    struct error e = { 0 };
    p->counting = count_open(session_running_scope(s), NULL, &e);
    machine_load_open(&p->load, session_running_scope(s));
    p->counted_from_ns = clock_now_ns();
    add_file(p, "kallsyms", "/proc/kallsyms", KALLSYMS_MAX);
}

void bundle_add_machine(struct bundle_plan *p, struct session *s)
{
    struct session_status st;
    const struct bundle *from = session_bundle(s);
    session_get_status(s, &st);
    if (!st.file)
        add_own(p, s);
    for (size_t i = 0; from && i < from->files.n; i++) {
        struct buf copy = { 0 };
        if (!about_of(from->files.items[i].name))
            continue;
        buf_add(&copy, from->files.items[i].bytes.data, from->files.items[i].bytes.len);
        bundle_add(p, from->files.items[i].name, about_of(from->files.items[i].name), &copy);
        buf_done(&copy);
    }
}
