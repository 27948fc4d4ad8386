// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits for a CPU as operations: samples of latency:runqueue, from the waits that profile/waits.h follows for
 * off-cpu. */
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "profile/operation_data.h"
#include "session/session_state.h"

#define NAMES_MOST 4096 /* further programs are called "other" */

static uint64_t name_number(struct session *s, const struct session_event *ev, const char *comm)
{
    struct map *names = &s->collect.operations.runqueue.names;
    char frame[OPERATION_NAME_MAX];
    uint64_t hash = map_hash_bytes(comm, strlen(comm), 0), number;
    if (map_get(names, hash, &number))
        return number;
    (void)snprintf(frame, sizeof frame, "[%s: %s]", ev->event.pair->name,
                   names->n < NAMES_MOST ? comm : "other");
    number = symbolizer_script(s->store.symbolizer, frame);
    if (names->n < NAMES_MOST)
        map_put(names, hash, number);
    return number;
}

void runqueue_on_part(struct session *s, const struct waits_part *part)
{
    const struct session_operations *o = &s->collect.operations;
    if (!o->runqueue.runs || part->state != THREAD_RUNNABLE || !part->ended || part->pid == o->self ||
        child_is((pid_t)part->pid))
        return;
    uint32_t thread = world_thread_of(s->store.world, part->pid, part->tid, part->to_ns, 0);
    const struct world_thread *t = world_thread(s->store.world, thread);
    struct sample sample = {
        .time_ns = part->to_ns,
        .weight = sample_weight(part->whole_ns ? part->whole_ns : 1),
        .thread = thread,
        .cpu = part->cpu % SAMPLE_CPUS,
        .event = o->runqueue.event % SAMPLE_EVENTS,
        .flags = SAMPLE_KERNEL,
    };
    const struct session_event *ev = &s->store.events[o->runqueue.event];
    uint32_t frame =
        stacks_frame(s->store.stacks, MODULE_ID_OPERATION, name_number(s, ev, t ? t->comm : "?"));
    sample.stack = stacks_child(s->store.stacks, 0, frame);
    append_sample(s, &sample, NULL, 0);
}
