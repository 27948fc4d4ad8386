// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer target: any bytes are read as perf.data, or refused with a message. Memory and time are bounded
 * by their size. Seeds in perfdata/: a file, a pipe-mode file, and a file with compressed records. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "perfdata/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct touched {
    uint64_t sum, records;
    size_t limit;
    uint32_t events;
};

/* Reads every byte of a record, so that a sanitizer detects an invalid one. */
static bool touch(void *ctx, const struct record *r)
{
    struct touched *t = ctx;
    const uint8_t *body = r->body;
    for (uint32_t i = 0; i + 8 < r->size; i++)
        t->sum += body[i];
    for (uint32_t i = 0; r->type == PERF_RECORD_SAMPLE && i < r->sample.chain_n; i++)
        t->sum += record_u64(r->sample.chain, i, r->swap);
    if (r->type == PERF_RECORD_MMAP2 || r->type == PERF_RECORD_MMAP)
        t->sum += strlen(r->mmap.path) + r->mmap.build_id[0];
    if (r->type == PERF_RECORD_COMM)
        t->sum += strlen(r->comm.comm);
    if (r->source >= t->events || ++t->records > t->limit)
        abort();
    return true;
}

static void touch_header(struct perfdata *p, struct touched *t)
{
    const struct perfdata_event *events;
    const struct perfdata_build_id *ids;
    t->events = perfdata_events(p, &events);
    for (uint32_t i = 0; i < t->events; i++)
        t->sum += strlen(events[i].name) + (events[i].n_ids ? events[i].ids[events[i].n_ids - 1] : 0);
    uint32_t n = perfdata_build_ids(p, &ids);
    for (uint32_t i = 0; i < n; i++)
        if (ids[i].size > sizeof ids[i].id || !*ids[i].path)
            abort();
    if (strchr(perfdata_info(p)->hostname, '\033') || strchr(perfdata_info(p)->cmdline, '\033'))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct error e = { 0 };
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, data, size, &e))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct perfdata *p = perfdata_open(path, &e);
    if (p) {
        /* A group sample yields a record per few bytes, and zstd multiplies the bytes. */
        struct touched t = { .limit = (size_t)512 << 20 };
        const char *const *lines;
        touch_header(p, &t);
        perfdata_each(p, touch, &t, NULL, &e);
        perfdata_damage(p, &lines);
        perfdata_close(p);
    } else if (!*e.text) {
        abort();
    }
    close(fd);
    return 0;
}
