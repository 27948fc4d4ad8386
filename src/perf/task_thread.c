// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/task_thread.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/mem.h"
#include "perf/bpf_code.h"

#define TASK_BYTES 16384 /* a task_struct has some 10,000 */
#define PART_BYTES 512   /* read at once: a part that cannot be read is 0 */
#define R_AT       6
#define R_TASK     7
#define R_COPY     8

/* Copies the running task to the map's only value. */
static void assemble(struct code *c, int map)
{
    unsigned none, end, loop;

    call(c, BPF_FUNC_get_current_task);
    move(c, R_TASK, 0);
    set(c, 0, 0);
    store(c, BPF_W, 10, -8, 0);
    load_map(c, 1, map);
    move(c, 2, 10);
    add(c, 2, -8);
    call(c, BPF_FUNC_map_lookup_elem);
    none = jump(c, BPF_JEQ, 0, 0);
    move(c, R_COPY, 0);
    set(c, R_AT, 0);
    loop = c->n;
    end = jump(c, BPF_JGT, R_AT, TASK_BYTES - PART_BYTES);
    move(c, 1, R_COPY);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 1, R_AT, 0, 0);
    set(c, 2, PART_BYTES);
    move(c, 3, R_TASK);
    put(c, BPF_ALU64 | BPF_ADD | BPF_X, 3, R_AT, 0, 0);
    call(c, BPF_FUNC_probe_read_kernel);
    add(c, R_AT, PART_BYTES);
    jump_back(c, loop);
    land(c, none);
    land(c, end);
    set(c, 0, 0);
    put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Runs the program in the calling thread, and gets what it has copied. Needs Linux 5.10. */
static bool copy_task(int map, int program, uint64_t *copy)
{
    union bpf_attr a;
    uint32_t key = 0;

    memset(&a, 0, sizeof a);
    a.test.prog_fd = (uint32_t)program;
    if (bpf(BPF_PROG_TEST_RUN, &a))
        return false;
    memset(&a, 0, sizeof a);
    a.map_fd = (uint32_t)map;
    a.key = (uintptr_t)&key;
    a.value = (uintptr_t)copy;
    return !bpf(BPF_MAP_LOOKUP_ELEM, &a);
}

/* Behind the task_struct there may be that of a child, which has the same word. */
static int32_t find_first(const uint64_t *copy, uint64_t word)
{
    int32_t i = 0;

    while (i < TASK_BYTES / 8 && copy[i] != word)
        i++;
    return i < TASK_BYTES / 8 ? 8 * i : 0;
}

int32_t task_thread_offset(void)
{
#ifdef __x86_64__
    int map = make_map(BPF_MAP_TYPE_ARRAY, 4, TASK_BYTES, 1), program = -1;
    struct code *c = mem_zalloc(sizeof *c);
    uint64_t *copy = mem_zalloc(TASK_BYTES);
    int32_t found = 0;

    if (map >= 0) {
        assemble(c, map);
        program = load_code(c, BPF_PROG_TYPE_RAW_TRACEPOINT);
    }
    if (program >= 0 && copy_task(map, program, copy))
        found = find_first(copy, (uint64_t)pthread_self());
    if (program >= 0)
        close(program);
    if (map >= 0)
        close(map);
    mem_free(copy);
    mem_free(c);
    return found;
#else
    return 0;
#endif
}
