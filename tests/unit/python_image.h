// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the memory of a process that runs CPython from the table of offsets: a library with exported
 * symbols, the runtime, a thread, frames and code objects. Shared by test_python.c and fuzz_python.c. */
#ifndef PYTHON_IMAGE_H
#define PYTHON_IMAGE_H

#include <elf.h>
#include <string.h>

#include "symbols/python.h"

#define IMAGE_BASE  UINT64_C(0x7f0000000000)
#define IMAGE_BYTES 65536
enum { /* offsets */
       IMAGE_DYNAMIC = 0x200,
       IMAGE_HASH = 0x400,
       IMAGE_SYMBOLS = 0x800,
       IMAGE_STRINGS = 0xa00,
       IMAGE_RUNTIME = 0x1000,
       IMAGE_INTERPRETER = 0x3000,
       IMAGE_GIL = 0x5000,
       IMAGE_THREAD = 0x5100,
       IMAGE_TYPES = 0x5300,
       IMAGE_VERSION = 0x5400,
       IMAGE_CODE = 0x6000,
       IMAGE_NAME = 0x6400,
       IMAGE_FILE = 0x6500,
       IMAGE_LINES = 0x6600,
       IMAGE_INSTRUCTIONS = 0x6700,
       IMAGE_MAIN_THREAD = 0x1234560
};
enum {
    IMAGE_TYPE_CODE = IMAGE_TYPES,
    IMAGE_TYPE_TEXT = IMAGE_TYPES + 16,
    IMAGE_TYPE_BYTES = IMAGE_TYPES + 32
};

struct image {
    uint8_t bytes[IMAGE_BYTES];
    unsigned n_symbols, strings;
};

static inline bool image_read(void *ctx, uint64_t address, void *to, size_t n)
{
    const struct image *im = ctx;

    if (address < IMAGE_BASE || address - IMAGE_BASE > IMAGE_BYTES ||
        IMAGE_BYTES - (address - IMAGE_BASE) < n)
        return false;
    memcpy(to, im->bytes + (address - IMAGE_BASE), n);
    return true;
}

static inline void image_put(struct image *im, size_t at, uint64_t value, size_t n)
{
    memcpy(im->bytes + at, &value, n); /* little-endian */
}

static inline void image_symbol(struct image *im, const char *name, uint64_t at)
{
    Elf64_Sym s = { .st_name = im->strings, .st_shndx = 1, .st_value = at };
    uint32_t hash = 5381;

    for (const char *c = name; *c; c++)
        hash = hash * 33 + (uint8_t)*c;
    memcpy(im->bytes + IMAGE_SYMBOLS + (1 + im->n_symbols) * sizeof s, &s, sizeof s);
    image_put(im, IMAGE_HASH + 16 + 8 + 4 + im->n_symbols * 4, hash & ~1u,
              4); /* all symbols in one hash bucket */
    strcpy((char *)im->bytes + IMAGE_STRINGS + im->strings, name);
    im->strings += (unsigned)strlen(name) + 1;
    im->n_symbols++;
}

static inline void image_elf(struct image *im)
{
    Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
                     .e_type = ET_DYN,
                     .e_phoff = sizeof h,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 2 };
    Elf64_Phdr p[2] = { { .p_type = PT_LOAD, .p_memsz = IMAGE_BYTES },
                        { .p_type = PT_DYNAMIC, .p_vaddr = IMAGE_DYNAMIC } };
    /* one address relocated as glibc does, the others as in the file */
    Elf64_Dyn d[] = { { DT_SYMTAB, { IMAGE_BASE + IMAGE_SYMBOLS } },
                      { DT_STRTAB, { IMAGE_STRINGS } },
                      { DT_GNU_HASH, { IMAGE_HASH } },
                      { DT_NULL, { 0 } } };
    uint32_t head[] = { 1, 1, 1, 0 };

    memcpy(im->bytes, &h, sizeof h);
    memcpy(im->bytes + sizeof h, p, sizeof p);
    memcpy(im->bytes + IMAGE_DYNAMIC, d, sizeof d);
    memcpy(im->bytes + IMAGE_HASH, head, sizeof head);
    image_put(im, IMAGE_HASH + 24, 1, 4);
    im->strings = 1;
}

static inline void image_text(struct image *im, const struct python_offsets *o, size_t at, const char *text)
{
    image_put(im, at + 8, IMAGE_BASE + IMAGE_TYPE_TEXT, 8);
    image_put(im, at + 16, strlen(text), 8);
    im->bytes[at + 32] = 1 << 2 | 1 << 5 | 1 << 6; /* one byte per character, compact, ASCII */
    strcpy((char *)im->bytes + at + o->text_data, text);
}

static inline void image_bytes(struct image *im, size_t at, const void *bytes, size_t n)
{
    image_put(im, at + 8, IMAGE_BASE + IMAGE_TYPE_BYTES, 8);
    image_put(im, at + 16, n, 8);
    memcpy(im->bytes + at + 32, bytes, n);
}

static inline void image_code(struct image *im, const struct python_offsets *o, unsigned minor,
                              uint32_t instructions, const void *lines, size_t n_lines)
{
    image_put(im, IMAGE_CODE + 8, IMAGE_BASE + IMAGE_TYPE_CODE, 8);
    image_put(im, IMAGE_CODE + o->code_name, IMAGE_BASE + IMAGE_NAME, 8);
    image_put(im, IMAGE_CODE + o->code_file, IMAGE_BASE + IMAGE_FILE, 8);
    image_put(im, IMAGE_CODE + o->code_lines, IMAGE_BASE + IMAGE_LINES, 8);
    image_put(im, IMAGE_CODE + o->code_first, 10, 4);
    image_text(im, o, IMAGE_NAME, "work");
    image_text(im, o, IMAGE_FILE, "/home/me/prog.py");
    image_bytes(im, IMAGE_LINES, lines, n_lines);
    if (minor >= 11) {
        image_put(im, IMAGE_CODE + 16, instructions, 8);
        return;
    }
    image_put(im, IMAGE_CODE + o->code_bytes, IMAGE_BASE + IMAGE_INSTRUCTIONS, 8);
    image_bytes(im, IMAGE_INSTRUCTIONS, "", 0);
    image_put(im, IMAGE_INSTRUCTIONS + 16, instructions * 2, 8);
}

/* Writes the debug offsets that 3.13 publishes, by word number. */
static inline void image_put_debug_offsets(struct image *im, const struct python_offsets *o)
{
    const struct {
        int word;
        uint64_t value;
    } told[] = { { 1, 0x030d00f0 },
                 { 5, o->interpreters },
                 { 9, o->threads },
                 { 14, o->gil },
                 { 21, o->next },
                 { 23, o->top },
                 { 24, o->thread },
                 { 29, o->back },
                 { 30, o->code },
                 { 31, o->instr },
                 { 33, 70 },
                 { 35, o->code_file },
                 { 36, o->code_name },
                 { 38, o->code_lines },
                 { 39, o->code_first },
                 { 43, o->code_bytes } };

    memcpy(im->bytes + IMAGE_RUNTIME, "xdebugpy", 8);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        image_put(im, IMAGE_RUNTIME + (size_t)told[i].word * 8, told[i].value, 8);
}

static inline void image_make(struct image *im, unsigned minor)
{
    const struct python_offsets *o = python_offsets_of(minor);

    memset(im, 0, sizeof *im);
    image_elf(im);
    image_symbol(im, "_PyRuntime", IMAGE_RUNTIME);
    image_symbol(im, "PyCode_Type", IMAGE_TYPE_CODE);
    image_symbol(im, "PyUnicode_Type", IMAGE_TYPE_TEXT);
    image_symbol(im, "PyBytes_Type", IMAGE_TYPE_BYTES);
    if (minor >= 11)
        image_symbol(im, "Py_Version", IMAGE_VERSION);
    image_put(im, IMAGE_HASH + 16 + 8 + 4 + (im->n_symbols - 1) * 4,
              im->bytes[IMAGE_HASH + 16 + 8 + 4 + (im->n_symbols - 1) * 4] | 1u,
              1); /* the last frame of the chain */
    image_put(im, IMAGE_VERSION, UINT64_C(3) << 24 | (uint64_t)minor << 16 | 0x7f0, 8);
    if (minor == 13)
        image_put_debug_offsets(im, o);
    image_put(im, IMAGE_RUNTIME + o->interpreters, IMAGE_BASE + IMAGE_INTERPRETER, 8);
    image_put(im, IMAGE_RUNTIME + o->main_thread, IMAGE_MAIN_THREAD, 8);
    if (o->gil != PYTHON_NO)
        image_put(im, IMAGE_INTERPRETER + o->gil, IMAGE_BASE + IMAGE_GIL, 8);
    image_put(im, IMAGE_INTERPRETER + o->threads, IMAGE_BASE + IMAGE_THREAD, 8);
    image_put(im, IMAGE_THREAD + o->thread, IMAGE_MAIN_THREAD, 8);
}

#endif
