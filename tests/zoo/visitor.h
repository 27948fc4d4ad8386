// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef VISITOR_H
#define VISITOR_H

#include "zoo.h"

typedef uint64_t visitor_callback(uint64_t x, int n);
uint64_t visitor_tick(uint64_t x);
uint64_t visitor_inner(uint64_t x, int n);
uint64_t visitor_outer(uint64_t x, int n, visitor_callback *back);

#endif
