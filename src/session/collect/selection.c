// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the cost of latencies within the budget: beyond it one operation in N is sampled, selected by its key
 * (perf/select.c), and counts and sums are estimated from these. Stack dumps give way to frame pointers
 * before (perf/dumps.c). Rows with few operations are sampled completely as long as possible.
 *
 * More operations are sampled again when the rate has been low enough for some seconds. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "perf/open.h"
#include "session/session_state.h"

#define TURN_NS      (SELECTION_TURN_MS * NS_PER_MS)
#define LOOK_NS      (500 * NS_PER_MS) /* between looks */
#define SOON_NS      (20 * NS_PER_MS) /* the least, if records were lost, or the budget of LOOK_NS is spent */
#define COUNT_NS     (50 * NS_PER_MS)
#define REFUSED_NS   (10 * NS_PER_SEC) /* before a number that the kernel refused is tried again */
#define MOST         1024              /* the largest N */
#define SETTLE_TURNS 256 /* without operations of a name, before the counted ones are added to the last one */
#define CALM_RATE    1.5 /* the rate may rise by this factor when more operations are sampled */

static uint32_t at_least_1(uint32_t one_in)
{
    return one_in ? one_in : 1;
}

/* ---- rows ---- */

static uint32_t find_part(const struct event *events, uint32_t n, const struct event *part)
{
    uint32_t i = 0;
    while (i < n && !event_is_part(&events[i], part))
        i++;
    return i;
}

/* The largest N: 1 if the events have no key, or not the same. Sampling all operations takes less time than a
 * CPU has, so that one in N takes less than a N-th of it. */
static uint32_t most_of(const struct event *begin, const struct event *end, double budget_percent)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = 1;
    if (!*begin->key || strcmp(begin->key, end->key))
        return 1;
    bool by_cpu = !strcmp(begin->key, EVENT_KEY_CPU);
    double enough = 2 * 100 / budget_percent;
    while (most < enough && most < MOST && (!by_cpu || 2 * (long)most <= cpus))
        most *= 2;
    return most;
}

static bool share_a_part(const struct selection_row *a, const struct selection_row *b)
{
    return a->parts[0] == b->parts[0] || a->parts[0] == b->parts[1] || a->parts[1] == b->parts[0] ||
           a->parts[1] == b->parts[1];
}

/* Rows that share events, directly or through others, form a group. */
static void group_rows(struct session_selection *sel)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < sel->n; i++)
            for (uint32_t k = 0; k < i; k++)
                if (share_a_part(&sel->rows[i], &sel->rows[k]) && sel->rows[i].group != sel->rows[k].group) {
                    uint32_t least =
                        sel->rows[i].group < sel->rows[k].group ? sel->rows[i].group : sel->rows[k].group;
                    sel->rows[i].group = sel->rows[k].group = least;
                    changed = true;
                }
    }
}

static void find_rows(struct session_selection *sel, const struct event *events, uint32_t n,
                      double budget_percent)
{
    struct event parts[PAIR_PARTS];
    *sel = (struct session_selection){ .n = 0 };
    for (uint32_t i = 0; i < n && i < EVENT_SET_MAX; i++) {
        struct selection_row row = { .event = i, .group = sel->n, .one_in = 1 };
        if (!events[i].latency || !event_latency_parts(&events[i], parts, NULL))
            continue;
        for (int side = 0; side < PAIR_PARTS; side++)
            row.parts[side] = find_part(events, n, &parts[side]);
        if (row.parts[PAIR_BEGIN] == n || row.parts[PAIR_END] == n)
            continue;
        for (int side = PAIR_SIDES; side < PAIR_PARTS; side++)
            if (row.parts[side] == n)
                row.parts[side] = UINT32_MAX;
        row.most = most_of(&events[row.parts[PAIR_BEGIN]], &events[row.parts[PAIR_END]], budget_percent);
        sel->rows[sel->n++] = row;
    }
    group_rows(sel);
}

/* ---- the running source ---- */

static struct operations_row *running(struct session *s, const struct selection_row *row)
{
    struct session_operations *o = &s->collect.operations;
    for (size_t i = 0; i < o->rows.n; i++)
        if (o->rows.items[i].event == s->store.live_event + row->event)
            return &o->rows.items[i];
    return NULL;
}

static const struct event *part_of(const struct session *s, const struct selection_row *row,
                                   enum pair_side side)
{
    return &s->store.events[s->store.live_event + row->parts[side]].event;
}

/* True if the end of an operation with this value is sampled. */
static bool covers(const struct live_selection *of, const struct event *end, uint64_t value)
{
    if (of->one_in <= 1 || !strcmp(end->key, EVENT_KEY_CPU) ||
        (value >> end->key_shift & (of->one_in - 1)) == of->rest)
        return true;
    for (uint32_t i = 0; i < of->n_followed; i++)
        if (of->followed[i] == value)
            return true;
    return false;
}

struct followers {
    struct pairs *pairs;
    struct live_selection *of; /* of the end */
    const struct event *end;
    uint64_t until_ns;
    bool add; /* follow more; else drop what is not covered */
};

static void follow_one(void *ctx, struct pairs_operation *operation)
{
    struct followers *f = ctx;
    if (operation->begin_ns >= f->until_ns || covers(f->of, f->end, operation->value))
        return;
    if (f->add && f->of->n_followed < LIVE_FOLLOWED_MAX)
        f->of->followed[f->of->n_followed++] = operation->value;
    else
        pairs_drop(f->pairs, operation->key);
}

/* Follows the open operations that began before until_ns, and those of rows of which all operations were
 * sampled. If they are too many, the rest is dropped. Without `add` all that are not followed: their ends are
 * not seen, and those of later operations would end them. */
static void follow(struct session *s, struct session_selection *sel, uint64_t until_ns, bool add)
{
    for (uint32_t i = 0; i < sel->n; i++) {
        struct operations_row *row = running(s, &sel->rows[i]);
        if (!row || sel->rows[i].one_in <= 1)
            continue;
        struct followers f = { &row->pairs, &sel->of[sel->rows[i].parts[PAIR_END]],
                               part_of(s, &sel->rows[i], PAIR_END), row->one_in > 1 ? until_ns : UINT64_MAX,
                               add };
        pairs_each(&row->pairs, follow_one, &f);
    }
}

/* The next selection, in turn. */
static void next_turn(struct session_selection *sel)
{
    sel->turn++;
    sel->runs = false;
    for (uint32_t i = 0; i < sel->n; i++) {
        const struct selection_row *row = &sel->rows[i];
        for (int side = 0; side < PAIR_PARTS; side++)
            if (row->parts[side] != UINT32_MAX)
                sel->of[row->parts[side]] =
                    (struct live_selection){ .one_in = row->one_in, .rest = sel->turn & (row->one_in - 1) };
        sel->runs |= row->one_in > 1;
    }
}

static void set_one_in(struct session *s, uint64_t now_ns)
{
    struct session_selection *sel = &s->source.selection;
    for (uint32_t i = 0; i < sel->n; i++) {
        struct operations_row *row = running(s, &sel->rows[i]);
        if (!row || row->one_in == sel->rows[i].one_in)
            continue;
        row->one_in_before = row->one_in;
        row->one_in = sel->rows[i].one_in;
        row->one_in_ns = now_ns;
        row->pairs.selected = row->one_in > 1;
    }
}

void selection_adopt(struct session *s, const struct session_selection *selection)
{
    struct session_selection *sel = &s->source.selection;
    *sel = *selection;
    sel->before_ns = sel->changed_ns = clock_now_ns();
    follow(s, sel, UINT64_MAX, false);
    set_one_in(s, 0);
}

void selection_refused(struct session *s)
{
    struct session_selection *sel = &s->source.selection;
    if (!sel->pending)
        return;
    pthread_mutex_lock(&s->store.lock);
    sel->pending = false;
    sel->refused_ns = clock_now_ns();
    for (uint32_t i = 0; i < sel->n; i++) {
        const struct operations_row *row = running(s, &sel->rows[i]);
        sel->rows[i].one_in = row ? row->one_in : 1;
    }
    pthread_mutex_unlock(&s->store.lock);
}

void selection_end(struct session *s)
{
    struct session_selection *sel = &s->source.selection;
    for (uint32_t i = 0; i < sel->n; i++) {
        struct operations_row *row = running(s, &sel->rows[i]);
        uint64_t begins = row ? live_begins(s->source.live, sel->rows[i].parts[PAIR_BEGIN]) : 0;
        if (row && begins > row->counted && s->source.stats.lost) {
            double met = row->counted ? (double)row->counted_met / (double)row->counted : 1;
            estimates_count_lost(&row->estimates, (uint64_t)((double)(begins - row->counted) * met));
        }
    }
    operations_settle(s, sel->turn + 1);
}

/* ---- how many ---- */

/* Of the rows that run already. */
static void go_on(struct session *s, struct session_selection *out)
{
    pthread_mutex_lock(&s->store.lock);
    *out = s->source.selection;
    if (out->pending)
        next_turn(out);
    out->pending = false;
    follow(s, out, UINT64_MAX, true);
    pthread_mutex_unlock(&s->store.lock);
}

/* Operations per second of each row. */
static void count(const struct session_config *cfg, const struct event *events,
                  const struct session_selection *sel, struct rate_operations *rows)
{
    struct event *begins = mem_array(EVENT_SET_MAX, sizeof *begins);
    struct rate *rates = mem_zalloc(EVENT_SET_MAX * sizeof *rates);
    for (uint32_t i = 0; i < sel->n; i++)
        begins[i] = events[sel->rows[i].parts[PAIR_BEGIN]];
    if (!cfg->command) /* it has not started yet */
        rate_count(begins, sel->n, &cfg->scope, COUNT_NS, NULL, rates);
    for (uint32_t i = 0; i < sel->n; i++)
        rows[i] = (struct rate_operations){ rates[i].per_second, sel->rows[i].group, sel->rows[i].most };
    mem_free(rates);
    mem_free(begins);
}

const struct live_selection *selection_first(struct session *s, const struct session_config *cfg,
                                             const struct event *events, uint32_t n,
                                             struct session_selection *out, uint64_t *seen_hz)
{
    struct rate_operations rows[EVENT_SET_MAX];
    uint32_t one_in[EVENT_SET_MAX], n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    double sum = 0;
    bool may_dump = cfg->callchain == CALLCHAIN_AUTO; /* if not, the plan chooses frame pointers */
    if (s->source.live && chosen_find(s, events, n) == s->store.live_event) {
        go_on(s, out);
        return out->runs ? out->of : NULL;
    }
    find_rows(out, events, n, cfg->budget_percent);
    if (!out->n)
        return NULL;
    count(cfg, events, out, rows);
    rate_operations_fit(rows, out->n, may_dump ? CALLCHAIN_FP : cfg->callchain, n_cpus, cfg->budget_percent,
                        one_in);
    for (uint32_t i = 0; i < out->n; i++) {
        out->rows[i].one_in = one_in[i];
        out->rows[i].per_second = rows[i].per_second;
        sum += rows[i].per_second;
    }
    *seen_hz = *seen_hz ? *seen_hz : dumps_first_hz(sum, n_cpus);
    next_turn(out);
    return out->runs ? out->of : NULL;
}

void selection_choose(const struct selection_seen *seen, uint32_t *one_in)
{
    uint32_t fits[EVENT_SET_MAX], calm[EVENT_SET_MAX];
    struct rate_operations more[EVENT_SET_MAX];
    for (uint32_t i = 0; i < seen->n; i++) {
        more[i] = seen->rows[i];
        more[i].per_second *= CALM_RATE;
    }
    rate_operations_fit(seen->rows, seen->n, seen->mode, seen->n_cpus, seen->budget_percent, fits);
    rate_operations_fit(more, seen->n, seen->mode, seen->n_cpus, seen->budget_percent, calm);
    for (uint32_t i = 0; i < seen->n; i++) {
        uint32_t now = at_least_1(seen->one_in[i]), least = calm[i] < now ? calm[i] : now;
        one_in[i] = fits[i] > now ? fits[i] : least;
        if (seen->lost && fits[i] <= now)
            one_in[i] = 2 * now <= seen->rows[i].most ? 2 * now : now;
    }
}

/* Operations of each row since the last look, estimated; false: records of the present source are not
 * known. */
static bool see(struct session *s, uint64_t now_ns, struct selection_seen *seen)
{
    struct session_selection *sel = &s->source.selection;
    uint64_t lost = s->source.stats.lost, past_ns = now_ns - sel->looked_ns;
    double sampled = 0;
    *seen = (struct selection_seen){ .n = sel->n,
                                     .mode = s->source.callchain,
                                     .n_cpus = s->collect.system_stats.cpus,
                                     .budget_percent = s->cfg.budget_percent,
                                     .lost = lost > sel->lost };
    for (uint32_t i = 0; i < sel->n; i++) {
        const struct operations_row *row = running(s, &sel->rows[i]);
        uint64_t begins = row ? row->begins - sel->rows[i].begins : 0,
                 counted = row ? row->counted - sel->rows[i].counted : 0;
        sampled += 2 * (double)begins;
        seen->rows[i] = (struct rate_operations){ (double)(sel->rows[i].one_in > 1 ? counted : begins),
                                                  sel->rows[i].group, sel->rows[i].most };
        seen->one_in[i] = sel->rows[i].one_in;
    }
    double scale = sampled > 0 ? 1 + (double)(lost - sel->lost) / sampled : 1;
    for (uint32_t i = 0; i < sel->n; i++)
        seen->rows[i].per_second *= scale * NS_PER_SEC / (double)(past_ns ? past_ns : 1);
    return past_ns > 0;
}

static void note_look(struct session *s, uint64_t now_ns)
{
    struct session_selection *sel = &s->source.selection;
    for (uint32_t i = 0; i < sel->n; i++) {
        const struct operations_row *row = running(s, &sel->rows[i]);
        sel->rows[i].begins = row ? row->begins : 0;
        sel->rows[i].counted = row ? row->counted : 0;
    }
    sel->looked_ns = now_ns;
    sel->looked_turn = sel->turn;
    sel->lost = s->source.stats.lost;
    sel->source = s->source.n_sources;
    sel->measures = false;
}

/* True if each selection had its turn since the last look. */
static bool is_round(const struct session_selection *sel)
{
    uint32_t turns = 1;
    for (uint32_t i = 0; i < sel->n; i++)
        turns = sel->rows[i].one_in > turns ? sel->rows[i].one_in : turns;
    return sel->turn - sel->looked_turn >= turns;
}

/* True if records were lost, or what was sampled since the last look cost as much as the budget allows until
 * the next. */
static bool is_too_much(const struct selection_seen *seen, uint64_t past_ns)
{
    double share = rate_operations_cost(seen->rows, seen->n, seen->mode, seen->one_in);
    return seen->lost ||
           share * (double)past_ns >= seen->budget_percent / 100 * seen->n_cpus * (double)LOOK_NS;
}

/* True if a look is due. An early one would find the average of the time since the last look, so that the new
 * rate is measured first. */
static bool is_due(struct session *s, uint64_t now_ns, const struct selection_seen *seen)
{
    struct session_selection *sel = &s->source.selection;
    uint64_t past_ns = now_ns - sel->looked_ns;
    if (sel->runs) /* one selection may have all the operations */
        return past_ns >= LOOK_NS && is_round(sel);
    if (past_ns < SOON_NS)
        return false;
    bool much = is_too_much(seen, past_ns);
    if (!much || sel->measures || past_ns < 2 * SOON_NS)
        return much || sel->measures || past_ns >= LOOK_NS;
    note_look(s, now_ns);
    sel->measures = true;
    return false;
}

static void tell(const struct session *s, const struct selection_row *row, double per_second)
{
    const char *name = s->store.events[s->store.live_event + row->event].event.name;
    if (row->one_in > 1)
        log_add("%.0f operations per second of %s: one in %u is sampled", per_second, name, row->one_in);
    else
        log_add("the rate of %s has fallen: all operations are sampled", name);
}

/* True if the numbers changed. */
static bool choose(struct session *s, const struct selection_seen *seen, uint64_t now_ns)
{
    struct session_selection *sel = &s->source.selection;
    uint32_t one_in[EVENT_SET_MAX];
    bool more = false, changed = false;
    if (sel->refused_ns && now_ns - sel->refused_ns < REFUSED_NS)
        return false;
    selection_choose(seen, one_in);
    for (uint32_t i = 0; i < sel->n; i++)
        more |= one_in[i] < sel->rows[i].one_in;
    bool calm = thin_is_calm(&sel->calm, more, seen->lost, now_ns);
    for (uint32_t i = 0; i < sel->n; i++) {
        if (one_in[i] < sel->rows[i].one_in && !calm)
            one_in[i] = sel->rows[i].one_in;
        sel->rows[i].per_second = seen->rows[i].per_second;
        if (one_in[i] == sel->rows[i].one_in)
            continue;
        changed = true;
        sel->rows[i].one_in = one_in[i];
        tell(s, &sel->rows[i], seen->rows[i].per_second);
    }
    return changed;
}

/* Selects other operations. False: that needs another source. */
static bool turn(struct session *s, uint64_t now_ns)
{
    struct session_selection *sel = &s->source.selection, next = *sel;
    next_turn(&next);
    follow(s, &next, sel->before_ns, true);
    if (!live_select(s->source.live, next.of))
        return false;
    *sel = next;
    set_one_in(s, now_ns);
    sel->before_ns = sel->changed_ns;
    sel->changed_ns = clock_now_ns();
    operations_settle(s, sel->turn - SETTLE_TURNS);
    return true;
}

/* True if the source must be reopened for stack dumps. */
static bool dumps_again(struct session *s, const struct selection_seen *seen, uint64_t now_ns)
{
    double sampled = 0;
    for (uint32_t i = 0; i < seen->n; i++)
        sampled += seen->rows[i].per_second / seen->one_in[i];
    return !s->collect.offcpu.runs && thin_dumps_again(s, sampled, 0, now_ns);
}

bool selection_change(struct session *s, uint64_t now_ns)
{
    struct session_selection *sel = &s->source.selection;
    struct selection_seen seen;
    bool reopen = false, changed = false;
    if (!sel->n)
        return false;
    pthread_mutex_lock(&s->store.lock);
    if (sel->source != s->source.n_sources) {
        note_look(s, now_ns);
    } else if (see(s, now_ns, &seen) && is_due(s, now_ns, &seen)) {
        changed = choose(s, &seen, now_ns);
        reopen = dumps_again(s, &seen, now_ns);
        note_look(s, now_ns);
    }
    if (changed || (sel->runs && now_ns >= sel->changed_ns + TURN_NS))
        sel->pending = !turn(s, now_ns) && changed;
    reopen |= sel->pending;
    pthread_mutex_unlock(&s->store.lock);
    return reopen;
}

bool selection_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct session_selection *sel = &s->source.selection;
    const struct selection_row *row = NULL;
    char number[32];
    double percent = s->cfg.budget_percent;
    for (uint32_t i = 0; i < sel->n; i++)
        if (sel->rows[i].one_in > 1 && (!row || sel->rows[i].one_in > row->one_in))
            row = &sel->rows[i];
    if (!row || s->load.file)
        return false;
    const char *name = s->store.events[s->store.live_event + row->event].event.name;
    (void)snprintf(what, what_cap,
                   "one in %u operations of %.60s is sampled (%s per second): counts are estimates",
                   row->one_in, name, text_si(number, sizeof number, row->per_second));
    (void)snprintf(
        fix, fix_cap,
        "shares are of the sampled ones; a smaller scope (S), or --budget %.4g for more than %.4g%% of the "
        "CPUs",
        percent * 4 < 100 ? percent * 4 : 100, percent);
    return true;
}
