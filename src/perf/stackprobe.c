// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/stackprobe.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "perf/bpf_code.h"
#include "perf/event.h"
#include "perf/payload_field.h"
#include "perf/task_thread.h"
#include "perf/tracepoint.h"

#define PROCESSES_MAX  1024
#define THREADS_MAX    16384
#define RING_BYTES     (2u << 20) /* a power of two, in whole pages */
#define THREADS_LOOKED 256        /* of a process; stackprobe_set_thread is for more */

/* A tracepoint's program ends when the event that brought it is closed, which takes long. So it is brought by
 * an event of its own, which samples nothing: a source can take over from another one. */
struct bringer {
    enum stackprobe_where where;
    uint64_t tracepoint;
    int fd;
    unsigned n_users;
};

enum { MAP_LAYOUTS, MAP_THREADS, MAP_SCRATCH, MAP_RING, MAPS };

struct stackprobe {
    int maps[MAPS];
    int samples, waits, tracepoints, probes; /* programs; 0: none */
    int32_t task_thread;                     /* task_thread_offset() */
    VEC(struct bringer) bringers;
    size_t page;
    atomic_ulong *consumer, *producer; /* shared with the kernel: bytes read, bytes written */
    const uint8_t *data;               /* mapped twice in a row */
};

/* ---- the program ---- */

/* Registers preserved by calls: */
#define R_I      6 /* pid and tid; then an index of the list of threads; then of frames */
#define R_FRAME  7
#define R_LAYOUT 8
#define R_OUT    9
/* On the program's stack, below register 10: */
#define S_KEY   (-8)
#define S_WORD  (-16)
#define S_ENTRY (-24)
#define S_OWN   (-32)

#define AT(field)   ((int16_t)offsetof(struct stackprobe_sample, field))
#define OF(field)   ((int16_t)offsetof(struct stackprobe_layout, field))
#define IN(field)   ((int16_t)offsetof(struct stackprobe_frame, field))
#define HEAD_BYTES  ((int32_t)offsetof(struct stackprobe_sample, frames))
#define FRAME_BYTES ((int32_t)sizeof(struct stackprobe_frame))

/* Register 0 = the map's value of the key at S_KEY, or 0. */
static void look_up(struct code *c, int map)
{
    load_map(c, 1, map);
    move(c, 2, 10);
    add(c, 2, S_KEY);
    call(c, BPF_FUNC_map_lookup_elem);
}

/* Read the user-space word at register 3 to the address in register 1; a failed read stores 0. */
static void read_word(struct code *c)
{
    set(c, 2, 8);
    call(c, BPF_FUNC_probe_read_user);
}

/* `to` = the user-space word at register 3. */
static void read_to(struct code *c, unsigned to)
{
    move(c, 1, 10);
    add(c, 1, S_WORD);
    read_word(c);
    load(c, BPF_DW, to, 10, S_WORD);
}

/* Register 3 = base + the layout's offset at `field`. */
static void point(struct code *c, unsigned base, int16_t field)
{
    load(c, BPF_W, 3, R_LAYOUT, field);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 3, base, 0, 0);
}

/* `to` = the user-space word at base + the layout's offset at `field`. */
static void follow(struct code *c, unsigned to, unsigned base, int16_t field)
{
    point(c, base, field);
    read_to(c, to);
}

/* Jumps to the end if the thread leaves its CPU for another reason than a wait. */
static unsigned emit_wait(struct code *c, const struct payload_field *state)
{
    load(c, state->size == 8 ? BPF_DW : BPF_W, 0, 1, (int16_t)state->offset);
    put(c, BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, EVENT_WAIT_STATES);
    return jump(c, BPF_JEQ, 0, 0);
}

/* R_LAYOUT = the process's layout, R_OUT = the buffer of the result. Jumps to the end if there is none. */
static void emit_entry(struct code *c, const int *maps, unsigned exits[2])
{
    call(c, BPF_FUNC_get_current_pid_tgid);
    move(c, R_I, 0);
    put(c, BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32);
    store(c, BPF_W, 10, S_KEY, 0);
    look_up(c, maps[MAP_LAYOUTS]);
    exits[0] = jump(c, BPF_JEQ, 0, 0);
    move(c, R_LAYOUT, 0);
    set(c, 0, 0);
    store(c, BPF_W, 10, S_KEY, 0);
    look_up(c, maps[MAP_SCRATCH]);
    exits[1] = jump(c, BPF_JEQ, 0, 0);
    move(c, R_OUT, 0);
    store(c, BPF_DW, R_OUT, AT(tid), R_I);
    call(c, BPF_FUNC_ktime_get_ns);
    store(c, BPF_DW, R_OUT, AT(time_ns), 0);
    load(c, BPF_W, 0, R_LAYOUT, OF(tag));
    store(c, BPF_W, R_OUT, AT(tag), 0);
}

/* R_FRAME = the state of the running thread, as the interpreter names it: of the holder of its lock. */
static void find_holder(struct code *c)
{
    load(c, BPF_DW, 3, R_LAYOUT, OF(current));
    read_to(c, R_FRAME);
}

/* A jump if the state in R_FRAME is that of the thread at S_OWN. */
static unsigned jump_if_own(struct code *c)
{
    follow(c, 0, R_FRAME, OF(thread));
    load(c, BPF_DW, 1, 10, S_OWN);
    return put(c, BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0, 0);
}

/* R_FRAME = the state that was set for this thread, or that of the holder of the lock. */
static void find_set(struct code *c, const struct stackprobe *p)
{
    unsigned unknown, known;

    look_up(c, p->maps[MAP_THREADS]);
    unknown = jump(c, BPF_JEQ, 0, 0);
    load(c, BPF_DW, R_FRAME, 0, 0);
    known = jump(c, BPF_JNE, R_FRAME, 0);
    land(c, unknown);
    find_holder(c);
    land(c, known);
}

/* R_FRAME = the state in the process's list that is the thread's own. Returns a jump, if it is found. */
static unsigned find_in_list(struct code *c)
{
    unsigned loop, full, end, own, none, found;

    load(c, BPF_DW, 3, R_LAYOUT, OF(threads));
    read_to(c, R_FRAME);
    set(c, R_I, 0);
    loop = c->n;
    full = jump(c, BPF_JGE, R_I, THREADS_LOOKED);
    end = jump(c, BPF_JEQ, R_FRAME, 0);
    own = jump_if_own(c);
    follow(c, R_FRAME, R_FRAME, OF(next));
    add(c, R_I, 1);
    jump_back(c, loop);
    land(c, full);
    land(c, end);
    none = put(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
    land(c, own);
    set(c, 0, 1);
    store(c, BPF_DW, R_OUT, AT(listed), 0);
    found = put(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
    land(c, none);
    return found;
}

/* R_FRAME = the thread's state. If the kernel says which thread runs, its own: the one set for it, that of
 * the holder of the lock, or the one in the list. The one set may be an ended thread's with the same tid. */
static void find_state(struct code *c, const struct stackprobe *p)
{
    unsigned found[3], n_found = 0;

    store(c, BPF_W, 10, S_KEY, R_I);
    set(c, 0, 0);
    store(c, BPF_DW, R_OUT, AT(listed), 0);
    if (p->task_thread) {
        call(c, BPF_FUNC_get_current_task);
        move(c, 3, 0);
        add(c, 3, p->task_thread);
        move(c, 1, 10);
        add(c, 1, S_OWN);
        set(c, 2, 8);
        call(c, BPF_FUNC_probe_read_kernel);
        find_set(c, p);
        found[n_found++] = jump_if_own(c);
        find_holder(c);
        found[n_found++] = jump_if_own(c);
        found[n_found++] = find_in_list(c);
    }
    find_set(c, p);
    for (unsigned i = 0; i < n_found; i++)
        land(c, found[i]);
    store(c, BPF_DW, R_OUT, AT(state), R_FRAME);
    follow(c, 0, R_FRAME, OF(thread));
    store(c, BPF_DW, R_OUT, AT(thread), 0);
}

static void find_top(struct code *c)
{
    unsigned direct;

    follow(c, R_FRAME, R_FRAME, OF(top));
    store(c, BPF_DW, R_OUT, AT(outer), R_FRAME);
    load(c, BPF_W, 0, R_LAYOUT, OF(indirect));
    put(c, BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0);
    direct = put(c, BPF_JMP32 | BPF_JEQ | BPF_K, 1, 0, 0, -1);
    follow(c, R_FRAME, R_FRAME, OF(indirect));
    land(c, direct);
}

static void copy_word(struct code *c, unsigned base, int16_t field, int16_t to)
{
    point(c, base, field);
    load(c, BPF_DW, 1, 10, S_ENTRY);
    add(c, 1, to);
    read_word(c);
}

static void copy_frames(struct code *c)
{
    unsigned loop, full, end;

    set(c, R_I, 0);
    loop = c->n;
    full = jump(c, BPF_JGE, R_I, STACKPROBE_FRAMES_MAX);
    end = jump(c, BPF_JEQ, R_FRAME, 0);
    move(c, 1, R_I);
    put(c, BPF_ALU64 | BPF_MUL | BPF_K, 1, 0, 0, FRAME_BYTES);
    add(c, 1, HEAD_BYTES);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 1, R_OUT, 0, 0);
    store(c, BPF_DW, 10, S_ENTRY, 1);
    store(c, BPF_DW, 1, IN(address), R_FRAME);
    copy_word(c, R_FRAME, OF(code), IN(code));
    copy_word(c, R_FRAME, OF(instr), IN(instr));
    copy_word(c, R_FRAME, OF(flags), IN(flags));
    load(c, BPF_DW, 1, 10, S_ENTRY);
    load(c, BPF_DW, 0, 1, IN(code));
    copy_word(c, 0, OF(ident), IN(ident));
    follow(c, R_FRAME, R_FRAME, OF(back));
    add(c, R_I, 1);
    jump_back(c, loop);
    land(c, full);
    land(c, end);
}

static void hand_out(struct code *c, const int *maps)
{
    store(c, BPF_W, R_OUT, AT(n), R_I);
    store(c, BPF_DW, R_OUT, AT(rest), R_FRAME);
    load_map(c, 1, maps[MAP_RING]);
    move(c, 2, R_OUT);
    move(c, 3, R_I);
    put(c, BPF_ALU64 | BPF_MUL | BPF_K, 3, 0, 0, FRAME_BYTES);
    add(c, 3, HEAD_BYTES);
    set(c, 4, BPF_RB_NO_WAKEUP);
    call(c, BPF_FUNC_ringbuf_output);
}

/* Assemble a program. It always returns 1: with 0 the kernel would drop the sample. state: of sched_switch;
 * NULL: it copies each time. */
static void assemble(struct code *c, const struct stackprobe *p, const struct payload_field *state)
{
    unsigned exits[2], no_wait = state ? emit_wait(c, state) : 0;

    emit_entry(c, p->maps, exits);
    find_state(c, p);
    find_top(c);
    copy_frames(c);
    hand_out(c, p->maps);
    land(c, exits[0]);
    land(c, exits[1]);
    if (state)
        land(c, no_wait);
    set(c, 0, 1);
    put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Returns the descriptor, or 0. */
static int load_program(const struct stackprobe *p, enum bpf_prog_type type,
                        const struct payload_field *state)
{
    struct code *c = mem_zalloc(sizeof *c);

    assemble(c, p, state);
    int fd = load_code(c, type);
    mem_free(c);
    return fd > 0 ? fd : 0;
}

static bool load_programs(struct stackprobe *p, struct error *e)
{
    p->task_thread = task_thread_offset();
    p->samples = load_program(p, BPF_PROG_TYPE_PERF_EVENT, NULL);
    if (!p->samples && p->task_thread) { /* a verifier that gives up earlier */
        p->task_thread = 0;
        p->samples = load_program(p, BPF_PROG_TYPE_PERF_EVENT, NULL);
    }
    if (!p->samples)
        return error_sys(e, errno, "cannot load the BPF program that reads interpreters' frames");
    struct payload_format *format = tracepoint_payload("sched", "sched_switch");
    int32_t state = format ? payload_number_find(format, "prev_state") : -1;
    if (state >= 0)
        p->waits = load_program(p, BPF_PROG_TYPE_TRACEPOINT, &format->fields[state]);
    if (!p->waits)
        log_add("interpreted frames of waits are not read: %s",
                state < 0 ? "the format of sched:sched_switch is not known" : strerror(errno));
    if (format)
        payload_format_free(format);
    p->tracepoints = load_program(p, BPF_PROG_TYPE_TRACEPOINT, NULL);
    p->probes = load_program(p, BPF_PROG_TYPE_KPROBE, NULL);
    return true;
}

/* ---- maps ---- */

static bool map_ring(struct stackprobe *p, struct error *e)
{
    size_t shown = p->page + 2 * (size_t)RING_BYTES;
    void *own = mmap(NULL, p->page, PROT_READ | PROT_WRITE, MAP_SHARED, p->maps[MAP_RING], 0);
    void *theirs = mmap(NULL, shown, PROT_READ, MAP_SHARED, p->maps[MAP_RING], (off_t)p->page);

    if (own != MAP_FAILED)
        p->consumer = own;
    if (theirs != MAP_FAILED) {
        p->producer = theirs;
        p->data = (const uint8_t *)theirs + p->page;
    }
    return (p->consumer && p->producer) || error_sys(e, errno, "cannot map the ring of interpreters' frames");
}

static bool make_maps(struct stackprobe *p, struct error *e)
{
    const struct {
        enum bpf_map_type type;
        uint32_t key, value, n;
    } wanted[MAPS] = {
        [MAP_LAYOUTS] = { BPF_MAP_TYPE_LRU_HASH, 4, sizeof(struct stackprobe_layout), PROCESSES_MAX },
        [MAP_THREADS] = { BPF_MAP_TYPE_LRU_HASH, 4, 8, THREADS_MAX },
        [MAP_SCRATCH] = { BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct stackprobe_sample), 1 },
        [MAP_RING] = { BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES },
    };

    for (int i = 0; i < MAPS; i++) {
        p->maps[i] = make_map(wanted[i].type, wanted[i].key, wanted[i].value, wanted[i].n);
        if (p->maps[i] < 0)
            return error_sys(e, errno, "cannot make the BPF maps for interpreters' frames");
    }
    return true;
}

struct stackprobe *stackprobe_open(struct error *e)
{
    struct stackprobe *p = mem_zalloc(sizeof *p);

    for (int i = 0; i < MAPS; i++)
        p->maps[i] = -1;
    p->page = (size_t)sysconf(_SC_PAGESIZE);
    if (make_maps(p, e) && map_ring(p, e) && load_programs(p, e))
        return p;
    stackprobe_close(p);
    return NULL;
}

void stackprobe_close(struct stackprobe *p)
{
    if (!p)
        return;
    if (p->consumer)
        munmap((void *)p->consumer, p->page);
    if (p->producer)
        munmap((void *)p->producer, p->page + 2 * (size_t)RING_BYTES);
    for (int i = 0; i < MAPS; i++)
        if (p->maps[i] >= 0)
            close(p->maps[i]);
    for (size_t i = 0; i < p->bringers.n; i++)
        close(p->bringers.items[i].fd);
    mem_free(p->bringers.items);
    const int programs[] = { p->samples, p->waits, p->tracepoints, p->probes };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (programs[i])
            close(programs[i]);
    mem_free(p);
}

/* ---- where programs run ---- */

bool stackprobe_can(const struct stackprobe *p, enum stackprobe_where where)
{
    if (!p || where == STACKPROBE_NOWHERE)
        return false;
    return where == STACKPROBE_SAMPLES ? p->samples
           : where == STACKPROBE_WAITS ? p->waits
                                       : p->tracepoints || p->probes;
}

static bool run_with(int event_fd, int program)
{
    return program && (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, program) == 0 || errno == EEXIST);
}

bool stackprobe_sample(const struct stackprobe *p, int event_fd)
{
    return run_with(event_fd, p->samples);
}

static struct bringer *find_bringer(const struct stackprobe *p, enum stackprobe_where where,
                                    uint64_t tracepoint)
{
    for (size_t i = 0; i < p->bringers.n; i++)
        if (p->bringers.items[i].where == where && p->bringers.items[i].tracepoint == tracepoint)
            return &p->bringers.items[i];
    return NULL;
}

/* An event of this process, which never runs: at an exec, as an event of a probe puts its breakpoints into
 * a process as soon as it could run there. The kernel wants another type of program at probes. */
static int bring(const struct stackprobe *p, enum stackprobe_where where, uint64_t tracepoint)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
                                    .size = sizeof attr,
                                    .config = tracepoint,
                                    .sample_period = 1,
                                    .disabled = 1,
                                    .enable_on_exec = 1 };
    int fd = event_open_fd(&attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd >= 0 && !run_with(fd, where == STACKPROBE_WAITS ? p->waits : p->tracepoints) &&
        (where == STACKPROBE_WAITS || !run_with(fd, p->probes))) {
        close(fd);
        return -1;
    }
    return fd;
}

bool stackprobe_meet(struct stackprobe *p, enum stackprobe_where where, uint64_t tracepoint)
{
    struct bringer *there = find_bringer(p, where, tracepoint);
    int fd = there ? there->fd : bring(p, where, tracepoint);

    if (there)
        there->n_users++;
    else if (fd >= 0)
        *VEC_PUSH(&p->bringers) = (struct bringer){ where, tracepoint, fd, 1 };
    return fd >= 0;
}

void stackprobe_leave_tracepoint(struct stackprobe *p, enum stackprobe_where where, uint64_t tracepoint)
{
    struct bringer *there = find_bringer(p, where, tracepoint);

    if (!there || --there->n_users)
        return;
    close(there->fd);
    *there = p->bringers.items[--p->bringers.n];
}

/* ---- processes and threads ---- */

static void map_change(int fd, int command, uint32_t key, const void *value)
{
    union bpf_attr a;

    memset(&a, 0, sizeof a);
    a.map_fd = (uint32_t)fd;
    a.key = (uintptr_t)&key;
    a.value = (uintptr_t)value;
    bpf(command, &a);
}

void stackprobe_follow(struct stackprobe *p, uint32_t pid, const struct stackprobe_layout *layout)
{
    map_change(p->maps[MAP_LAYOUTS], BPF_MAP_UPDATE_ELEM, pid, layout);
}

void stackprobe_set_thread(struct stackprobe *p, uint32_t tid, uint64_t state)
{
    map_change(p->maps[MAP_THREADS], state ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, tid,
               state ? &state : NULL);
}

/* ---- ring ---- */

/* Read the ring; format: Documentation/bpf/ringbuf.rst. A record is preceded by its length, which includes
 * two flag bits. */
void stackprobe_read(struct stackprobe *p, stackprobe_fn *fn, void *ctx)
{
    unsigned long at = atomic_load_explicit(p->consumer, memory_order_relaxed);
    unsigned long end = atomic_load_explicit(p->producer, memory_order_acquire);

    while (at < end) {
        const uint8_t *record = p->data + (at & (RING_BYTES - 1));
        uint32_t head =
            atomic_load_explicit((const _Atomic uint32_t *)(const void *)record, memory_order_acquire);
        uint32_t bytes = head & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        const struct stackprobe_sample *s = (const void *)(record + BPF_RINGBUF_HDR_SZ);
        if (head & BPF_RINGBUF_BUSY_BIT)
            break;
        if (!(head & BPF_RINGBUF_DISCARD_BIT) && bytes >= (uint32_t)HEAD_BYTES &&
            s->n <= STACKPROBE_FRAMES_MAX && bytes >= (uint32_t)(HEAD_BYTES + (int32_t)s->n * FRAME_BYTES)) {
            if (s->listed) /* from now on without going through the list */
                stackprobe_set_thread(p, s->tid, s->state);
            fn(ctx, s);
        }
        at += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
        atomic_store_explicit(p->consumer, at, memory_order_release);
    }
}
