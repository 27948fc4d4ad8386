// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads all that /proc says about one process in one go, without the world; the world installs it later. */
#ifndef FLAMETOP_PROCESS_PROC_H
#define FLAMETOP_PROCESS_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "process/maps.h"
#include "process/namespaces.h"

#define PROC_THREADS_MAX 4096u

struct proc_thread {
    uint32_t tid;
    char comm[16]; /* cleaned; "" if unreadable */
};

struct proc_snapshot {
    uint32_t pid;
    bool gone;       /* the process has ended */
    uint32_t uid;    /* effective; ~0: unknown */
    uint32_t ppid;   /* 0: unknown, or it has none */
    char parent[16]; /* the parent's name, cleaned; "": unknown */
    uint64_t cgroup; /* id; 0: unknown */
    bool has_namespaces;
    struct namespaces namespaces;
    struct maps maps;
    struct proc_thread *threads; /* includes the process's first thread (tid = pid) */
    uint32_t n_threads, threads_cap;
};

struct proc_snapshot *proc_read(uint32_t pid);
/* Finds out whether the file that e maps starts as ELF. False: it cannot be opened; *elf is then false. */
bool proc_maps_elf(uint32_t pid, const struct maps_entry *e, bool *elf);
/* True if the process runs this file as its program. Does not block on the program's file system. */
bool proc_runs(uint32_t pid, uint32_t maj, uint32_t min, uint64_t ino);
void proc_snapshot_free(struct proc_snapshot *p);

#endif
