// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/cpuspec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#define NODES_MAX 1024

static bool read_list(const char *root, const char *what, struct cpus *out)
{
    char path[512];
    struct buf b = { 0 };
    (void)snprintf(path, sizeof path, "%s/%s", root, what);
    *out = (struct cpus){ 0 };
    bool ok = file_read(path, 64 * 1024, &b, NULL) && cpus_parse(buf_str(&b), out);
    buf_done(&b);
    return ok;
}

static int read_id(const char *root, uint32_t cpu, const char *what)
{
    char path[512];
    struct buf b = { 0 };
    (void)snprintf(path, sizeof path, "%s/cpu/cpu%u/topology/%s", root, cpu, what);
    int id = file_read(path, 64, &b, NULL) ? atoi(buf_str(&b)) : -1;
    buf_done(&b);
    return id;
}

static void read_nodes(const char *root, struct cpu_target *at, uint32_t n)
{
    struct cpus nodes;
    bool ok = read_list(root, "node/possible", &nodes);
    for (uint32_t node = 0; ok && node < nodes.n && node < NODES_MAX; node++) {
        char what[64];
        struct cpus of;
        (void)snprintf(what, sizeof what, "node/node%u/cpulist", node);
        if (nodes.in[node] && read_list(root, what, &of))
            for (uint32_t i = 0; i < n; i++)
                at[i].node = cpus_has(&of, at[i].cpu) ? (int)node : at[i].node;
        else
            of = (struct cpus){ 0 };
        cpus_done(&of);
    }
    cpus_done(&nodes);
}

struct cpu_target *cpuspec_targets(const char *root, uint32_t *n)
{
    struct cpus possible;
    *n = 0;
    if (!read_list(root, "cpu/possible", &possible)) {
        cpus_done(&possible);
        cpus_read("possible", &possible);
    }
    struct cpu_target *at = mem_array(possible.n + 1, sizeof *at);
    for (uint32_t cpu = 0; cpu < possible.n; cpu++)
        if (possible.in[cpu])
            at[(*n)++] = (struct cpu_target){ cpu, read_id(root, cpu, "core_id"),
                                              read_id(root, cpu, "physical_package_id"), -1 };
    cpus_done(&possible);
    read_nodes(root, at, *n);
    return at;
}

/* --- parts --- */

enum by { BY_CPU, BY_CORE, BY_SOCKET, BY_NODE };

static int id_of(const struct cpu_target *at, enum by by)
{
    return by == BY_CPU ? (int)at->cpu : by == BY_CORE ? at->core : by == BY_SOCKET ? at->socket : at->node;
}

struct part {
    enum by by;
    int socket; /* -1: any */
    uint64_t first, last;
};

static bool parse_part(char *text, struct part *p)
{
    static const struct {
        const char *word;
        enum by by;
    } words[] = { { "core:", BY_CORE }, { "socket:", BY_SOCKET }, { "node:", BY_NODE } };
    uint64_t socket;
    *p = (struct part){ .by = BY_CPU, .socket = -1 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);
        if (strncmp(text, words[i].word, len))
            continue;
        p->by = words[i].by;
        text += len;
        break;
    }
    char *dot = p->by == BY_CORE ? strchr(text, '.') : NULL;
    if (dot) {
        *dot = '\0';
        if (!text_parse_u64(text, 0, INT32_MAX, &socket))
            return false;
        p->socket = (int)socket;
        text = dot + 1;
    }
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    if (!text_parse_u64(text, 0, INT32_MAX, &p->first) ||
        !text_parse_u64(dash ? dash + 1 : text, 0, INT32_MAX, &p->last))
        return false;
    return p->first <= p->last;
}

static bool is_there(const struct cpu_target *at, uint32_t n, const struct part *p, uint64_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (id_of(&at[i], p->by) == (int)id && (p->socket < 0 || at[i].socket == p->socket))
            return true;
    return false;
}

static bool say_missing(const struct cpu_target *at, uint32_t n, const struct part *p, uint64_t id,
                        struct error *e)
{
    static const char *const words[] = { "CPU", "core", "socket", "NUMA node" };
    int last = -1;
    for (uint32_t i = 0; i < n; i++)
        last = id_of(&at[i], p->by) > last ? id_of(&at[i], p->by) : last;
    if (last < 0)
        return error_set(e, ERROR_UNSUPPORTED, "the kernel does not report which CPUs belong to a %s",
                         words[p->by]);
    if (p->socket >= 0)
        return error_set(e, ERROR_MISSING, "there is no core %llu in socket %d", (unsigned long long)id,
                         p->socket);
    return error_set(e, ERROR_MISSING, "there is no %s %llu: this machine has 0-%d", words[p->by],
                     (unsigned long long)id, last);
}

static bool take_part(const struct cpu_target *at, uint32_t n, const struct part *p, struct cpus *out,
                      struct error *e)
{
    for (uint64_t id = p->first; id <= p->last; id++)
        if (!is_there(at, n, p, id))
            return say_missing(at, n, p, id, e);
    for (uint32_t i = 0; i < n; i++) {
        int id = id_of(&at[i], p->by);
        if (id >= (int)p->first && id <= (int)p->last && (p->socket < 0 || at[i].socket == p->socket))
            out->in[at[i].cpu] = true;
    }
    return true;
}

bool cpuspec_parse(const char *text, const char *root, struct cpus *out, struct error *e)
{
    char *copy = mem_strdup(text), *rest = copy, *word, safe[64];
    uint32_t n;
    struct cpu_target *at = cpuspec_targets(root, &n);
    *out = (struct cpus){ .n = n ? at[n - 1].cpu + 1 : 0 };
    out->in = mem_array(out->n + 1, sizeof *out->in);
    bool ok = true;
    while (ok && (word = strsep(&rest, ","))) {
        struct part part;
        text_clean(safe, sizeof safe, word, strlen(word));
        ok = parse_part(word, &part)
                 ? take_part(at, n, &part, out, e)
                 : error_set(e, ERROR_ARGUMENT,
                             "\"%s\" is not a list of CPUs: expected numbers and ranges, as in 0-3,8, or "
                             "core:2, core:SOCKET.CORE, socket:0, node:1",
                             safe);
    }
    mem_free(at);
    mem_free(copy);
    return ok;
}
