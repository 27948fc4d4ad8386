// SPDX-License-Identifier: GPL-2.0-or-later
/* Name functions by their scopes (scopes.h).
 * An entry does not know the scopes around it: its unit is traversed once, when the first name in it is
 * requested. */
#include "symbols/scopes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "symbols/patience.h"

#define NEST_MAX      256 /* scopes within scopes */
#define ORIGINS_MAX   16  /* from an instance to its declaration */
#define FUNCTIONS_MAX (1u << 20)
#define TEXT_MAX      (64u << 20)

struct traversal {
    struct scopes *scopes;
    struct patience patience;
};
/* A namespace, a class or a function. A block counts as its enclosing scope. */
struct scope {
    struct debuginfo_entry entry;
    struct scope *around; /* NULL: the unit */
    bool is_function;
    /* Number of lambdas in it; its own number among the lambdas around it, 0: not a lambda. */
    unsigned lambdas, number;
    const char *name; /* whole; NULL: not needed yet */
};

/* Join scope and name. Returns the name alone if the result is too long, or if there are too many. */
static const char *join(struct scopes *s, const char *scope, const char *name)
{
    char text[SCOPES_NAME_MAX];
    int n = snprintf(text, sizeof text, "%s%s%s", scope, scope[0] ? "::" : "", name);

    if (!scope[0] || n < 0 || (size_t)n >= sizeof text || s->text.used_bytes > TEXT_MAX)
        return name;
    return arena_strndup(&s->text, text, (size_t)n);
}

static const char *scope_around(const struct scopes *s, const struct debuginfo_entry *function)
{
    uint64_t text;

    return map_get(&s->around, debuginfo_key(function), &text) ? (const char *)(uintptr_t)text : "";
}

static void follow_origins(struct debuginfo_entry *entry)
{
    unsigned i;

    for (i = 0; i < ORIGINS_MAX && debuginfo_origin(entry); i++)
        continue;
}

/* Whether a class is a lambda's: GCC gives it no name, and it contains the function. */
static bool is_lambda(struct traversal *w, const struct debuginfo_entry *holder)
{
    struct debuginfo_entry class = *holder, child;
    const char *name;

    if (!debuginfo_child(&class, &child))
        return false;
    do {
        name = debuginfo_kind(&child) == DEBUGINFO_FUNCTION ? debuginfo_plain_name(&child) : NULL;
        if (name && !strncmp(name, "operator()", 10))
            return true;
    } while (patience_lasts(&w->patience) && debuginfo_sibling(&child));
    return false;
}

static const char *own_name(struct scope *scope)
{
    const char *name = debuginfo_plain_name(&scope->entry);

    if (name)
        return name;
    return debuginfo_is_namespace(&scope->entry) ? "(anonymous namespace)" : "{unnamed type}";
}

/* Return the name of a scope. Scopes in a function are named by the function, those around a member by its
 * declaration. */
static const char *scope_name(struct scopes *s, struct scope *scope)
{
    const char *around, *name;
    char lambda[32];

    if (scope->name)
        return scope->name;
    if (scope->is_function)
        around = scope_around(s, &scope->entry);
    else
        around = scope_name(s, scope->around);
    snprintf(lambda, sizeof lambda, "{lambda#%u}", scope->number);
    name = join(s, around, scope->number ? lambda : own_name(scope));
    scope->name = name == lambda ? arena_strndup(&s->text, lambda, strlen(lambda)) : name;
    return scope->name;
}

static void note_function(struct traversal *w, struct scope *around, const struct debuginfo_entry *function)
{
    if (!around->around || around->is_function)
        return; /* C's nested functions are named without the enclosing function */
    if (w->scopes->around.n < FUNCTIONS_MAX)
        map_put(&w->scopes->around, debuginfo_key(function), (uintptr_t)scope_name(w->scopes, around));
    else
        w->patience.over = true;
}

static void visit_entries(struct traversal *w, struct debuginfo_entry *holder, struct scope *scope,
                          unsigned depth);

static void visit_entry(struct traversal *w, struct debuginfo_entry *entry, struct scope *scope,
                        unsigned depth)
{
    enum debuginfo_kind kind = debuginfo_kind(entry);
    struct scope inner = { .entry = *entry, .around = scope, .is_function = kind == DEBUGINFO_FUNCTION };

    if (kind == DEBUGINFO_BLOCK)
        visit_entries(w, entry, scope, depth);
    if (kind != DEBUGINFO_FUNCTION && kind != DEBUGINFO_HOLDER)
        return;
    if (inner.is_function) {
        note_function(w, scope, entry);
        follow_origins(&inner.entry);
    } else if (!debuginfo_plain_name(entry) && is_lambda(w, entry)) {
        inner.number = ++scope->lambdas;
    }
    visit_entries(w, entry, &inner, depth);
}

static void visit_entries(struct traversal *w, struct debuginfo_entry *holder, struct scope *scope,
                          unsigned depth)
{
    struct debuginfo_entry entry;

    if (depth >= NEST_MAX || !debuginfo_child(holder, &entry))
        return;
    do
        visit_entry(w, &entry, scope, depth + 1);
    while (patience_lasts(&w->patience) && debuginfo_sibling(&entry));
}

static void visit_unit(struct scopes *s, struct debuginfo_entry *function, uint64_t deadline_ns)
{
    struct traversal w = { .scopes = s, .patience.deadline_ns = deadline_ns };
    struct scope unit = { .name = "" };

    debuginfo_top(function, &unit.entry);
    if (map_get(&s->units, debuginfo_key(&unit.entry), NULL))
        return;
    map_put(&s->units, debuginfo_key(&unit.entry), 1);
    visit_entries(&w, &unit.entry, &unit, 0);
}

const char *scopes_name(struct scopes *s, const struct debuginfo_entry *entry, uint64_t deadline_ns)
{
    struct debuginfo_entry declared = *entry;
    const char *name = debuginfo_linkage_name(&declared);
    uint64_t known;

    if (name)
        return name;
    follow_origins(&declared);
    name = debuginfo_plain_name(&declared);
    if (!name)
        return NULL;
    if (map_get(&s->names, debuginfo_key(&declared), &known))
        return (const char *)(uintptr_t)known;
    visit_unit(s, &declared, deadline_ns);
    name = join(s, scope_around(s, &declared), name);
    map_put(&s->names, debuginfo_key(&declared), (uintptr_t)name);
    return name;
}

void scopes_done(struct scopes *s)
{
    map_done(&s->units);
    map_done(&s->around);
    map_done(&s->names);
    arena_done(&s->text);
}
