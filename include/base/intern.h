// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps strings to numbers: equal strings get equal ids; id 0 is the empty string. Not thread-safe. */
#ifndef FLAMETOP_BASE_INTERN_H
#define FLAMETOP_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern;
struct intern *intern_new(void);
void intern_free(struct intern *in);
uint32_t intern_add(struct intern *in, const char *s, size_t n); /* reads at most n bytes, up to a NUL */
bool intern_find(const struct intern *in, const char *s, size_t n, uint32_t *id); /* false: never added */
const char *intern_str(const struct intern *in,
                       uint32_t id);            /* borrowed, valid until intern_free; "" if unknown */
uint32_t intern_count(const struct intern *in); /* ids are 0 … count - 1 */
size_t intern_bytes(const struct intern *in);   /* memory held */

#endif
