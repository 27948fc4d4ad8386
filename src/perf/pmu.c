// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pmu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/cpus.h"
#include "perf/namelist.h"

#define DEFAULT_ROOT "/sys/bus/event_source/devices"
#define FILE_MAX     4096 /* sysfs shows at most a page */

static const char *root = DEFAULT_ROOT;

void pmu_set_root(const char *dir)
{
    root = dir ? dir : DEFAULT_ROOT;
}

static void path_of(char path[PATH_MAX], const char *pmu, const char *file)
{
    snprintf(path, PATH_MAX, "%s/%s/%s", root, pmu, file);
}

static bool read_text(const char *pmu, const char *file, struct buf *b)
{
    char path[PATH_MAX];
    path_of(path, pmu, file);
    if (!file_read(path, FILE_MAX, b, NULL))
        return false;
    while (b->len && strchr(" \t\n", b->data[b->len - 1]))
        b->data[--b->len] = '\0';
    return true;
}

bool pmu_read_file(const struct pmu *pmu, const char *file, struct buf *text)
{
    return read_text(pmu->name, file, text);
}

static uint64_t cpu_mask(const char *list)
{
    struct cpus cpus;
    uint64_t mask = 0;
    cpus_parse(list, &cpus);
    for (uint32_t cpu = 0; cpu < 64; cpu++)
        mask |= (uint64_t)cpus_has(&cpus, cpu) << cpu;
    cpus_done(&cpus);
    return mask;
}

/* A PMU's name is a folder's name: nothing that leads out of it. */
static bool plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < sizeof((struct pmu *)0)->name;
}

static bool load(const char *name, struct pmu *out)
{
    char path[PATH_MAX];
    uint64_t type;
    *out = (struct pmu){ 0 };
    if (!plain_name(name))
        return false;
    path_of(path, name, "type");
    if (!file_read_u64(path, &type) || type > UINT32_MAX)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->type = (uint32_t)type;
    /* "cpus" is what core PMUs of mixed CPUs have (big.LITTLE, P and E cores); uncore ones have "cpumask". */
    struct buf list = { 0 };
    bool mixed = read_text(name, "cpus", &list);
    out->core = mixed || !strcmp(name, "cpu");
    if (mixed || read_text(name, "cpumask", &list))
        out->cpus = cpu_mask(buf_str(&list));
    buf_done(&list);
    return true;
}

static void list_all(const struct namelist *all, char *dst, size_t cap)
{
    size_t len = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < all->n && len < cap; i++)
        len += (size_t)snprintf(dst + len, cap - len, "%s%s", i ? ", " : "", all->items[i]);
}

static bool no_such_pmu(const char *name, struct error *e)
{
    struct namelist all = { 0 };
    char list[200];
    namelist_add_dir(&all, root, true, NULL);
    const char *near = namelist_nearest(&all, name);
    list_all(&all, list, sizeof list);
    if (near)
        error_set(e, ERROR_MISSING, "no PMU '%s' on this machine; did you mean '%s'?", name, near);
    else if (all.n)
        error_set(e, ERROR_MISSING, "no PMU '%s' on this machine; it has %s", name, list);
    else
        error_set(e, ERROR_MISSING, "no PMU '%s': %s lists none; is /sys mounted?", name, root);
    namelist_done(&all);
    return false;
}

bool pmu_find(const char *name, struct pmu *out, struct error *e)
{
    return load(name, out) || no_such_pmu(name, e);
}

bool pmu_each(bool (*fn)(void *ctx, const struct pmu *pmu), void *ctx)
{
    struct namelist all = { 0 };
    bool go_on = true;
    namelist_add_dir(&all, root, true, NULL);
    for (size_t i = 0; go_on && i < all.n; i++) {
        struct pmu pmu;
        if (load(all.items[i], &pmu))
            go_on = fn(ctx, &pmu);
    }
    namelist_done(&all);
    return go_on;
}

static bool stop_at_core(void *ctx, const struct pmu *pmu)
{
    (void)ctx;
    return !pmu->core;
}

bool pmu_has_core(void)
{
    return !pmu_each(stop_at_core, NULL);
}

/* Beside each event "E" may stand "E.unit", "E.scale", "E.snapshot", "E.per-pkg". */
static bool is_event_name(const char *name)
{
    return !strchr(name, '.');
}

static bool read_alias(const struct pmu *pmu, const char *event, struct buf *terms)
{
    char file[PATH_MAX];
    if (!*event || strchr(event, '/') || !is_event_name(event))
        return false;
    snprintf(file, sizeof file, "events/%s", event);
    return read_text(pmu->name, file, terms);
}

static void names_of(const struct pmu *pmu, const char *folder, struct namelist *out)
{
    char path[PATH_MAX];
    struct namelist all = { 0 };
    path_of(path, pmu->name, folder);
    namelist_add_dir(&all, path, false, NULL);
    for (size_t i = 0; i < all.n; i++)
        if (is_event_name(all.items[i]))
            namelist_add(out, all.items[i]);
    namelist_done(&all);
}

bool pmu_each_alias(const struct pmu *pmu, bool (*fn)(void *ctx, const char *name, const char *terms),
                    void *ctx)
{
    struct namelist events = { 0 };
    struct buf terms = { 0 };
    bool go_on = true;
    names_of(pmu, "events", &events);
    for (size_t i = 0; go_on && i < events.n; i++)
        if (read_alias(pmu, events.items[i], &terms))
            go_on = fn(ctx, events.items[i], buf_str(&terms));
    buf_done(&terms);
    namelist_done(&events);
    return go_on;
}

struct alias_search {
    const char *event;
    struct pmu *out;
};

static bool stop_at_alias(void *ctx, const struct pmu *pmu)
{
    struct alias_search *search = ctx;
    struct buf terms = { 0 };
    bool there = read_alias(pmu, search->event, &terms);
    buf_done(&terms);
    if (there)
        *search->out = *pmu;
    return !there;
}

bool pmu_find_alias(const char *event, struct pmu *out)
{
    return !pmu_each(stop_at_alias, &(struct alias_search){ event, out });
}

/* What the terms of one event are applied to. */
struct target {
    const struct pmu *pmu;
    struct perf_event_attr *attr;
    char *name;
    size_t name_cap;
    const char *given; /* all terms as the user wrote them */
    bool in_alias;     /* these terms are an event's own: no further alias, so no loops */
};

static __u64 *config_word(struct perf_event_attr *attr, const char **spec)
{
    static const char *const words[] = { "config1", "config2", "config" };
    __u64 *const at[] = { &attr->config1, &attr->config2, &attr->config };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(*spec, words[i], len) || ((*spec)[len] && (*spec)[len] != ':'))
            continue;
        *spec += len + ((*spec)[len] == ':');
        return at[i];
    }
    return NULL;
}

/* Spreads value over the bits that a format names ("config:0-7,21"), the lowest first. */
static bool set_field(struct target *t, const char *term, const char *spec, uint64_t value, struct error *e)
{
    __u64 *word = config_word(t->attr, &spec);
    struct cpus bits = { 0 }; /* a list in the same form */
    bool ok = word && cpus_parse(spec, &bits);
    unsigned width = 0;
    for (unsigned bit = 0; ok && bit < 64; bit++) {
        if (!cpus_has(&bits, bit))
            continue;
        *word = (*word & ~(UINT64_C(1) << bit)) | (value >> width & 1) << bit;
        width++;
    }
    cpus_done(&bits);
    if (!ok)
        return error_set(e, ERROR_UNSUPPORTED, "term '%s' of PMU %s lies in '%s', which is not known here",
                         term, t->pmu->name, spec);
    uint64_t max = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    return value <= max ||
           error_set(e, ERROR_ARGUMENT, "%s=0x%llx is too large: %s of PMU %s has %u bits (at most 0x%llx)",
                     term, (unsigned long long)value, term, t->pmu->name, width, (unsigned long long)max);
}

static bool no_such_term(const struct target *t, const char *term, struct error *e)
{
    if (!strcmp(term, "period") || !strcmp(term, "freq"))
        return error_set(e, ERROR_ARGUMENT, "'%s=' does not go into the event: give -F or -c", term);
    struct namelist all = { 0 };
    char list[240];
    names_of(t->pmu, "format", &all);
    names_of(t->pmu, "events", &all);
    const char *near = namelist_nearest(&all, term);
    list_all(&all, list, sizeof list);
    if (near)
        error_set(e, ERROR_ARGUMENT, "PMU %s has no term or event '%s'; did you mean '%s'?", t->pmu->name,
                  term, near);
    else
        error_set(e, ERROR_ARGUMENT, "PMU %s has no term or event '%s'; it has config, config1, config2%s%s",
                  t->pmu->name, term, all.n ? ", " : "", list);
    namelist_done(&all);
    return false;
}

static bool set_term(struct target *t, const char *term, uint64_t value, struct error *e)
{
    const char *rest = term;
    __u64 *whole = config_word(t->attr, &rest);
    if (whole && !*rest) {
        *whole = value;
        return true;
    }
    char file[PATH_MAX];
    struct buf spec = { 0 };
    snprintf(file, sizeof file, "format/%s", term);
    bool ok = *term && !strchr(term, '/') && *term != '.' && read_text(t->pmu->name, file, &spec);
    ok = ok ? set_field(t, term, buf_str(&spec), value, e) : no_such_term(t, term, e);
    buf_done(&spec);
    return ok;
}

static bool parse_value(const char *term, const char *text, uint64_t *value, struct error *e)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (end != text && !*end && !errno && *text != '-')
        return true;
    return error_set(e, ERROR_ARGUMENT, "'%s=%s': '%s' is no number (decimal or 0x…)", term, text, text);
}

/* An event's open parameter ("domain=?") is the user's to give behind the event. */
static bool check_parameter(const struct target *t, const char *term, struct error *e)
{
    char word[64];
    snprintf(word, sizeof word, "%s=", term);
    return strstr(t->given, word) ||
           error_set(e, ERROR_ARGUMENT, "this event of PMU %s wants a value for '%s': add ,%s=N to it",
                     t->pmu->name, term, term);
}

static bool apply_terms(struct target *t, char *terms, struct error *e);

/* "term=value", "term" (1), or an event's name, which stands for the terms behind it. */
static bool apply_one(struct target *t, char *term, struct error *e)
{
    uint64_t value = 1;
    char *equals = strchr(term, '=');
    if (equals)
        *equals = '\0';
    if (equals && !strcmp(term, "name")) {
        text_clean(t->name, t->name_cap, equals + 1, strlen(equals + 1));
        return true;
    }
    struct buf alias = { 0 };
    if (!equals && !t->in_alias && read_alias(t->pmu, term, &alias)) {
        t->in_alias = true;
        bool ok = apply_terms(t, alias.data, e);
        t->in_alias = false;
        buf_done(&alias);
        return ok;
    }
    buf_done(&alias);
    if (equals && t->in_alias && !strcmp(equals + 1, "?"))
        return check_parameter(t, term, e);
    if (equals && !parse_value(term, equals + 1, &value, e))
        return false;
    return set_term(t, term, value, e);
}

static bool apply_terms(struct target *t, char *terms, struct error *e)
{
    char *rest = terms;
    for (char *term; (term = strsep(&rest, ","));)
        if (*term && !apply_one(t, term, e))
            return false;
    return true;
}

bool pmu_apply(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr, char *name, size_t cap,
               struct error *e)
{
    struct target t = { .pmu = pmu, .attr = attr, .name = name, .name_cap = cap, .given = terms };
    char *copy = mem_strdup(terms);
    attr->type = pmu->type;
    bool ok = apply_terms(&t, copy, e);
    mem_free(copy);
    return ok;
}
