// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/calls.h"

#include <string.h>

#include "base/search.h"
#include "unwind/callsformat.h"

#define JUMPS_MOST     64   /* functions to search between a call and its callee */
#define FUNCTION_JUMPS 1024 /* jumps to read of one function */

bool calls_view(struct calls *c, const void *blob, size_t size, struct error *e)
{
    const struct calls_header *h = blob;

    *c = (struct calls){ 0 };
    if (size < sizeof *h || (uintptr_t)blob % 8 || h->magic != CALLS_MAGIC || h->version != CALLS_VERSION ||
        h->size != size || calls_size(h) != size)
        return error_set(e, ERROR_FORMAT, "the call table is damaged or of another version");
    c->header = h;
    c->returns = (const void *)(h + 1);
    c->targets = c->returns + h->n_calls;
    c->functions = c->targets + h->n_calls;
    c->from = c->functions + h->n_functions;
    c->to = c->from + h->n_jumps;
    return true;
}

/* Returns how many of n sorted numbers are at most `value`. */
static uint32_t up_to(const uint32_t *sorted, uint32_t n, uint32_t value)
{
    return SEARCH_FIRST(i, 0, n, sorted[i] > value);
}

/* Returns the start of the function that contains an offset. */
static uint32_t function_of(const struct calls *c, uint32_t at)
{
    uint32_t n = up_to(c->functions, c->header->n_functions, at);

    return n ? c->functions[n - 1] : 0;
}

struct search {
    const struct calls *c;
    uint32_t found[JUMPS_MOST]; /* functions that the call may lead to */
    uint32_t n;
};

static void add(struct search *s, uint32_t function)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->found[i] == function)
            return;
    if (s->n < JUMPS_MOST)
        s->found[s->n++] = function;
}

/* Adds the targets of a function's jumps. Returns false if it may jump anywhere. */
static bool add_jumps(struct search *s, uint32_t function)
{
    const struct calls *c = s->c;
    uint32_t n = up_to(c->from, c->header->n_jumps, function),
             least = n > FUNCTION_JUMPS ? n - FUNCTION_JUMPS : 0;

    for (; n > least && c->from[n - 1] == function; n--) {
        if (c->to[n - 1] == CALLS_ANYWHERE)
            return false;
        add(s, function_of(c, c->to[n - 1]));
    }
    return true;
}

/* Returns true as well if the limit of functions is reached, because nothing then refutes the call. */
static bool leads_from(const struct calls *c, uint32_t target, uint64_t callee)
{
    struct search s = { .c = c };
    uint32_t wanted = callee == CALLS_ELSEWHERE ? 0 : function_of(c, (uint32_t)(callee - c->header->base));

    add(&s, function_of(c, target));
    for (uint32_t i = 0; i < s.n; i++)
        if ((callee != CALLS_ELSEWHERE && s.found[i] == wanted) || !add_jumps(&s, s.found[i]))
            return true;
    return s.n == JUMPS_MOST;
}

/* Returns the index of the call that returns to `back`, plus one; 0: none. */
static uint32_t call_before(const struct calls *c, uint64_t back)
{
    const struct calls_header *h = c->header;
    uint64_t at = h ? back - h->base : UINT64_MAX;
    uint32_t n;

    if (!h || back < h->base || at >= CALLS_ANYWHERE)
        return 0;
    n = up_to(c->returns, h->n_calls, (uint32_t)at);
    return n && c->returns[n - 1] == at ? n : 0;
}

bool calls_lead(const struct calls *c, uint64_t back, uint64_t callee)
{
    const struct calls_header *h = c->header;
    uint32_t n = call_before(c, back);

    if (!n)
        return false;
    if (c->targets[n - 1] == CALLS_ANYWHERE)
        return true;
    if (callee != CALLS_ELSEWHERE && (callee < h->base || callee - h->base >= CALLS_ANYWHERE))
        return false;
    return leads_from(c, c->targets[n - 1], callee);
}

bool calls_between(const struct calls *c, uint64_t back, uint64_t callee, uint64_t *between)
{
    const struct calls_header *h = c->header;
    uint32_t n = call_before(c, back), function, wanted, next;

    if (!n || c->targets[n - 1] == CALLS_ANYWHERE || callee < h->base || callee - h->base >= CALLS_ANYWHERE)
        return false;
    function = function_of(c, c->targets[n - 1]);
    wanted = function_of(c, (uint32_t)(callee - h->base));
    for (n = up_to(c->from, h->n_jumps, function); n && c->from[n - 1] == function; n--)
        /* an indirect jump is usually a jump table within the function */
        if (c->to[n - 1] != CALLS_ANYWHERE)
            return false;
    n = up_to(c->functions, h->n_functions, function);
    next = n < h->n_functions ? c->functions[n] : CALLS_ANYWHERE;
    for (n = up_to(c->returns, h->n_calls, function); n < h->n_calls && c->returns[n] < next; n++)
        if (c->targets[n] != CALLS_ANYWHERE && function_of(c, c->targets[n]) == wanted) {
            *between = h->base + c->returns[n];
            return true;
        }
    return false;
}

bool calls_reach(const struct calls *c, uint64_t target, uint64_t callee)
{
    const struct calls_header *h = c->header;

    if (!h || target < h->base || target - h->base >= CALLS_ANYWHERE)
        return false;
    if (callee != CALLS_ELSEWHERE && (callee < h->base || callee - h->base >= CALLS_ANYWHERE))
        return false;
    return leads_from(c, (uint32_t)(target - h->base), callee);
}
