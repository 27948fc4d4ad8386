// SPDX-License-Identifier: GPL-2.0-or-later
/* Find a process's Python version, its frames, and the kind of a frame. */
#include "symbols/python.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "symbols/elfmemory.h"

#define THREADS_LOOKED 4096
#define OFFSET_MAX     65536 /* limit of the offsets in _PyRuntime */
#define OWNED_BY_C     3     /* FRAME_OWNED_BY_CSTACK */

/* Offsets in 3.8 to 3.13, a column each. */
#define AT(field, v8, v9, v10, v11, v12, v13)                                                                \
    [8].field = v8, [9].field = v9, [10].field = v10, [11].field = v11, [12].field = v12, [13].field = v13
#define NO PYTHON_NO
static const struct python_offsets versions[] = {
    AT(interpreters, 32, 32, 32, 40, 40, 632),
    AT(main_thread, 72, 72, 72, 80, 64, 656),
    AT(current, 1368, 568, 568, 576, NO, NO),
    AT(threads, 8, 8, 8, 16, 72, 7344),
    AT(gil, NO, NO, NO, NO, 384, 16),
    AT(holder, 8, 8, 8, 8, 8, 8),
    AT(next, 8, 8, 8, 8, 8, 8),
    AT(thread, 176, 176, 176, 152, 136, 152),
    AT(top, 24, 24, 24, 56, 56, 72),
    AT(indirect, NO, NO, NO, 8, 0, NO),
    AT(code, 32, 32, 32, 32, 0, 0),
    AT(instr, 104, 104, 96, 56, 56, 56),
    AT(flags, 32, 32, 32, 64, 64, 64),
    AT(back, 24, 24, 24, 48, 8, 8),
    AT(code_name, 112, 112, 112, 120, 120, 120),
    AT(code_file, 104, 104, 104, 112, 112, 112),
    AT(code_first, 40, 40, 40, 72, 68, 68),
    AT(code_lines, 120, 120, 120, 136, 136, 136),
    AT(code_bytes, 48, 48, 48, 184, 192, 200),
    AT(text_data, 48, 48, 48, 48, 40, 40),
    AT(text_wide_data, 72, 72, 72, 72, 56, 56),
};

/* Of a byte in the word at `flags`. */
#define ENTRY_SHIFT_11 32 /* is_entry */
#define OWNER_SHIFT    48 /* owner: 3.12 and 3.13 */

const struct python_offsets *python_offsets_of(unsigned minor)
{
    return minor >= PYTHON_MINOR_FIRST && minor <= PYTHON_MINOR_LAST ? &versions[minor] : NULL;
}

bool python_module(const char *name, unsigned *minor)
{
    const char *at = name + (text_begins_with(name, "lib") ? 3 : 0);

    *minor = 0;
    if (!text_begins_with(at, "python3"))
        return false;
    at += 7;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && *minor < 100; at++)
            *minor = *minor * 10 + (unsigned)(*at - '0');
    return !*at || *at == '.' || *at == 'd' || *at == 'm' || *at == 't';
}

static bool is_module(const char *name)
{
    unsigned minor;

    return python_module(name, &minor);
}

/* ---- offsets that 3.13 publishes ---- */

/* Indices of the words used in struct _Py_DebugOffsets. */
enum {
    TOLD_VERSION = 1,
    TOLD_FREE_THREADED = 2,
    TOLD_INTERPRETERS = 5,
    TOLD_THREADS = 9,
    TOLD_GIL = 14,
    TOLD_NEXT = 21,
    TOLD_TOP = 23,
    TOLD_THREAD = 24,
    TOLD_BACK = 29,
    TOLD_CODE = 30,
    TOLD_INSTR = 31,
    TOLD_OWNER = 33,
    TOLD_FILE = 35,
    TOLD_NAME = 36,
    TOLD_LINES = 38,
    TOLD_FIRST = 39,
    TOLD_BYTES = 43,
    TOLD = 44
};

/* Read 8 bytes, aligned. */
static bool read_word(const struct interpreter_memory *m, uint64_t address, uint64_t *value)
{
    return address && address % sizeof *value == 0 && m->read(m->ctx, address, value, sizeof *value);
}

static bool take_told(const struct interpreter_memory *m, uint64_t runtime, struct python_offsets *o,
                      unsigned *owner, struct error *e)
{
    static const struct {
        int word;
        size_t at;
    } taken[] = {
#define TAKEN(word, field) { word, offsetof(struct python_offsets, field) }
        TAKEN(TOLD_INTERPRETERS, interpreters),
        TAKEN(TOLD_THREADS, threads),
        TAKEN(TOLD_GIL, gil),
        TAKEN(TOLD_NEXT, next),
        TAKEN(TOLD_TOP, top),
        TAKEN(TOLD_THREAD, thread),
        TAKEN(TOLD_BACK, back),
        TAKEN(TOLD_CODE, code),
        TAKEN(TOLD_INSTR, instr),
        TAKEN(TOLD_FILE, code_file),
        TAKEN(TOLD_NAME, code_name),
        TAKEN(TOLD_LINES, code_lines),
        TAKEN(TOLD_FIRST, code_first),
        TAKEN(TOLD_BYTES, code_bytes),
#undef TAKEN
    };
    uint64_t told[TOLD];

    if (!m->read(m->ctx, runtime, told, sizeof told) || memcmp(told, "xdebugpy", 8) ||
        told[TOLD_VERSION] >> 16 != 0x030d)
        return error_set(e, ERROR_FORMAT, "its _PyRuntime is not that of Python 3.13");
    if (told[TOLD_FREE_THREADED])
        return error_set(e, ERROR_UNSUPPORTED, "Python without a GIL (free-threaded) is not read");
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        uint16_t value = (uint16_t)told[taken[i].word];
        if (told[taken[i].word] >= OFFSET_MAX)
            return error_set(e, ERROR_FORMAT, "an offset in its _PyRuntime is too large");
        memcpy((char *)o + taken[i].at, &value, sizeof value);
    }
    if (told[TOLD_OWNER] >= OFFSET_MAX)
        return error_set(e, ERROR_FORMAT, "an offset in its _PyRuntime is too large");
    o->flags = (uint16_t)(told[TOLD_OWNER] & ~7u);
    *owner = (unsigned)(told[TOLD_OWNER] & 7) * 8;
    return true;
}

/* ---- finding ---- */

static unsigned version_of(const struct interpreter_memory *m, const struct elfmemory *elf, unsigned named)
{
    uint64_t at, version;

    if (elfmemory_find(elf, "Py_Version", &at) && read_word(m, at, &version) && version >> 24 == 3)
        return (unsigned)(version >> 16 & 0xff);
    return named;
}

/* Return the address of the word that points to the running thread's state: in the runtime, or in the GIL of
 * the first interpreter. */
static uint64_t find_current(const struct interpreter_memory *m, uint64_t runtime,
                             const struct python_offsets *o)
{
    uint64_t first, gil;

    if (o->gil == PYTHON_NO)
        return runtime + o->current;
    if (!read_word(m, runtime + o->interpreters, &first) || !read_word(m, first + o->gil, &gil))
        return 0;
    return gil ? gil + o->holder : 0;
}

static void fill_layout(struct interpreter_process *p)
{
    const struct python_offsets *o = &p->at;

    p->layout.thread = o->thread;
    p->layout.next = o->next;
    p->layout.top = o->top;
    p->layout.indirect = o->indirect == PYTHON_NO ? STACKPROBE_NONE : o->indirect;
    p->layout.code = o->code;
    p->layout.instr = o->instr;
    p->layout.flags = o->flags;
    p->layout.back = o->back;
    p->layout.ident = o->code_lines;
}

static bool find(const struct interpreter_memory *m, const char *module, uint64_t base,
                 struct interpreter_process *p, struct error *e)
{
    struct elfmemory elf;
    uint64_t runtime, first;
    unsigned named;

    *p = (struct interpreter_process){ .of = &python_interpreter, .owner_shift = OWNER_SHIFT };
    python_module(module, &named);
    if (!elfmemory_open(&elf, m, base) || !elfmemory_find(&elf, "_PyRuntime", &runtime))
        return error_set(e, ERROR_MISSING, "it exports no _PyRuntime");
    p->minor = version_of(m, &elf, named);
    if (!python_offsets_of(p->minor))
        return error_set(e, ERROR_UNSUPPORTED, "Python 3.%u is not known (3.%d to 3.%d are)", p->minor,
                         PYTHON_MINOR_FIRST, PYTHON_MINOR_LAST);
    p->at = *python_offsets_of(p->minor);
    if (!elfmemory_find(&elf, "PyCode_Type", &p->code_type) ||
        !elfmemory_find(&elf, "PyUnicode_Type", &p->text_type) ||
        !elfmemory_find(&elf, "PyBytes_Type", &p->bytes_type))
        return error_set(e, ERROR_MISSING, "it exports no PyCode_Type");
    if (p->minor == 13 && !take_told(m, runtime, &p->at, &p->owner_shift, e))
        return false;
    fill_layout(p);
    p->head = runtime + p->at.interpreters;
    if (!read_word(m, runtime + p->at.main_thread, &p->main_thread) || !p->main_thread)
        return error_set(e, ERROR_MISSING, "it has not been initialized yet");
    p->layout.current = find_current(m, runtime, &p->at);
    p->layout.threads = read_word(m, p->head, &first) ? first + p->at.threads : 0;
    return p->layout.current || error_set(e, ERROR_MISSING, "it has not been initialized yet");
}

/* Of the first interpreter. */
static uint32_t threads(const struct interpreter_memory *m, const struct interpreter_process *p,
                        struct interpreter_thread *out, uint32_t cap)
{
    uint64_t first, state;
    uint32_t n = 0;

    if (!read_word(m, p->head, &first) || !read_word(m, first + p->at.threads, &state))
        return 0;
    while (state && n < cap && n < THREADS_LOOKED) {
        out[n] = (struct interpreter_thread){ .state = state };
        if (!read_word(m, state + p->at.thread, &out[n].thread))
            break;
        n++;
        if (!read_word(m, state + p->at.next, &state))
            break;
    }
    return n;
}

static enum interpreter_frame frame(const struct interpreter_process *p, const struct stackprobe_frame *f)
{
    if (p->minor < 11)
        return INTERPRETER_FRAME_ENTRY;
    if (p->minor == 11)
        return f->flags >> ENTRY_SHIFT_11 & 0xff ? INTERPRETER_FRAME_ENTRY : INTERPRETER_FRAME_INNER;
    return (f->flags >> p->owner_shift & 0xff) == OWNED_BY_C ? INTERPRETER_FRAME_SHIM
                                                             : INTERPRETER_FRAME_INNER;
}

/* Return the current line. Frames to 3.10 count from the first instruction, in bytes or (3.10) in pairs of
 * bytes; later ones point to it. Before its first instruction, a frame is on the line where its function
 * begins. */
static uint32_t line(const struct interpreter_process *p, const struct interpreter_code *c, uint64_t instr)
{
    int64_t at =
        p->minor < 11 ? (int64_t)(int32_t)instr * (p->minor == 10 ? 2 : 1) : (int64_t)(instr - c->start);
    uint32_t found;

    if (at < -2 || at >= (int64_t)c->size)
        return 0;
    if (at < 0)
        return c->first_line;
    if (at % 2)
        return 0;
    found = python_line(p->minor, c->lines, c->n_lines, c->first_line, (uint32_t)at);
    return found ? found : c->first_line;
}

const struct interpreter python_interpreter = {
    .name = "Python",
    .evaluator = "_PyEval_EvalFrameDefault",
    .is_module = is_module,
    .find = find,
    .threads = threads,
    .read_code = python_code,
    .frame = frame,
    .line = line,
};
