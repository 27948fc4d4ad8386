// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the kernel keeps a thread's pthread_self, which tells BPF programs which thread of a process runs. */
#ifndef FLAMETOP_PERF_TASK_THREAD_H
#define FLAMETOP_PERF_TASK_THREAD_H

#include <stdint.h>

/* The offset of the base address of the FS segment in struct task_struct: the C library's pthread_self on
 * x86-64. It depends on the kernel's configuration: found by a BPF program that copies the task_struct of the
 * calling thread, in which one word is its pthread_self. 0: not found, or another architecture. */
int32_t task_thread_offset(void);

#endif
