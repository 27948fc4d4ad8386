// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports samples one by one, in the format of perf script (6.1), so that its readers can read this:
 *
 *   comm  tid [cpu] seconds.micros:     period event:
 *           address symbol+0xoffset (module)
 *
 * As in perf, addresses of callchains are offsets in the module; without callchains the sampled address
 * follows the event. An inlined function has the address of its code, "(inlined)" and no module.
 *
 * Without --as-perf, differences from perf are deliberate: callers are looked up one byte back, symbols
 * have no versions, PLT stubs have their own names, and an exec ends the mappings. */
#include <limits.h>
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
#include "session/address_names.h"
#include "session/recorded.h"
#include "session/trace.h"

#define BIT(field)   SCRIPT_BIT(field)
#define LINES_ROUNDS 4 /* source lines, then lines in files that these need */

/* ---- lines of a stack ---- */

struct script {
    struct session *s;
    struct view view;
    struct session_samples samples;
    struct session_facts facts;
    unsigned fields;
    uint64_t recorded; /* SCRIPT_RECORD and PERF_SAMPLE_*: fields of a sample that only the file has */
    struct session_address_names *naming;
    int data_src_width;
    bool as_perf;    /* the session keeps return addresses as recorded, not one byte before */
    bool by_default; /* default fields, which differ for tracepoints */
    struct session_trace *trace;
    int event_width;
    struct export_sink *to;
    struct buf lines;      /* lines of frames, each ended by a NUL */
    uint32_t *line_of;     /* frame * 2 + exact → offset in `lines` + 1; 0: not made yet */
    struct map address_of; /* image and frame → index in `addresses` */
    VEC(struct world_address) addresses;
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
    buf_puts(out, named ? f->name : "[unknown]"); /* the name of an inlined function includes its mark */
    if (c->fields & BIT(SCRIPT_SYMOFF) && f->state == SYMBOL_FOUND && f->size &&
        f->class != SYMBOL_CLASS_INLINED)
        buf_printf(out, "+0x%llx", (unsigned long long)(offset - view_symbol_start(c->s, &c->view, frame)));
}

/* Puts the source line or, like perf if there is none, the module and the address. */
static void put_srcline(const struct script *c, uint32_t frame, uint64_t offset, struct buf *out)
{
    bool pending;
    uint32_t line;
    const char *file = view_line(c->s, &c->view, frame, &line, &pending);
    const struct module *m = view_module(&c->view, frame);
    char path[EXPORT_PATH_MAX];
    buf_puts(out, "\n  ");
    if (file) {
        export_put_path(out, text_base_name(file));
        buf_printf(out, ":%u", line);
    } else if (m->kind != MODULE_UNKNOWN && m->kind != MODULE_BROKEN) {
        export_put_path(out, m->kind == MODULE_FILE ? m->name : export_module_path(m, path, sizeof path));
        buf_printf(out, "[%llx]", (unsigned long long)offset);
    } else {
        out->len -= 3;
    }
}

static void put_frame(const struct script *c, uint32_t frame, uint64_t offset, uint64_t address,
                      struct buf *out)
{
    char path[EXPORT_PATH_MAX];
    const struct module *m = view_module(&c->view, frame);
    buf_printf(out, "%16llx", (unsigned long long)address);
    put_symbol(c, frame, offset, out);
    if (c->fields & BIT(SCRIPT_DSO) && !is_inlined(c, frame)) {
        buf_puts(out, " (");
        export_put_path(out, export_module_path(m, path, sizeof path));
        buf_putc(out, ')');
    }
    if (c->fields & BIT(SCRIPT_SRCLINE))
        put_srcline(c, frame, offset, out);
}

/* Returns the line of a frame. exact: its address is the sampled one, not a return address. */
static const char *frame_line(struct script *c, uint32_t frame, bool exact)
{
    uint32_t *at = &c->line_of[2 * (size_t)frame + exact];
    if (!*at) {
        bool broken = view_module(&c->view, frame)->kind == MODULE_BROKEN;
        uint64_t offset = broken ? 0 : c->view.result.frame_offset[frame] + (!exact && !c->as_perf);
        *at = (uint32_t)c->lines.len + 1;
        buf_putc(&c->lines, '\t');
        put_frame(c, frame, offset, offset, &c->lines);
        buf_add(&c->lines, "\n", 2);
    }
    return c->lines.data + *at - 1;
}

static void put_chain(struct script *c, uint32_t node, struct buf *out)
{
    const struct result *r = &c->view.result;
    int kernel_before = -1;
    for (; node; node = r->parent[node]) {
        uint32_t frame = r->frame[node];
        /* user space does not call the kernel: such an address is garbage, not a kernel frame */
        int kernel = kernel_before != 0 && is_kernel(view_module(&c->view, frame), r->frame_offset[frame]);
        buf_puts(out, frame_line(c, frame, kernel != kernel_before || r->frame_interrupted[frame]));
        if (!is_inlined(c, frame)) /* inlined frames belong to the code of this one */
            kernel_before = kernel;
    }
}

/* ---- samples ---- */

/* Returns the address of a frame in the process at the sample's time. Samples come in order of time, so an
 * address that is no longer valid is not needed again. */
static uint64_t address_of(struct script *c, const struct sample *sample, uint32_t frame)
{
    const struct result *r = &c->view.result;
    uint32_t image = c->samples.threads[sample->thread].image;
    bool created;
    uint64_t index = *map_at(&c->address_of, (uint64_t)image << 32 | frame, c->addresses.n, &created);
    if (created)
        VEC_PUSH(&c->addresses)->until_ns = 0;
    struct world_address *a = &c->addresses.items[index];
    if (sample->time_ns >= a->until_ns)
        session_address(c->s, image, r->frame_module[frame], r->frame_offset[frame], sample->time_ns, a);
    return a->address;
}

/* Returns the fields of an event. For tracepoints perf omits the period, which is usually 1, and the address
 * unless there are callchains. */
static unsigned fields_of(const struct script *c, const struct session_event_facts *event)
{
    unsigned left_out = 0;
    if (!c->by_default)
        return c->fields;
    if (event->is_tracepoint)
        left_out = BIT(SCRIPT_PERIOD) | (event->has_chain ? 0 : BIT(SCRIPT_IP));
    return (c->fields & ~left_out) | (c->recorded ? script_fields_by_default(&event->attr) : 0);
}

/* A sample that is being written. */
struct line {
    struct script *c;
    const struct sample *sample;
    struct script_data data; /* r NULL: no field needs the file's record */
};

static void put_trace(const struct line *l, struct buf *out)
{
    const struct script *c = l->c;
    const struct sample *sample = l->sample;
    const struct record *r = l->data.r;
    uint32_t size = r ? r->sample.raw_size : 0;
    const void *raw = r ? r->sample.raw : session_sample_raw(&c->samples, sample, &size);
    if (raw)
        session_trace_put(c->trace, sample->event, raw, size, sample->cpu, out);
}

static void put_head(const struct line *l, bool chain, struct buf *out)
{
    const struct script *c = l->c;
    const struct sample *sample = l->sample;
    const struct world_thread *t = &c->samples.threads[sample->thread];
    const struct session_event_facts *event = &c->facts.events[sample->event];
    unsigned fields = l->data.fields;
    char text[64];
    if (fields & BIT(SCRIPT_COMM))
        buf_printf(out, chain ? "%s " : "%16s ", t->comm);
    if ((fields & (BIT(SCRIPT_PID) | BIT(SCRIPT_TID))) == (BIT(SCRIPT_PID) | BIT(SCRIPT_TID)))
        buf_printf(out, "%5d/%-5d ", (int)t->pid, (int)t->tid);
    else if (fields & (BIT(SCRIPT_PID) | BIT(SCRIPT_TID)))
        buf_printf(out, "%5d ", (int)(fields & BIT(SCRIPT_PID) ? t->pid : t->tid));
    if (fields & BIT(SCRIPT_CPU) && event->has_cpu)
        buf_printf(out, "[%03u] ", sample->cpu);
    if (fields & BIT(SCRIPT_MISC))
        script_put_misc(l->data.r->misc, out);
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
        put_trace(l, out);
}

static void put_exact(struct script *c, const struct sample *sample, struct buf *out)
{
    uint32_t node = sample->stack;
    while (is_inlined(c, c->view.result.frame[node])) /* perf names the calling function here */
        node = c->view.result.parent[node];
    uint32_t frame = c->view.result.frame[node];
    buf_putc(out, ' ');
    put_frame(c, frame, c->view.result.frame_offset[frame], address_of(c, sample, frame), out);
}

/* Puts the cgroup as perf does since 6.2. */
static void put_cgroup(const struct line *l, struct buf *out)
{
    char path[PATH_MAX];
    session_cgroup_path(l->c->s, l->c->samples.threads[l->sample->thread].cgroup, path, sizeof path);
    buf_printf(out, " %s", path);
}

static void put_sample(struct line *l, struct buf *out)
{
    struct script *c = l->c;
    const struct session_event_facts *event = &c->facts.events[l->sample->event];
    l->data.fields = fields_of(c, event);
    bool chain = event->has_chain, ip = l->data.fields & BIT(SCRIPT_IP);
    put_head(l, chain && ip, out);
    if (l->data.r)
        script_put_data(&l->data, out);
    if (ip && chain) {
        buf_putc(out, '\n');
        put_chain(c, l->sample->stack, out);
    } else if (ip && l->sample->stack) {
        put_exact(c, l->sample, out);
    }
    if (l->data.r)
        script_put_state(&l->data, out);
    if (l->data.fields & BIT(SCRIPT_CGROUP))
        put_cgroup(l, out);
    buf_putc(out, '\n');
}

static bool put_recorded(void *script, const struct sample *sample, const struct record *r,
                         struct session_recorded *at)
{
    struct script *c = script;
    struct line l = { .c = c, .sample = sample };
    if (sample->event >= c->facts.n_events)
        return true;
    l.data = (struct script_data){ .r = r,
                                   .at = at,
                                   .attr = &c->facts.events[sample->event].attr,
                                   .arch = c->facts.info->arch,
                                   .naming = c->naming,
                                   .thread = sample->thread,
                                   .data_src_width = &c->data_src_width };
    put_sample(&l, &c->to->text);
    return export_flush(c->to);
}

static void put_all(struct script *c)
{
    for (size_t i = 0; i < c->samples.n && export_flush(c->to); i++) {
        struct line l = { .c = c, .sample = &c->samples.list[i] };
        if (l.sample->event < c->facts.n_events)
            put_sample(&l, &c->to->text);
    }
}

static void script_start(struct script *c)
{
    session_get_facts(c->s, &c->facts);
    c->trace = session_trace_new(c->s);
    c->naming = session_address_names_new(c->s);
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
    session_address_names_free(c->naming);
    session_samples_done(&c->samples);
    view_done(&c->view);
    buf_done(&c->lines);
    map_done(&c->address_of);
    mem_free(c->addresses.items);
    mem_free(c->line_of);
}

/* Sets c->recorded to what the selected fields need from records. A field that no event has is an error. */
static bool choose_recorded(struct script *c, struct session *s, struct error *e)
{
    uint64_t there = SCRIPT_RECORD;
    session_get_facts(s, &c->facts);
    const bool file = c->facts.info;
    for (uint32_t i = 0; i < c->facts.n_events && file; i++) {
        there |= c->facts.events[i].attr.sample_type;
        c->recorded |=
            c->by_default && script_fields_by_default(&c->facts.events[i].attr) ? SCRIPT_RECORD : 0;
    }
    for (enum script_field i = 0; i < SCRIPT_FIELDS; i++) {
        uint64_t needed = c->fields & BIT(i) ? script_field_recorded(i) : 0;
        if (needed && !file)
            return error_set(e, ERROR_ARGUMENT,
                             "--fields %s: live samples do not have it; record it with perf record, and open "
                             "the file with -i",
                             script_field_name(i));
        if (needed && !(needed & there))
            return error_set(e, ERROR_ARGUMENT, "--fields %s: no event of this file recorded it",
                             script_field_name(i));
        c->recorded |= needed;
    }
    session_facts_done(&c->facts);
    return !(c->fields & BIT(SCRIPT_SRCLINE)) || c->fields & BIT(SCRIPT_IP) ||
           error_set(e, ERROR_ARGUMENT, "--fields srcline needs the address: add ip");
}

static void wait_for_lines(struct script *c)
{
    bool more = c->fields & BIT(SCRIPT_SRCLINE), pending;
    for (int round = 0; more && round < LINES_ROUNDS; round++) {
        more = false;
        for (uint32_t i = 1; i < c->view.result.n_frames; i++) {
            (void)view_line(c->s, &c->view, i, &(uint32_t){ 0 }, &pending);
            more |= pending;
        }
        if (more)
            session_settle(c->s, session_patience_ns(c->s));
    }
}

static bool script_write(struct session *s, const struct view_query *q, const struct export_options *o,
                         struct export_sink *to, struct error *e)
{
    struct script c = { .s = s, .to = to, .by_default = !o->fields, .as_perf = o->as_perf };
    struct view_query asked = *q;
    asked.group = VIEW_GROUP_SYMBOL;
    bool ok = script_fields(o->fields, &c.fields, e) && choose_recorded(&c, s, e);
    c.samples.numbered = c.recorded != 0;
    c.samples.with_raw = !c.samples.numbered;
    ok = ok && export_samples(s, &asked, &c.view, &c.samples, e);
    if (ok) {
        script_start(&c);
        wait_for_lines(&c);
    }
    if (ok && c.recorded)
        ok = session_each_recorded(s, &c.samples, put_recorded, &c, e);
    else if (ok)
        put_all(&c);
    script_done(&c);
    return ok;
}

const struct exporter export_script = {
    .name = "script",
    .suffix = ".script",
    .whole = true,
    .all_events = true,
    .as_recorded = true,
    .help = "one sample after the other, as perf script; see --fields",
    .stream = script_write,
};
