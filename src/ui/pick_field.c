// SPDX-License-Identifier: GPL-2.0-or-later
/* The picker of the fields that the log is grouped by. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ui/log_table.h"
#include "ui/picker.h"

#define NAME_COLS 18

struct fields {
    struct session *session;
    struct log_by by;
    bool value; /* picks the field to sum */
    struct log_field_list list;
    unsigned (*take)(struct app *a, const struct log_by *by);
};

#define KEY_NOTHING UINT64_MAX /* no field to sum */

static void fields_fill(void *ctx, struct app *a, struct picker *p)
{
    const struct fields *f = ctx;
    char text[256];
    (void)a;
    if (f->value)
        picker_add(p, &(struct picker_item){ .key = KEY_NOTHING, .text = "(none: only counts)" });
    for (size_t i = 0; i < f->list.n; i++) {
        const struct log_field_info *info = &f->list.items[i];
        if (f->value && !info->is_number)
            continue;
        (void)snprintf(text, sizeof text, "%-*s %-7s %s", NAME_COLS, info->name,
                       info->is_number ? "number" : "text", info->of_all ? "all events" : info->events);
        picker_add(p, &(struct picker_item){ .key = i + 1, .text = text });
    }
}

static uint64_t fields_called(const void *ctx, const char *text)
{
    const struct fields *f = ctx;
    for (size_t i = 0; i < f->list.n; i++)
        if (!strcmp(f->list.items[i].name, text) && (f->list.items[i].is_number || !f->value))
            return i + 1;
    return 0;
}

static unsigned fields_take(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    struct fields *f = ctx;
    struct log_by by = f->by;
    if (!f->value && n > LOG_BY_MAX)
        return app_message(a, "the log is grouped by one or two fields, not by %u", n);
    if (f->value)
        by.value[0] = '\0';
    else
        by.n = n;
    for (uint32_t i = 0; i < n && keys[i] != KEY_NOTHING; i++)
        (void)snprintf(f->value ? by.value : by.fields[i], LOG_FIELD_NAME, "%s",
                       f->list.items[keys[i] - 1].name);
    return f->take(a, &by);
}

static bool fields_check(void *ctx, const char *text, struct error *e)
{
    struct fields *f = ctx;
    struct log_by by;
    return log_by_parse(text, &by, e) && session_log_by_check(f->session, &by, e);
}

static unsigned fields_take_typed(void *ctx, struct app *a, const char *text)
{
    struct fields *f = ctx;
    struct error e = { 0 };
    struct log_by by;
    return log_by_parse(text, &by, &e) ? f->take(a, &by) : app_error(a, &e);
}

static void fields_destroy(void *ctx)
{
    struct fields *f = ctx;
    mem_free(f->list.items);
}

unsigned pick_field(struct app *a, const struct log_by *by, bool value,
                    unsigned (*take)(struct app *a, const struct log_by *by))
{
    struct fields *f = mem_zalloc(sizeof *f);
    f->session = a->session;
    f->by = *by;
    f->value = value;
    f->take = take;
    session_log_fields(a->session, &f->list);
    return picker_open(a, &(struct picker_config){
                              .title = value ? "Field with numbers to sum" : "Group the log by",
                              .head = "FIELD              VALUES  EVENTS",
                              .multiple = !value,
                              .cut_end = true,
                              .fill = fields_fill,
                              .take = fields_take,
                              .called = fields_called,
                              .check_typed = value ? NULL : fields_check,
                              .take_typed = value ? NULL : fields_take_typed,
                              .destroy = fields_destroy,
                              .ctx = f,
                          });
}
