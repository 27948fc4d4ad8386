// SPDX-License-Identifier: GPL-2.0-or-later
/* Sample by sample, as perf script (6.1) prints them, so that whatever reads that reads this:
 *
 *   comm  tid [cpu] seconds.micros:     period event:
 *           address symbol+0xoffset (module)
 *
 * Addresses of callchains are those in the module, as there; without callchains the sampled one stands behind the
 * event. An inlined function has the address of the code that it is part of, "(inlined)" and no module. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/export.h"
#include "export/script.h"
#include "process/module.h"
#include "session/facts.h"
#include "session/trace.h"

static const char *const field_names[SCRIPT_FIELDS] = {
#define SCRIPT_FIELD(id, name) name,
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
};

#define BIT(field)     (1u << (field))
#define DEFAULT_FIELDS (BIT(SCRIPT_COMM) | BIT(SCRIPT_TID) | BIT(SCRIPT_CPU) | BIT(SCRIPT_TIME) | BIT(SCRIPT_EVENT) | \
                        BIT(SCRIPT_TRACE) | BIT(SCRIPT_IP) | BIT(SCRIPT_SYM) | BIT(SCRIPT_SYMOFF) | BIT(SCRIPT_DSO) | BIT(SCRIPT_PERIOD))

/* ---- --fields ---- */

static bool parse_word(const char *word, unsigned *fields, bool first, struct error *e)
{
    char sign = *word == '+' || *word == '-' ? *word : '\0';
    word += sign != '\0';
    for (unsigned i = 0; i < SCRIPT_FIELDS; i++) {
        if (strcmp(word, field_names[i]))
            continue;
        if (!sign && first)
            *fields = 0;
        *fields = sign == '-' ? *fields & ~BIT(i) : *fields | BIT(i);
        return true;
    }
    int near = text_nearest(word, field_names, SCRIPT_FIELDS);
    error_set(e, ERROR_ARGUMENT, "--fields %s: no such field", word);
    return near >= 0 ? error_hint(e, "did you mean %s?", field_names[near])
                     : error_hint(e, "there are comm, tid, pid, time, cpu, event, trace, ip, sym, symoff, dso, period");
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

/* ---- lines of a stack ---- */

struct script {
    struct session *s;
    struct view view;
    struct session_samples samples;
    struct session_facts facts;
    unsigned fields;
    bool as_perf;           /* callers are where they return to, not kept one byte before */
    bool by_default;        /* nobody named the fields: those of tracepoints are others */
    struct session_trace *trace;
    int event_width;
    struct buf lines;       /* of frames, each ended by a NUL */
    uint32_t *line_of;      /* frame * 2 + exact → place in `lines` + 1; 0: not made yet */
    struct map address_of;  /* image and frame → address */
};

static bool is_inlined(const struct script *c, uint32_t frame)
{
    return c->view.funcs[c->view.frame_func[frame]].class == SYMBOL_CLASS_INLINED;
}

static bool is_kernel(const struct module *m, uint64_t offset)
{
    return m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD || m->kind == MODULE_KSYM ||
           (m->kind == MODULE_UNKNOWN && (int64_t)offset < 0);
}

static void put_symbol(const struct script *c, uint32_t frame, uint64_t offset, struct buf *out)
{
    const struct view_function *f = &c->view.funcs[c->view.frame_func[frame]];
    bool named = export_is_named(&c->view, frame);
    if (!(c->fields & BIT(SCRIPT_SYM)))
        return;
    buf_putc(out, ' ');
    buf_puts(out, named ? f->name : "[unknown]"); /* an inlined one has its mark in its name */
    if (c->fields & BIT(SCRIPT_SYMOFF) && f->state == SYMBOL_FOUND && f->size && f->class != SYMBOL_CLASS_INLINED)
        buf_printf(out, "+0x%llx", (unsigned long long)(offset - view_symbol_start(c->s, &c->view, frame)));
}

static void put_frame(const struct script *c, uint32_t frame, uint64_t offset, uint64_t address, struct buf *out)
{
    char path[64];
    const struct module *m = view_module(&c->view, frame);
    buf_printf(out, "%16llx", (unsigned long long)address);
    put_symbol(c, frame, offset, out);
    if (c->fields & BIT(SCRIPT_DSO) && !is_inlined(c, frame)) {
        buf_puts(out, " (");
        export_put_path(out, export_module_path(m, path, sizeof path));
        buf_putc(out, ')');
    }
    buf_putc(out, '\n');
}

/* exact: the address is where the thread was, not where it returns to. */
static const char *frame_line(struct script *c, uint32_t frame, bool exact)
{
    uint32_t *at = &c->line_of[2 * (size_t)frame + exact];
    if (!*at) {
        bool broken = view_module(&c->view, frame)->kind == MODULE_BROKEN;
        uint64_t offset = broken ? 0 : c->view.result.frame_offset[frame] + (!exact && !c->as_perf);
        *at = (uint32_t)c->lines.len + 1;
        buf_putc(&c->lines, '\t');
        put_frame(c, frame, offset, offset, &c->lines);
        buf_putc(&c->lines, '\0');
    }
    return c->lines.data + *at - 1;
}

static void put_chain(struct script *c, uint32_t node, struct buf *out)
{
    const struct result *r = &c->view.result;
    int kernel_before = -1;
    for (; node; node = r->parent[node]) {
        uint32_t frame = r->frame[node];
        /* user space calls no kernel: what looks like it is no address */
        int kernel = kernel_before != 0 && is_kernel(view_module(&c->view, frame), r->frame_offset[frame]);
        buf_puts(out, frame_line(c, frame, kernel != kernel_before));
        if (!is_inlined(c, frame)) /* those before it were part of the same code */
            kernel_before = kernel;
    }
}

/* ---- samples ---- */

static uint64_t address_of(struct script *c, const struct sample *sample, uint32_t frame)
{
    uint32_t image = c->samples.threads[sample->thread].image;
    bool created;
    uint64_t *at = map_at(&c->address_of, (uint64_t)image << 32 | frame, 0, &created);
    if (created)
        *at = session_address(c->s, image, c->view.result.frame_module[frame], c->view.result.frame_offset[frame]);
    return *at;
}

/* Of a tracepoint perf leaves out the period, which is one as a rule, and where it is, unless there are callchains. */
static unsigned fields_of(const struct script *c, const struct session_event_facts *event)
{
    unsigned left_out = 0;
    if (c->by_default && event->is_tracepoint)
        left_out = BIT(SCRIPT_PERIOD) | (event->has_chain ? 0 : BIT(SCRIPT_IP));
    return c->fields & ~left_out;
}

static void put_trace(const struct script *c, const struct sample *sample, struct buf *out)
{
    uint32_t size;
    const void *raw = session_sample_raw(&c->samples, sample, &size);
    if (raw)
        session_trace_put(c->trace, sample->event, raw, size, sample->cpu, out);
}

static void put_head(const struct script *c, const struct sample *sample, bool chain, struct buf *out)
{
    const struct world_thread *t = &c->samples.threads[sample->thread];
    const struct session_event_facts *event = &c->facts.events[sample->event];
    unsigned fields = fields_of(c, event);
    char text[64];
    if (fields & BIT(SCRIPT_COMM))
        buf_printf(out, chain ? "%s " : "%16s ", t->comm);
    if ((fields & (BIT(SCRIPT_PID) | BIT(SCRIPT_TID))) == (BIT(SCRIPT_PID) | BIT(SCRIPT_TID)))
        buf_printf(out, "%5d/%-5d ", (int)t->pid, (int)t->tid);
    else if (fields & (BIT(SCRIPT_PID) | BIT(SCRIPT_TID)))
        buf_printf(out, "%5d ", (int)(fields & BIT(SCRIPT_PID) ? t->pid : t->tid));
    if (fields & BIT(SCRIPT_CPU) && event->has_cpu)
        buf_printf(out, "[%03u] ", sample->cpu);
    if (fields & BIT(SCRIPT_TIME) && event->has_time) {
        snprintf(text, sizeof text, "%llu.%06llu", (unsigned long long)(sample->time_ns / NS_PER_SEC),
                 (unsigned long long)(sample->time_ns % NS_PER_SEC / 1000));
        buf_printf(out, "%12s: ", text);
    }
    if (fields & BIT(SCRIPT_PERIOD))
        buf_printf(out, "%10llu ", (unsigned long long)sample->weight);
    if (fields & BIT(SCRIPT_EVENT))
        buf_printf(out, "%*s: ", c->event_width, event->name);
    if (fields & BIT(SCRIPT_TRACE))
        put_trace(c, sample, out);
}

static void put_sample(struct script *c, const struct sample *sample, struct buf *out)
{
    const struct session_event_facts *event = &c->facts.events[sample->event];
    bool chain = event->has_chain, ip = fields_of(c, event) & BIT(SCRIPT_IP);
    put_head(c, sample, chain && ip, out);
    if (ip && chain) {
        buf_putc(out, '\n');
        put_chain(c, sample->stack, out);
    } else if (ip && sample->stack) {
        uint32_t node = sample->stack;
        while (is_inlined(c, c->view.result.frame[node])) /* perf names the code here, not what is inlined */
            node = c->view.result.parent[node];
        uint32_t frame = c->view.result.frame[node];
        buf_putc(out, ' ');
        put_frame(c, frame, c->view.result.frame_offset[frame], address_of(c, sample, frame), out);
        return;
    }
    buf_putc(out, '\n');
}

static void script_start(struct script *c)
{
    session_get_facts(c->s, &c->facts);
    c->trace = session_trace_new(c->s);
    c->line_of = mem_array(2 * (size_t)c->view.result.n_frames, sizeof *c->line_of);
    for (uint32_t i = 0; i < c->facts.n_events; i++) {
        int width = (int)strlen(c->facts.events[i].name);
        c->event_width = width > c->event_width ? width : c->event_width;
    }
}

static void script_done(struct script *c)
{
    session_facts_done(&c->facts);
    session_trace_free(c->trace);
    session_samples_done(&c->samples);
    view_done(&c->view);
    buf_done(&c->lines);
    map_done(&c->address_of);
    mem_free(c->line_of);
}

static bool script_write(struct session *s, const struct view_query *q, const struct export_options *o,
                         struct export_sink *to, struct error *e)
{
    struct script c = { .s = s, .samples.with_raw = true, .by_default = !o->fields, .as_perf = o->as_perf };
    struct view_query asked = *q;
    asked.group = VIEW_GROUP_SYMBOL;
    bool ok = script_fields(o->fields, &c.fields, e) && export_samples(s, &asked, &c.view, &c.samples, e);
    if (ok)
        script_start(&c);
    for (size_t i = 0; ok && i < c.samples.n && export_flush(to); i++)
        if (c.samples.list[i].event < c.facts.n_events)
            put_sample(&c, &c.samples.list[i], &to->text);
    script_done(&c);
    return ok;
}

const struct exporter export_script = {
    .name = "script",
    .suffix = ".script",
    .whole = true,
    .all_events = true,
    .as_recorded = true,
    .help = "sample by sample, as perf script prints them; see --fields",
    .stream = script_write,
};
