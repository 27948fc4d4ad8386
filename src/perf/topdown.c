// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/topdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct topdown models[] = {
    { TOPDOWN_METRICS, 0,
      { "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound" } },
    { TOPDOWN_ATOM, 0, { "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound" } },
    { TOPDOWN_BUBBLES,
      0,
      { "topdown-total-slots", "topdown-slots-issued", "topdown-slots-retired", "topdown-fetch-bubbles",
        "topdown-recovery-bubbles" } },
    { TOPDOWN_ARM, 0,
      { "cpu_cycles", "stall_slot_frontend", "stall_slot_backend", "op_retired", "op_spec" } },
};
/* clang-format on */

/* ls_not_halted_cyc, ex_ret_ops, de_src_op_disp.all, de_no_dispatch_per_slot.no_ops_from_frontend, and
 * de_no_dispatch_per_slot.backend_stalls. */
static const struct topdown amd = { TOPDOWN_AMD,
                                    0,
                                    { "event=0x76", "event=0xc1", "event=0xaa,umask=0x7",
                                      "event=0x1a0,umask=0x1", "event=0x1a0,umask=0x1e" } };

static bool names_all(const struct pmu *pmu, const struct topdown *t)
{
    for (int i = 0; i < TOPDOWN_INPUTS && t->events[i]; i++)
        if (!pmu_names_event(pmu, t->events[i]))
            return false;
    return true;
}

/* Slots per cycle; 0: not given by the PMU. */
static double arm_width(const struct pmu *pmu)
{
    struct buf text = { 0 };
    double width = pmu_read_file(pmu, "caps/slots", &text) ? (double)strtoul(buf_str(&text), NULL, 0) : 0;
    buf_done(&text);
    return width > 0 && width < 256 ? width : 0;
}

void topdown_find(const struct pmu *pmu, double amd_width, struct topdown *out)
{
    *out = (struct topdown){ .model = TOPDOWN_NONE };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (!names_all(pmu, &models[i]))
            continue;
        *out = models[i];
        out->width = out->model == TOPDOWN_ARM ? arm_width(pmu) : 0;
        if (out->model == TOPDOWN_ARM && !out->width)
            *out = (struct topdown){ .model = TOPDOWN_NONE };
        return;
    }
    if (amd_width > 0) {
        *out = amd;
        out->width = amd_width;
    }
}

static unsigned long value_of(const char *cpuinfo, const char *key)
{
    const char *at = strstr(cpuinfo, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? strtoul(at + 1, NULL, 10) : 0;
}

double topdown_amd_width(const char *cpuinfo)
{
    if (!strstr(cpuinfo, "AuthenticAMD"))
        return 0;
    unsigned long family = value_of(cpuinfo, "cpu family"), model = value_of(cpuinfo, "\nmodel\t");
    /* Zen 3 and Zen 4 share family 19h. */
    bool zen4 = (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) ||
                (model >= 0xa0 && model <= 0xaf);
    return family == 0x1a ? 8 : family == 0x19 && zen4 ? 6 : 0;
}

static double positive(double v)
{
    return v > 0 ? v : 0;
}

static void of_bubbles(const double *in, struct topdown_slots *out)
{
    out->all = in[0];
    out->retiring = in[2];
    out->frontend = in[3];
    out->bad_speculation = in[1] - in[2] + in[4];
    out->backend = in[0] - in[2] - in[3] - positive(out->bad_speculation);
}

/* Slots that are not stalled issue; a part of them retires. */
static void of_arm(double width, const double *in, struct topdown_slots *out)
{
    out->all = width * in[0];
    out->frontend = in[1];
    out->backend = in[2];
    double issued = positive(out->all - in[1] - in[2]);
    double kept = in[4] > 0 ? in[3] / in[4] : 0;
    kept = kept > 1 ? 1 : kept;
    out->retiring = issued * kept;
    out->bad_speculation = issued * (1 - kept);
}

void topdown_make(const struct topdown *t, const double in[TOPDOWN_INPUTS], struct topdown_slots *out)
{
    *out = (struct topdown_slots){ 0 };
    switch (t->model) {
    case TOPDOWN_METRICS:
        *out = (struct topdown_slots){ in[1] + in[2] + in[3] + in[4], in[1], in[2], in[3], in[4] };
        break;
    case TOPDOWN_ATOM:
        *out = (struct topdown_slots){ in[0] + in[1] + in[2] + in[3], in[0], in[1], in[2], in[3] };
        break;
    case TOPDOWN_BUBBLES:
        of_bubbles(in, out);
        break;
    case TOPDOWN_AMD:
        *out = (struct topdown_slots){ t->width * in[0], in[1], in[2] - in[1], in[3], in[4] };
        break;
    case TOPDOWN_ARM:
        of_arm(t->width, in, out);
        break;
    default:
        break;
    }
    out->bad_speculation = positive(out->bad_speculation);
    out->backend = positive(out->backend);
}
