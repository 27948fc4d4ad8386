// SPDX-License-Identifier: GPL-2.0-or-later
/* The events off-cpu and on-cpu in a perf.data: how they are saved and recognised. */
#include <string.h>

#include "session/collect/offcpu.h"

void offcpu_saved_attr(struct perf_event_attr *attr)
{
    *attr = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_BPF_OUTPUT,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_AUX,
        .use_clockid = attr->use_clockid,
        .clockid = attr->clockid,
    };
}

static bool is_output(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

bool offcpu_is_saved(const char *name, const struct perf_event_attr *attr)
{
    return is_output(attr) && (!strcmp(name, "off-cpu") || !strcmp(name, "offcpu-time"));
}

bool wakers_are_saved(const char *name, const struct perf_event_attr *attr)
{
    return is_output(attr) && !strcmp(name, "wakers");
}

bool offcpu_is_saved_running(const char *name, const struct perf_event_attr *attr)
{
    return is_output(attr) && !strcmp(name, OFFCPU_RUNNING);
}
