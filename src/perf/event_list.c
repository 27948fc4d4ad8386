// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of events, and groups in them: perf-list(1), "EVENT GROUPS". */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "perf/event.h"

#define ALL_MODIFIERS "ukhGHpPSDIWe"
#define OF_A_GROUP    "SW"  /* of the group as a whole, whoever they stand behind: no part of a name */
#define OF_ITS_LEADER "De"  /* the kernel pins the leader, and with it all */

struct list {
    const char *text; /* for errors */
    struct event *out;
    uint32_t cap, *n;
    struct error *e;
};

/* Where an element ends: at a comma that is not between slashes, or at what closes a group. */
static const char *end_of_element(const char *s)
{
    bool breakpoint = !strncmp(s, "mem:", 4), terms = false;
    for (; *s; s++) {
        if (*s == '/' && !breakpoint)
            terms = !terms;
        if (!terms && strchr(",{}", *s))
            break;
    }
    return s;
}

static bool refuse(const struct list *l, const char *at, const char *what)
{
    return error_set(l->e, ERROR_ARGUMENT, "events '%s', character %zu: %s", l->text, (size_t)(at - l->text) + 1, what);
}

/* The modifiers at the end of an event's text; NULL: it has none. */
static const char *modifiers_of(const char *word)
{
    const char *slash = strrchr(word, '/'), *colon = strrchr(word, ':');
    const char *mods = slash && strncmp(word, "mem:", 4) ? slash + 1 : colon ? colon + 1 : NULL;
    if (mods && *mods == ':')
        mods++;
    return mods && !mods[strspn(mods, ALL_MODIFIERS)] ? mods : NULL;
}

static unsigned count_of(const char *s, char c)
{
    unsigned n = 0;
    for (; *s; s++)
        n += *s == c;
    return n;
}

/* "cycles:u" and ":kS" of its group → "cycles:uk". */
static void add_modifiers(char *word, size_t cap, const char *group, bool leads)
{
    size_t len = strlen(word);
    bool colon = modifiers_of(word) != NULL;
    for (const char *m = group; *m && len + 2 < cap; m++) {
        const char *own = colon ? modifiers_of(word) : "";
        if (strchr(OF_A_GROUP, *m) || (strchr(OF_ITS_LEADER, *m) && !leads) || count_of(own, *m) >= (*m == 'p' ? 3 : 1))
            continue;
        if (!colon)
            word[len++] = ':';
        colon = true;
        word[len++] = *m;
        word[len] = '\0';
    }
}

/* Takes what is said of the group out of an event's modifiers: true for ":S". */
static bool take_group_modifiers(char *word)
{
    const char *mods = modifiers_of(word);
    bool reads = false;
    if (!mods)
        return false;
    char *to = word + (mods - word);
    for (const char *m = mods; *m; m++) {
        reads |= *m == 'S';
        if (!strchr(OF_A_GROUP, *m))
            *to++ = *m;
    }
    if (to == mods && to[-1] == ':')
        to--;
    *to = '\0';
    return reads;
}

/* group: NULL, or the modifiers of the group that it is in. */
static bool add_event(struct list *l, const char *from, const char *end, const char *group, bool leads, bool *reads)
{
    char word[256];
    size_t len = (size_t)(end - from);
    if (len == 0)
        return refuse(l, from, "an event's name is missing");
    if (len >= sizeof word - 16)
        return refuse(l, from, "the name is too long");
    if (*l->n == l->cap)
        return error_set(l->e, ERROR_LIMIT, "-e %s: at most %u events at a time", l->text, l->cap);
    memcpy(word, from, len);
    word[len] = '\0';
    if (group) {
        *reads |= take_group_modifiers(word) && leads;
        add_modifiers(word, sizeof word, group, leads);
    }
    return event_parse(word, &l->out[*l->n], l->e) && ++*l->n;
}

/* What follows the brace that closes a group: nothing, or its modifiers. */
static bool group_end(const struct list *l, const char *brace, char mods[16], const char **end)
{
    const char *s = brace + 1;
    *mods = '\0';
    if (*s == ':') {
        size_t n = strspn(++s, ALL_MODIFIERS);
        if (n == 0 || n >= 16)
            return refuse(l, s, "here modifiers of the group are wanted, as in {cycles,instructions}:S");
        memcpy(mods, s, n);
        mods[n] = '\0';
        s += n;
    }
    if (*s && *s != ',')
        return refuse(l, s, "behind a group only its modifiers can stand, as in {cycles,instructions}:S");
    *end = s;
    return true;
}

static const char *closing_brace(const char *s)
{
    while (*s && *s != '}') {
        s = end_of_element(s);
        if (*s == '{')
            break;
        s += *s == ',';
    }
    return s;
}

static bool add_group(struct list *l, const char *brace, const char **end)
{
    char mods[16];
    const char *close = closing_brace(brace + 1);
    uint32_t first = *l->n;
    if (*close == '{')
        return refuse(l, close, "a group in a group");
    if (!*close)
        return refuse(l, brace, "this group is not closed: '}' is missing");
    if (!group_end(l, close, mods, end))
        return false;
    bool reads = strchr(mods, 'S') != NULL;
    for (const char *s = brace + 1, *stop; s <= close; s = stop + 1) {
        stop = end_of_element(s);
        if (!add_event(l, s, stop, mods, *l->n == first, &reads))
            return false;
    }
    uint32_t members = *l->n - first;
    if (members > EVENT_GROUP_MAX)
        return error_set(l->e, ERROR_LIMIT, "-e %s: at most %d events in a group", l->text, EVENT_GROUP_MAX);
    if (members > 1) {
        l->out[first].members = (uint8_t)members;
        l->out[first].reads = reads;
    }
    return true;
}

static bool add_element(struct list *l, const char *s, const char **end)
{
    bool reads;
    *end = end_of_element(s);
    if (**end == '{')
        return add_group(l, *end, end);
    if (**end == '}')
        return refuse(l, *end, "no group is open that this could close");
    return add_event(l, s, *end, NULL, false, &reads);
}

bool event_parse_list(const char *text, struct event *out, uint32_t cap, uint32_t *n, struct error *e)
{
    uint32_t before = *n;
    struct list l = { .text = text, .out = out, .cap = cap, .n = n, .e = e };
    /* the name of a single event tells of itself what is wrong with it */
    if (!strpbrk(text, ",{}")) {
        bool reads;
        return add_event(&l, text, text + strlen(text), NULL, false, &reads);
    }
    for (const char *s = text, *end;; s = end + 1) {
        if (!add_element(&l, s, &end)) {
            *n = before;
            return false;
        }
        if (!*end)
            return true;
    }
}
