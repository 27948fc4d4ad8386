// SPDX-License-Identifier: GPL-2.0-or-later
/* The picker of a recording's events, in descending number of samples. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/picker.h"

#define NAME_COLS   46
#define NUMBER_COLS 12
/* as wide as both columns */
#define HEAD "EVENT                                               SAMPLES"

struct recorded {
    struct session_chosen *list;
    struct row {
        uint64_t samples;
        uint32_t event; /* its number: index in the list */
    } * rows;
    uint32_t n; /* of both arrays */
};

static int by_samples(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static void fill(void *ctx, struct app *a, struct picker *to)
{
    const struct recorded *r = ctx;
    char line[256], number[32];
    (void)a;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct session_chosen *c = &r->list[r->rows[i].event];
        if (c->left_out)
            continue;
        (void)snprintf(line, sizeof line, "%-*s %*s", NAME_COLS, c->name, NUMBER_COLS,
                       text_thousands(number, sizeof number, c->samples));
        picker_add(to, &(struct picker_item){
                           .key = r->rows[i].event + 1, .text = line, .name = c->name, .dim = !c->samples });
    }
}

static unsigned apply_choice(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    (void)ctx;
    return n ? app_show_event(a, (uint32_t)keys[0] - 1) : (unsigned)APP_HANDLED;
}

static void why_not(void *ctx, uint64_t key, struct error *e)
{
    const struct recorded *r = ctx;
    error_set(e, ERROR_MISSING, "%s has no samples in this recording", r->list[key - 1].name);
}

static void destroy(void *ctx)
{
    struct recorded *r = ctx;
    mem_free(r->list);
    mem_free(r->rows);
}

unsigned pick_recorded(struct app *a)
{
    struct recorded *r = mem_zalloc(sizeof *r);
    uint64_t current = 0;
    r->n = session_chosen(a->session, &r->list);
    r->rows = mem_array(r->n + 1, sizeof *r->rows);
    for (uint32_t i = 0; i < r->n; i++) {
        r->rows[i] = (struct row){ r->list[i].samples, i };
        current = r->list[i].shown ? i + 1 : current;
    }
    if (r->n)
        qsort(r->rows, r->n, sizeof *r->rows, by_samples);
    return picker_open(a, &(struct picker_config){ .title = "Event of the recording to show",
                                                   .head = HEAD,
                                                   .current = current,
                                                   .fill = fill,
                                                   .take = apply_choice,
                                                   .why_not = why_not,
                                                   .destroy = destroy,
                                                   .ctx = r });
}
