// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects a snapshot's names of code made at run time, for sampled code, in the order of time. Also
 * covers programs and libraries that exist only in memory (memfd), since they vanish with their processes. */
#include "base/mem.h"
#include "perfdata/writer.h"
#include "session/save/snapshot.h"

struct jit_kept { /* names of a process's code at one time */
    uint32_t pid, image, epoch;
    bool past;
    struct map told; /* frames whose names are in the text */
    struct buf text;
};

static bool is_only_in_memory(const struct module *m)
{
    return m->kind == MODULE_FILE && module_is_memfd(m->path);
}

void snapshot_jit_begin(struct snapshot *sn)
{
    for (uint32_t i = 1; i < sn->n_frames; i++) {
        const struct module *m = snapshot_module(sn, sn->frame_module[i]);
        if (!m || !(m->kind == MODULE_JIT || is_only_in_memory(m)))
            continue;
        if (!sn->frame_jit)
            sn->frame_jit = mem_array(sn->n_frames, 1);
        sn->frame_jit[i] = 1;
    }
}

/* True if the names apply. Code in several locations of a process may have been renamed one after the
 * other: the latest names count. A module for older samples (past) has a higher number than the module
 * that it was split off from. */
static bool holds_for(const struct jit_kept *k, uint32_t image, uint32_t epoch, bool past)
{
    return k->image == image && (k->epoch == epoch || (k->epoch > epoch && !k->past && !past));
}

static struct jit_kept *kept_of(struct snapshot *sn, const struct sample *sample, uint32_t epoch, bool past)
{
    const struct world_thread *t = &sn->samples.threads[sample->thread];
    uint64_t *last = map_at(&sn->pid_jit, t->pid, 0, NULL);
    struct jit_kept *k = *last ? &sn->jit.items[*last - 1] : NULL;
    if (k && holds_for(k, t->image, epoch, past))
        return k;
    k = VEC_PUSH(&sn->jit);
    *last = sn->jit.n;
    *k = (struct jit_kept){ .pid = t->pid, .image = t->image, .epoch = epoch, .past = past };
    jittext_begin(&k->text, t->pid, sample->time_ns);
    return k;
}

static void write_code(struct snapshot *sn, struct jit_kept *k, const struct sample *sample, uint32_t frame)
{
    struct module *m = snapshot_module(sn, sn->frame_module[frame]);
    uint64_t address = is_only_in_memory(m) ? snapshot_address(sn, sample, frame) : sn->frame_offset[frame];
    struct symbol symbol;
    bool created;
    map_at(&k->told, frame, 0, &created);
    if (!created)
        return;
    symbolizer_lookup(sn->s->store.symbolizer, m, sn->frame_offset[frame], &symbol);
    if (symbol.state == SYMBOL_FOUND && symbol.size && address)
        jittext_add(&k->text, address - (sn->frame_offset[frame] - symbol.start), symbol.size, symbol.name);
}

void snapshot_jit_sample(struct snapshot *sn, const struct sample *sample, uint32_t end)
{
    struct jit_kept *k = NULL;
    uint32_t epoch = 0, node;
    for (node = sn->frame_jit ? sample->stack : end; node != end; node = sn->parent[node])
        if (sn->frame_jit[sn->frame[node]]) {
            struct module *m = snapshot_module(sn, sn->frame_module[sn->frame[node]]);
            epoch = m->epoch > epoch ? m->epoch : epoch;
            k = kept_of(sn, sample, epoch, m->past);
        }
    for (node = k ? sample->stack : end; node != end; node = sn->parent[node])
        if (sn->frame_jit[sn->frame[node]])
            write_code(sn, k, sample, sn->frame[node]);
}

uint64_t snapshot_script(struct snapshot *sn, uint32_t frame)
{
    struct symbol symbol;
    bool created;
    map_at(&sn->scripts_told, frame, 0, &created);
    if (created) {
        symbolizer_lookup(sn->s->store.symbolizer, snapshot_module(sn, MODULE_ID_SCRIPT),
                          sn->frame_offset[frame], &symbol);
        if (!sn->scripts.len)
            jittext_begin(&sn->scripts, JITTEXT_SCRIPTS, 0);
        jittext_add(&sn->scripts, sn->frame_offset[frame], 1, symbol.name);
    }
    return sn->frame_offset[frame];
}

void snapshot_jit_write(struct snapshot *sn)
{
    struct buf all = { 0 };
    buf_add(&all, buf_str(&sn->scripts), sn->scripts.len);
    for (uint32_t i = 0; i < sn->jit.n; i++)
        buf_add(&all, sn->jit.items[i].text.data, sn->jit.items[i].text.len);
    perfdata_write_jit_names(sn->w, buf_str(&all), all.len);
    buf_done(&all);
}

void snapshot_jit_done(struct snapshot *sn)
{
    for (uint32_t i = 0; i < sn->jit.n; i++) {
        map_done(&sn->jit.items[i].told);
        buf_done(&sn->jit.items[i].text);
    }
    map_done(&sn->pid_jit);
    map_done(&sn->scripts_told);
    buf_done(&sn->scripts);
    mem_free(sn->jit.items);
    mem_free(sn->frame_jit);
}
