// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of a view: names its frames, adds inlined functions, or merges all of a module. */
#include <string.h>

#include "session/query/view_parts.h"

void view_release_modules(struct view_memory *m)
{
    for (size_t i = 0; i < m->modules.n; i++)
        module_put(m->modules.items[i].module);
    m->modules.n = 0;
    map_clear(&m->module_numbers);
}

static uint32_t module_number(struct session *s, struct view *v, uint32_t id)
{
    struct view_memory *m = v->memory;
    bool created;
    uint64_t *at = map_at(&m->module_numbers, id, m->modules.n, &created);
    if (!created)
        return (uint32_t)*at;
    struct module *module = world_module(s->store.world, id);
    if (!module)
        module = world_module(s->store.world, MODULE_ID_UNKNOWN);
    *VEC_PUSH(&m->modules) = (struct view_module){ .module = module_get(module) };
    return m->modules.n - 1;
}

void view_hold_modules(struct session *s, struct view *v)
{
    const struct result *r = &v->result;
    if (r->n_frames_before <= 1) {
        view_release_modules(v->memory);
        v->memory->n_named = 0;
        inlines_forget(&v->memory->inlines);
    }
    for (uint32_t i = r->n_frames_before; i < r->n_frames; i++)
        module_number(s, v, r->frame_module[i]);
}

static const char *keep_string(struct view_memory *m, const char *text)
{
    return arena_strndup(&m->names, text, strlen(text));
}

/* Updates a function that already has a number. True: its name or state changed. */
static bool call_function(struct view *v, uint32_t number, const struct symbol *sym)
{
    struct view_memory *m = v->memory;
    struct view_function *f = &v->funcs[number];
    bool renamed = strcmp(f->name, sym->name) != 0;
    bool other = renamed || f->state != sym->state || f->class != sym->class;
    if (renamed)
        f->name = keep_string(m, sym->name);
    f->class = sym->class;
    f->state = sym->state;
    f->start = sym->start;
    f->size = sym->size;
    m->func_idles.items[number] = sym->idle || sym->state != SYMBOL_FOUND; /* see select_idles */
    m->func_settled.items[number] = sym->state != SYMBOL_PENDING && !sym->mangled;
    return other;
}

static uint32_t function_number(struct view *v, const struct symbol *sym, const struct module *module)
{
    struct view_memory *m = v->memory;
    bool created;
    uint64_t *at = map_at(&m->func_numbers, sym->key, v->n_funcs, &created);
    if (!created)
        return (uint32_t)*at;
    MEM_GROW(v->funcs, m->funcs_cap, v->n_funcs + 1);
    VEC_RESERVE(&m->func_idles, v->n_funcs + 1);
    VEC_RESERVE(&m->func_settled, v->n_funcs + 1);
    v->funcs[v->n_funcs] = (struct view_function){
        .name = "",
        .module = keep_string(m, module->name),
        .key = sym->key,
        .module_id = module->id,
    };
    call_function(v, v->n_funcs, sym);
    return v->n_funcs++;
}

/* True: its function changed. */
static bool name_frame(struct session *s, struct view *v, uint32_t frame)
{
    struct view_memory *m = v->memory;
    struct view_module *module = &m->modules.items[module_number(s, v, v->result.frame_module[frame])];
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, module->module, v->result.frame_offset[frame], &sym);
    uint32_t func = function_number(v, &sym, module->module);
    v->frame_func[frame] = func;
    if (sym.state != SYMBOL_FOUND)
        module->unnamed = frame;
    else if (module->unnamed == frame)
        module->unnamed = 0;
    return !m->func_settled.items[func] && call_function(v, func, &sym);
}

static bool name_again(struct session *s, struct view *v, uint32_t frame)
{
    uint32_t func = v->frame_func[frame];
    bool called_otherwise = name_frame(s, v, frame);
    v->memory->n_renamed += v->frame_func[frame] != func;
    return called_otherwise || v->frame_func[frame] != func;
}

static void forget_names(struct view *v)
{
    struct view_memory *m = v->memory;
    arena_clear(&m->names);
    map_clear(&m->func_numbers);
    MEM_GROW(v->funcs, m->funcs_cap, 1);
    memset(v->funcs, 0, sizeof *v->funcs);
    v->n_funcs = 1;
    MEM_GROW(v->frame_func, m->frame_func_cap, 1);
    v->frame_func[0] = 0;
    m->n_named = 1;
    m->n_renamed = 0;
    for (size_t i = 0; i < m->modules.n; i++)
        m->modules.items[i].unnamed = 0;
}

static bool find_stale_modules(struct session *s, struct view_memory *m)
{
    bool any = false;
    for (size_t i = 0; i < m->modules.n; i++) {
        uint32_t changed = symbolizer_changed(s->store.symbolizer, m->modules.items[i].module);
        m->modules.items[i].is_stale = changed != m->modules.items[i].changed;
        m->modules.items[i].changed = changed;
        any |= m->modules.items[i].is_stale;
    }
    return any;
}

/* Looks up stale frames after a change of the symbolizer: those of changed modules, and those whose names
 * were not final. True: some function changed. */
static bool name_stale(struct session *s, struct view *v)
{
    struct view_memory *m = v->memory;
    bool some_modules = find_stale_modules(s, m), other = false;
    uint32_t n = 0;
    uint32_t *stale = VEC_RESERVE(&m->stale, m->n_named);
    for (uint32_t i = 1; i < m->n_named; i++)
        if (!m->func_settled.items[v->frame_func[i]] ||
            (some_modules && m->modules.items[module_number(s, v, v->result.frame_module[i])].is_stale))
            stale[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        m->func_settled.items[v->frame_func[stale[i]]] = false;
    for (uint32_t i = 0; i < n; i++)
        other |= name_again(s, v, stale[i]);
    return other;
}

void view_name_frames(struct session *s, struct view *v)
{
    struct view_memory *m = v->memory;
    struct result *r = &v->result;
    uint32_t generation = symbolizer_generation(s->store.symbolizer); /* before the first lookup */
    uint32_t lines_changed = symbolizer_lines_changed(s->store.symbolizer);
    m->names_change = !m->n_named || m->n_renamed > r->n_frames;
    if (m->names_change || lines_changed != m->lines_changed)
        inlines_forget(&m->inlines);
    m->lines_changed = lines_changed;
    if (m->names_change)
        forget_names(v);
    else if (generation != m->names_generation)
        m->names_change = name_stale(s, v);
    m->names_generation = generation;
    for (size_t i = 0; i < m->modules.n; i++)
        m->names_change |= m->modules.items[i].unnamed && name_again(s, v, m->modules.items[i].unnamed);
    if (m->names_change)
        inlines_renamed(&m->inlines);
    MEM_GROW(v->frame_func, m->frame_func_cap, r->n_frames);
    for (; m->n_named < r->n_frames; m->n_named++)
        name_frame(s, v, m->n_named);
}

struct module *view_module(const struct view *v, uint32_t frame)
{
    uint64_t number;
    map_get(&v->memory->module_numbers, v->result.frame_module[frame], &number);
    return v->memory->modules.items[number].module;
}

uint64_t view_symbol_start(struct session *s, const struct view *v, uint32_t frame)
{
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, view_module(v, frame), v->result.frame_offset[frame], &sym);
    return sym.state == SYMBOL_FOUND ? sym.start : 0;
}

const char *view_line(struct session *s, const struct view *v, uint32_t frame, uint32_t *line, bool *pending)
{
    const struct inlines *in = &v->memory->inlines;
    struct symbol_lines lines;
    struct module *m = view_module(v, frame);
    enum symbol_state state =
        module_has_lines(m) ? symbolizer_lines(s->store.symbolizer, m, v->result.frame_offset[frame], &lines)
                            : SYMBOL_NONE;
    *pending = state == SYMBOL_PENDING;
    if (state != SYMBOL_FOUND)
        return NULL;
    const char *file = lines.file;
    *line = lines.line;
    /* for an outer function: the line of the call that was inlined */
    if (in->replaced && in->expanded.inlined.items[frame] < lines.n_inlines) {
        const struct symbol_inline *called =
            &lines.inlines[lines.n_inlines - 1 - in->expanded.inlined.items[frame]];
        file = called->file;
        *line = called->line;
    }
    return *file && *line ? file : NULL;
}

static uint32_t number_inlined(struct view *v, uint32_t real, const struct symbol *sym)
{
    return function_number(v, sym, view_module(v, real));
}

void view_expand_inlines(struct session *s, const struct view_query *q, struct view *v)
{
    bool hot_only = q->hot_inlines && !s->load.file && !q->n_zooms && !q->filter[0];
    if (!q->no_inlines && q->group != VIEW_GROUP_MODULE)
        inlines_expand(&v->memory->inlines, s, v, hot_only, view_module, number_inlined);
}

void view_name_modules(struct view *v)
{
    struct map numbers = { 0 };
    struct view_function *old = v->funcs;
    uint32_t n = 1;
    uint32_t *new_number = mem_array(v->n_funcs, sizeof *new_number);
    for (uint32_t i = 1; i < v->n_funcs; i++) {
        uint64_t key = map_hash_bytes(old[i].module, strlen(old[i].module), 6);
        bool created;
        uint64_t *at = map_at(&numbers, key, n, &created);
        new_number[i] = (uint32_t)*at;
        if (!created)
            continue;
        old[n] = old[i]; /* n <= i: the overwritten entry was already read */
        old[n].name = old[i].module;
        old[n].key = key;
        old[n].start = old[n].size = 0;
        n++;
    }
    for (uint32_t i = 1; i < v->result.n_frames; i++)
        v->frame_func[i] = new_number[v->frame_func[i]];
    v->n_funcs = n;
    v->memory->n_named = 0; /* names were overwritten */
    v->result.since = 0;
    map_done(&numbers);
    mem_free(new_number);
}
