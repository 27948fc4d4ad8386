// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc says of one process: read in one go, without the world, installed later. */
#ifndef FLAMETOP_PROCESS_PROC_H
#define FLAMETOP_PROCESS_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "process/maps.h"
#include "process/namespaces.h"

#define PROC_THREADS_MAX 4096u

struct proc_thread {
    uint32_t tid;
    char comm[16]; /* cleaned; "" when it could not be read */
};

struct proc_snapshot {
    uint32_t pid;
    bool gone;       /* there is no such process any more */
    uint32_t uid;    /* effective; ~0: not known */
    uint64_t cgroup; /* id, 0: not known */
    bool has_namespaces;
    struct namespaces namespaces;
    struct maps maps;
    struct proc_thread *threads; /* the process's first thread (tid = pid) is among them */
    uint32_t n_threads, threads_cap;
};

struct proc_snapshot *proc_read(uint32_t pid);
/* Whether the file that e is mapped from begins as ELF. False: it cannot be opened, and *elf is false. */
bool proc_maps_elf(uint32_t pid, const struct maps_entry *e, bool *elf);
bool proc_runs(uint32_t pid, uint32_t maj, uint32_t min,
               uint64_t ino); /* as its program; never waits for its memory */
void proc_snapshot_free(struct proc_snapshot *p);

#endif
