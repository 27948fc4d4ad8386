// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes text that users write: settings, themes, presets with their scopes and rates, rows of latencies,
 * keys and columns. Any text is accepted or refused with a message, and a setting added to it can be read afterwards. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/ini_edit.h"
#include "base/mem.h"
#include "perf/pair_rows.h"
#include "ui/action.h"
#include "ui/columns.h"
#include "ui/preset.h"
#include "ui/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool try_value(void *ctx, const char *section, const char *key, const char *value, struct error *e)
{
    struct key_binding binding = { key, value };
    enum column columns[COLUMN_COUNT];
    uint32_t n = 0;
    bool here = !strcmp(value, "here");
    if (!strcmp(section, "fuzz") && !strcmp(key, "put"))
        *(bool *)ctx = here;
    else if (!*section && !strcmp(key, "put"))
        *(bool *)ctx |= here; /* before any section, where ini_edit replaces an existing key */
    keymap_free(keymap_new(&binding, 1, NULL));
    if (columns_parse(value, columns, &n, NULL) && n > COLUMN_COUNT)
        abort();
    (void)columns_hidden_but(value);
    (void)e;
    return true;
}

static void try_presets(const char *text)
{
    struct preset_list list = { 0 };
    struct error e = { 0 };
    if (!preset_read_text(&list, "fuzz", text, &e) && !e.text[0])
        abort();
    for (size_t i = 0; i < list.n; i++) {
        struct scope scope;
        scope_init(&scope);
        (void)preset_set_scope(&list.items[i], &scope, &e);
        scope_done(&scope);
    }
    preset_list_done(&list);
}

static void try_latencies(const char *text)
{
    struct pair_rows rows = { 0 };
    struct error e = { 0 };
    if (!pair_rows_read_text(&rows, "fuzz", text, &e) && !e.text[0])
        abort();
    for (size_t i = 0; i < rows.n; i++) {
        const struct pair_row *row = &rows.items[i];
        if (row->n_keys > PAIR_FIELDS_MAX || row->n_names > PAIR_FIELDS_MAX || !*row->name)
            abort();
    }
    pair_rows_done(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ini_pair pair = { "put", "here" };
    char *text = mem_alloc(size + 1);
    struct buf edited = { 0 };
    struct theme theme;
    bool found = false, read;
    struct error e = { 0 };
    memcpy(text, data, size);
    text[size] = '\0';
    read = ini_read_text("fuzz", text, try_value, &found, &e);
    if (!read && !e.text[0])
        abort();
    if (read) {
        found = false;
        ini_edit(&edited, text, "fuzz", &pair, 1);
        if (!ini_read_text("fuzz", buf_str(&edited), try_value, &found, &e) || !found)
            abort();
    }
    theme_builtin(&theme);
    error_clear(&e);
    if (!theme_parse(&theme, "fuzz", text, &e) && !e.text[0])
        abort();
    try_presets(text);
    try_latencies(text);
    buf_done(&edited);
    mem_free(text);
    return 0;
}
