// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/ui.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "ui/columns.h"
#include "ui/term.h"
#include "ui/theme.h"
#include "ui/view_ops.h"

static bool check_view(const char *name, struct error *e)
{
    char safe[64];
    for (size_t i = 0; i < APP_VIEWS; i++)
        if (strcmp(name, view_names[i]) == 0)
            return true;
    text_clean(safe, sizeof safe, name, strlen(name));
    int near = text_nearest(safe, view_names, APP_VIEWS);
    error_set(e, ERROR_ARGUMENT, "unknown view \"%s\"", safe);
    if (near >= 0)
        return error_hint(e, "did you mean \"%s\"?", view_names[near]);
    struct buf all = { 0 };
    for (size_t i = 0; i < APP_VIEWS; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", view_names[i]);
    (void)error_hint(e, "there are %s", buf_str(&all));
    buf_done(&all);
    return false;
}

static bool check_sort(const char *list, struct error *e)
{
    enum column columns[COLUMN_COUNT];
    uint32_t n;
    return columns_parse(list, columns, &n, e);
}

bool ui_check(const struct ui_config *cfg, struct error *e)
{
    struct theme theme;
    struct keymap *km = keymap_new(cfg->keys, cfg->n_keys, e);
    bool good = km != NULL;
    keymap_free(km);
    return good && theme_load(&theme, cfg->theme, e) && (!cfg->view || check_view(cfg->view, e)) &&
           (!cfg->sort || check_sort(cfg->sort, e)) && (!cfg->columns || check_sort(cfg->columns, e));
}

void ui_prepare(void)
{
    term_prepare();
}

void ui_views_document(struct buf *out)
{
    for (int i = 0; i < APP_VIEWS; i++)
        buf_printf(out, ".It %s\n%s", view_table[i].title, app_view_ops[i]->manual);
}
