// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/interpreter.h"

#include "base/mem.h"
#include "symbols/python.h"

static const struct interpreter *const interpreters[] = { &python_interpreter };

const struct interpreter *interpreter_of_module(const char *name)
{
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++)
        if (interpreters[i]->is_module(name))
            return interpreters[i];
    return NULL;
}

void interpreter_code_done(struct interpreter_code *c)
{
    mem_free(c->lines);
    c->lines = NULL;
    c->n_lines = 0;
}
