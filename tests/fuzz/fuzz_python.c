// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the memory of a CPython process. The input is written over a valid image: a byte selects the
 * version, then follow pieces (address, length, bytes). It is also used as each version's line table. */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/python_image.h"
#include "symbols/interpreter_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image image;
static const struct interpreter_memory MEMORY = { &image, image_read };

static void overwrite(const uint8_t *data, size_t size)
{
    while (size > 3) {
        size_t at = data[0] | (size_t)data[1] << 8, n = data[2];
        data += 3;
        size -= 3;
        n = n < size ? n : size;
        n = n < IMAGE_BYTES - at ? n : IMAGE_BYTES - at;
        memcpy(image.bytes + at, data, n);
        data += n;
        size -= n;
    }
}

static void read_frames(const struct interpreter_process *p, const struct interpreter_thread *thread)
{
    static struct stackprobe_sample t;
    struct interpreter_groups g;

    interpreter_copy(&MEMORY, p, thread->state, &t);
    interpreter_group(p, &t, &g);
    if (t.n > STACKPROBE_FRAMES_MAX || g.n > t.n)
        abort();
    for (uint32_t i = 0; i < g.n; i++)
        if (g.first[i] > g.end[i] || g.end[i] > t.n)
            abort();
    (void)interpreter_is_on_stack(p, &t, &g, true, IMAGE_BASE, IMAGE_BYTES);
}

static void read_all(const struct interpreter *python, const struct interpreter_process *p)
{
    struct interpreter_thread threads[64];
    struct interpreter_code c;
    uint32_t n = python->threads(&MEMORY, p, threads, 64);

    if (n > 64)
        abort();
    interpreter_tids(&MEMORY, p, 1, threads, n);
    if (python_code(&MEMORY, p, IMAGE_BASE + IMAGE_CODE, &c)) {
        if (memchr(c.name, 0, sizeof c.name) == NULL || memchr(c.file, 0, sizeof c.file) == NULL)
            abort();
        for (uint64_t i = 0; i < 64; i++)
            (void)python->line(p, &c, c.start + i - 4);
    }
    interpreter_code_done(&c);
    if (n)
        read_frames(p, threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t lines[] = { 0x80 | 11 << 3 | 1, 1, 2 };
    const struct interpreter *python = &python_interpreter;
    struct interpreter_process p;
    unsigned minor;

    if (!size)
        return 0;
    minor = PYTHON_MINOR_FIRST + *data % (PYTHON_MINOR_LAST - PYTHON_MINOR_FIRST + 1);
    for (uint32_t at = 0; at < 64; at += 2)
        (void)python_line(minor, data, size, 1, at);
    image_make(&image, minor);
    image_code(&image, python_offsets_of(minor), minor, 16, lines, sizeof lines);
    overwrite(data + 1, size - 1);
    if (python->find(&MEMORY, minor < 11 ? "python3.9" : "python3", IMAGE_BASE, &p, NULL))
        read_all(python, &p);
    return 0;
}
