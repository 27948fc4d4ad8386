// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/steps.h"

#include <string.h>

#include "ui/view_ops.h"

void steps_note(struct app *a, enum step_kind kind, struct step *out)
{
    const struct view_ops *ops = a->ops[a->view];
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->view = a->view;
    out->query = a->query;
    if (ops->row_key && a->states[a->view])
        list_save(view_list(ops, a->states[a->view]), &out->position);
    else if (ops->save && a->states[a->view])
        ops->save(a->states[a->view], a, &out->position);
}

static void remove_step(struct steps *s, uint32_t i)
{
    memmove(s->list + i, s->list + i + 1, (--s->n - i) * sizeof *s->list);
}

void steps_push_noted(struct app *a, const struct step *step)
{
    struct steps *s = &a->steps;
    if (s->n == STEPS_MAX)
        remove_step(s, 0);
    s->list[s->n++] = *step;
}

void steps_push(struct app *a, enum step_kind kind)
{
    struct steps *s = &a->steps;
    struct step step;
    if (kind == STEP_GROUP && steps_newest_is(a, kind) && s->list[s->n - 1].view == a->view)
        return;
    if (kind == STEP_VIEW && steps_newest_is(a, kind))
        s->n--;
    steps_note(a, kind, &step);
    steps_push_noted(a, &step);
}

bool steps_newest_is(const struct app *a, enum step_kind kind)
{
    return a->steps.n && a->steps.list[a->steps.n - 1].kind == kind;
}

/* Undoes only what the step changed: later settings (mode, window, idle time) stay. Returns false if
 * nothing changed. */
static bool undo_in_query(const struct step *s, struct view_query *q)
{
    struct view_query before = *q;
    if (s->kind == STEP_ZOOM) {
        memcpy(q->zooms, s->query.zooms, sizeof q->zooms);
        q->n_zooms = s->query.n_zooms;
    }
    if (s->kind == STEP_ZOOM || s->kind == STEP_GROUP)
        q->group = s->query.group;
    if (s->kind == STEP_RANGE) {
        q->from_ns = s->query.from_ns;
        q->to_ns = s->query.to_ns;
        q->min_ns = s->query.min_ns;
        q->max_ns = s->query.max_ns;
    }
    if (s->kind == STEP_FILTER)
        memcpy(q->filter, s->query.filter, sizeof q->filter);
    return memcmp(&before, q, sizeof before) != 0;
}

static bool close_strip(struct app *a)
{
    bool was = a->strip.open;
    a->strip.open = a->strip.has_keys = a->strip.marking = false;
    return was;
}

static bool clear_search(struct app *a)
{
    bool was = a->search[0] != '\0';
    a->search[0] = '\0';
    return was;
}

static void go_to_view(struct app *a, uint32_t view)
{
    const struct view_ops *ops = a->ops[a->view];
    if (view == a->view)
        return;
    if (ops->hide && a->states[a->view])
        ops->hide(a->states[a->view], a);
    a->view = view;
    a->pending_select = false;
}

unsigned steps_restore(struct app *a, const struct view_position *position)
{
    a->restore = *position;
    a->restores = true;
    return APP_QUERY;
}

/* Skips steps that were undone in another way (the strip closed by its key). */
unsigned steps_undo(struct app *a)
{
    while (a->steps.n) {
        struct step s = a->steps.list[--a->steps.n];
        bool moved = s.view != a->view, changed = undo_in_query(&s, &a->query);
        if (s.kind == STEP_SEARCH) { /* the cursor stays on the match */
            if (clear_search(a))
                return APP_REDRAW;
            continue;
        }
        if (s.kind == STEP_STRIP) {
            if (close_strip(a))
                return APP_QUERY;
            continue;
        }
        if (!changed && !moved && s.kind != STEP_INSIDE)
            continue;
        go_to_view(a, s.view);
        return steps_restore(a, &s.position);
    }
    return APP_IGNORED;
}

static bool is_zoom(const struct app *a, const struct step *s)
{
    return s->kind == STEP_ZOOM || s->kind == STEP_RANGE || (s->kind == STEP_INSIDE && s->view == a->view);
}

/* Later steps must not restore the removed zoom. */
unsigned steps_unzoom(struct app *a)
{
    struct steps *s = &a->steps;
    uint32_t i = s->n;
    while (i && !is_zoom(a, &s->list[i - 1]))
        i--;
    if (!i--)
        return APP_IGNORED;
    struct step step = s->list[i];
    remove_step(s, i);
    (void)undo_in_query(&step, &a->query);
    for (; i < s->n; i++)
        (void)undo_in_query(&step, &s->list[i].query);
    return step.view == a->view ? steps_restore(a, &step.position) : (unsigned)APP_QUERY;
}

void steps_forget_ranges(struct app *a)
{
    struct steps *s = &a->steps;
    for (uint32_t i = s->n; i-- > 0;) {
        s->list[i].query.from_ns = s->list[i].query.to_ns = 0;
        s->list[i].query.min_ns = s->list[i].query.max_ns = 0;
        if (s->list[i].kind == STEP_RANGE)
            remove_step(s, i);
    }
}
