// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rowfile.h"
#include "base/text.h"
#include "ui/view_ops.h"

#define COLUMNS  7
#define FREQ_MAX 1000000

enum column { NAME, EVENTS, RATE, VIEW, GROUP, SCOPE, HELP };

static bool no_word(struct error *e, const char *what, const char *word, const char *const *names, size_t n)
{
    char safe[64];
    text_clean(safe, sizeof safe, word, strlen(word));
    int near = text_nearest(safe, names, n);
    error_set(e, ERROR_FORMAT, "there is no %s \"%s\"", what, safe);
    return near >= 0 ? error_hint(e, "did you mean %s?", names[near]) : false;
}

static bool parse_rate(struct preset *p, const char *text, struct error *e)
{
    char number[32];
    size_t len = strlen(text);
    p->how = (struct session_sampling){ 0 };
    if (!strcmp(text, "-"))
        return true;
    if (!strcmp(text, "auto"))
        return (p->how.fitted = true);
    if (!strcmp(text, "each"))
        return (p->how.period = 1);
    if (!strncmp(text, "1/", 2) && text_parse_u64(text + 2, 1, UINT64_C(1) << 62, &p->how.period))
        return true;
    if (len > 2 && len < sizeof number && !strcmp(text + len - 2, "Hz")) {
        (void)snprintf(number, sizeof number, "%.*s", (int)len - 2, text);
        if (text_parse_u64(number, 1, FREQ_MAX, &p->how.freq_hz))
            return true;
    }
    return error_set(e, ERROR_FORMAT, "\"%.40s\" is no rate: 99Hz, 1/1000, each, auto or - is needed", text);
}

static bool parse_view(struct preset *p, const char *text, struct error *e)
{
    p->view = NULL;
    if (!strcmp(text, "-"))
        return true;
    for (size_t i = 0; i < APP_VIEWS; i++)
        if (!strcmp(view_names[i], text)) {
            p->view = view_names[i];
            return true;
        }
    return no_word(e, "view", text, view_names, APP_VIEWS);
}

static bool parse_group(struct preset *p, const char *text, struct error *e)
{
    p->group = -1;
    if (!strcmp(text, "-"))
        return true;
    for (int g = 0; g < VIEW_GROUP_COUNT; g++)
        if (!strcmp(view_group_names[g], text)) {
            p->group = g;
            return true;
        }
    return no_word(e, "grouping", text, view_group_names, VIEW_GROUP_COUNT);
}

/* --- scopes: parts joined by + --- */

static const struct {
    const char *word;
    bool (*set)(struct scope *s, const char *value, struct error *e);
} parts[] = {
    { "all", scope_set_all },
    { "user=", scope_set_user },
    { "cgroup=", scope_set_cgroup },
    { "cpus=", scope_set_cpus },
};
#define PARTS (sizeof parts / sizeof *parts)

/* s NULL: only checks the text. */
static bool do_scope(const char *text, struct scope *s, struct error *e)
{
    char words[512];
    (void)snprintf(words, sizeof words, "%s", text);
    if (!strcmp(text, "-"))
        return true;
    for (char *save, *word = strtok_r(words, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
        size_t i = 0, len = 0;
        while (i < PARTS && strncmp(word, parts[i].word, len = strlen(parts[i].word)))
            i++;
        if (i == PARTS || (word[len] == '\0') != (parts[i].word[len - 1] != '='))
            return error_set(e, ERROR_FORMAT,
                             "\"%.60s\" is no scope: all, user=NAME, cgroup=PATH, cpus=LIST or - is needed",
                             word);
        if (s && !parts[i].set(s, word + len, e))
            return false;
    }
    return true;
}

/* --- rows --- */

static const char *keep(struct preset_list *l, const char *text)
{
    return arena_strndup(&l->strings, text, strlen(text));
}

static struct preset *place_of(struct preset_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->items[i].name, name))
            return &l->items[i];
    return VEC_PUSH(l);
}

/* Receives a row of a file, or of presets.def. */
static bool add_row(void *list, const char *const *columns, const char *from, struct error *e)
{
    struct preset_list *l = list;
    char help[200];
    struct preset p = { 0 };
    if (!parse_rate(&p, columns[RATE], e) || !parse_view(&p, columns[VIEW], e) ||
        !parse_group(&p, columns[GROUP], e) || !do_scope(columns[SCOPE], NULL, e))
        return false;
    text_clean(help, sizeof help, columns[HELP], strlen(columns[HELP]));
    p.name = keep(l, columns[NAME]);
    p.events = keep(l, columns[EVENTS]);
    p.rate = keep(l, columns[RATE]);
    p.scope = keep(l, columns[SCOPE]);
    p.help = keep(l, help);
    (void)snprintf(p.from, sizeof p.from, "%s", from);
    *place_of(l, p.name) = p;
    return true;
}

static struct rowfile rows_of(struct preset_list *l)
{
    return (struct rowfile){ "NAME EVENTS RATE VIEW GROUP SCOPE DESCRIPTION", COLUMNS, add_row, l };
}

bool preset_read_text(struct preset_list *l, const char *label, const char *text, struct error *e)
{
    struct rowfile f = rows_of(l);
    return rowfile_read_text(&f, label, text, e);
}

/* Returns the length of the first alternative: to a '|' outside of brackets, or to the end. */
static size_t alternative_length(const char *text)
{
    size_t n = 0;
    for (unsigned depth = 0; text[n] && (depth || text[n] != '|'); n++)
        depth += text[n] == '[' ? 1u : text[n] == ']' && depth ? -1u : 0u;
    return n;
}

static bool opens(const char *events)
{
    struct event list[SESSION_EVENTS_MAX];
    uint32_t n = 0;
    return event_parse_list(events, list, SESSION_EVENTS_MAX, &n, NULL) && n &&
           event_supported(&list[0], NULL);
}

/* Reduces each preset to its first alternative that opens on this system; if none does, to the last one. */
static void choose_alternatives(struct preset_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const char *at = l->items[i].events;
        for (size_t n = alternative_length(at); at[n]; n = alternative_length(at)) {
            char *one = mem_strndup(at, n);
            bool usable = opens(one);
            if (usable)
                l->items[i].events = keep(l, one);
            mem_free(one);
            if (usable)
                break;
            at += n + 1;
            l->items[i].events = at;
        }
    }
}

bool preset_read(struct preset_list *l, struct error *e)
{
    static const char *const rows[][COLUMNS] = {
#define PRESET(...) { __VA_ARGS__ },
#include "ui/presets.def"
#undef PRESET
    };
    struct rowfile f = rows_of(l);
    bool ok = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && ok; i++)
        ok = add_row(l, rows[i], "", e);
    ok = ok && rowfile_read(&f, "presets", e);
    choose_alternatives(l);
    return ok;
}

void preset_list_done(struct preset_list *l)
{
    arena_done(&l->strings);
    mem_free(l->items);
    *l = (struct preset_list){ 0 };
}

const struct preset *preset_find(const struct preset_list *l, const char *name, struct error *e)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->items[i].name, name))
            return &l->items[i];
    const char **names = mem_array(l->n + 1, sizeof *names);
    for (size_t i = 0; i < l->n; i++)
        names[i] = l->items[i].name;
    if (!no_word(e, "preset", name, names, l->n))
        error_hint(e, "flametop --list-presets lists them");
    mem_free(names);
    return NULL;
}

bool preset_set_scope(const struct preset *p, struct scope *s, struct error *e)
{
    struct error why = { 0 };
    return do_scope(p->scope, s, &why) || error_set(e, why.class, "%s%s", p->from, why.text);
}

void preset_print(const struct preset_list *l, struct buf *out)
{
    buf_puts(out, "# NAME EVENTS RATE VIEW GROUP SCOPE DESCRIPTION\n");
    for (size_t i = 0; i < l->n; i++) {
        const struct preset *p = &l->items[i];
        buf_printf(out, "%-14s %-26s %-5s %-10s %-12s %-4s %s\n", p->name, p->events, p->rate,
                   p->view ? p->view : "-", p->group >= 0 ? view_group_names[p->group] : "-", p->scope,
                   p->help);
    }
}
