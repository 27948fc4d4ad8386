// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/columns.h"

#include <string.h>

#include "base/text.h"

const struct column_row column_table[COLUMN_COUNT] = {
#define COLUMN(id, title, name, width, min_cols, by_name, help)                                              \
    { title, name, width, min_cols, by_name, help },
#include "ui/columns.def"
#undef COLUMN
};

static bool find_column(const char *name, enum column *c, struct error *e)
{
    const char *names[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++) {
        names[i] = column_table[i].name;
        if (strcmp(name, names[i]) == 0) {
            *c = (enum column)i;
            return true;
        }
    }
    char safe[64];
    text_clean(safe, sizeof safe, name, strlen(name));
    int near = text_nearest(safe, names, COLUMN_COUNT);
    error_set(e, ERROR_ARGUMENT, "unknown column \"%s\"", safe);
    if (near >= 0)
        return error_hint(e, "did you mean \"%s\"?", names[near]);
    struct buf all = { 0 };
    columns_shown(0, &all);
    error_hint(e, "there are %s,cgroup1 to cgroup8", buf_str(&all));
    buf_done(&all);
    return false;
}

uint32_t columns_hidden_but(const char *list)
{
    enum column columns[COLUMN_COUNT];
    uint32_t n, hidden = (1u << COLUMN_FUNCTION) - 1;
    if (!columns_parse(list, columns, &n, NULL))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        hidden &= ~(1u << columns[i]);
    return hidden;
}

void columns_shown(uint32_t hidden, struct buf *list)
{
    for (int i = 0; i <= COLUMN_FUNCTION; i++)
        if (i == COLUMN_FUNCTION || !(hidden & 1u << i))
            buf_printf(list, "%s%s", list->len ? "," : "", column_table[i].name);
}

bool columns_parse(const char *list, enum column *columns, uint32_t *n, struct error *e)
{
    char words[256], *save = NULL;
    *n = 0;
    text_clean(words, sizeof words, list, strlen(list));
    for (char *w = strtok_r(words, ", ", &save); w && *n < COLUMN_COUNT; w = strtok_r(NULL, ", ", &save)) {
        if (!find_column(w, &columns[*n], e))
            return false;
        (*n)++;
    }
    if (*n)
        return true;
    struct buf all = { 0 };
    columns_shown(0, &all);
    error_set(e, ERROR_ARGUMENT, "no column was given; there are %s,cgroup1 to cgroup8", buf_str(&all));
    buf_done(&all);
    return false;
}
