// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pair_rows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/rowfile.h"
#include "base/text.h"
#include "perf/pair_command.h"
#include "perf/pair_fields.h"
#include "perf/payload_field.h"
#include "perf/probe.h"
#include "perf/tracepoint.h"

#define WAITS_BEGIN "runnable"
#define WAITS_END   "running"

enum column { NAME, BEGIN, END, KEY, NAMES, SIZE, STACK, HELP, COLUMNS };

static const char *const kinds[PAIR_NAME_KINDS] = {
    [PAIR_NAME_PLAIN] = "",
    [PAIR_NAME_SYSCALL] = "syscall",
    [PAIR_NAME_DEVICE] = "device",
    [PAIR_NAME_IO] = "io",
    [PAIR_NAME_SOFTIRQ] = "softirq",
    [PAIR_NAME_LOCK] = "lock",
    [PAIR_NAME_FUTEX] = "futex",
    [PAIR_NAME_SLOW] = "slow",
    [PAIR_NAME_ADDRESS] = "address",
    [PAIR_NAME_TCP] = "tcp",
    [PAIR_NAME_TCP_FAILED] = "tcp-failed",
    [PAIR_NAME_COMMAND] = "command",
};

/* ---- a row ---- */

static bool wrong(struct error *e, const char *word, const char *what)
{
    char safe[64];
    text_clean(safe, sizeof safe, word, strlen(word));
    return error_set(e, ERROR_FORMAT, "\"%s\" %s", safe, what);
}

static bool set_name(struct pair_row *row, const char *text, struct error *e)
{
    size_t n = strlen(text);
    if (n >= PAIR_NAME_MAX || !pair_word_is(text, n))
        return wrong(e, text, "is no name: at most 31 letters, digits, - and _ are allowed");
    (void)snprintf(row->name, sizeof row->name, "%s", text);
    return true;
}

static bool is_tracepoint(const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);
    size_t system = colon ? (size_t)(colon - text) : 0;
    return n < PAIR_EVENT_MAX && pair_word_is(text, system) && pair_word_is(colon + 1, n - system - 1);
}

static bool check_tracepoints(const char *text, size_t length, struct error *e)
{
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, "|[");
        if (!is_tracepoint(at, n))
            return wrong(e, text, "is no tracepoint: SYSTEM:NAME is needed, or several separated by |");
        at += n;
        if (at == text + length)
            return true;
    }
}

/* Keeps the names of a side's events, and its conditions. */
static bool set_events(struct pair_rows *rows, struct pair_row *row, enum pair_side side, const char *text,
                       struct error *e)
{
    struct pair_conditions *c = &row->conditions[side];
    if (probe_is_definition(text)) {
        struct probe_spec *spec = mem_alloc(sizeof *spec);
        bool ok = probe_parse(text, spec, e);
        mem_free(spec);
        row->events[side] = arena_strndup(&rows->strings, text, strlen(text));
        return ok;
    }
    size_t n = strcspn(text, "["), end = strlen(text) - 1;
    row->events[side] = arena_strndup(&rows->strings, text, n);
    if (!check_tracepoints(text, n, e))
        return false;
    if (text[n] && text[end] != ']')
        return wrong(e, text, "has conditions without a ] at the end");
    if (text[n] && !pair_conditions_parse(text + n + 1, end - n - 1, c, e))
        return false;
    for (uint32_t i = 0; i < c->n && side == PAIR_BEGIN; i++)
        if (c->items[i].counts)
            return wrong(e, text, "has a semicolon: only conditions of the end may have one");
    return true;
}

static bool add_key(struct pair_row *row, const char *text, size_t n)
{
    const struct {
        const char *word;
        bool *flag;
    } words[] = {
        { "thread", &row->by_thread },      { "process", &row->by_process },  { "cpu", &row->by_cpu },
        { "nested", &row->nested },         { "outermost", &row->outermost }, { "first", &row->first },
        { "successive", &row->successive },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && !strncmp(words[i].word, text, n)) {
            *words[i].flag = true;
            row->by_thread |= row->by_process;
            return true;
        }
    return row->n_keys < PAIR_FIELDS_MAX && pair_word_set(row->keys[row->n_keys], PAIR_FIELD_MAX, text, n) &&
           ++row->n_keys;
}

static bool set_keys(struct pair_row *row, const char *text, struct error *e)
{
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        if (!add_key(row, at, n))
            return wrong(
                e, text,
                "is no key: thread, process, cpu, nested, outermost, first, successive and up to 4 fields, "
                "separated by commas");
        at += n;
        if (!*at)
            break;
    }
    if (row->nested + row->outermost + row->first + row->successive > 1)
        return wrong(e, text, "is no key: nested, outermost, first and successive exclude each other");
    return row->by_thread || row->by_cpu || row->n_keys ||
           wrong(e, text, "is no key: thread, process, cpu or a field is needed, too");
}

static bool find_kind(const char *text, size_t n, enum pair_name_kind *kind)
{
    for (int i = 0; i < PAIR_NAME_KINDS; i++)
        if (strlen(kinds[i]) == n && !strncmp(kinds[i], text, n)) {
            *kind = (enum pair_name_kind)i;
            return true;
        }
    return false;
}

/* "bytes" or "device(dev)" */
static bool add_name(struct pair_row *row, const char *text, size_t n)
{
    const char *open = memchr(text, '(', n);
    size_t kind = open ? (size_t)(open - text) : 0;
    if (row->n_names == PAIR_FIELDS_MAX || !find_kind(text, kind, &row->names[row->n_names].kind) ||
        (open && (!kind || text[n - 1] != ')')))
        return false;
    row->slow |= row->names[row->n_names].kind == PAIR_NAME_SLOW;
    row->command |= row->names[row->n_names].kind == PAIR_NAME_COMMAND;
    row->failed |= row->names[row->n_names].kind == PAIR_NAME_TCP_FAILED;
    row->tcp |= row->failed || row->names[row->n_names].kind == PAIR_NAME_TCP;
    const char *field = open ? open + 1 : text;
    return pair_word_set(row->names[row->n_names].field, PAIR_FIELD_MAX, field, n - (open ? kind + 2 : 0)) &&
           ++row->n_names;
}

static bool set_names(struct pair_row *row, const char *text, struct error *e)
{
    for (const char *at = text; strcmp(text, "-"); at++) {
        size_t n = strcspn(at, "+");
        if (!add_name(row, at, n))
            return wrong(
                e, text,
                "names no operation: up to 4 of FIELD, syscall(FIELD), device(FIELD), io(FIELD), "
                "softirq(FIELD), lock(FIELD), futex(FIELD), address(FIELD), tcp(FIELD), tcp-failed(FIELD), "
                "slow(FIELD) and command(FIELD), joined by +, or - is needed");
        at += n;
        if (!*at)
            break;
    }
    if (row->slow && row->n_names > 1)
        return wrong(e, text, "names no operation: slow(FIELD) is the only name");
    if (row->command && (row->n_names > 1 || !row->by_thread || row->by_cpu || row->n_keys))
        return wrong(e, text,
                     "names no operation: command(FIELD) is the only name, of a row with the key thread or "
                     "process");
    return true;
}

static bool set_size(struct pair_row *row, const char *text, struct error *e)
{
    const char *open = strchr(text, '(');
    size_t n = strlen(text), kind = open ? (size_t)(open - text) + 1 : 0;
    bool sectors = kind && !strncmp(text, "end-sectors(", kind), end = kind && !strncmp(text, "end(", kind);
    row->size_side = kind ? PAIR_END : PAIR_BEGIN;
    row->size_unit = sectors ? 512 : 1;
    return !strcmp(text, "-") ||
           ((!kind || sectors || end) && (!kind || text[n - 1] == ')') &&
            pair_word_set(row->size, PAIR_FIELD_MAX, text + kind, n - kind - (kind > 0))) ||
           wrong(e, text,
                 "is no size: a field with a number of bytes, end(FIELD), end-sectors(FIELD) or - is needed");
}

static bool set_stack(struct pair_row *row, const char *text, struct error *e)
{
    row->stack = strcmp(text, "end") ? PAIR_BEGIN : PAIR_END;
    row->of_process = !strcmp(text, "process");
    return row->stack == PAIR_END || row->of_process || !strcmp(text, "begin") ||
           wrong(e, text, "is no side: begin, end or process is needed");
}

static struct pair_row *place_of(struct pair_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n; i++)
        if (!strcmp(rows->items[i].name, name))
            return &rows->items[i];
    return VEC_PUSH(rows);
}

static bool add_row(void *ctx, const char *const *columns, const char *from, struct error *e)
{
    struct pair_rows *rows = ctx;
    struct pair_row row = { .n_keys = 0 };
    char help[200];
    row.of_waits = !strcmp(columns[BEGIN], WAITS_BEGIN) && !strcmp(columns[END], WAITS_END);
    row.events[PAIR_BEGIN] = WAITS_BEGIN;
    row.events[PAIR_END] = WAITS_END;
    bool ok = row.of_waits || (set_events(rows, &row, PAIR_BEGIN, columns[BEGIN], e) &&
                               set_events(rows, &row, PAIR_END, columns[END], e));
    if (!ok || !set_name(&row, columns[NAME], e) || !set_keys(&row, columns[KEY], e) ||
        !set_names(&row, columns[NAMES], e) || !set_size(&row, columns[SIZE], e) ||
        !set_stack(&row, columns[STACK], e))
        return false;
    text_clean(help, sizeof help, columns[HELP], strlen(columns[HELP]));
    row.help = arena_strndup(&rows->strings, help, strlen(help));
    (void)snprintf(row.from, sizeof row.from, "%s", from);
    *place_of(rows, row.name) = row;
    return true;
}

static struct rowfile file_of(struct pair_rows *rows)
{
    return (struct rowfile){ "NAME BEGIN END KEY NAMES SIZE STACK DESCRIPTION", COLUMNS, add_row, rows };
}

bool pair_rows_read_text(struct pair_rows *rows, const char *label, const char *text, struct error *e)
{
    struct rowfile f = file_of(rows);
    return rowfile_read_text(&f, label, text, e);
}

bool pair_rows_read(struct pair_rows *rows, struct error *e)
{
    static const char *const built_in[][COLUMNS] = {
#define PAIR(...) { __VA_ARGS__ },
#include "perf/pair_rows.def"
#undef PAIR
    };
    struct rowfile f = file_of(rows);
    bool ok = true;
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in && ok; i++)
        ok = add_row(rows, built_in[i], "", e);
    return ok && rowfile_read(&f, "latency", e);
}

void pair_rows_done(struct pair_rows *rows)
{
    arena_done(&rows->strings);
    mem_free(rows->items);
    *rows = (struct pair_rows){ 0 };
}

/* ---- the rows of the process ---- */

static struct {
    pthread_once_t once;
    struct pair_rows rows;
    struct error error; /* of a file; class 0: none */
} all = { .once = PTHREAD_ONCE_INIT };

static void read_all(void)
{
    (void)pair_rows_read(&all.rows, &all.error);
}

const struct pair_rows *pair_rows_all(void)
{
    pthread_once(&all.once, read_all);
    return &all.rows;
}

const struct pair_row *pair_row_find(const char *name, struct error *e)
{
    char safe[64];
    pthread_once(&all.once, read_all);
    for (size_t i = 0; i < all.rows.n; i++)
        if (!strcmp(all.rows.items[i].name, name))
            return &all.rows.items[i];
    if (all.error.class) {
        error_set(e, all.error.class, "%s", all.error.text);
        return NULL;
    }
    const char **names = mem_array(all.rows.n + 1, sizeof *names);
    for (size_t i = 0; i < all.rows.n; i++)
        names[i] = all.rows.items[i].name;
    text_clean(safe, sizeof safe, name, strlen(name));
    int near = text_nearest(safe, names, all.rows.n);
    error_set(e, ERROR_MISSING, "there is no latency row '%s'", safe);
    error_hint(e, near >= 0 ? "did you mean '%s'?" : "--list-latency lists them",
               near >= 0 ? names[near] : "");
    mem_free(names);
    return NULL;
}

/* ---- rows of functions ---- */

static struct {
    pthread_mutex_t lock;
    VEC(struct pair_row *); /* kept until the end */
} probed = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The first function's name, as a row's name. */
static void name_row(struct pair_row *row, const char *function)
{
    size_t n = 0;
    for (const char *at = function; *at && *at != '|' && n < PAIR_NAME_MAX - 1; at++)
        row->name[n++] = (char)(pair_word_is(at, 1) ? *at : '_');
    row->name[n] = '\0';
}

static struct pair_row *new_row(const char *definition, const struct probe_spec *spec)
{
    struct pair_row *row = mem_zalloc(sizeof *row);
    size_t place = strcspn(definition, " \t;");
    char *end = mem_alloc(place + sizeof "%return");
    (void)snprintf(end, place + sizeof "%return", "%.*s%%return", (int)place, definition);
    name_row(row, spec->name);
    row->events[PAIR_BEGIN] = mem_strdup(definition);
    row->events[PAIR_END] = end;
    row->help = "durations of a function";
    row->by_thread = row->nested = true;
    for (; row->n_names < spec->n_arguments && row->n_names < PAIR_FIELDS_MAX; row->n_names++)
        probe_argument_name(spec, row->n_names, row->names[row->n_names].field);
    return row;
}

const struct pair_row *pair_row_of_probe(const char *definition, struct error *e)
{
    struct probe_spec *spec = mem_alloc(sizeof *spec);
    const struct pair_row *found = NULL;
    bool ok = probe_parse(definition, spec, e);
    if (ok && (spec->kind != PROBE_FUNCTION || spec->offset || spec->at_return))
        ok = error_set(
            e, ERROR_ARGUMENT,
            "latency:probe:FILE:FUNCTION is the time from the entry of a function to its return: give "
            "the function only");
    pthread_mutex_lock(&probed.lock);
    for (size_t i = 0; ok && i < probed.n && !found; i++)
        if (!strcmp(probed.items[i]->events[PAIR_BEGIN], definition))
            found = probed.items[i];
    if (ok && !found)
        found = *VEC_PUSH(&probed) = new_row(definition, spec);
    pthread_mutex_unlock(&probed.lock);
    mem_free(spec);
    return found;
}

/* ---- the events of a row in this kernel ---- */

/* Splits "system:name" of the n bytes. */
static void split_event(const char *text, size_t n, char system[PAIR_EVENT_MAX], const char **name)
{
    (void)snprintf(system, PAIR_EVENT_MAX, "%.*s", (int)n, text);
    char *colon = strchr(system, ':');
    *colon = '\0';
    *name = colon + 1;
}

/* Finds the first alternative that exists; else e is about the first one. */
static bool open_event(const char *alternatives, char event[PAIR_EVENT_MAX], struct payload_format **format,
                       struct error *e)
{
    char system[PAIR_EVENT_MAX];
    const char *name, *at = alternatives;
    uint64_t id;
    if (probe_is_definition(alternatives)) {
        if (!probe_define(alternatives, event, e))
            return false;
        at = alternatives = event;
    }
    for (size_t n; *at; at += n + (at[n] == '|')) {
        n = strcspn(at, "|");
        split_event(at, n, system, &name);
        if (tracepoint_exists(system, name))
            break;
    }
    split_event(*at ? at : alternatives, strcspn(*at ? at : alternatives, "|"), system, &name);
    (void)snprintf(event, PAIR_EVENT_MAX, "%s:%s", system, name);
    if (!tracepoint_id(system, name, &id, e))
        return false;
    *format = tracepoint_payload(system, name);
    return *format || error_set(e, ERROR_PERMISSION, "the format of %s is not readable; run as root", event);
}

static bool find_number(const struct pair_events *events, enum pair_side side, const char *name,
                        int32_t *field, struct error *e)
{
    return pair_field_find_number(events->formats[side], events->names[side], name, field, e);
}

static bool find_field(const struct pair_events *events, enum pair_side side, const char *name,
                       int32_t *field, struct error *e)
{
    return pair_field_find(events->formats[side], events->names[side], name, field, e);
}

static bool is_number(enum pair_name_kind kind)
{
    return kind != PAIR_NAME_PLAIN && kind != PAIR_NAME_IO && kind != PAIR_NAME_ADDRESS &&
           kind != PAIR_NAME_COMMAND;
}

/* The connection of a socket, in the events of a side. */
static bool find_connection(struct pair_events *out, enum pair_side side, struct error *e)
{
    static const char *const fields[PAIR_TCP_FIELDS] = { "saddr_v6", "daddr_v6", "sport", "dport" };
    bool ok = true;
    for (int i = 0; i < PAIR_TCP_FIELDS; i++)
        ok = ok && find_field(out, side, fields[i], &out->tcp[side][i], e);
    return ok;
}

/* The fields that a name of this kind needs. */
static bool find_name(const struct pair_row *row, uint32_t i, struct pair_events *out, struct error *e)
{
    enum pair_name_kind kind = row->names[i].kind;
    const char *name = row->names[i].field;
    bool ok = is_number(kind) ? find_number(out, PAIR_BEGIN, name, &out->name_fields[i], e)
                              : find_field(out, PAIR_BEGIN, name, &out->name_fields[i], e);
    bool tcp = kind == PAIR_NAME_TCP || kind == PAIR_NAME_TCP_FAILED;
    return ok && (!tcp || find_connection(out, PAIR_BEGIN, e));
}

static bool find_keys(const struct pair_row *row, enum pair_side side, struct pair_events *out,
                      struct error *e)
{
    bool ok = true;
    for (uint32_t i = 0; i < row->n_keys && ok; i++)
        ok = find_number(out, side, row->keys[i], &out->keys[side][i], e);
    return ok;
}

/* What the events of a side need. */
static bool find_side(const struct pair_row *row, enum pair_side side, struct pair_events *out,
                      struct error *e)
{
    bool ok = pair_conditions_find(&row->conditions[side], out->formats[side], out->names[side],
                                   &out->checks[side], e);
    bool context = row->of_process || row->failed;
    return ok && find_keys(row, side, out, e) &&
           (!context || find_number(out, side, "common_flags", &out->context[side], e));
}

const char *pair_row_tracepoint(const struct pair_row *row, enum pair_side side)
{
    if (side == PAIR_MORE && row->tcp)
        return "tcp:tcp_retransmit_skb";
    return side == PAIR_ERROR && row->failed ? "sock:inet_sk_error_report" : NULL;
}

static void drop_part(struct pair_events *out, enum pair_side side)
{
    payload_format_free(out->formats[side]);
    out->formats[side] = NULL;
    *out->names[side] = '\0';
}

/* Without these parts, names are less complete. */
static void find_more(const struct pair_row *row, struct pair_events *out)
{
    if (row->tcp && out->formats[PAIR_MORE] && !find_keys(row, PAIR_MORE, out, NULL))
        drop_part(out, PAIR_MORE);
    if (out->formats[PAIR_ERROR] &&
        (!find_connection(out, PAIR_ERROR, NULL) || !find_connection(out, PAIR_END, NULL) ||
         !find_number(out, PAIR_ERROR, "error", &out->error, NULL)))
        drop_part(out, PAIR_ERROR);
}

bool pair_events_find(const struct pair_row *row, struct pair_events *out, struct error *e)
{
    bool ok = find_side(row, PAIR_BEGIN, out, e) && find_side(row, PAIR_END, out, e);
    for (uint32_t i = 0; i < row->n_names && ok; i++)
        ok = find_name(row, i, out, e);
    out->size = out->call = out->ret = -1;
    if (row->n_names && (row->slow || row->names[0].kind == PAIR_NAME_SYSCALL)) {
        out->call = payload_number_find(out->formats[PAIR_END], "id");
        out->ret = payload_number_find(out->formats[PAIR_END], "ret");
    }
    if (row->slow)
        ok = ok && find_field(out, PAIR_BEGIN, "args", &out->args, e) &&
             find_number(out, PAIR_END, "ret", &out->ret, e);
    find_more(row, out);
    return ok && (!*row->size || find_number(out, row->size_side, row->size, &out->size, e));
}

/* Without it, the row has the names of the begin event. */
static void open_command(struct pair_events *out)
{
    char system[PAIR_EVENT_MAX], *event = out->names[PAIR_MORE];
    const char *name;
    if (!pair_command_define(event, &out->no_command))
        return;
    split_event(event, strlen(event), system, &name);
    out->formats[PAIR_MORE] = tracepoint_payload(system, name);
    if (out->formats[PAIR_MORE] && pair_command_find(out->formats[PAIR_MORE], &out->command))
        return;
    drop_part(out, PAIR_MORE);
    error_set(&out->no_command, ERROR_PERMISSION, "the format of their probe is not readable");
}

/* Older kernels lack some of them. */
static void open_more(const struct pair_row *row, struct pair_events *out)
{
    for (int side = PAIR_SIDES; side < PAIR_PARTS; side++) {
        const char *event = pair_row_tracepoint(row, (enum pair_side)side);
        if (event && !open_event(event, out->names[side], &out->formats[side], NULL))
            drop_part(out, (enum pair_side)side);
    }
}

bool pair_events_open(const struct pair_row *row, struct pair_events *out, struct error *e)
{
    struct error why = { 0 };
    *out = (struct pair_events){ .size = -1 };
    if (row->of_waits)
        return error_set(e, ERROR_UNSUPPORTED, "latency row '%s' has no tracepoints", row->name);
    bool ok = true;
    for (int side = 0; side < PAIR_SIDES && ok; side++)
        ok = open_event(row->events[side], out->names[side], &out->formats[side], &why);
    if (ok)
        open_more(row, out);
    if (ok && pair_events_find(row, out, &why)) {
        if (row->command)
            open_command(out);
        return true;
    }
    pair_events_close(out);
    return error_set(e, why.class, "%slatency row '%s': %s", row->from, row->name, why.text);
}

void pair_events_close(struct pair_events *events)
{
    for (int side = 0; side < PAIR_PARTS; side++) {
        payload_format_free(events->formats[side]);
        events->formats[side] = NULL;
    }
}
