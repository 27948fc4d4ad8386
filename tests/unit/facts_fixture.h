// SPDX-License-Identifier: GPL-2.0-or-later
/* tests/data/NAME.json: facts about a recording from perf 6.1 and an independent parser. Each fact is a line
 * such as "perf/per/comm/swapper: 410" and belongs to a half of facts_halves. A test's lines for the
 * recording must be exactly the lines of its half. */
#ifndef FLAMETOP_TESTS_FACTS_FIXTURE_H
#define FLAMETOP_TESTS_FACTS_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/unpack.h"
#include "unit_test.h"

enum facts_half { FACTS_OF_HEADER, FACTS_OF_RECORDS, FACTS_OF_PERF, FACTS_OF_NONE };

static const struct {
    const char *prefix;
    enum facts_half half;
} facts_halves[] = {
    { "file: ", FACTS_OF_HEADER },
    { "raw/", FACTS_OF_HEADER },
    { "perf/header/", FACTS_OF_HEADER },
    { "perf/evlist[", FACTS_OF_HEADER },
    { "perf/dump_stderr[0]: No kallsyms", FACTS_OF_HEADER }, /* this fact contains the kernel's build-id */
    { "perf/dump_stderr[0]: unwind: target platform=arm64", FACTS_OF_PERF },
    { "perf/tool: ", FACTS_OF_PERF },
    { "perf/header_rc: 0", FACTS_OF_PERF },
    { "perf/evlist_rc: 0", FACTS_OF_PERF },
    { "perf/stats_rc: 0", FACTS_OF_PERF },
    { "perf/dump_rc: 0", FACTS_OF_PERF },
    { "perf/", FACTS_OF_RECORDS },
    { "crosscheck/", FACTS_OF_RECORDS },
};

static inline enum facts_half facts_half_of(const char *line)
{
    for (size_t i = 0; i < sizeof facts_halves / sizeof *facts_halves; i++)
        if (!strncmp(line, facts_halves[i].prefix, strlen(facts_halves[i].prefix)))
            return facts_halves[i].half;
    return FACTS_OF_NONE;
}

static inline const char *facts_data_path(const char *name)
{
    static char path[4096];
    const char *source = getenv("FLAMETOP_SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", name);
    return path;
}

/* Some of the recordings and their facts are compressed. */
static inline void facts_need_libraries(void)
{
    static const enum unpack_kind kinds[] = { UNPACK_GZIP, UNPACK_ZSTD };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct unpacker *u = unpacker_new(kinds[i], NULL);
        if (!u) {
            print_message("built without %s\n", unpack_name(kinds[i]));
            skip();
        }
        unpacker_free(u);
    }
}

static inline const char *facts_skip(const char *at)
{
    return at + strspn(at, " \n\t");
}

/* Reads a string of the file, in which only quotes and backslashes are escaped. */
static inline const char *facts_string(const char *at, struct buf *out)
{
    assert_int_equal(*at, '"');
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\')
            at++;
        assert_true(*at >= ' ' && !(at[-1] == '\\' && *at != '"' && *at != '\\' && *at != '/'));
        buf_putc(out, *at);
    }
    return at + 1;
}

/* Adds the value at `at` as "path: value" lines; returns the text after it. */
static inline const char *facts_flatten(const char *at, const char *path, struct buf *out)
{
    char open = *(at = facts_skip(at)), inner[1024];
    if (open != '{' && open != '[') {
        struct buf value = { 0 };
        if (open == '"') {
            at = facts_string(at, &value);
        } else {
            size_t n = strcspn(at, ",]} \n");
            buf_add(&value, at, n);
            at += n;
        }
        buf_printf(out, "%s: %s\n", path, buf_str(&value));
        buf_done(&value);
        return at;
    }
    for (unsigned i = 0; *(at = facts_skip(at + 1)) != (open == '{' ? '}' : ']'); i++) {
        struct buf key = { 0 };
        if (open == '{') {
            at = facts_string(at, &key);
            assert_int_equal(*(at = facts_skip(at)), ':');
            snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "/" : "", buf_str(&key));
            at++;
        } else {
            snprintf(inner, sizeof inner, "%s[%u]", path, i);
        }
        buf_done(&key);
        at = facts_skip(facts_flatten(at, inner, out));
        if (*at != ',') {
            assert_int_equal(*at, open == '{' ? '}' : ']');
            at--;
        }
    }
    return at + 1;
}

static inline bool facts_has(const struct buf *text, const char *line, size_t n)
{
    for (const char *at = buf_str(text); *at; at += strcspn(at, "\n") + 1)
        if (!strncmp(at, line, n) && at[n] == '\n')
            return true;
    return false;
}

/* Returns how many lines of a that belong to the half are missing in b. */
static inline unsigned facts_count_missing(const struct buf *a, const struct buf *b, enum facts_half half,
                                           const char *what)
{
    unsigned n = 0;
    for (const char *line = buf_str(a); *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        if (facts_half_of(line) == FACTS_OF_NONE ||
            (facts_half_of(line) == half && !facts_has(b, line, length))) {
            print_message("%s: %.*s\n", what, (int)length, line);
            n++;
        }
    }
    return n;
}

/* ours: the lines of the half from flametop's reader, in any order. */
static inline void facts_check(const char *name, const struct buf *ours, enum facts_half half)
{
    char file[256];
    struct buf json = { 0 }, facts = { 0 };
    struct error e = { 0 };
    snprintf(file, sizeof file, "%s.json", name);
    assert_true(file_read(facts_data_path(file), 1 << 20, &json, &e));
    facts_flatten(buf_str(&json), "", &facts);
    unsigned wrong = facts_count_missing(&facts, ours, half, "wrong or missing");
    wrong += facts_count_missing(ours, &facts, half, "not in the facts");
    assert_int_equal(wrong, 0);
    buf_done(&json);
    buf_done(&facts);
}

#endif
