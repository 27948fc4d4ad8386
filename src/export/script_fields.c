// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses --fields, and describes the fields of the script format. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "export/script.h"

static const char *const field_names[SCRIPT_FIELDS] = {
#define SCRIPT_FIELD(id, name, recorded) name,
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
};

static const uint64_t field_recorded[SCRIPT_FIELDS] = {
#define SCRIPT_FIELD(id, name, recorded) recorded,
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
};

#define BIT(id) SCRIPT_BIT(SCRIPT_##id)
#define DEFAULT_FIELDS                                                                                       \
    (BIT(COMM) | BIT(TID) | BIT(CPU) | BIT(TIME) | BIT(EVENT) | BIT(TRACE) | BIT(IP) | BIT(SYM) |            \
     BIT(SYMOFF) | BIT(DSO) | BIT(PERIOD))
#define RAW_FIELDS                                                                                           \
    (BIT(ADDR) | BIT(DATA_SRC) | BIT(WEIGHT) | BIT(PHYS_ADDR) | BIT(DATA_PAGE_SIZE) | BIT(CODE_PAGE_SIZE) |  \
     BIT(INS_LAT))

const char *script_field_name(enum script_field field)
{
    return field_names[field];
}

uint64_t script_field_recorded(enum script_field field)
{
    return field_recorded[field];
}

unsigned script_fields_by_default(const struct perf_event_attr *attr)
{
    unsigned fields = 0;
    for (unsigned i = 0; i < SCRIPT_FIELDS && attr->type == PERF_TYPE_RAW; i++)
        if (RAW_FIELDS & SCRIPT_BIT(i) && attr->sample_type & field_recorded[i])
            fields |= SCRIPT_BIT(i);
    return fields;
}

static bool refuse_field(const char *word, struct error *e)
{
    struct buf all = { 0 };
    int near = text_nearest(word, field_names, SCRIPT_FIELDS);
    error_set(e, ERROR_ARGUMENT, "--fields %s: no such field", word);
    if (near >= 0)
        return error_hint(e, "did you mean %s?", field_names[near]);
    for (unsigned i = 0; i < SCRIPT_FIELDS; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", field_names[i]);
    error_hint(e, "the fields are %s", buf_str(&all));
    buf_done(&all);
    return false;
}

static bool parse_word(const char *word, unsigned *fields, bool first, struct error *e)
{
    char sign = *word == '+' || *word == '-' ? *word : '\0';
    word += sign != '\0';
    for (unsigned i = 0; i < SCRIPT_FIELDS; i++) {
        if (strcmp(word, field_names[i]))
            continue;
        if (!sign && first)
            *fields = 0;
        *fields = sign == '-' ? *fields & ~SCRIPT_BIT(i) : *fields | SCRIPT_BIT(i);
        return true;
    }
    return refuse_field(word, e);
}

bool script_fields(const char *text, unsigned *fields, struct error *e)
{
    char word[32];
    *fields = DEFAULT_FIELDS;
    for (bool first = true; text; first = false) {
        size_t n = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
        if (!parse_word(word, fields, first, e))
            return false;
        text = text[n] ? text + n + 1 : NULL;
    }
    return true;
}
