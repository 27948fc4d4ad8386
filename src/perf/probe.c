// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/probe.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "perf/probe_parts.h"

#define DEFINED_MAX 512 /* by one process: each stays until its end */
#define EVENT_MAX   48  /* bytes of an event's name; the kernel allows 63 */

struct defined {
    char *text, *display;
    char tracepoint[PROBE_NAME_MAX];
};
static struct {
    pthread_mutex_t lock;
    probe_find_fn *find;
    pid_t owner; /* 0: this process has defined none */
    char group[PROBE_NAME_MAX];
    VEC(struct defined);
} ours = { .lock = PTHREAD_MUTEX_INITIALIZER };

void probe_set_finder(probe_find_fn *find)
{
    ours.find = find;
}

static void places_done(struct probe_places *places)
{
    for (size_t i = 0; i < places->fds.n; i++)
        close(places->fds.items[i]);
    mem_free(places->fds.items);
    mem_free(places->items);
    arena_done(&places->strings);
    *places = (struct probe_places){ 0 };
}

/* ---- what a definition means ---- */

static bool check_go(const struct probe_spec *spec, const struct probe_places *places, struct error *e)
{
    for (size_t i = 0; i < places->n; i++)
        if (spec->at_return && places->items[i].go)
            return error_set(
                e, ERROR_UNSUPPORTED,
                "%s is a Go program, whose stacks move: a probe at a return would crash it; probe the "
                "entry of %s",
                spec->file, spec->name);
    return true;
}

static bool find_places(const struct probe_spec *spec, struct probe_places *places, struct error *e)
{
    if (!ours.find)
        return error_set(e, ERROR_UNSUPPORTED, "probes are not supported here");
    return ours.find(spec, places, e) && check_go(spec, places, e);
}

static bool put_arguments(const struct probe_spec *spec, const struct probe_places *places, size_t i,
                          struct buf *out, struct error *e)
{
    if (spec->kind != PROBE_MARKER)
        return probe_put_arguments(spec, &places->items[i], out, e);
    probe_put_marker_arguments(places, i, out);
    return true;
}

/* ---- events ---- */

/* "main%return" → "main__return"; of several functions, the first. */
static void event_name(const struct probe_spec *spec, const struct probe_place *place, char dst[EVENT_MAX])
{
    const char *name = *place->name ? place->name : spec->name;
    const char *colon = spec->kind == PROBE_MARKER ? strchr(name, ':') : NULL;
    size_t n = 0;
    for (const char *at = colon ? colon + 1 : name; *at && n < EVENT_MAX - 16; at++)
        dst[n++] = (char)(isalnum((unsigned char)*at) ? *at : '_');
    dst[n] = '\0';
    if (!n || isdigit((unsigned char)*dst)) {
        memmove(dst + 1, dst, n + 1);
        *dst = '_';
        n++;
    }
    if (spec->kind == PROBE_LINE)
        n += (size_t)snprintf(dst + n, EVENT_MAX - n, "_L%u", spec->line);
    snprintf(dst + n, EVENT_MAX - n, "%s", spec->at_return ? "__return" : "");
}

static bool is_taken(const char *name)
{
    for (size_t i = 0; i < ours.n; i++)
        if (!strcmp(strchr(ours.items[i].tracepoint, ':') + 1, name))
            return true;
    return false;
}

static void choose_name(const struct probe_spec *spec, const struct probe_place *place,
                        char dst[EVENT_MAX + 8])
{
    char base[EVENT_MAX];
    event_name(spec, place, base);
    snprintf(dst, EVENT_MAX + 8, "%s", base);
    for (unsigned n = 2; is_taken(dst); n++)
        snprintf(dst, EVENT_MAX + 8, "%s_%u", base, n);
}

/* The kernel adds the second and later places to the event of the first. */
static bool write_places(const struct probe_spec *spec, const struct probe_places *places, const char *name,
                         struct error *e)
{
    bool ok = true;
    size_t i = 0;
    for (; ok && i < places->n; i++) {
        const struct probe_place *place = &places->items[i];
        struct buf line = { 0 };
        buf_printf(&line, "%c:%s/%s %s:0x%llx", spec->at_return ? 'r' : 'p', ours.group, name, place->path,
                   (unsigned long long)place->offset);
        if (place->semaphore)
            buf_printf(&line, "(0x%llx)", (unsigned long long)place->semaphore);
        ok = put_arguments(spec, places, i, &line, e) && probe_write(buf_str(&line), e);
        buf_done(&line);
    }
    if (!ok && i > 1) {
        char removal[2 * PROBE_NAME_MAX];
        snprintf(removal, sizeof removal, "-:%s/%s", ours.group, name);
        (void)probe_write(removal, NULL);
    }
    return ok;
}

static void at_end(void)
{
    if (ours.owner == getpid())
        probe_remove_own();
}

static void begin_group(void)
{
    if (ours.owner == getpid())
        return;
    probe_own_group(ours.group, sizeof ours.group);
    ours.owner = getpid();
    probe_hold_signals();
    atexit(at_end);
}

static bool define(const char *text, char tracepoint[PROBE_NAME_MAX], struct error *e)
{
    struct probe_spec *spec = mem_alloc(sizeof *spec);
    struct probe_places places = { 0 };
    char name[EVENT_MAX + 8];
    bool ok =
        ours.n < DEFINED_MAX || error_set(e, ERROR_LIMIT, "at most %d probes can be defined", DEFINED_MAX);
    ok = ok && probe_parse(text, spec, e) && find_places(spec, &places, e);
    if (ok) {
        begin_group();
        choose_name(spec, &places.items[0], name);
        ok = write_places(spec, &places, name, e);
    }
    if (ok) {
        struct defined *d = VEC_PUSH(&ours);
        char display[PROBE_NAME_MAX];
        probe_display_name(text, display, sizeof display);
        *d = (struct defined){ .text = mem_strdup(text), .display = mem_strdup(display) };
        snprintf(d->tracepoint, sizeof d->tracepoint, "%.*s:%s", PROBE_NAME_MAX / 2, ours.group, name);
        snprintf(tracepoint, PROBE_NAME_MAX, "%s", d->tracepoint);
    }
    places_done(&places);
    mem_free(spec);
    return ok;
}

/* By its definition, or by the name of its event. */
static const struct defined *find_defined(const char *text)
{
    for (size_t i = 0; i < ours.n; i++)
        if (!strcmp(ours.items[i].text, text))
            return &ours.items[i];
    for (size_t i = 0; i < ours.n; i++)
        if (!strcmp(ours.items[i].display, text))
            return &ours.items[i];
    return NULL;
}

bool probe_define(const char *text, char tracepoint[PROBE_NAME_MAX], struct error *e)
{
    pthread_mutex_lock(&ours.lock);
    const struct defined *known = find_defined(text);
    if (known)
        snprintf(tracepoint, PROBE_NAME_MAX, "%s", known->tracepoint);
    bool ok = known || define(text, tracepoint, e);
    pthread_mutex_unlock(&ours.lock);
    return ok;
}

bool probe_print_definition(const char *text, struct buf *out, struct error *e)
{
    struct probe_spec *spec = mem_alloc(sizeof *spec);
    struct probe_places places = { 0 };
    bool ok = probe_parse(text, spec, e) && find_places(spec, &places, e);
    for (size_t i = 0; ok && i < places.n; i++) {
        const struct probe_place *place = &places.items[i];
        bool lasts = !text_begins_with(place->path, "/proc/self/"); /* else the path of a descriptor */
        buf_printf(out, PROBE_PREFIX "%s:0x%llx", lasts ? place->path : spec->file,
                   (unsigned long long)place->offset);
        if (place->semaphore)
            buf_printf(out, "(0x%llx)", (unsigned long long)place->semaphore);
        buf_puts(out, spec->at_return ? "%return" : "");
        ok = put_arguments(spec, &places, i, out, e);
        buf_putc(out, '\n');
    }
    places_done(&places);
    mem_free(spec);
    return ok;
}
