// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/pressure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define TEXT_MAX 4096 /* such a file has two lines */

const char *const pressure_resource_names[PRESSURE_RESOURCES] = { "cpu", "io", "memory", "irq" };
const char *const pressure_kind_names[PRESSURE_KINDS] = { "some", "full" };

static bool is_percent(double value)
{
    return value >= 0 && value <= 100; /* false for NaN */
}

static bool parse_line(struct pressure_line *line, const char *text)
{
    struct pressure_line l = { .there = true };
    char total[24], end;
    if (sscanf(text, " avg10=%lf avg60=%lf avg300=%lf total=%23[0-9]%c", &l.average[0], &l.average[1],
               &l.average[2], total, &end) != 5 ||
        end != '\n' || !text_parse_u64(total, 0, UINT64_MAX, &l.total_us))
        return false;
    if (!is_percent(l.average[0]) || !is_percent(l.average[1]) || !is_percent(l.average[2]))
        return false;
    *line = l;
    return true;
}

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : NULL;
}

bool pressure_parse(struct pressure_line lines[PRESSURE_KINDS], const char *text)
{
    memset(lines, 0, PRESSURE_KINDS * sizeof *lines);
    for (const char *at = text; at; at = next_line(at)) {
        for (int kind = 0; kind < PRESSURE_KINDS; kind++) {
            size_t n = strlen(pressure_kind_names[kind]);
            if (!strncmp(at, pressure_kind_names[kind], n))
                (void)parse_line(&lines[kind], at + n);
        }
    }
    return lines[PRESSURE_SOME].there || lines[PRESSURE_FULL].there;
}

/* Returns the share in percent, < 0: unknown. A total that decreased is of another cgroup with this name. */
static double share_of(const struct pressure_line *before, const struct pressure_line *now,
                       uint64_t interval_ns)
{
    if (!interval_ns || !before->there || !now->there || now->total_us < before->total_us)
        return -1;
    double share = 100.0 * (double)(now->total_us - before->total_us) * NS_PER_US / (double)interval_ns;
    return share < 100 ? share : 100; /* the kernel's clock and ours are read at different moments */
}

void pressure_update(struct pressure *p, const struct pressure_line lines[PRESSURE_KINDS], uint64_t now_ns)
{
    uint64_t interval_ns = p->read_ns && now_ns > p->read_ns ? now_ns - p->read_ns : 0;
    for (int kind = 0; kind < PRESSURE_KINDS; kind++)
        measured_add(&p->share[kind], share_of(&p->lines[kind], &lines[kind], interval_ns));
    memcpy(p->lines, lines, sizeof p->lines);
    p->read_ns = now_ns;
    error_clear(&p->why_not);
}

static void read_resource(struct pressure_place *place, int folder, enum pressure_resource r,
                          struct buf *text)
{
    struct pressure *p = &place->of[r];
    struct pressure_line lines[PRESSURE_KINDS] = { 0 };
    char name[64];
    (void)snprintf(name, sizeof name, *place->cgroup ? "%s.pressure" : "/proc/pressure/%s",
                   pressure_resource_names[r]);
    error_clear(&p->why_not);
    uint64_t before = clock_now_ns();
    bool ok = file_read_at(folder, name, TEXT_MAX, text, &p->why_not);
    if (ok && pressure_parse(lines, buf_str(text))) {
        pressure_update(p, lines, before + (clock_now_ns() - before) / 2);
        return;
    }
    if (ok)
        error_set(&p->why_not, ERROR_FORMAT, "%s has no line \"some avg10=... total=...\"", name);
    else if (p->why_not.class == ERROR_PERMISSION)
        error_hint(&p->why_not, "root may read it");
    memset(p->lines, 0, sizeof p->lines);
    p->read_ns = 0;
}

/* True if the kernel does not have the file: without CONFIG_PSI there is none, and with psi=0 older kernels
 * have it and refuse its reads. */
static bool is_absent(const struct pressure *p)
{
    return p->why_not.sys == ENOENT || p->why_not.sys == EOPNOTSUPP;
}

static void explain_absence(struct pressure_place *place)
{
    const char *said = strerror(place->of[PRESSURE_CPU].why_not.sys);
    error_clear(&place->why_not);
    for (int r = PRESSURE_CPU; r <= PRESSURE_MEMORY; r++)
        if (!is_absent(&place->of[r]))
            return;
    if (*place->cgroup)
        error_set(&place->why_not, ERROR_UNSUPPORTED,
                  "no pressure of this cgroup (cpu.pressure: %s): the kernel needs CONFIG_PSI and not psi=0, "
                  "and the cgroup 1 in its cgroup.pressure",
                  said);
    else
        error_set(&place->why_not, ERROR_UNSUPPORTED,
                  "no pressure (/proc/pressure/cpu: %s): the kernel needs CONFIG_PSI, and psi=1 at boot "
                  "where it is off by default",
                  said);
}

void pressure_read(struct pressure_place *place, int folder)
{
    struct buf text = { 0 };
    for (int r = 0; r < PRESSURE_RESOURCES; r++)
        read_resource(place, folder, (enum pressure_resource)r, &text);
    buf_done(&text);
    explain_absence(place);
    /* only kernels with CONFIG_IRQ_TIME_ACCOUNTING have it */
    if (is_absent(&place->of[PRESSURE_IRQ]))
        error_clear(&place->of[PRESSURE_IRQ].why_not);
}

void pressure_restart(struct pressure_place *place)
{
    for (int r = 0; r < PRESSURE_RESOURCES; r++)
        place->of[r].read_ns = 0;
}

bool pressure_has(const struct pressure_place *place, enum pressure_resource r, enum pressure_kind kind)
{
    return place->of[r].lines[kind].there && (*place->cgroup || r != PRESSURE_CPU || kind != PRESSURE_FULL);
}
