// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"

#define DEEPEST_DUMP 65528
#define WORTH_A_WORD 1.0 /* percent */

/* A finding while samples are counted: a module, a reason, and the most affected process. */
struct complaint {
    enum doctor_subject subject;
    uint32_t module, reason;
    uint64_t samples;
    uint32_t group; /* candidate for the most affected process, by majority vote */
    uint64_t group_votes;
    uint32_t entry; /* last counted entry + 1: a stack counts once */
    uint32_t last;  /* of a truncated stack: its last good frame */
};

struct examination {
    const struct view *v;
    struct doctor *d;
    VEC(struct complaint) complaints;
    struct map index;  /* finding by subject, reason and module */
    struct map unread; /* modules with unreadable debug information */
    bool waiting;      /* some stacks are truncated only until their tables are read */
};

static struct complaint *complaint_about(struct examination *x, enum doctor_subject subject, uint32_t module,
                                         uint32_t reason)
{
    uint64_t key = (uint64_t)subject << 40 | (uint64_t)reason << 32 | module, found;
    if (!map_get(&x->index, key, &found)) {
        map_put(&x->index, key, found = x->complaints.n);
        *VEC_PUSH(&x->complaints) =
            (struct complaint){ .subject = subject, .module = module, .reason = reason };
    }
    return &x->complaints.items[found];
}

static void complain(struct examination *x, struct complaint *c, uint32_t entry)
{
    const struct result_entry *e = &x->v->result.entries[entry];
    if (c->entry == entry + 1)
        return;
    c->entry = entry + 1;
    c->samples += e->count;
    if (!c->group_votes)
        c->group = e->group;
    c->group_votes = c->group == e->group        ? c->group_votes + e->count
                     : c->group_votes > e->count ? c->group_votes - e->count
                                                 : 0;
}

static bool is_unnamed(const struct view *v, uint32_t frame)
{
    const struct view_function *f = &v->funcs[v->frame_func[frame]];
    return f->state == SYMBOL_NONE && v->result.frame_module[frame] != MODULE_ID_BROKEN;
}

/* Examines one stack: a truncation mark at its root, and frames without a name. */
static void examine_entry(struct examination *x, uint32_t entry)
{
    const struct result *r = &x->v->result;
    const struct result_entry *e = &r->entries[entry];
    bool unnamed = false, cut = false, waits = false;
    /* Module of the previous frame, and the previous frame: the last good one of a truncated stack. */
    uint32_t above = 0, last = 0;
    for (uint32_t node = e->node; node; node = r->parent[node]) {
        uint32_t frame = r->frame[node], module = r->frame_module[frame];
        if (module == MODULE_ID_BROKEN) {
            struct complaint *c = complaint_about(x, DOCTOR_STACKS, above, (uint32_t)r->frame_offset[frame]);
            c->last = c->last ? c->last : last;
            complain(x, c, entry);
            waits = x->waiting && r->frame_offset[frame] == BROKEN_PENDING;
            cut = !waits;
        } else if (is_unnamed(x->v, frame)) {
            complain(x, complaint_about(x, DOCTOR_NAMES, module, 0), entry);
            unnamed = true;
        }
        if (x->unread.n && map_get(&x->unread, module, NULL))
            complain(x, complaint_about(x, DOCTOR_LINES, module, 0), entry);
        above = module;
        last = frame;
    }
    x->d->samples += e->count;
    x->d->unnamed += unnamed ? e->count : 0;
    *(cut ? &x->d->cut : waits ? &x->d->waiting : &x->d->whole) += e->count;
}

/* Finds modules with unreadable debug information. A file that cannot be read at all is reported with its
 * names. Under lock. */
static void find_unread(struct examination *x, struct session *s)
{
    const struct result *r = &x->v->result;
    struct map seen = { 0 };

    for (uint32_t i = 1; i < r->n_frames; i++) {
        bool again = map_get(&seen, r->frame_module[i], NULL);
        const struct module *m = again ? NULL : world_module(s->store.world, r->frame_module[i]);
        char names[2] = "", lines[2] = "";
        if (m && m->kind == MODULE_FILE) {
            symbolizer_lines_trouble(s->store.symbolizer, m, lines, sizeof lines);
            symbolizer_trouble(s->store.symbolizer, m, names, sizeof names);
        }
        map_put(&seen, r->frame_module[i], 0);
        if (*lines && !*names)
            map_put(&x->unread, r->frame_module[i], 0);
    }
    map_done(&seen);
}

/* ---- texts ---- */

static bool comm_is(const char *process, const char *comm)
{
    size_t n = strlen(comm);
    return !strncmp(process, comm, n) && (!process[n] || process[n] == '/' || process[n] == '-');
}

/* Reports a map that exists and was not read. A missing map only means that nothing requested one. */
static bool say_bad_map(struct doctor_row *row)
{
    if (!*row->cause || !strncmp(row->cause, "no /tmp/perf-", 13))
        return false;
    if (strstr(row->cause, "was not read"))
        snprintf(row->fix, sizeof row->fix, "remove it, so that the runtime can write its own map");
    return true;
}

/* How to make a process write its map, for runtimes that are known to support it. */
static const char *map_writer(const char *process)
{
    static const struct {
        const char *comm, *fix;
    } runtimes[] = {
        { "node", "start it with node --perf-basic-prof" },
        { "python", "start it with python -X perf (3.12 and later)" },
        { "beam.smp", "start it with erl +JPperf true" },
        { "ruby", "start it with ruby --yjit --yjit-perf (3.3 and later)" },
        { "php", "start it with php -d pcre.jit=0 (patterns then run in named functions) and "
                 "-d opcache.jit_debug=0x10 (names for opcache.jit)" },
        { "dotnet", "start it with DOTNET_PerfMapEnabled=1 in its environment" },
    };
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (!strncmp(process, runtimes[i].comm, strlen(runtimes[i].comm)))
            return runtimes[i].fix;
    return "let the runtime write /tmp/perf-PID.map, if it can";
}

static void say_jit_names(struct doctor_row *row, const struct module *m)
{
    bool none = *row->cause;
    if (say_bad_map(row))
        return;
    snprintf(row->cause, sizeof row->cause,
             none ? "code made at run time, and no map of its names"
                  : "code made at run time that its map does not name");
    if (comm_is(row->process, "java") && m->live) {
        snprintf(row->fix, sizeof row->fix, "D asks the Java VM for its map (jcmd %u Compiler.perfmap)",
                 m->pid);
        row->action = DOCTOR_JVM_MAP;
        row->pid = m->pid;
    } else if (comm_is(row->process, "java")) {
        snprintf(row->fix, sizeof row->fix, "ask for its map while it is recorded: jcmd %u Compiler.perfmap",
                 m->pid);
    } else if (!none && comm_is(row->process, "node")) {
        snprintf(row->fix, sizeof row->fix,
                 "V8 writes the newest names of --perf-prof late: start it with --perf-basic-prof");
    } else if (!none) {
        snprintf(row->fix, sizeof row->fix,
                 "the map is older than this code, or damaged: its runtime must write it again");
    } else {
        snprintf(row->fix, sizeof row->fix, "%s", map_writer(row->process));
    }
}

static void say_names(struct session *s, struct doctor_row *row, const struct module *m)
{
    if (m->kind == MODULE_UNKNOWN) {
        snprintf(row->cause, sizeof row->cause, "the process ended before its mappings could be read");
        snprintf(row->fix, sizeof row->fix, "let flametop start short-lived processes: flametop -- COMMAND");
        return;
    }
    symbolizer_trouble(s->store.symbolizer, m, row->cause, sizeof row->cause);
    if (m->kind == MODULE_JIT) {
        say_jit_names(row, m);
        return;
    }
    if (!*row->cause)
        snprintf(row->cause, sizeof row->cause, "some of its code has no symbol");
    if (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD) {
        struct symbolizer_stats stats;
        symbolizer_stats(s->store.symbolizer, &stats);
        snprintf(row->fix, sizeof row->fix, "%s", stats.kernel_note);
    } else {
        char package[128];
        const char *fetch =
            symbolizer_can_fetch() && !s->cfg.debuginfod ? ", or start with --debuginfod" : "";
        if (symbolizer_package(s->store.symbolizer, (struct module *)(uintptr_t)m, package, sizeof package) ==
            SYMBOL_FOUND)
            snprintf(row->fix, sizeof row->fix, "install its debug symbols (Debian: %s)%s", package, fetch);
        else
            snprintf(
                row->fix, sizeof row->fix,
                "your own build: do not strip it; a package: install its debug symbols (Debian: -dbgsym)%s",
                fetch);
    }
}

static void say_lines(struct session *s, struct doctor_row *row, const struct module *m)
{
    symbolizer_lines_trouble(s->store.symbolizer, m, row->cause, sizeof row->cause);
    snprintf(row->fix, sizeof row->fix,
             "stacks and names work without it; its inlined functions are not shown");
}

static void say_dump(struct session *s, struct doctor_row *row)
{
    const struct session_event *ev = &s->store.events[s->store.current_event];
    uint32_t taken = ev->attr.sample_stack_user;
    if (s->load.file && !taken) /* flametop's own recordings contain no dumps */
        snprintf(row->cause, sizeof row->cause, "the stack is deeper than its copied part%s%s",
                 *s->load.stacks ? ": " : "", s->load.stacks);
    else if (!taken) /* stacks are no longer copied: the samples are older */
        snprintf(row->cause, sizeof row->cause,
                 "the stack is deeper than the part of it that was copied then");
    else
        snprintf(row->cause, sizeof row->cause, "the stack is deeper than its copied part, now %u %s",
                 taken % 1024 ? taken : taken / 1024, taken % 1024 ? "bytes" : "KB");
    if (s->load.file)
        snprintf(row->fix, sizeof row->fix, "record again with more: --call-graph dwarf,%d", DEEPEST_DUMP);
    else if (s->source.deep.more) {
        snprintf(row->fix, sizeof row->fix,
                 "auto copies more of each stack, up to 64 KB, when over 5 %% are truncated; D copies the "
                 "maximum at once (dwarf,%d)",
                 DEEPEST_DUMP);
        row->action = DOCTOR_DEEPER;
        row->grows = true;
        row->stack_bytes = DEEPEST_DUMP;
    } else if (taken < DEEPEST_DUMP) {
        snprintf(row->fix, sizeof row->fix, "D copies the maximum of each stack (dwarf,%d)", DEEPEST_DUMP);
        row->action = DOCTOR_DEEPER;
        row->stack_bytes = DEEPEST_DUMP;
    } else
        snprintf(row->fix, sizeof row->fix,
                 "this is the maximum: x forgets samples with less; if it persists, frame pointers (m) reach "
                 "deeper, in code that keeps them");
}

/* If frame pointers were only the fallback, the note on the whole profile says how to make tables
 * possible. */
static void say_pointers(struct session *s, struct doctor_row *row, uint32_t reason)
{
    snprintf(row->cause, sizeof row->cause, "code without frame pointers: %s",
             reason == BROKEN_GARBAGE ? "they lead to addresses without code"
                                      : "the leaf function's register leads nowhere");
    if (s->load.file && *s->load.stacks && strcmp(s->load.stacks, "fp"))
        snprintf(row->fix, sizeof row->fix,
                 "registers and stacks could not be collected for these samples: the doctor of a live "
                 "flametop says why");
    else if (s->load.file)
        snprintf(row->fix, sizeof row->fix, "record with --call-graph dwarf (perf), or auto (flametop)");
    else if (thin_wakers_by_fp(s) && s->store.events[s->store.current_event].event.wakers)
        snprintf(row->fix, sizeof row->fix,
                 "many wakeups: m, dwarf to force dumps of wakers' stacks; off-cpu ([) has those of waits");
    else if (s->source.callchain == CALLCHAIN_DWARF)
        snprintf(row->fix, sizeof row->fix,
                 "samples from now on are unwound by tables; x forgets the older ones");
    else if (s->cfg.callchain == CALLCHAIN_AUTO || s->cfg.callchain == CALLCHAIN_DWARF)
        snprintf(row->fix, sizeof row->fix,
                 "registers and stacks could not be collected: the rows of the whole profile say why");
    else {
        snprintf(row->fix, sizeof row->fix, "D unwinds by tables instead (m auto)");
        row->action = DOCTOR_AUTO;
    }
}

static void say_pending(struct doctor_row *row, bool waiting)
{
    snprintf(row->cause, sizeof row->cause,
             waiting ? "its unwind table is being read: these stacks wait for it"
                     : "its unwind table was not there in time");
    snprintf(row->fix, sizeof row->fix,
             waiting ? "nothing to do: they become whole in a moment" : "later samples are whole");
}

/* Reports a file that was given up or not read. For other files a missing table is reported elsewhere. */
static bool say_table_given_up(struct session *s, struct doctor_row *row, const struct module *m)
{
    char why[sizeof row->cause] = "";

    if (m && m->kind == MODULE_FILE)
        symbolizer_unwind_trouble(s->store.symbolizer, m, why, sizeof why);
    if (!strstr(why, "given up") && !strstr(why, "not read") && !strstr(why, "confine"))
        return false;
    snprintf(row->cause, sizeof row->cause, "%s", why);
    snprintf(row->fix, sizeof row->fix, "unwind by frame pointers (m fp), in code that keeps them");
    return true;
}

/* True for GHC's functions, by the suffix of their names. Their code keeps calls on its own stack and
 * jumps instead of calling, so no call instruction proves a caller. */
static bool is_haskell(const char *function)
{
    size_t n = function ? strlen(function) : 0;
    return n > 5 && !strcmp(function + n - 5, "_info");
}

/* True for a mapped file with code that is not ELF: the heap of SBCL, whose code keeps frame pointers. */
static bool is_image(struct session *s, const struct module *m)
{
    char why[128] = "";
    if (m && m->kind == MODULE_FILE)
        symbolizer_unwind_trouble(s->store.symbolizer, m, why, sizeof why);
    return strstr(why, "ELF");
}

static void say_image(struct session *s, struct doctor_row *row)
{
    snprintf(row->cause, sizeof row->cause, "a program's memory image, without unwind table");
    snprintf(row->fix, sizeof row->fix, "%s",
             s->load.file
                 ? "record with --call-graph fp: frame pointers work in code that keeps them, as SBCL's"
                 : "frame pointers work in code that keeps them, as SBCL's: m fp, or --call-graph fp");
}

static void say_no_table(struct session *s, struct doctor_row *row, uint32_t reason, const struct module *m,
                         const char *function)
{
    bool jit = m && m->kind == MODULE_JIT;

    if (say_table_given_up(s, row, m))
        return;
    if (is_haskell(function)) {
        snprintf(row->cause, sizeof row->cause,
                 "GHC's code jumps instead of calling, and keeps its own stack");
        snprintf(row->fix, sizeof row->fix,
                 "its functions are right, their callers are unknown: ghc -prof -fprof-auto counts them "
                 "(+RTS -p)");
        return;
    }
    if (is_image(s, m)) {
        say_image(s, row);
        return;
    }
    snprintf(row->cause, sizeof row->cause, "code without unwind table, and no %s",
             reason == BROKEN_UNPROVEN ? "call instruction proves its caller" : "usable frame pointer");
    if (jit && comm_is(row->process, "java"))
        snprintf(
            row->fix, sizeof row->fix, "%s",
            s->load.file || s->unwind.user.arch != UNWIND_ARCH_X86_64
                ? "start it with java -XX:+PreserveFramePointer"
                : "nothing to do, it needs no map: the code at this address was replaced, or an exception "
                  "leaves it");
    else if (jit && comm_is(row->process, "php"))
        snprintf(row->fix, sizeof row->fix,
                 "start it with php -d pcre.jit=0: patterns then run in code with an unwind table");
    else if (jit)
        snprintf(row->fix, sizeof row->fix, "its runtime must keep frame pointers in it");
    else
        snprintf(row->fix, sizeof row->fix,
                 "build it with -fasynchronous-unwind-tables (Rust: -C force-unwind-tables); assembly needs "
                 ".cfi lines");
}

static void say_elsewhere(struct session *s, struct doctor_row *row)
{
    snprintf(
        row->cause, sizeof row->cause,
        "the function runs on its own stack (a signal handler, or C and the runtime in a Go program), and "
        "the stack that it left is uncertain");
    snprintf(row->fix, sizeof row->fix, "%s",
             s->load.file
                 ? "Go: record with flametop, which reads the stack that was left; others: frame pointers "
                   "(--call-graph fp), in code that keeps them"
                 : "frame pointers (m fp) unwind further, in code that keeps them");
}

static void say_stacks(struct session *s, struct doctor_row *row, uint32_t reason, const struct module *m,
                       const char *function, bool waiting)
{
    switch (reason) {
    case BROKEN_DUMP:
        say_dump(s, row);
        return;
    case BROKEN_NO_TABLE:
    case BROKEN_UNPROVEN:
        say_no_table(s, row, reason, m, function);
        return;
    case BROKEN_PENDING:
        say_pending(row, waiting);
        return;
    case BROKEN_GARBAGE:
    case BROKEN_NO_POINTER:
        say_pointers(s, row, reason);
        return;
    case BROKEN_DEEP:
        snprintf(row->cause, sizeof row->cause, "more than %d frames", USER_FRAMES_MAX);
        snprintf(row->fix, sizeof row->fix,
                 "the frames next to the leaf are there: 2 and then i shows stacks from the leaf");
        return;
    case BROKEN_ELSEWHERE:
        say_elsewhere(s, row);
        return;
    case BROKEN_UNREAD:
        snprintf(row->cause, sizeof row->cause,
                 "the kernel could not read the stack: an exec replaced it, or a part was never used");
        snprintf(
            row->fix, sizeof row->fix, "%s",
            s->load.file
                ? "record with flametop, which brings such pages into memory, or with frame pointers "
                  "(--call-graph fp)"
                : "nothing to do: its pages are brought into memory once, and later samples are whole; x "
                  "forgets these");
        return;
    default:
        snprintf(row->cause, sizeof row->cause, "the stack does not match its unwind table");
        snprintf(row->fix, sizeof row->fix,
                 "hand-written assembly or a stack of the program's own making; please report it");
    }
}

/* Adds a row. Under lock, as it uses modules. */
static void add_row(struct session *s, struct examination *x, const struct complaint *c)
{
    struct doctor *d = x->d;
    const struct module *m = world_module(s->store.world, c->module);
    struct doctor_row *row = VEC_PUSH(&d->rows);
    *row = (struct doctor_row){ .subject = c->subject,
                                .samples = c->samples,
                                .percent = d->samples ? 100.0 * c->samples / d->samples : 0,
                                .key = map_mix((uint64_t)c->subject << 40 | (uint64_t)c->reason << 32 |
                                               c->module) };
    snprintf(row->module, sizeof row->module, "%s", m ? m->name : "");
    if (c->group < x->v->n_groups)
        snprintf(row->process, sizeof row->process, "%s", x->v->groups[c->group].label);
    if (c->subject == DOCTOR_STACKS)
        say_stacks(s, row, c->reason, m, x->v->funcs[x->v->frame_func[c->last]].name, x->waiting);
    else if (m && c->subject == DOCTOR_LINES)
        say_lines(s, row, m);
    else if (m)
        say_names(s, row, m);
}

static int by_samples(const void *a, const void *b)
{
    const struct doctor_row *x = a, *y = b;
    if ((x->subject == DOCTOR_SYSTEM) != (y->subject == DOCTOR_SYSTEM))
        return x->subject == DOCTOR_SYSTEM ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static void add_notes(struct session *s, struct doctor *d)
{
    struct session_status status;
    session_get_status(s, &status);
    for (uint32_t i = 0; i < status.n_notes; i++) {
        struct doctor_row *row = VEC_PUSH(&d->rows);
        *row = (struct doctor_row){ .subject = DOCTOR_SYSTEM, .key = i + 1 };
        snprintf(row->cause, sizeof row->cause, "%s", status.notes[i].what);
        snprintf(row->fix, sizeof row->fix, "%s", status.notes[i].fix);
    }
}

/* Under lock. */
static void add_interpreted(const struct session *s, struct doctor *d)
{
    struct doctor_row row = { .subject = DOCTOR_SYSTEM, .key = UINT64_MAX };
    if (!interpreted_trouble(s, row.cause, sizeof row.cause, row.fix, sizeof row.fix))
        return;
    *VEC_PUSH(&d->rows) = row;
}

static bool stacks_wait(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    bool wait = s->unwind.user.aside.n != 0;
    pthread_mutex_unlock(&s->store.lock);
    return wait;
}

void session_examine(struct session *s, const struct view_query *q, struct doctor *d)
{
    struct view_query by_process = *q;
    struct examination x = { .v = &d->view, .d = d };
    by_process.group = VIEW_GROUP_PROCESS;
    /* read before the query: a stack in the result may be complete by the time it is examined */
    x.waiting = stacks_wait(s);
    session_query(s, &by_process, &d->view);
    d->rows.n = 0;
    d->samples = d->whole = d->cut = d->waiting = d->unnamed = 0;
    pthread_mutex_lock(&s->store.lock);
    x.waiting |= s->unwind.user.aside.n != 0;
    find_unread(&x, s);
    pthread_mutex_unlock(&s->store.lock);
    for (uint32_t i = 0; i < d->view.result.n_entries; i++)
        examine_entry(&x, i);
    add_notes(s, d);
    session_get_coverage(s, &d->coverage);
    pthread_mutex_lock(&s->store.lock);
    add_interpreted(s, d);
    for (size_t i = 0; i < x.complaints.n; i++)
        add_row(s, &x, &x.complaints.items[i]);
    pthread_mutex_unlock(&s->store.lock);
    if (d->rows.n)
        qsort(d->rows.items, d->rows.n, sizeof *d->rows.items, by_samples);
    map_done(&x.index);
    map_done(&x.unread);
    mem_free(x.complaints.items);
}

void doctor_done(struct doctor *d)
{
    view_done(&d->view);
    mem_free(d->rows.items);
    *d = (struct doctor){ 0 };
}

const struct doctor_row *doctor_worst(const struct doctor *d)
{
    for (uint32_t i = 0; i < d->rows.n; i++)
        if (d->rows.items[i].subject != DOCTOR_SYSTEM)
            return d->rows.items[i].percent >= WORTH_A_WORD ? &d->rows.items[i] : NULL;
    return NULL;
}
