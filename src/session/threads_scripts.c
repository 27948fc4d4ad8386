// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/threads_parts.h"

#include <string.h>

#include "symbols/interpreter_frames.h"

/* The interpreter whose frames a function runs; NULL: it runs none. */
static const struct interpreter *evaluates(const struct threads_now_frame *f)
{
    const struct interpreter *of = interpreter_of_module(f->module);
    return of && interpreter_evaluates(of, f->name) ? of : NULL;
}

/* Appends the frames of a group. Returns their number. */
static uint32_t put_group(const struct livestack *s, int group, struct threads_now_frame *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_scripts; i++)
        if ((int)s->scripts[i].group == group)
            out[n++] = (struct threads_now_frame){ 0, s->scripts[i].text, "" };
    return n;
}

static struct threads_now_frame unread(const struct interpreter *of, struct arena *strings)
{
    char text[INTERPRETER_TEXT_MAX];
    interpreter_frame_text(text, sizeof text, of, NULL, 0);
    return (struct threads_now_frame){ 0, arena_strndup(strings, text, strlen(text)), "" };
}

void threads_scripts_merge(struct threads_now_row *row, struct arena *strings)
{
    const struct livestack *s = row->stack;
    uint32_t n_evaluators = 0, n = 0;
    int shift;
    for (uint32_t i = 0; i < row->n_frames; i++)
        n_evaluators += evaluates(&row->frames[i]) != NULL;
    if (!s || !s->n_groups ||
        !interpreter_align(n_evaluators, s->end == REMOTE_COMPLETE, s->n_groups, s->scripts_truncated,
                           &shift))
        return;
    struct threads_now_frame *merged =
        arena_alloc(strings, (row->n_frames + s->n_scripts + 1) * sizeof *merged);
    int group = shift;
    for (uint32_t i = 0; i < row->n_frames; i++) {
        const struct interpreter *of = evaluates(&row->frames[i]);
        uint32_t put = of ? put_group(s, group, merged + n) : 0;
        n += put;
        if (of && group >= (int)s->n_groups) /* deeper than what was copied */
            merged[n++] = unread(of, strings);
        else if (!put) /* no evaluator, or one that starts or ends */
            merged[n++] = row->frames[i];
        group += of != NULL;
    }
    row->frames = merged;
    row->n_frames = n;
}
