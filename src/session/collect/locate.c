// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the frame of an address in a process, through a cache. */
#include <string.h>

#include "base/map.h"
#include "session/session_state.h"

struct frame_owner locate_owner(struct session *s, uint32_t thread)
{
    const struct world_thread *t = world_thread(s->store.world, thread);
    return (struct frame_owner){ .thread = thread,
                                 .image = t ? t->image : 0,
                                 .version = t ? world_image_version(s->store.world, t->image) : 0 };
}

static bool is_slot_of(const struct location_slot *slot, uint64_t addr, uint32_t version)
{
    return slot->frame && slot->addr == addr && slot->version == version;
}

/* Puts a slot first of the two in a cache line, and evicts the less recently used one. With a single slot,
 * new leaf addresses would evict recurring callers. */
static struct location_slot *put_first(struct location_slot *two, struct location_slot slot)
{
    two[1] = two[0];
    two[0] = slot;
    return two;
}

struct location_slot *locate_address(struct session *s, const struct frame_owner *o, uint64_t addr,
                                     bool kernel)
{
    uint32_t version = kernel ? 0 : o->version;
    size_t mask = ((size_t)LOCATION_CACHE_SLOTS << s->unwind.cache_shift) - 2;
    struct location_slot *two = &s->unwind.locations[map_mix(addr ^ (uint64_t)version << 48) & mask];
    if (is_slot_of(two, addr, version))
        return two;
    if (is_slot_of(two + 1, addr, version))
        return put_first(two, two[1]);
    struct location location;
    bool known = o->maps && !kernel ? world_resolve_held(o->maps, addr, &location)
                                    : world_resolve(s->store.world, o->thread, addr, kernel, &location);
    if (!known)
        return NULL;
    s->unwind.caches_hold = true;
    return put_first(two, (struct location_slot){
                              .addr = addr,
                              .version = version,
                              .frame = stacks_frame(s->store.stacks, location.module, location.offset) });
}

uint32_t locate_unmapped(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel)
{
    struct location location = { MODULE_ID_UNKNOWN, addr };
    if (!kernel && !o->maps)
        world_resolve_before(s->store.world, o->thread, addr, &location);
    return stacks_frame(s->store.stacks, location.module, location.offset);
}

void locate_forget(struct session *s)
{
    if (!s->unwind.caches_hold)
        return;
    memset(s->unwind.locations, 0,
           ((size_t)LOCATION_CACHE_SLOTS << s->unwind.cache_shift) * sizeof *s->unwind.locations);
    memset(s->unwind.callers, 0, CALLERS_CACHE_SLOTS * sizeof *s->unwind.callers);
    memset(s->unwind.user.verdicts, 0, sizeof s->unwind.user.verdicts);
    unwind_cache_forget(&s->unwind.user.unwind_cache);
    s->unwind.caches_hold = false;
}
