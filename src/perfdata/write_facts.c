// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes facts about the recorded machine: this one or, for a copied file, the facts in that file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "perfdata/write.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0 (built by hand)"
#endif

#define CPUINFO_MAX (16u << 20) /* room for thousands of CPUs */
#define CMDLINE_MAX (1u << 20)

static void known_string(struct buf *b, const char *s)
{
    if (*s)
        write_string(b, s);
}

/* Copies the value after "key<blanks>: " of the first such line to dst; false: none. */
static bool find_value(const char *text, const char *key, char *dst, size_t cap)
{
    size_t key_n = strlen(key);
    for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
        if (strncmp(line, key, key_n))
            continue;
        const char *value = line + key_n + strspn(line + key_n, " \t");
        if (*value++ != ':')
            continue;
        value += strspn(value, " \t");
        size_t n = strcspn(value, "\n");
        n = n < cap - 1 ? n : cap - 1;
        memcpy(dst, value, n);
        dst[n] = '\0';
        return true;
    }
    return false;
}

static void cpu_description(const char *cpuinfo, struct buf *out)
{
    static const char *const keys[] = { "model name", "Processor", "cpu model", "cpu", "uarch", "Hardware" };
    char value[256];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (find_value(cpuinfo, keys[i], value, sizeof value)) {
            known_string(out, value);
            return;
        }
}

/* Writes perf's form for x86; invents nothing for other machines. */
static void cpu_id(const char *cpuinfo, struct buf *out)
{
    static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
    char value[64];
    struct buf id = { 0 };
    size_t n = sizeof keys / sizeof *keys, found = 0;
    for (size_t i = 0; i < n && find_value(cpuinfo, keys[i], value, sizeof value); i++, found++)
        buf_printf(&id, "%s%s", i ? "," : "", value);
    if (found == n)
        write_string(out, id.data);
    buf_done(&id);
}

static void from_cpuinfo(enum format_feature feature, struct buf *out)
{
    struct buf text = { 0 };
    if (file_read("/proc/cpuinfo", CPUINFO_MAX, &text, NULL))
        (feature == FORMAT_CPUDESC ? cpu_description : cpu_id)(buf_str(&text), out);
    buf_done(&text);
}

static void own_memory(struct buf *out)
{
    char value[64];
    struct buf text = { 0 };
    if (file_read("/proc/meminfo", CMDLINE_MAX, &text, NULL) &&
        find_value(buf_str(&text), "MemTotal", value, sizeof value))
        write_add_u64(out, strtoull(value, NULL, 10));
    buf_done(&text);
}

static void cpus(uint32_t available, uint32_t online, struct buf *out)
{
    if (!available && !online)
        return;
    write_add_u32(out, available);
    write_add_u32(out, online);
}

static void own_cmdline(struct buf *out)
{
    struct buf text = { 0 }, strings = { 0 };
    uint32_t n = 0;
    if (file_read("/proc/self/cmdline", CMDLINE_MAX, &text, NULL))
        for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1, n++)
            write_string(&strings, text.data + at);
    if (n) {
        write_add_u32(out, n);
        buf_add(out, strings.data, strings.len);
    }
    buf_done(&strings);
    buf_done(&text);
}

static void file_fact(const struct perfdata *from, enum format_feature feature, struct buf *out)
{
    size_t n;
    const void *bytes = perfdata_feature(from, feature, &n);
    if (bytes)
        buf_add(out, bytes, n);
}

static void cmdline(const struct perfdata_writer *w, struct buf *out)
{
    if (w->from && !w->host) {
        file_fact(w->from, FORMAT_CMDLINE, out);
    } else if (!w->host) {
        own_cmdline(out);
    } else if (*w->host->cmdline) {
        write_add_u32(out, 1);
        write_string(out, w->host->cmdline);
    }
}

static void clock_resolution(struct buf *out)
{
    struct timespec ts = { .tv_nsec = 1 };
    clock_getres(CLOCK_MONOTONIC, &ts);
    write_add_u64(out, (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec);
}

/* The same moment by the wall clock and by the samples' clock. */
static void clock_data(struct buf *out)
{
    struct {
        uint32_t version, clockid;
        uint64_t wall_ns, clock_ns;
    } data = { .version = 1, .clockid = CLOCK_MONOTONIC };
    data.clock_ns = clock_read_ns(CLOCK_MONOTONIC);
    data.wall_ns = clock_read_ns(CLOCK_REALTIME);
    buf_add(out, &data, sizeof data);
}

static void own_fact(const struct perfdata_writer *w, enum format_feature feature, struct buf *out)
{
    const struct perf_event_attr *a = &w->events[0].attr;
    bool monotonic = a->use_clockid && a->clockid == CLOCK_MONOTONIC;
    struct utsname u = { 0 };
    uname(&u);
    switch ((int)feature) {
    case FORMAT_HOSTNAME:
        known_string(out, u.nodename);
        break;
    case FORMAT_OSRELEASE:
        known_string(out, u.release);
        break;
    case FORMAT_ARCH:
        known_string(out, u.machine);
        break;
    case FORMAT_NRCPUS:
        cpus((uint32_t)sysconf(_SC_NPROCESSORS_CONF), (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), out);
        break;
    case FORMAT_CPUDESC:
    case FORMAT_CPUID:
        from_cpuinfo(feature, out);
        break;
    case FORMAT_TOTAL_MEM:
        own_memory(out);
        break;
    case FORMAT_CLOCKID:
        if (monotonic)
            clock_resolution(out);
        break;
    case FORMAT_CLOCK_DATA:
        if (monotonic)
            clock_data(out);
        break;
    default:
        write_machine(feature, out);
    }
}

static void others_fact(const struct perfdata_info *host, enum format_feature feature, struct buf *out)
{
    switch ((int)feature) {
    case FORMAT_HOSTNAME:
        known_string(out, host->hostname);
        break;
    case FORMAT_OSRELEASE:
        known_string(out, host->release);
        break;
    case FORMAT_ARCH:
        known_string(out, host->arch);
        break;
    case FORMAT_NRCPUS:
        cpus(host->cpus_available, host->cpus_online, out);
        break;
    case FORMAT_CPUDESC:
        known_string(out, host->cpudesc);
        break;
    case FORMAT_TOTAL_MEM:
        if (host->total_mem_kb)
            write_add_u64(out, host->total_mem_kb);
        break;
    }
}

void write_host_fact(const struct perfdata_writer *w, enum format_feature feature, struct buf *out)
{
    char version[64 + sizeof w->stacks];
    if (feature == FORMAT_VERSION) {
        snprintf(version, sizeof version, "flametop %.50s%s%s", PACKAGE_VERSION,
                 *w->stacks ? FORMAT_STACKS : "", w->stacks);
        write_string(out, version);
    } else if (feature == FORMAT_CMDLINE)
        cmdline(w, out);
    else if (w->from && !w->host)
        file_fact(w->from, feature, out);
    else if (w->host)
        others_fact(w->host, feature, out);
    else
        own_fact(w, feature, out);
}
