// SPDX-License-Identifier: GPL-2.0-or-later
/* Translate the terms of an event into the bits of its config. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/event_table.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "perf/pmu_files.h"

/* Shift of the PMU's type in the config of an event that several PMUs have. */
#define TYPE_SHIFT 32

/* Target and context of an event's terms. */
struct target {
    const struct pmu *pmu;
    struct perf_event_attr *attr;
    struct event_terms *more;
    const char *given; /* all terms as the user wrote them */
    bool in_alias;     /* parsing an alias: no further alias, so no loops */
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

/* Spread value over the bits of a format ("config:0-7,21"), lowest first. */
static bool set_field(struct target *t, const struct term *term, const char *spec, uint64_t value,
                      struct error *e)
{
    __u64 *word = config_word(t->attr, &spec);
    struct cpus bits = { 0 }; /* bit lists have the same syntax */
    bool ok = word && cpus_parse(spec, &bits);
    unsigned width = 0;
    for (unsigned bit = 0; ok && bit < 64; bit++) {
        if (!cpus_has(&bits, bit))
            continue;
        *word = (*word & ~(UINT64_C(1) << bit)) | (value >> width & 1) << bit;
        width++;
    }
    cpus_done(&bits);
    if (!ok) {
        error_set(e, ERROR_UNSUPPORTED, "term '%s' of PMU %s is in '%s', which is not supported", term->name,
                  t->pmu->name, spec);
        return error_at(e, term->at);
    }
    uint64_t max = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    if (value <= max)
        return true;
    error_set(e, ERROR_ARGUMENT, "%s=0x%llx is too large: %s of PMU %s has %u bits (at most 0x%llx)",
              term->name, (unsigned long long)value, term->name, t->pmu->name, width,
              (unsigned long long)max);
    return error_at(e, term->value ? term->value_at : term->at);
}

static bool no_such_term(const struct target *t, const struct term *term, struct error *e)
{
    static const char *const own[] = { "config", "config1", "config2", "name", "period", "freq" };
    struct namelist all = { 0 };
    char list[240];
    pmu_files_names(t->pmu->name, "format", &all);
    pmu_files_names(t->pmu->name, "events", &all);
    namelist_join(&all, list, sizeof list);
    bool others = all.n != 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        namelist_add(&all, own[i]);
    const char *near = namelist_nearest(&all, term->name);
    if (near)
        error_set(e, ERROR_ARGUMENT, "PMU %s has no term or event '%s'; did you mean '%s'?", t->pmu->name,
                  term->name, near);
    else
        error_set(e, ERROR_ARGUMENT, "PMU %s has no term or event '%s'; it has config, config1, config2%s%s",
                  t->pmu->name, term->name, others ? ", " : "", list);
    namelist_done(&all);
    return error_at(e, term->at);
}

/* Set the kernel's generic config for "cycles", "L1-dcache-loads" or "r1c2" of a core PMU, with that PMU's
 * type. */
static bool set_legacy(struct target *t, const char *name)
{
    struct event ev = { 0 };
    if (!t->pmu->core)
        return false;
    uint64_t raw;
    if (event_table_raw(name, &raw)) {
        t->attr->config = raw;
        return true;
    }
    if (event_table_find(name, &ev) != EVENT_MATCH_FOUND ||
        (ev.kind != EVENT_HARDWARE && ev.kind != EVENT_CACHE))
        return false;
    t->attr->type = ev.attr.type;
    t->attr->config = ev.attr.config | (pmu_hybrid_type(-1) ? (uint64_t)t->pmu->type << TYPE_SHIFT : 0);
    return true;
}

static bool set_term(struct target *t, const struct term *term, uint64_t value, struct error *e)
{
    const char *rest = term->name;
    __u64 *whole = config_word(t->attr, &rest);
    if (whole && !*rest) {
        *whole = value;
        return true;
    }
    char file[PATH_MAX];
    struct buf spec = { 0 };
    snprintf(file, sizeof file, "format/%s", term->name);
    bool ok =
        *term->name && !strchr(term->name, '/') && *term->name != '.' && pmu_read_file(t->pmu, file, &spec);
    if (ok)
        ok = set_field(t, term, buf_str(&spec), value, e);
    else
        ok = (!term->value && !t->in_alias && set_legacy(t, term->name)) || no_such_term(t, term, e);
    buf_done(&spec);
    return ok;
}

/* Check that the user gave a value for the parameter of an event ("domain=?"). */
static bool check_parameter(const struct target *t, const char *term, struct error *e)
{
    char word[64];
    snprintf(word, sizeof word, "%s=", term);
    return strstr(t->given, word) ||
           error_set(e, ERROR_ARGUMENT, "this event of PMU %s needs a value for '%s': add ,%s=N to it",
                     t->pmu->name, term, term);
}

static bool apply_one(void *ctx, const struct term *term, struct error *e);

static void read_unit(struct target *t, const char *event)
{
    char file[PATH_MAX];
    struct buf b = { 0 };
    snprintf(file, sizeof file, "events/%s.scale", event);
    if (pmu_read_file(t->pmu, file, &b))
        t->more->scale = strtod(buf_str(&b), NULL);
    snprintf(file, sizeof file, "events/%s.unit", event);
    buf_clear(&b);
    if (pmu_read_file(t->pmu, file, &b))
        text_clean(t->more->unit, sizeof t->more->unit, buf_str(&b), b.len);
    buf_done(&b);
}

/* Apply the terms of a named event. Errors in them are reported at the name. */
static bool apply_alias(struct target *t, const struct term *term, const char *terms, struct error *e)
{
    t->in_alias = true;
    bool ok = terms_each(terms, apply_one, t, e);
    t->in_alias = false;
    if (ok)
        read_unit(t, term->name);
    return ok || error_at(e, term->at);
}

/* Apply "term=value", or "term" (1). */
static bool apply_one(void *ctx, const struct term *term, struct error *e)
{
    struct target *t = ctx;
    uint64_t value = 1;
    bool known;
    if (!t->in_alias && terms_take(term, t->more, &known, e))
        return true;
    if (!t->in_alias && known)
        return false;
    struct buf alias = { 0 };
    if (!term->value && !t->in_alias && pmu_files_alias(t->pmu->name, term->name, &alias)) {
        bool ok = apply_alias(t, term, buf_str(&alias), e);
        buf_done(&alias);
        return ok;
    }
    buf_done(&alias);
    if (term->value && t->in_alias && !strcmp(term->value, "?"))
        return check_parameter(t, term->name, e);
    if (term->value && !terms_number(term, &value, e))
        return false;
    return set_term(t, term, value, e);
}

bool pmu_apply(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr,
               struct event_terms *more, struct error *e)
{
    struct event_terms ignored = { 0 };
    struct target t = { .pmu = pmu, .attr = attr, .more = more ? more : &ignored, .given = terms };
    attr->type = pmu->type;
    return terms_each(terms, apply_one, &t, e);
}
