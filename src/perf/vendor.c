// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/vendor.h"

#ifdef HAVE_PFM
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"

static struct {
    __typeof__(pfm_initialize) *pfm_initialize;
    __typeof__(pfm_get_pmu_info) *pfm_get_pmu_info;
    __typeof__(pfm_get_os_event_encoding) *pfm_get_os_event_encoding;
    __typeof__(pfm_get_event_info) *pfm_get_event_info;
    __typeof__(pfm_get_event_attr_info) *pfm_get_event_attr_info;
    __typeof__(pfm_get_event_next) *pfm_get_event_next;
} lib;
static bool ready, is_off;

void vendor_set_off(bool off)
{
    is_off = off;
}

static void start(void)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(lib, pfm_initialize),
        LIBRARY_SYMBOL(lib, pfm_get_pmu_info),
        LIBRARY_SYMBOL(lib, pfm_get_os_event_encoding),
        LIBRARY_SYMBOL(lib, pfm_get_event_info),
        LIBRARY_SYMBOL(lib, pfm_get_event_attr_info),
        LIBRARY_SYMBOL(lib, pfm_get_event_next),
    };
    char soname[24];
    snprintf(soname, sizeof soname, "libpfm.so.%d", LIBPFM_VERSION >> 16);
    ready = library_load(soname, "libpfm4", symbols, sizeof symbols / sizeof *symbols, NULL) &&
            lib.pfm_initialize() == PFM_SUCCESS;
}

static bool is_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return ready && !is_off;
}

/* The kernel's own events are skipped: flametop has them by their usual names. */
static bool is_of_kernel(pfm_pmu_t pmu)
{
    return pmu == PFM_PMU_PERF_EVENT || pmu == PFM_PMU_PERF_EVENT_RAW;
}

static bool info_of(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    return lib.pfm_get_pmu_info(pmu, info) == PFM_SUCCESS && info->is_present && !is_of_kernel(pmu);
}

bool vendor_find(const char *name, struct perf_event_attr *attr)
{
    struct perf_event_attr found = { .size = sizeof found };
    pfm_event_info_t info = { .size = sizeof info };
    pfm_perf_encode_arg_t arg = { .attr = &found, .size = sizeof arg };
    if (!is_ready() ||
        lib.pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT, &arg) !=
            PFM_SUCCESS ||
        lib.pfm_get_event_info(arg.idx, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS ||
        is_of_kernel(info.pmu))
        return false;
    found.size = sizeof found;
    *attr = found;
    return true;
}

struct walk {
    bool (*fn)(void *ctx, const char *pmu, const char *name, const char *help);
    void *ctx;
    const char *pmu;
};

/* Report an event unless it has no encoding: the CPU may have a PMU that this kernel lacks (RAPL in a
 * virtual machine). */
static bool show(const struct walk *w, const char *name, const char *help)
{
    struct perf_event_attr attr;
    return !vendor_find(name, &attr) || w->fn(w->ctx, w->pmu, name, help);
}

/* Report an event: one row, or one per umask if it needs one. */
static bool walk_event(const struct walk *w, const pfm_event_info_t *info)
{
    bool masks = false, go_on = true;
    for (int i = 0; go_on && i < info->nattrs; i++) {
        char name[256];
        pfm_event_attr_info_t attr = { .size = sizeof attr };
        if (lib.pfm_get_event_attr_info(info->idx, i, PFM_OS_PERF_EVENT_EXT, &attr) != PFM_SUCCESS ||
            attr.type != PFM_ATTR_UMASK)
            continue;
        masks = true;
        snprintf(name, sizeof name, "%s:%s", info->name, attr.name);
        go_on = show(w, name, attr.desc);
    }
    return masks ? go_on : show(w, info->name, info->desc);
}

static bool walk_pmu(struct walk *w, const pfm_pmu_info_t *pmu)
{
    bool go_on = true;
    w->pmu = pmu->name;
    for (int i = pmu->first_event; go_on && i >= 0; i = lib.pfm_get_event_next(i)) {
        pfm_event_info_t info = { .size = sizeof info };
        if (lib.pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS)
            go_on = walk_event(w, &info);
    }
    return go_on;
}

bool vendor_each(bool (*fn)(void *ctx, const char *pmu, const char *name, const char *help), void *ctx)
{
    struct walk w = { fn, ctx, NULL };
    bool go_on = true;
    for (pfm_pmu_t pmu = PFM_PMU_NONE; is_ready() && go_on && pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t info;
        if (info_of(pmu, &info))
            go_on = walk_pmu(&w, &info);
    }
    return go_on;
}

#else

void vendor_set_off(bool off)
{
    (void)off;
}

bool vendor_find(const char *name, struct perf_event_attr *attr)
{
    (void)name;
    (void)attr;
    return false;
}

bool vendor_each(bool (*fn)(void *ctx, const char *pmu, const char *name, const char *help), void *ctx)
{
    (void)fn;
    (void)ctx;
    return true;
}

#endif
