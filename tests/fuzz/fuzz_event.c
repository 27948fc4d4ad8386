// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes events and event lists: each is accepted, or refused with a message and a location. The test has
 * small PMUs and tracepoints of its own. Text after a newline is a format or a named event of a PMU, or the
 * format of a tracepoint. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/event.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"
#include "perf/vendor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], pmus[96], tracefs[96];

static void put(const char *path, const char *text, size_t n)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    for (char *slash = strchr(full + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, n) < 0)
        abort();
    close(fd);
}

static void put_text(const char *path, const char *text)
{
    put(path, text, strlen(text));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command))
        perror(folder);
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/fuzz_event.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    put_text("pmu/cpu_core/type", "4\n");
    put_text("pmu/cpu_core/cpus", "0-3\n");
    put_text("pmu/cpu_core/format/event", "config:0-7\n");
    put_text("pmu/cpu_atom/type", "10\n");
    put_text("pmu/cpu_atom/cpus", "4-7\n");
    put_text("pmu/imc_0/type", "18\n");
    put_text("pmu/imc_0/cpumask", "0,64\n");
    put_text("pmu/imc_1/type", "19\n");
    put_text("tracefs/events/a/b/id", "1\n");
    put_text("tracefs/events/a/bc/id", "2\n");
    snprintf(pmus, sizeof pmus, "%s/pmu", folder);
    snprintf(tracefs, sizeof tracefs, "%s/tracefs", folder);
    vendor_set_off(true); /* thousands of names, which make each refusal slow */
    pmu_set_root(pmus);
    tracepoint_set_root(tracefs);
}

static void check(const struct error *e)
{
    if (!*e->text || strchr(e->text, '\033') || strchr(e->shown, '\033') ||
        e->column > (unsigned)text_width(e->shown))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event ev;
    struct error e = { 0 };
    struct event_list list = { 0 };
    char line[200];
    if (!*folder)
        make_folder();
    const char *file = memchr(data, '\n', size);
    size_t n = file ? (size_t)(file - (const char *)data) : size;
    char *text = mem_strndup((const char *)data, n);
    if (file) {
        put("pmu/cpu_core/format/x", file + 1, size - n - 1);
        put("pmu/imc_0/events/x", file + 1, size - n - 1);
        put("tracefs/events/a/b/format", file + 1, size - n - 1);
    }
    if (!event_parse(text, &ev, &e))
        check(&e);
    else if (strchr(ev.name, '\033'))
        abort();
    if (!event_list_parse(&list, text, &e))
        check(&e);
    if (list.n && !event_list_filter(&list, 0, text, &e))
        check(&e);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].members > list.n - i)
            abort();
    tracepoint_fields("a", "b", line, sizeof line);
    event_list_done(&list);
    mem_free(text);
    return 0;
}
