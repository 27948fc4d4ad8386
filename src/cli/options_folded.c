// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the option --fold: additions to folded stacks, and their counts. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

bool options_set_fold(struct options *o, const char *value, struct error *e)
{
    struct export_options *x = &o->exports;
    char word[16];
    x->pid = x->tid = x->annotate_kernel = x->annotate_jit = x->fold_period = x->fold_raw = false;
    while (value) {
        size_t n = strcspn(value, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), value);
        int i = options_word_of(OPTION_FOLD, word, e);
        if (i < 0)
            return false;
        x->pid |= i == 0;
        x->tid |= i == 1;
        x->annotate_kernel |= i == 2 || i == 4;
        x->annotate_jit |= i == 3 || i == 4;
        x->fold_period |= i == 5;
        x->fold_raw |= i == 6;
        value = value[n] ? value + n + 1 : NULL;
    }
    return true;
}
