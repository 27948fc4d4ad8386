// SPDX-License-Identifier: GPL-2.0-or-later
/* SANITIZED: 1 if a sanitizer watches the program, or else 0. It makes the program several times as slow,
 * reserves terabytes of address space, and makes system calls of its own. */
#ifndef FLAMETOP_BASE_SANITIZED_H
#define FLAMETOP_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
