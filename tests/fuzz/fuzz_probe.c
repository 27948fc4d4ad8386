// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the search for locations of probes in a file (functions, lines, markers), the check of the worker's
 * reply, and the arguments of markers. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "perf/probe.h"
#include "symbols/probeformat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char details[PROBEFILE_DETAILS_MAX];

static bool find(const struct probe_spec *spec, struct probe_places *out, struct error *e)
{
    (void)spec, (void)e;
    for (int i = 0; i < 2; i++)
        *VEC_PUSH(out) = (struct probe_place){ .path = "/x", .name = "a:b", .details = details, .wide = i };
    return true;
}

/* Each argument of a marker is a word of the kernel's syntax. */
static void check_arguments(const char *text)
{
    struct buf out = { 0 };
    text_clean(details, sizeof details, text, strlen(text));
    if (!probe_print_definition("sdt:/x:a:b", &out, NULL) || strpbrk(buf_str(&out), "\033\t"))
        abort();
    buf_done(&out);
    (void)probe_print_definition("probe:/x:f a b:string c=$arg1", &out, NULL);
    buf_done(&out);
}

static void check(const struct buf *reply)
{
    struct probefile_view v;
    if (!probefile_view(&v, reply->data, reply->len, NULL))
        abort();
    for (uint32_t i = 0; i < v.header.n_places; i++)
        check_arguments(v.places[i].details);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct probefile_ask asks[] = {
        { .kind = PROBEFILE_FUNCTION, .name = "work|m*|ns::f", .wants_parameters = 1 },
        { .kind = PROBEFILE_OFFSET, .offset = 0x1000 },
        { .kind = PROBEFILE_LINE, .name = "t.c", .line = 6, .variables = "a b sem" },
        { .kind = PROBEFILE_MARKERS, .name = "*" },
        { .kind = PROBEFILE_FUNCTION, .name = "work", .offset = 4, .variables = "a b sem" },
    };
    struct probefile_view v;
    int fd = memfd_create("probe", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    probe_set_finder(find);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        struct buf reply = { 0 };
        struct error e = { 0 };
        if (probefile_serve(&asks[i], sizeof asks[i], (int[]){ fd, fd }, 1 + i % 2, &reply, &e))
            check(&reply);
        else if (!*e.text)
            abort();
        buf_done(&reply);
    }
    if (probefile_view(&v, data, size, NULL) && v.header.n_places > PROBEFILE_PLACES_MAX)
        abort();
    char text[256];
    text_clean(text, sizeof text, (const char *)data, size < sizeof text ? size : sizeof text - 1);
    check_arguments(text);
    close(fd);
    return 0;
}
