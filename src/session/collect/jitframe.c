// SPDX-License-Identifier: GPL-2.0-or-later
/* Frame layouts of code made at run time: Java VM code, Python's trampolines and, for an instruction
 * pointer (in a prologue, for example), any function. Code is read once, when a sample first meets it, and
 * not under the lock, since the memory of another process may be slow to read. Stacks that need it wait
 * meanwhile. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "process/opener.h"
#include "session/session_state.h"

#define CODES_MAX     32768
#define CODE_MAX      ((size_t)64 << 10) /* bytes read of one code; epilogues beyond it are unknown */
#define READS_AT_ONCE 256
#define JAVA_LIBRARY  "libjvm.so"

/* Values of by_frame: an index in codes; or NOTHING with the symbolizer's generation at that time; or SIZE
 * with the size of the frame. */
#define NOTHING (UINT64_C(1) << 32)
#define SIZE    (UINT64_C(1) << 33)
#define NAMED   (UINT64_C(1) << 34) /* with NOTHING: the code has a name */

/* python -X perf calls each function through a copy of these bytes, under the function's name. Source of
 * the format: CPython 3.12 and 3.13, Python/asm_trampoline.S and Objects/perf_trampoline.c; later versions
 * keep a frame pointer:
 *     [endbr64]; sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
#define TRAMPOLINE_NAME  "py::"
#define TRAMPOLINE_BYTES 11
#define TRAMPOLINE_RET   10
#define ENDBR_BYTES      4

enum runtime { RUNTIME_OTHER, RUNTIME_JAVA, RUNTIME_PYTHON };

/* Code without a frame of fixed size, by HotSpot's names. */
static const struct {
    const char *name;
    int kind;
} KINDS[] = {
    { "Interpreter", JIT_CODE_INTERPRETER },
    { "vtable chunks", JIT_CODE_BARE }, /* they jump on */
    { "java.lang.invoke.MethodHandle.invokeBasic(", JIT_CODE_BARE },
    { "java.lang.invoke.MethodHandle.linkTo", JIT_CODE_BARE },
};

static int kind_of(const char *name)
{
    const char *method = strstr(name, " java.lang.invoke.MethodHandle."); /* after its type */
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        size_t n = strlen(KINDS[i].name);
        if (!strcmp(name, KINDS[i].name) || (method && !strncmp(method + 1, KINDS[i].name, n)))
            return KINDS[i].kind;
    }
    return JIT_CODE_NONE;
}

static enum runtime find_runtime(struct session *s, uint32_t image)
{
    const struct world_map *maps;
    enum runtime found = RUNTIME_OTHER;
    uint32_t n = world_image_maps(s->store.world, image, &maps);
    for (uint32_t i = 0; i < n; i++) {
        const struct module *m = world_module(s->store.world, maps[i].module);
        if (!m || m->kind != MODULE_FILE)
            continue;
        if (!strcmp(m->name, JAVA_LIBRARY))
            return RUNTIME_JAVA;
        if (text_begins_with(m->name, "python3") || text_begins_with(m->name, "libpython3"))
            found = RUNTIME_PYTHON;
    }
    return found;
}

static enum runtime runtime_of(struct session *s, const struct frame_owner *owner, const struct module *m)
{
    bool created;
    uint64_t *known = map_at(&s->unwind.jit_frames.runtimes, m->id, 0, &created);
    if (created)
        *known = find_runtime(s, owner->image);
    /* Java code is read from live memory */
    return *known == RUNTIME_JAVA && !m->live ? RUNTIME_OTHER : (enum runtime) * known;
}

/* Frame size in a trampoline; 0: not a trampoline. */
static uint32_t trampoline_size(const struct symbol *symbol, uint64_t addr)
{
    uint64_t before = symbol->size == TRAMPOLINE_BYTES + ENDBR_BYTES ? ENDBR_BYTES : 0;
    uint64_t offset = addr - symbol->start;
    if (!text_begins_with(symbol->name, TRAMPOLINE_NAME) || symbol->size - before != TRAMPOLINE_BYTES)
        return 0;
    return offset <= before || offset == before + TRAMPOLINE_RET ? 8 : 16;
}

static bool in_module(struct session *s, const struct frame_owner *o, uint32_t module, uint64_t addr)
{
    struct location location;
    bool known = o->maps ? world_resolve_held(o->maps, addr, &location)
                         : world_resolve(s->store.world, o->thread, addr, false, &location);
    return known && location.module == module;
}

/* Index of the code that starts at the symbol; new code is queued for reading. False: there is none. */
static bool code_at(struct session *s, const struct frame_owner *owner, const struct module *m,
                    const struct symbol *symbol, enum runtime runtime, size_t *index)
{
    struct jit_frames *f = &s->unwind.jit_frames;
    uint64_t key = map_mix(symbol->start ^ map_mix(m->id)), found;
    if (map_get(&f->by_start, key, &found)) {
        *index = (size_t)found;
        return f->codes.items[found].start == symbol->start && f->codes.items[found].module == m->id;
    }
    if (!in_module(s, owner, m->id, symbol->start))
        return false;
    if (f->codes.n >= CODES_MAX)
        jitframe_forget(s);
    *index = f->codes.n;
    *VEC_PUSH(&f->codes) =
        (struct jit_code){ .start = symbol->start,
                           .size = symbol->size,
                           .module = m->id,
                           .pid = m->pid,
                           .kind = runtime == RUNTIME_JAVA ? kind_of(symbol->name) : JIT_CODE_OTHER };
    map_put(&f->by_start, key, *index);
    return true;
}

/* Frame of an instruction pointer, which may be anywhere in the function; return addresses are only where
 * the frame is complete. */
static enum jit_location tell_rows(struct session *s, const struct jit_code *code, uint64_t addr,
                                   struct unwind_location *out)
{
    struct module *m = world_module(s->store.world, code->module);
    enum symbol_state state =
        symbolizer_jit_rows(s->store.symbolizer, m, code->start, code->size, &out->rows);
    out->offset = addr;
    return state == SYMBOL_PENDING ? JIT_LOCATION_PENDING
           : out->rows             ? JIT_LOCATION_KNOWN
                                   : JIT_LOCATION_UNKNOWN;
}

static enum jit_location locate_frame(struct session *s, size_t index, uint64_t addr, bool exact,
                                      struct unwind_location *out)
{
    const struct jit_frames *f = &s->unwind.jit_frames;
    const struct jit_code *code = &f->codes.items[index];
    if (code->kind == JIT_CODE_INTERPRETER)
        out->sender_sp = true;
    else if (code->kind == JIT_CODE_BARE)
        out->frame_size = exact ? 8 : 0;
    else if (code->kind == JIT_CODE_OTHER)
        return exact ? tell_rows(s, code, addr, out) : JIT_LOCATION_UNKNOWN;
    else if (index >= f->n_read)
        return JIT_LOCATION_PENDING;
    else if (code->kind == JIT_CODE_METHOD)
        out->frame_size = unwind_hotspot_size(&code->frame, addr - code->start, exact, &out->fp_saved);
    else /* a stub, or code that replaced one after it was named */
        out->unproven = out->sender_sp = true;
    return out->unproven                       ? JIT_LOCATION_UNKNOWN
           : out->sender_sp || out->frame_size ? JIT_LOCATION_KNOWN
                                               : JIT_LOCATION_UNKNOWN;
}

/* Nothing proves that code without a name keeps a frame pointer. In a Java VM such code is the
 * interpreter's. */
static enum jit_location tell_nothing(const struct module *m, enum runtime runtime, bool named,
                                      struct unwind_location *out)
{
    out->unproven = m->live && !named;
    out->sender_sp = out->unproven && runtime == RUNTIME_JAVA;
    return JIT_LOCATION_UNKNOWN;
}

enum jit_location jitframe_location(struct session *s, const struct frame_owner *owner,
                                    const struct module *m, uint32_t frame, bool exact,
                                    struct unwind_location *out)
{
    uint64_t addr = stacks_frame_offsets(s->store.stacks)[frame], known;
    uint32_t generation = symbolizer_generation(s->store.symbolizer);
    struct symbol symbol;
    size_t index;
    enum runtime runtime = runtime_of(s, owner, m);
    if (s->unwind.user.arch != UNWIND_ARCH_X86_64 || (runtime == RUNTIME_OTHER && !m->live))
        return JIT_LOCATION_UNKNOWN;
    if (map_get(&s->unwind.jit_frames.by_frame, frame, &known)) {
        if (known & SIZE) {
            out->frame_size = (uint32_t)known;
            return JIT_LOCATION_KNOWN;
        }
        if (!(known & NOTHING))
            return locate_frame(s, (size_t)known, addr, exact, out);
        if ((uint32_t)known == generation)
            return tell_nothing(m, runtime, known & NAMED, out);
    }
    symbolizer_lookup(s->store.symbolizer, world_module(s->store.world, m->id), addr, &symbol);
    if (symbol.state == SYMBOL_PENDING)
        return JIT_LOCATION_PENDING;
    bool inside = symbol.state == SYMBOL_FOUND && addr >= symbol.start && addr - symbol.start < symbol.size;
    if (inside && runtime == RUNTIME_PYTHON && (out->frame_size = trampoline_size(&symbol, addr))) {
        map_put(&s->unwind.jit_frames.by_frame, frame, SIZE | out->frame_size);
        return JIT_LOCATION_KNOWN;
    }
    if (!inside || !m->live || (runtime != RUNTIME_JAVA && !exact) ||
        !code_at(s, owner, m, &symbol, runtime, &index)) {
        map_put(&s->unwind.jit_frames.by_frame, frame, NOTHING | (inside ? NAMED : 0) | generation);
        return tell_nothing(m, runtime, inside, out);
    }
    map_put(&s->unwind.jit_frames.by_frame, frame, index);
    return locate_frame(s, index, addr, exact, out);
}

static void read_code(struct jit_code *code, uint8_t *room)
{
    size_t want = code->size < CODE_MAX ? (size_t)code->size : CODE_MAX;
    /* The pages may be of a file on a server that does not reply: the opener waits for them, not this
     * thread. */
    size_t n = opener_read_memory(code->pid, code->start, room, want);
    if (n && unwind_hotspot_read(&code->frame, room, n))
        code->kind = JIT_CODE_METHOD;
}

/* Stores what was read, unless another thread did so, or the codes were cleared meanwhile. */
static void keep_codes(struct jit_frames *f, const struct jit_code *codes, size_t first, size_t n,
                       uint32_t cleared)
{
    if (f->cleared != cleared || f->n_read != first)
        return;
    memcpy(f->codes.items + first, codes, n * sizeof *codes);
    f->n_read += n;
    f->fresh = true;
}

static bool read_some(struct session *s, struct jit_code *codes, uint8_t *room)
{
    struct jit_frames *f = &s->unwind.jit_frames;
    pthread_mutex_lock(&s->store.lock);
    size_t first = f->n_read, n = f->codes.n - first < READS_AT_ONCE ? f->codes.n - first : READS_AT_ONCE;
    uint32_t cleared = f->cleared;
    if (n)
        memcpy(codes, f->codes.items + first, n * sizeof *codes);
    pthread_mutex_unlock(&s->store.lock);
    for (size_t i = 0; i < n; i++)
        if (codes[i].kind == JIT_CODE_NONE)
            read_code(&codes[i], room);
    pthread_mutex_lock(&s->store.lock);
    keep_codes(f, codes, first, n, cleared);
    bool more = n && f->n_read < f->codes.n;
    pthread_mutex_unlock(&s->store.lock);
    return more;
}

void jitframe_read(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    bool waits = jitframe_waits(s);
    pthread_mutex_unlock(&s->store.lock);
    if (!waits)
        return;
    struct jit_code *codes = mem_array(READS_AT_ONCE, sizeof *codes);
    uint8_t *room = mem_alloc(CODE_MAX);
    while (read_some(s, codes, room))
        ;
    jitcalls_read(s);
    mem_free(room);
    mem_free(codes);
}

bool jitframe_waits(const struct session *s)
{
    return s->unwind.jit_frames.n_read < s->unwind.jit_frames.codes.n || s->unwind.jit_calls.wanted.n;
}

void jitframe_forget_frames(struct session *s)
{
    map_clear(&s->unwind.jit_frames.by_frame);
    jitcalls_forget(s);
}

void jitframe_forget(struct session *s)
{
    struct jit_frames *f = &s->unwind.jit_frames;
    map_clear(&f->by_frame);
    map_clear(&f->by_start);
    map_clear(&f->runtimes);
    f->codes.n = f->n_read = 0;
    f->cleared++;
    jitcalls_forget(s);
}

void jitframe_done(struct session *s)
{
    struct jit_frames *f = &s->unwind.jit_frames;
    map_done(&f->by_frame);
    map_done(&f->by_start);
    map_done(&f->runtimes);
    mem_free(f->codes.items);
    jitcalls_done(s);
    memset(f, 0, sizeof *f);
}
