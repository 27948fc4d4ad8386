// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/cpus.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define CPUS_FOLDER "/sys/devices/system/cpu/"
#define CPUS_MAX    16384 /* twice the maximum that Linux can be built for */

static void add_range(struct cpus *c, uint32_t first, uint32_t last)
{
    if (last >= c->n) {
        c->in = mem_resize(c->in, last + 1, sizeof *c->in);
        memset(c->in + c->n, 0, last + 1 - c->n);
        c->n = last + 1;
    }
    memset(c->in + first, 1, last - first + 1);
}

static bool parse_cpu(const char **s, uint32_t *cpu)
{
    if (!isdigit((unsigned char)**s))
        return false;
    char *end;
    unsigned long v = strtoul(*s, &end, 10);
    *s = end;
    *cpu = (uint32_t)v;
    return v < CPUS_MAX;
}

bool cpus_parse(const char *text, struct cpus *out)
{
    *out = (struct cpus){ 0 };
    for (const char *s = text;; s++) {
        uint32_t first, last;
        if (!parse_cpu(&s, &first))
            return false;
        last = first;
        if (*s == '-' && (s++, !parse_cpu(&s, &last)))
            return false;
        if (last < first)
            return false;
        add_range(out, first, last);
        if (*s == '\n' || !*s)
            return true;
        if (*s != ',')
            return false;
    }
}

void cpus_read(const char *which, struct cpus *out)
{
    char path[64];
    struct buf b = { 0 };
    snprintf(path, sizeof path, CPUS_FOLDER "%s", which);
    bool ok = file_read(path, 64 * 1024, &b, NULL) && cpus_parse(buf_str(&b), out);
    buf_done(&b);
    if (ok)
        return;
    long n = sysconf(_SC_NPROCESSORS_CONF);
    *out = (struct cpus){ 0 };
    add_range(out, 0, n > 0 && n < CPUS_MAX ? (uint32_t)n - 1 : 0);
}

bool cpus_has(const struct cpus *c, uint32_t cpu)
{
    return cpu < c->n && c->in[cpu];
}

void cpus_done(struct cpus *c)
{
    mem_free(c->in);
    *c = (struct cpus){ 0 };
}

void cpus_watch_init(struct cpus_watch *w)
{
    *w = (struct cpus_watch){ .fd = -1 };
}

bool cpus_watch_look(struct cpus_watch *w, struct cpus *list)
{
    char now[CPUS_WATCH_MAX];
    if (w->fd < 0)
        w->fd = open(CPUS_FOLDER "online", O_RDONLY | O_CLOEXEC);
    ssize_t got = w->fd < 0 ? -1 : pread(w->fd, now, sizeof now, 0);
    size_t n = got > 0 && (size_t)got < sizeof now ? (size_t)got : 0; /* a full buffer may be incomplete */
    if (n && n == w->n && !memcmp(now, w->text, n))
        return false;
    cpus_done(list);
    memcpy(w->text, now, n);
    w->text[n] = '\0';
    if (n && cpus_parse(w->text, list)) {
        w->n = n;
        return true;
    }
    w->n = 0;
    cpus_done(list);
    cpus_read("online", list);
    return true;
}

void cpus_watch_done(struct cpus_watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    cpus_watch_init(w);
}

struct cpu_mask cpu_mask_of(const char *list)
{
    struct cpus cpus;
    struct cpu_mask m = { { 0 } };
    bool ok = cpus_parse(list, &cpus);
    for (uint32_t cpu = 0; ok && cpu < cpus.n && cpu < CPU_MASK_MAX; cpu++)
        m.words[cpu / 64] |= (uint64_t)cpus.in[cpu] << cpu % 64;
    cpus_done(&cpus);
    return m;
}

int cpu_mask_first(const struct cpu_mask *m)
{
    for (size_t i = 0; i < sizeof m->words / sizeof *m->words; i++)
        if (m->words[i])
            return (int)i * 64 + __builtin_ctzll(m->words[i]);
    return -1;
}

bool cpu_mask_any(const struct cpu_mask *m)
{
    return cpu_mask_first(m) >= 0;
}

bool cpu_mask_has(const struct cpu_mask *m, uint32_t cpu)
{
    return (cpu < CPU_MASK_MAX && m->words[cpu / 64] >> cpu % 64 & 1) || !cpu_mask_any(m);
}
