// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets each option from its text, for the command line and for the config file: first the kinds of
 * options.def, then the options with rules of their own. */
#include "cli/options.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/script.h"

/* ---- kinds of options ---- */

static void *field_of(struct options *o, size_t field)
{
    return (char *)o + field;
}

/* value is NULL on the command line, and yes or no in the config. */
static bool set_flag(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    bool *flag = field_of(o, r->field);
    *flag = true;
    return !value || text_parse_bool(value, flag) ||
           error_set(e, ERROR_ARGUMENT, "%s = %s: yes or no is needed", r->name, value);
}

static bool set_text(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    (void)e;
    *(const char **)field_of(o, r->field) = value;
    return true;
}

static bool set_number(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    uint64_t least = (uint64_t)r->least, most = (uint64_t)r->most;
    return text_parse_u64(value, least, most, field_of(o, r->field)) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: a whole number from %llu to %llu is needed", r->name, value,
                     (unsigned long long)least, (unsigned long long)most);
}

static bool set_size(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    uint64_t *to = field_of(o, r->field);
    if (!text_parse_bytes(value, to))
        return error_set(e, ERROR_ARGUMENT, "--%s %s: a size is needed, such as 64M", r->name, value);
    return (*to >= (uint64_t)r->least && *to <= (uint64_t)r->most) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: at least %gM, and no more than this machine has", r->name,
                     value, r->least / (1 << 20));
}

static bool parse_seconds(double *to, const struct option_row *r, const char *value, struct error *e)
{
    return (text_parse_seconds(value, to) && *to <= 1e7) ||
           error_set(e, ERROR_ARGUMENT, "--%s %s: seconds are needed, such as 0.5 or 10", r->name, value);
}

static bool set_seconds(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    double *to = field_of(o, r->field);
    return parse_seconds(to, r, value, e) &&
           (*to >= r->least ||
            error_set(e, ERROR_ARGUMENT, "--%s %s: at least %g seconds", r->name, value, r->least));
}

static bool set_percent(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    char *end;
    double v = *value >= '0' && *value <= '9' ? strtod(value, &end) : NAN;
    double *to = field_of(o, r->field);
    if (isnan(v) || *end || v < r->least || v > r->most)
        return error_set(e, ERROR_ARGUMENT, "--%s %s: a number from %g to %g per cent is needed", r->name,
                         value, r->least, r->most);
    *to = v;
    return true;
}

/* Parses a number of pixels or, if the row has a field for it, a share such as "0.5%". */
static bool set_pixels(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    char *end;
    double v = *value >= '0' && *value <= '9' ? strtod(value, &end) : NAN;
    bool share = r->share && !isnan(v) && !strcmp(end, "%");
    if (!isnan(v) && (share ? v <= 100 : !*end && v >= r->least && v <= r->most)) {
        *(double *)field_of(o, share ? r->share : r->field) = v > 0 ? v : DBL_MIN; /* 0 means the default */
        return true;
    }
    return error_set(e, ERROR_ARGUMENT, "--%s %s: pixels from %g to %g are needed%s", r->name, value,
                     r->least, r->most, r->share ? ", or a share such as 0.5%" : "");
}

/* Returns the index of a word in an option's argument such as a|b[,X]|c, or -1 with an error that suggests
 * the nearest word. */
static int word_of(const struct option_row *r, const char *value, struct error *e)
{
    char words[256];
    const char *names[32];
    size_t n = 0;
    snprintf(words, sizeof words, "%s", r->arg);
    for (char *save, *word = strtok_r(words, "|", &save); word && n < 32; word = strtok_r(NULL, "|", &save))
        names[n++] = strsep(&word, "[");
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], value))
            return (int)i;
    int near = text_nearest(value, names, n);
    error_set(e, ERROR_ARGUMENT, "--%s %s: one of %s is needed", r->name, value, r->arg);
    if (near >= 0)
        error_hint(e, "did you mean %s?", names[near]);
    return -1;
}

static bool set_choice(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    int word = word_of(r, value, e);
    if (word >= 0)
        *(unsigned *)field_of(o, r->field) = (unsigned)r->least + (unsigned)word;
    return word >= 0;
}

static bool set_mode(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    (void)e;
    o->mode = (enum run_mode)r->least;
    o->mode_arg = value;
    return true;
}

/* Sets the scope, and refuses a second kind. CPUs combine with each kind. Several cgroups are compared side
 * by side: rows are then grouped by cgroup. */
static bool set_target(struct options *o, const struct option_row *r, const char *value, struct error *e)
{
    struct scope *scope = &o->session.scope;
    const struct option_row *before = o->target ? o->target : r;
    o->target = r;
    if (before != r)
        return error_set(
            e, ERROR_ARGUMENT,
            "-%c and -%c exclude each other: the kernel samples processes, threads, a user or cgroups, "
            "not one within another; -C combines with each",
            before->letter, r->letter);
    if (r->least == SCOPE_USER)
        return scope_set_user(scope, value, e);
    if (r->least != SCOPE_CGROUP)
        return o->ids = value, true;
    if (!scope_set_cgroup(scope, value, e))
        return false;
    if (scope_cgroups(scope) > 1 && o->ui.query.group == VIEW_GROUP_SYMBOL)
        o->ui.query.group = VIEW_GROUP_CGROUP_SYMBOL;
    return true;
}

/* ---- options with rules of their own ---- */

static bool set_preset(struct options *o, const char *value, struct error *e)
{
    struct session_config *s = &o->session;
    struct error why = { 0 };
    if (s->input)
        return o->in_config || error_set(e, ERROR_ARGUMENT,
                                         "--preset applies to live sampling, not to a file: leave out "
                                         "--preset or -i; -e chooses an event of the file");
    preset_list_done(&o->presets);
    const struct preset *p = preset_read(&o->presets, e) ? preset_find(&o->presets, value, e) : NULL;
    uint32_t n = s->event_named ? (uint32_t)o->events.n : 0;
    if (!p || !preset_set_scope(p, &s->scope, e))
        return false;
    if (!options_set_event(o, p->events, &why))
        return error_set(e, why.class, "%s%s", p->from, why.text);
    for (; n < o->events.n && n < SESSION_EVENTS_MAX; n++)
        s->samplings[n] = p->how;
    o->ui.view = p->view ? p->view : o->ui.view;
    o->ui.query.group = p->group >= 0 ? (enum view_group)p->group : o->ui.query.group;
    return true;
}

static bool set_stack_bytes(struct options *o, const char *text, struct error *e)
{
    uint64_t bytes;
    if (!text_parse_bytes(text, &bytes))
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: a size is needed, such as 16K", text);
    if (bytes == 0 || bytes % 8)
        return error_set(e, ERROR_ARGUMENT, "--call-graph dwarf,%s: the size must be a multiple of 8 bytes",
                         text);
    if (bytes > LIVE_STACK_BYTES_MAX)
        return error_set(e, ERROR_ARGUMENT,
                         "--call-graph dwarf,%s: the kernel copies %d bytes of a stack at most", text,
                         LIVE_STACK_BYTES_MAX);
    o->session.stack_bytes = (uint32_t)bytes;
    return true;
}

static bool set_call_graph(struct options *o, const char *value, struct error *e)
{
    static const enum callchain_mode modes[] = { CALLCHAIN_AUTO, CALLCHAIN_FP, CALLCHAIN_DWARF, CALLCHAIN_LBR,
                                                 CALLCHAIN_NONE };
    char name[32];
    size_t length = strcspn(value, ",");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), value);
    int word = word_of(&option_table[OPTION_CALL_GRAPH], name, e);
    if (word < 0)
        return false;
    o->session.callchain = modes[word];
    o->session.stack_bytes = 0;
    if (!value[length])
        return true;
    return modes[word] == CALLCHAIN_DWARF
               ? set_stack_bytes(o, value + length + 1, e)
               : error_set(e, ERROR_ARGUMENT, "--call-graph %s: only dwarf takes a size", value);
}

/* Sets -g. */
static bool set_default_stacks(struct options *o, const char *value, struct error *e)
{
    (void)value, (void)e;
    o->session.callchain = CALLCHAIN_AUTO;
    o->session.stack_bytes = 0;
    return true;
}

static bool set_window(struct options *o, const char *value, struct error *e)
{
    double seconds = 0;
    if (strcmp(value, "0") && !parse_seconds(&seconds, &option_table[OPTION_WINDOW], value, e))
        return false;
    o->ui.query.window_ns = (uint64_t)(seconds * NS_PER_SEC);
    return true;
}

static bool set_stat(struct options *o, const char *value, struct error *e)
{
    o->mode = RUN_STAT;
    o->stat_csv = value && !strcmp(value, "csv");
    return !value || o->stat_csv || !strcmp(value, "text") ||
           error_set(e, ERROR_ARGUMENT, "--stat %s: text or csv is needed, or nothing", value);
}

static bool set_log_by(struct options *o, const char *value, struct error *e)
{
    if (o->given[OPTION_VIEW] != GIVEN_ON_LINE)
        o->ui.view = export_log.name;
    o->ui.log_by = &o->exports.log_by;
    return log_by_parse(value, &o->exports.log_by, e);
}

static bool set_threads(struct options *o, const char *value, struct error *e)
{
    o->mode = RUN_THREADS;
    o->threads_json = value && !strcmp(value, "json");
    return !value || o->threads_json || !strcmp(value, "text") ||
           error_set(e, ERROR_ARGUMENT, "--threads %s: text or json is needed, or nothing", value);
}

static bool set_output(struct options *o, const char *value, struct error *e)
{
    o->output = value;
    return *value || error_set(e, ERROR_ARGUMENT, "-o: a file name is needed, or - for standard output");
}

/* Sets additions to folded stacks, and their counts. */
static bool set_fold(struct options *o, const char *value, struct error *e)
{
    struct export_options *x = &o->exports;
    char word[16];
    x->pid = x->tid = x->annotate_kernel = x->annotate_jit = x->fold_period = x->fold_raw = false;
    while (value) {
        size_t n = strcspn(value, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), value);
        int i = word_of(&option_table[OPTION_FOLD], word, e);
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

static bool set_fields(struct options *o, const char *value, struct error *e)
{
    o->exports.fields = value;
    return script_fields(value, &(unsigned){ 0 }, e);
}

static bool set_background(struct options *o, const char *value, struct error *e)
{
    uint32_t colours[2];
    o->exports.svg.background = value;
    return svg_background(value, colours) ||
           error_set(e, ERROR_ARGUMENT,
                     "--bgcolors %s: yellow, blue, green, grey, or a colour such as #eeeeee is needed",
                     value);
}

/* ---- the table ---- */

/* Is the offset of a field of struct options, which must have this type. */
#define OFFSET(member, type)                                                                                 \
    _Generic(&((struct options *)0)->member, type * : offsetof(struct options, member))
#define BOUNDS(low, high) .least = low, .most = high

/* The kinds of options.def */
#define FLAG(member)               .set = set_flag, .field = OFFSET(member, bool)
#define TEXT(member)               .set = set_text, .field = OFFSET(member, const char *)
#define NUMBER(member, low, high)  .set = set_number, .field = OFFSET(member, uint64_t), BOUNDS(low, high)
#define SIZE(member, low, high)    .set = set_size, .field = OFFSET(member, uint64_t), BOUNDS(low, high)
#define SECONDS(member, low)       .set = set_seconds, .field = OFFSET(member, double), .least = low
#define PERCENT(member, low, high) .set = set_percent, .field = OFFSET(member, double), BOUNDS(low, high)
#define PIXELS(member, low, high)  .set = set_pixels, .field = OFFSET(member, double), BOUNDS(low, high)
#define PIXELS_OR_SHARE(member, low, high, percent)                                                          \
    PIXELS(member, low, high), .share = OFFSET(percent, double)
#define CHOICE(member, first) .set = set_choice, .field = OFFSET(member, unsigned), .least = first
#define MODE(run_mode)        .set = set_mode, .least = run_mode
#define TARGET(scope_kind)    .set = set_target, .least = scope_kind
#define SPECIAL(function)     .special = function

const struct option_row option_table[] = {
#define OPTION(id, letter, name, arg, where, heading, kind, help)                                            \
    { letter, WHERE_##where, name, arg, heading, help, kind },
#include "cli/options.def"
#undef OPTION
};

bool options_set(struct options *o, enum option_id id, const char *value, struct error *e)
{
    const struct option_row *r = &option_table[id];
    o->given[id] = o->in_config ? GIVEN_IN_CONFIG : GIVEN_ON_LINE;
    return r->special ? r->special(o, value, e) : r->set(o, r, value, e);
}
