// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes function tables of Go programs (unwind/gotable.h) and the code they describe. */
#ifndef FLAMETOP_TESTS_GO_MAKER_H
#define FLAMETOP_TESTS_GO_MAKER_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/cfi.h"
#include "unwind/gorows.h"
#include "unwind/rows.h"

#define GO_TEXT   UINT64_C(0x401000)
#define GO_OFFSET UINT64_C(0x1000)
#define GO_SIZE   0x1000

enum go_version { GO_102, GO_116, GO_118, GO_120, GO_VERSIONS };
static const uint32_t go_magic[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

struct go_value { /* the frame size over that number of code bytes; 0 bytes: the end */
    int size;
    unsigned bytes;
};
struct go_spec {
    const char *name;
    uint32_t at; /* offset in the code */
    struct go_value values[8];
    uint8_t flags;
    uint8_t code[32];
};
struct go_lines { /* the ID of a function, since Go 1.18 */
    struct go_value files[4], lines[8], inlined[8];
    bool has_calls; /* `inlined`: indices of calls in the array given to go_make_calls() */
};
struct go_call {
    const char *name;
    uint32_t pc;
};
struct go_maker {
    enum go_version version;
    uint8_t code[GO_SIZE];
    uint8_t bytes[8192], calls[256];
    size_t n, calls_n;
    const struct go_lines *lines; /* one per function; NULL: no function has lines */
    const char *files[4];         /* files of the only unit, ended by NULL */
    uint64_t text, entry;
    struct unwind_rows rows;
    void *blob;
};

static inline void go_put(struct go_maker *m, size_t at, uint64_t value, unsigned size)
{
    memcpy(m->bytes + at, &value, size);
}

static inline void go_varint(struct go_maker *m, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        m->bytes[m->n++] = (uint8_t)(value | 0x80);
    m->bytes[m->n++] = (uint8_t)value;
}

/* Writes the values and returns their offset in the table. */
static inline size_t go_values(struct go_maker *m, const struct go_value *v)
{
    size_t at = m->n;
    int last = -1;

    for (; v->bytes; last = v->size, v++) {
        int32_t by = v->size - last;
        go_varint(m, ((uint32_t)by << 1) ^ (by < 0 ? UINT32_MAX : 0));
        go_varint(m, v->bytes);
    }
    m->bytes[m->n++] = 0;
    return at;
}

/* Writes the lines of a function whose fields are at `at`. */
static inline void go_put_lines(struct go_maker *m, size_t at, const struct go_lines *of, size_t pcs)
{
    unsigned id = m->version == GO_118 ? 36 : 40;

    go_put(m, at + 20, of->files->bytes ? go_values(m, of->files) - pcs : 0, 4);
    go_put(m, at + 24, of->lines->bytes ? go_values(m, of->lines) - pcs : 0, 4);
    if (!of->has_calls)
        return;
    go_put(m, at + 28, 3, 4);     /* 3 value tables; the third one is of calls */
    go_put(m, at + id + 3, 4, 1); /* 4 data offsets; the fourth one is of calls, at 0 */
    go_put(m, at + id + 4 + 2 * 4, go_values(m, of->inlined) - pcs, 4);
}

static inline void go_put_files(struct go_maker *m)
{
    size_t list = m->n = (m->n + 3) & ~(size_t)3, names = m->n += sizeof m->files / sizeof *m->files * 4;

    go_put(m, 40, list, 8);
    go_put(m, 48, names, 8);
    for (unsigned i = 0; i < sizeof m->files / sizeof *m->files; i++) {
        go_put(m, list + i * 4, m->files[i] ? m->n - names : UINT32_MAX, 4);
        if (m->files[i])
            m->n += strlen(strcpy((char *)m->bytes + m->n, m->files[i])) + 1;
    }
}

/* Writes the inlined calls (runtime.gofunc). Call it after go_make_table(). */
static inline void go_make_calls(struct go_maker *m, const struct go_call *calls, unsigned n)
{
    unsigned size = m->version == GO_118 ? 20 : 16, name_at = m->version == GO_118 ? 12 : 4;

    for (unsigned i = 0; i < n; i++) {
        uint32_t name = (uint32_t)m->n - 72, pc = calls[i].pc;
        m->n += strlen(strcpy((char *)m->bytes + m->n, calls[i].name)) + 1;
        memcpy(m->calls + i * size + name_at, &name, sizeof name);
        memcpy(m->calls + i * size + name_at + 4, &pc, sizeof pc);
    }
    m->calls_n = (size_t)n * size;
}

/* end: the offset in the code after the last function. */
static inline void go_make_table(struct go_maker *m, const struct go_spec *specs, unsigned n, uint32_t end)
{
    bool old = m->version <= GO_116;
    unsigned wide = old ? 8 : 4, header = m->version == GO_102 ? 16 : old ? 64 : 72;
    size_t at, function, names = 0, pcs = 0, functab = header;
    uint64_t base = old ? GO_TEXT : 0;

    memset(m->bytes, 0, sizeof m->bytes);
    m->n = header + (2 * n + 1) * wide;
    go_put(m, 0, go_magic[m->version], 4);
    go_put(m, 6, 1, 1);
    go_put(m, 7, 8, 1);
    go_put(m, 8, n, 8);
    if (m->version != GO_102) {
        names = pcs = 72; /* offsets are relative to any address below */
        at = m->version == GO_116 ? 24 : 32;
        if (!old)
            go_put(m, 24, m->text, 8);
        go_put(m, at, names, 8);
        go_put(m, at + 24, pcs, 8);
        go_put(m, at + 32, functab, 8);
    }
    for (unsigned i = 0; i < n; i++) {
        memcpy(m->code + specs[i].at, specs[i].code, sizeof specs[i].code);
        function = (m->n + 7) & ~(size_t)7;
        go_put(m, functab + 2 * i * wide, base + specs[i].at, wide);
        go_put(m, functab + (2 * i + 1) * wide, m->version == GO_102 ? function : function - functab, wide);
        m->n = function + wide + 80;
        go_put(m, function, base + specs[i].at, wide);
        go_put(m, function + wide, m->n - names, 4);
        strcpy((char *)m->bytes + m->n, specs[i].name);
        m->n += strlen(specs[i].name) + 1;
        at = go_values(m, specs[i].values);
        go_put(m, function + wide + 12, at - pcs, 4);
        if (m->version != GO_102)
            go_put(m, function + (m->version == GO_118 ? 37 : 41), specs[i].flags, 1);
        if (!old && m->lines)
            go_put_lines(m, function, &m->lines[i], pcs);
    }
    if (!old)
        go_put_files(m);
    go_put(m, functab + 2 * n * wide, base + end, wide);
}

static inline bool go_make_rows(struct go_maker *m, struct error *e)
{
    struct cfi_segment segment = { .addr = GO_TEXT, .offset = GO_OFFSET, .size = GO_SIZE };
    struct gotable table;
    struct gorows go;
    struct cfi_input in = { .arch = UNWIND_ARCH_X86_64, .segments = &segment, .n_segments = 1, .go = &go };
    size_t size;

    if (!gotable_open(&table, m->bytes, m->n))
        return error_set(e, ERROR_FORMAT, "no table");
    gorows_begin(&go, &table);
    go.code = m->code;
    go.code_size = sizeof m->code;
    go.code_addr = GO_TEXT;
    go.entry = m->entry;
    return cfi_compile(&in, &m->blob, &size, e) && unwind_rows_view(&m->rows, m->blob, size, e);
}

#endif
