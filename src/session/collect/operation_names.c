// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of operations, from the fields of their begin event: "[block: vda write]". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/text.h"
#include "process/device.h"
#include "process/task.h"
#include "profile/operation_data.h"
#include "session/collect/operations.h"
#include "session/session_state.h"

#define NAMES_MOST     4096  /* of a row; further ones are called "other" */
#define COMPLETED_MOST 16384 /* of a row; further names are not completed */

/* Numbers of enum softirq names: show_softirq_name in include/trace/events/irq.h of the kernel. */
static const char *const softirqs[] = {
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

static void put_syscall(uint64_t number, bool other, bool of_32_bits, struct buf *out)
{
    const char *name = other ? NULL : task_call_name(number, of_32_bits);
    if (name)
        buf_puts(out, name);
    else
        buf_printf(out, "syscall %lld", (long long)number);
}

static void put_device(uint64_t dev, bool elsewhere, struct buf *out)
{
    if (elsewhere || !device_put_name(dev, out))
        buf_printf(out, "%u:%u", device_major(dev), device_minor(dev));
}

/* rwbs of blk_fill_rwbs (kernel/trace/blktrace.c): F before a letter is a flush before the request. */
static void put_io(const char *rwbs, size_t n, struct buf *out)
{
    static const struct {
        char letter;
        const char *kind;
    } kinds[] = { { 'R', "read" }, { 'W', "write" }, { 'D', "discard" }, { 'F', "flush" } };
    size_t at = n > 1 && rwbs[0] == 'F' && rwbs[1] && strchr("RWD", rwbs[1]) ? 1 : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && n; i++)
        if (rwbs[at] == kinds[i].letter) {
            buf_puts(out, kinds[i].kind);
            return;
        }
    buf_puts(out, "other");
}

/* LCB_F_* of include/trace/events/lock.h, as perf lock contention calls them. */
static void put_lock(uint64_t flags, struct buf *out)
{
    enum { SPIN = 1, READ = 2, WRITE = 4, RT = 8, PERCPU = 16, MUTEX = 32 };
    const char *kind = flags & MUTEX                            ? "mutex"
                       : flags & PERCPU                         ? "percpu-rwsem"
                       : flags & RT                             ? "rtmutex"
                       : flags & SPIN && flags & (READ | WRITE) ? "rwlock"
                       : flags & SPIN                           ? "spinlock"
                       : flags & (READ | WRITE)                 ? "rwsem"
                                                                : "semaphore";
    buf_puts(out, kind);
    if (!(flags & MUTEX) && flags & (READ | WRITE))
        buf_puts(out, flags & READ ? " read" : " write");
}

/* FUTEX_* of the kernel's include/uapi/linux/futex.h, without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME. */
static void put_futex(uint64_t op, struct buf *out)
{
    static const char *const ops[] = {
        "wait",           "wake",      "fd",         "requeue",     "cmp_requeue", "wake_op",
        "lock_pi",        "unlock_pi", "trylock_pi", "wait_bitset", "wake_bitset", "wait_requeue_pi",
        "cmp_requeue_pi", "lock_pi2",
    };
    uint64_t number = op & ~(uint64_t)(128 | 256);
    if (number < sizeof ops / sizeof *ops)
        buf_puts(out, ops[number]);
    else
        buf_printf(out, "futex %llu", (unsigned long long)number);
}

static void put_number(const struct operations_row *row, uint32_t i, uint64_t number, bool of_32_bits,
                       struct buf *out)
{
    switch (row->row->names[i].kind) {
    case PAIR_NAME_SYSCALL:
        put_syscall(number, row->other_calls, of_32_bits, out);
        break;
    case PAIR_NAME_DEVICE:
        put_device(number, row->elsewhere, out);
        break;
    case PAIR_NAME_SOFTIRQ:
        if (number < sizeof softirqs / sizeof *softirqs)
            buf_puts(out, softirqs[number]);
        else
            buf_printf(out, "softirq %llu", (unsigned long long)number);
        break;
    case PAIR_NAME_FUTEX:
        put_futex(number, out);
        break;
    case PAIR_NAME_LOCK:
        put_lock(number, out);
        break;
    default:
        buf_printf(out, "%s %llu", row->row->names[i].field, (unsigned long long)number);
    }
}

/* A text field up to its NUL. Its bytes are the kernel's or a hostile process's. */
static const char *text_of(const struct payload *p, int32_t field, size_t *n)
{
    const uint8_t *bytes;
    uint32_t size;
    if (!payload_bytes(p, field, &bytes, &size))
        return *n = 0, "";
    *n = strnlen((const char *)bytes, size);
    return (const char *)bytes;
}

/* The bytes of an IP address. */
static void put_address(const struct payload *p, int32_t field, int port, struct buf *out)
{
    char text[ADDRESS_TEXT_MAX];
    const uint8_t *bytes;
    uint32_t n;
    if (payload_bytes(p, field, &bytes, &n))
        buf_puts(out, address_text(text, bytes, n, port));
}

/* The connection of a TCP socket whose new state is this, without the port that the connecting side chose:
 * each connection would have another name. */
static void put_tcp(const struct operations_row *row, uint64_t state, const struct payload *p,
                    struct buf *out)
{
    enum { SYN_SENT = 2 }; /* include/net/tcp_states.h of the kernel */
    const int32_t *fields = row->fields.tcp[PAIR_BEGIN];
    bool connects = state == SYN_SENT;
    int local_port = (int)payload_number(p, fields[PAIR_TCP_LOCAL_PORT]);
    put_address(p, fields[PAIR_TCP_LOCAL], connects ? -1 : local_port, out);
    buf_puts(out, connects ? " to " : " from ");
    put_address(p, fields[PAIR_TCP_PEER], connects ? (int)payload_number(p, fields[PAIR_TCP_PEER_PORT]) : -1,
                out);
}

static void put_field(const struct operations_row *row, uint32_t i, const struct payload *p, bool of_32_bits,
                      struct buf *out)
{
    enum pair_name_kind kind = row->row->names[i].kind;
    int32_t field = row->fields.name_fields[i];
    char clean[OPERATION_NAME_MAX];
    size_t n;
    if (kind == PAIR_NAME_PLAIN && payload_is_address(p->format, field)) {
        buf_printf(out, "%s 0x%llx", row->row->names[i].field, (unsigned long long)payload_number(p, field));
        return;
    }
    if (kind == PAIR_NAME_TCP || kind == PAIR_NAME_TCP_FAILED) {
        put_tcp(row, payload_number(p, field), p, out);
        return;
    }
    if (kind == PAIR_NAME_ADDRESS) {
        put_address(p, field, -1, out);
        return;
    }
    if (payload_is_number(p->format, field)) {
        put_number(row, i, payload_number(p, field), of_32_bits, out);
        return;
    }
    const char *text = text_of(p, field, &n);
    if (kind == PAIR_NAME_IO)
        put_io(text, n, out);
    else
        buf_add(out, clean, text_clean(clean, sizeof clean, text, n));
}

static uint64_t name_text(struct session *s, const struct operations_row *row, const char *text)
{
    char frame[OPERATION_NAME_MAX];
    (void)snprintf(frame, sizeof frame, *text ? "[%s: %.*s]" : "[%s]", row->row->name,
                   OPERATION_NAME_MAX - PAIR_NAME_MAX - 8, text);
    return symbolizer_script(s->store.symbolizer, frame);
}

bool operation_is_32_bits(struct session *s, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cgroup)
{
    uint32_t thread = world_thread_of(s->store.world, pid, tid, time_ns, cgroup);
    const struct world_thread *t = world_thread(s->store.world, thread);
    return t && world_image_is_32_bits(s->store.world, t->image);
}

/* Only numbers of system calls depend on it. */
static bool is_of_32_bits(struct session *s, const struct operations_row *row, const struct record *r)
{
    bool matters = false;
    for (uint32_t i = 0; i < row->row->n_names; i++)
        matters |= row->row->names[i].kind == PAIR_NAME_SYSCALL;
    return matters && operation_is_32_bits(s, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
}

bool operation_is_birth(struct session *s, const struct operations_row *row, const struct record *r)
{
    static const char *const calls[] = { "clone", "clone3", "fork", "vfork" };
    struct payload p = operation_payload(row, PAIR_END, r);
    if (row->other_calls || row->fields.call < 0 || row->fields.ret < 0 ||
        payload_number(&p, row->fields.ret))
        return false;
    uint64_t number = payload_number(&p, row->fields.call);
    bool of_32_bits = operation_is_32_bits(s, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
    const char *name = task_call_name(number, of_32_bits);
    for (size_t i = 0; name && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(name, calls[i]))
            return true;
    return false;
}

/* Of a field that is printed from other fields, or from bytes that are no text. */
static uint64_t hash_printed(const struct operations_row *row, uint32_t i, const struct payload *p,
                             uint64_t hash)
{
    struct buf text = { 0 };
    put_field(row, i, p, false, &text);
    hash = pairs_key(hash, map_hash_bytes(buf_str(&text), text.len, i));
    buf_done(&text);
    return hash;
}

static uint64_t hash_fields(const struct operations_row *row, const struct payload *p, bool of_32_bits)
{
    uint64_t hash = of_32_bits;
    for (uint32_t i = 0; i < row->row->n_names; i++) {
        int32_t field = row->fields.name_fields[i];
        enum pair_name_kind kind = row->row->names[i].kind;
        size_t n;
        if (kind == PAIR_NAME_TCP || kind == PAIR_NAME_TCP_FAILED || kind == PAIR_NAME_ADDRESS) {
            hash = hash_printed(row, i, p, hash);
            continue;
        }
        if (payload_is_number(p->format, field)) {
            hash = pairs_key(hash, payload_number(p, field));
            continue;
        }
        const char *text = text_of(p, field, &n);
        hash = pairs_key(hash, map_hash_bytes(text, n, i));
    }
    return hash;
}

uint64_t operation_name(struct session *s, struct operations_row *row, const struct record *r)
{
    struct payload p = operation_payload(row, PAIR_BEGIN, r);
    bool of_32_bits = is_of_32_bits(s, row, r);
    uint64_t hash = hash_fields(row, &p, of_32_bits), number;
    struct buf text = { 0 };
    if (map_get(&row->names, hash, &number))
        return number;
    if (row->names.n >= NAMES_MOST)
        return name_text(s, row, "other");
    for (uint32_t i = 0; i < row->row->n_names; i++) {
        if (text.len)
            buf_putc(&text, ' ');
        put_field(row, i, &p, of_32_bits, &text);
    }
    number = name_text(s, row, buf_str(&text));
    map_put(&row->names, hash, number);
    buf_done(&text);
    return number;
}

/* "[programs: /bin/true]" → "/bin/true" */
static void take_text(struct session *s, const struct operations_row *row, uint64_t number,
                      char name[OPERATION_NAME_MAX])
{
    symbolizer_script_text(s->store.symbolizer, number, name, OPERATION_NAME_MAX);
    size_t prefix = strlen(row->row->name) + strlen("[: "), n = strlen(name);
    if (n <= prefix)
        return;
    name[n - 1] = '\0';
    memmove(name, name + prefix, n - prefix);
}

/* False: there are too many names. */
static bool completed(struct session *s, struct operations_row *row, const char *text, uint64_t *number)
{
    uint64_t hash = map_hash_bytes(text, strlen(text), 0);
    if (map_get(&row->completed, hash, number))
        return true;
    if (row->completed.n >= COMPLETED_MOST)
        return false;
    *number = name_text(s, row, text);
    map_put(&row->completed, hash, *number);
    return true;
}

static void add_arguments(struct session *s, struct operations_row *row, const struct record *r,
                          struct pairs_operation *operation)
{
    struct payload p = operation_payload(row, PAIR_MORE, r);
    char file[OPERATION_NAME_MAX];
    struct buf text = { 0 };
    take_text(s, row, operation->name, file);
    pair_command_put(&row->fields.command, &p, file, &text);
    operation->complete |= completed(s, row, buf_str(&text), &operation->name);
    buf_done(&text);
}

/* Selected operations represent others, whose arguments may differ: they keep their names. */
void operation_complete(struct session *s, struct operations_row *row, const struct record *r,
                        struct pairs_operation *operation)
{
    if (row->row->tcp)
        operation->more++;
    else if (!operation->own && !operation->selected)
        add_arguments(s, row, r, operation);
}

uint64_t operation_connection(const struct operations_row *row, enum pair_side side, const struct record *r)
{
    struct payload p = operation_payload(row, side, r);
    uint64_t hash = 0;
    for (int i = 0; i < PAIR_TCP_FIELDS; i++) {
        int32_t field = row->fields.tcp[side][i];
        const uint8_t *bytes;
        uint32_t n;
        hash = payload_bytes(&p, field, &bytes, &n) ? pairs_key(hash, map_hash_bytes(bytes, n, 0))
                                                    : pairs_key(hash, payload_number(&p, field));
    }
    return hash;
}

static void put_error(int error, struct buf *out)
{
    static const struct {
        int error;
        const char *words;
    } known[] = {
        { OPERATION_GIVEN_UP, "given up" },
        { ECONNREFUSED, "refused" },
        { ETIMEDOUT, "timed out" },
        { EHOSTUNREACH, "host unreachable" },
        { ENETUNREACH, "network unreachable" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) {
            buf_printf(out, ", %s", known[i].words);
            return;
        }
    buf_printf(out, ", error %d", error);
}

uint64_t operation_name_at_end(struct session *s, struct operations_row *row,
                               const struct pairs_operation *operation, int error)
{
    char name[OPERATION_NAME_MAX];
    struct buf text = { 0 };
    uint64_t number = operation->name;
    if (!row->row->tcp || (!operation->more && error == OPERATION_NO_ERROR))
        return number;
    take_text(s, row, number, name);
    buf_puts(&text, name);
    if (error != OPERATION_NO_ERROR)
        put_error(error, &text);
    if (operation->more)
        buf_printf(&text, ", %u retransmit%s", operation->more, operation->more == 1 ? "" : "s");
    if (!completed(s, row, buf_str(&text), &number))
        number = name_text(s, row, "other");
    buf_done(&text);
    return number;
}
