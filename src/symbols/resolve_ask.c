// SPDX-License-Identifier: GPL-2.0-or-later
/* Request the worker's result for one file or two, or read it from the disk cache. */
#include <string.h>

#include "symbols/blob.h"
#include "symbols/elffile.h"
#include "symbols/symbolizer_state.h"

/* Kinds of the tables; all others are CACHE_NAMES. */
static const enum cache_kind kinds[] = {
    [WORKER_UNWIND] = CACHE_UNWIND, [WORKER_UNWIND_DEBUG] = CACHE_UNWIND, [WORKER_CALLS] = CACHE_CALLS
};

/* Set the key under which the worker's result for these files is kept on disk. False: it is not kept. */
static bool cache_key_of(const struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd,
                         const struct outcome *out, struct cache_key *key)
{
    if (!sy->cache || !out->id_size)
        return false;
    *key = (struct cache_key){ .kind = kinds[kind], .version = sy->cache_version, .id_size = out->id_size };
    memcpy(key->id, out->id, out->id_size);
    key->stamp = cache_stamp(fd);
    if (second_fd >= 0)
        key->stamp = map_mix(key->stamp) ^ cache_stamp(second_fd);
    return true;
}

/* Size of an entry that says "this debug file adds nothing", which is kept instead of a table: such files are
 * the largest. */
#define NOTHING_BYTES 1

/* Read a reply from the disk cache. The payload of a reply with a table is the debug link, a text. */
static bool ask_cache(struct symbolizer *sy, const struct cache_key *key, struct worker_reply *a)
{
    if (!cache_get(sy->cache, key, &a->blob, &a->blob_size, a->payload))
        return false;
    a->payload_n = strlen(a->payload) + 1;
    if (a->blob_size == NOTHING_BYTES) {
        blob_free(a->blob, a->blob_size);
        a->blob = NULL;
        a->blob_size = 0;
    }
    return true;
}

static bool ask(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd, struct worker_reply *a,
                struct outcome *out)
{
    struct cache_key key;
    bool kept = cache_key_of(sy, kind, fd, second_fd, out, &key);
    if (!blob_has_room(&out->trouble))
        return false;
    resolve_note_owner(sy, fd, second_fd, out);
    if (kept && ask_cache(sy, &key, a))
        return true;
    struct worker_request r = { .kind = kind, .fds = { fd, second_fd }, .n_fds = second_fd < 0 ? 1 : 2 };
    if (sy->as_perf && (kind == WORKER_ELF || kind == WORKER_ELF_DEBUG)) {
        r.payload = "perf";
        r.payload_n = 4;
    }
    enum worker_result result = resolve_send(sy, &r, a, out);

    if (result == WORKER_DONE && kept && a->blob && a->payload_n < CACHE_NOTE_MAX) {
        a->payload[a->payload_n] = '\0';
        cache_put(sy->cache, &key, a->blob, a->blob_size, a->payload);
    }
    if (result == WORKER_DONE && kept && !a->blob && kind == WORKER_UNWIND_DEBUG)
        cache_put(sy->cache, &key, "", NOTHING_BYTES, "");
    if (result == WORKER_DONE)
        return true;
    blob_free(a->blob, a->blob_size);
    return false;
}

/* Read the debug link and, without a table, the reason. Neither is trusted: a hostile file may control the
 * worker. */
static void take_payload(const struct worker_reply *a, char *link, struct outcome *out)
{
    size_t n = strnlen(a->payload, a->payload_n);

    if (link && n < ELF_LINK_MAX) {
        memcpy(link, a->payload, n);
        link[n] = '\0';
    }
    if (!a->blob && n < a->payload_n)
        error_set(&out->trouble, ERROR_MISSING, "%.*s",
                  (int)(a->payload_n - n - 1 < 400 ? a->payload_n - n - 1 : 400), a->payload + n + 1);
    else if (!a->blob)
        error_set(&out->trouble, ERROR_FORMAT, "the symbol worker sent no table");
}

struct symbol_table *resolve_table(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd,
                                   char *link, struct outcome *out)
{
    struct worker_reply *a = mem_alloc(sizeof *a);
    struct symbol_table *t = NULL;

    if (ask(sy, kind, fd, second_fd, a, out)) {
        take_payload(a, link, out);
        if (a->blob)
            t = tables_new(kinds[kind], a->blob, a->blob_size, &out->trouble);
    }
    mem_free(a);
    return t;
}
