// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports a bundle: an archive of a perf.data with unwound stacks, its symbols, reports, a flame graph and
 * the state of the system. It has no dumps of stacks or registers, no environment variables and no program
 * files. */
#include "export/bundle_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tar.h"
#include "base/text.h"
#include "base/unpack.h"
#include "session/bundle.h"

#define PIECE_BYTES (1u << 20) /* compressed one by one: every decompressor goes on with the next piece */

static uint64_t size_of(const struct bundle_plan *p, const struct bundle_item *item)
{
    return item->bytes.data ? item->bytes.len : p->profile.bytes;
}

static bool is_profile(const struct bundle_item *item)
{
    return !strcmp(item->name, BUNDLE_PROFILE);
}

/* ---- contents ---- */

/* Names the folder by host and time of the last sample: the same samples get the same name. */
static void name_folder(struct bundle_plan *p, struct session *s)
{
    struct session_status st;
    char host[65], when[32] = "";
    time_t wall = (time_t)p->profile.wall_s;
    struct tm tm;
    session_get_status(s, &st);
    text_clean(host, sizeof host, st.host, strlen(st.host));
    for (char *c = host; *c; c++)
        if (*c == '/' || *c == ' ' || *c == '.' || (unsigned char)*c > 127)
            *c = '_';
    if (wall && gmtime_r(&wall, &tm))
        strftime(when, sizeof when, "-%Y%m%d-%H%M%SZ", &tm);
    snprintf(p->folder, sizeof p->folder, "flametop-%.48s%s", *host ? host : "profile", when);
}

static bool add_export(struct bundle_plan *p, const char *name, const char *about, const struct exporter *x,
                       struct session *s, const struct view_query *q, const struct export_options *o,
                       struct error *e)
{
    struct export_options own = *o;
    struct buf text = { 0 };
    own.baseline = (struct session_baseline){ 0 };
    struct view_query asked = *q;
    asked.show_idle |= x->whole;
    bool ok = export_text(x, s, &asked, &own, &text, e);
    if (ok)
        bundle_add(p, name, about, &text);
    buf_done(&text);
    return ok;
}

static void add_readme(struct bundle_plan *p)
{
    struct buf out = { 0 };
    buf_printf(&out,
               "A profile by flametop. To view it, on any system:\n\n"
               "    flametop -i THE-ARCHIVE        (the compressed archive)\n"
               "    perf report -i perf.data       (names only programs that are on that system)\n\n"
               "Stacks are unwound and named. The archive has no memory of programs and no environment\n"
               "variables. If tracepoints were sampled, perf.data has their raw payloads.\n\n");
    for (size_t i = 1; i < p->n; i++)
        buf_printf(&out, "%-24s %s\n", p->items[i].name, p->items[i].about);
    p->items[0].bytes = out;
}

static void plan_free(void *plan)
{
    struct bundle_plan *p = plan;
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        buf_done(&p->items[i].bytes);
    session_bundle_profile_done(&p->profile);
    if (p->counting)
        count_close(p->counting);
    machine_load_done(&p->load);
    mem_free(p->items);
    mem_free(p);
}

static bool pack(struct bundle_plan *p, struct session *s, struct error *e)
{
    if (!session_pack(s, &p->all, p->path, &p->profile, e))
        return false;
    *VEC_PUSH(p) = (struct bundle_item){ .name = "README.txt", .about = "this list" };
    *VEC_PUSH(p) =
        (struct bundle_item){ .name = BUNDLE_PROFILE, .about = "the samples, with unwound stacks" };
    bundle_add(p, BUNDLE_NAMES, "symbols of the stacks: modules, functions, lines", &p->profile.names);
    return true;
}

/* The names of the steps. The last one waits for the counters and finishes the plan. */
static const char *const step_names[] = { "perf.data", "report.txt",         "stacks.folded",
                                          "flame.svg", "the system's state", "a second of counters" };

static enum export_step plan_step(void *plan, struct session *s, const char **what, struct error *e)
{
    struct bundle_plan *p = plan;
    const struct export_options *o = p->options;
    bool ok = true;
    *what = step_names[p->step];
    switch (p->step) {
    case 0:
        ok = pack(p, s, e);
        break;
    case 1:
        ok = add_export(p, "report.txt", "the hottest functions", &export_report, s, &p->shown, o, e);
        break;
    case 2:
        ok = add_export(p, "stacks.folded", "one line per stack, with its samples", &export_folded, s,
                        &p->shown, o, e);
        break;
    case 3:
        ok = add_export(p, "flame.svg", "the flame graph, for a browser", &export_svg, s, &p->shown, o, e);
        break;
    case 4:
        bundle_add_machine(p, s);
        break;
    default:
        if (bundle_counts(p))
            return EXPORT_WAIT;
        bundle_add_counters(p);
        add_readme(p);
        name_folder(p, s);
        return EXPORT_DONE;
    }
    p->step++;
    *what = step_names[p->step];
    return ok ? EXPORT_MORE : EXPORT_FAILED;
}

static void *plan_begin(struct session *s, const struct view_query *q, const struct export_options *o,
                        const char *path, struct error *e)
{
    struct session_status st;
    if (!export_may_write("a bundle", path, e))
        return NULL;
    struct bundle_plan *p = mem_zalloc(sizeof *p);
    session_get_status(s, &st);
    p->profile.fd = -1;
    p->options = o;
    p->all = *q;
    p->all.show_idle = true; /* a perf.data holds idle time too, as perf record's does */
    if (!p->all.to_ns && !st.file)
        p->all.to_ns = st.now_ns; /* all files end at the same time */
    p->shown = p->all;
    p->shown.show_idle = q->show_idle;
    snprintf(p->path, sizeof p->path, "%s", path);
    return p;
}

static void plan_cancel(void *plan)
{
    atomic_store(&((struct bundle_plan *)plan)->cancelled, true);
}

static void plan_list(const void *plan, struct buf *out)
{
    const struct bundle_plan *p = plan;
    for (size_t i = 0; i < p->n; i++) {
        char size[32];
        buf_printf(out, "%8s  %-22s %s\n", text_bytes(size, sizeof size, size_of(p, &p->items[i])),
                   p->items[i].name, p->items[i].about);
    }
}

/* ---- writing ---- */

typedef bool pack_fn(const void *bytes, size_t n, struct buf *out, struct error *e);

static bool not_packed(const void *bytes, size_t n, struct buf *out, struct error *e)
{
    (void)e;
    buf_add(out, bytes, n);
    return true;
}

static pack_fn *packer_of(const char *path)
{
    if (text_ends_with(path, ".tar"))
        return not_packed;
    return text_ends_with(path, ".gz") || text_ends_with(path, ".tgz") ? gzip_pack : zstd_pack;
}

struct packing {
    struct outfile out;
    const atomic_bool *cancelled;
    pack_fn *pack;
    struct buf plain, packed;
};

static bool put_piece(struct packing *k, size_t n, struct error *e)
{
    buf_clear(&k->packed);
    if (atomic_load(k->cancelled))
        return error_set(e, ERROR_ARGUMENT, "writing the bundle was cancelled: no file was written");
    if (!k->pack(k->plain.data, n, &k->packed, e))
        return false;
    outfile_write(&k->out, k->packed.data, k->packed.len);
    memmove(k->plain.data, k->plain.data + n, k->plain.len - n);
    k->plain.len -= n;
    return true;
}

static bool put(struct packing *k, const void *bytes, size_t n, struct error *e)
{
    const char *p = bytes;
    while (n) {
        size_t room = PIECE_BYTES - k->plain.len, take = n < room ? n : room;
        buf_add(&k->plain, p, take);
        p += take;
        n -= take;
        if (k->plain.len == PIECE_BYTES && !put_piece(k, PIECE_BYTES, e))
            return false;
    }
    return true;
}

static bool put_profile(struct packing *k, const struct session_bundle_profile *profile, struct error *e)
{
    char bytes[65536];
    uint64_t at = 0;
    while (at < profile->bytes) {
        ssize_t n = pread(profile->fd, bytes, sizeof bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_sys(e, n ? errno : EIO, "cannot read the bundle's perf.data back");
        if (!put(k, bytes, (size_t)n, e))
            return false;
        at += (uint64_t)n;
    }
    return true;
}

static bool put_item(struct packing *k, const struct bundle_plan *p, const struct bundle_item *item,
                     struct error *e)
{
    static const char zeros[TAR_BLOCK];
    uint8_t head[TAR_BLOCK];
    char name[sizeof p->folder + sizeof item->name];
    uint64_t size = size_of(p, item);
    snprintf(name, sizeof name, "%s/%s", p->folder, item->name);
    if (!tar_head(name, size, p->profile.wall_s, head))
        return error_set(e, ERROR_LIMIT, "%s is too large for a bundle: narrow the window or the scope",
                         item->name);
    return put(k, head, sizeof head, e) &&
           (is_profile(item) ? put_profile(k, &p->profile, e)
                             : put(k, item->bytes.data, item->bytes.len, e)) &&
           put(k, zeros, tar_pad(size), e);
}

static bool plan_write(void *plan, const char *path, struct error *e)
{
    static const char zeros[TAR_END_BYTES];
    const struct bundle_plan *p = plan;
    struct packing k = { .pack = packer_of(path), .cancelled = &p->cancelled };
    bool ok = outfile_open(&k.out, path, e);
    if (!ok)
        return false;
    for (size_t i = 0; i < p->n && ok; i++)
        ok = put_item(&k, p, &p->items[i], e);
    ok = ok && put(&k, zeros, sizeof zeros, e) && (!k.plain.len || put_piece(&k, k.plain.len, e));
    if (ok)
        ok = outfile_commit(&k.out, e);
    else
        outfile_abort(&k.out);
    buf_done(&k.plain);
    buf_done(&k.packed);
    return ok;
}

static const struct export_plan bundle_plans = { plan_begin, plan_step,   plan_list,
                                                 plan_write, plan_cancel, plan_free };

#define HELP "one file for a ticket; -i opens it anywhere, with all names"

const struct exporter export_bundle = {
    .name = "bundle",
    .suffix = ".tar.zst",
    .suffixes = { ".tar.gz", ".tgz", ".tar" },
    .help = HELP,
    .save_help = HELP,
    .plan = &bundle_plans,
};
