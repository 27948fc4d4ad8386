// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a struct perfdata, shared by the files of the reader only. */
#ifndef FLAMETOP_PERFDATA_FILE_H
#define FLAMETOP_PERFDATA_FILE_H

#include "base/cursor.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "perf/readings.h"
#include "perfdata/format.h"
#include "perfdata/input.h"
#include "perfdata/reader.h"

/* Kinds of damage: a count of bytes, records or sections each, see damage.c. */
enum damage {
    DAMAGE_NOT_FINISHED,
    DAMAGE_FILE_CUT,
    DAMAGE_SHRANK,
    DAMAGE_ZEROS,
    DAMAGE_GARBAGE,
    DAMAGE_CUT_RECORD,
    DAMAGE_BAD_RECORD,
    DAMAGE_NO_EVENT,
    DAMAGE_UNKNOWN_TYPE,
    DAMAGE_NO_ZSTD,
    DAMAGE_BAD_ZSTD,
    DAMAGE_MUCH_ZSTD,
    DAMAGE_SECTION,
    DAMAGE_PARTS,
    DAMAGE_UNKNOWN_FEATURE,
    DAMAGE_AUXTRACE,
    DAMAGE_NO_MEMORY,
    DAMAGE_KINDS,
};

/* Where records stand: an offset in the file or, with this bit, in the decompressed bytes. */
#define PLACE_PLAIN (UINT64_C(1) << 63)
/* A folder has more files with records, numbered from 1 on: the number stands above the offset. */
#define PLACE_PART_SHIFT 48
#define PLACE_PARTS      (1u << 14)
#define PLACE_OFFSET     ((UINT64_C(1) << PLACE_PART_SHIFT) - 1)

/* Records that stand one behind the other with times that do not fall. */
struct run {
    uint64_t first_ns, start, end; /* places */
    uint64_t seq;                  /* in the order of the file */
};

/* Where a record's event id stands; events with other fields may have it elsewhere. */
struct id_place {
    uint32_t sample, other; /* bytes behind the header; bytes before the record's end; 0: none */
};

struct perfdata {
    struct input in;
    struct input *parts; /* of a folder: the files with records and nothing else */
    uint32_t n_parts;
    uint64_t all_bytes; /* of all files */
    char trouble[240];  /* it did not come whole (perfdata/spool.h) */
    bool swap, pipe;
    bool unpadded; /* sizes of records are no multiples of 8, as hiperf writes them */
    uint64_t header_bytes,
        attr_bytes; /* as the header tells: its own, and of an event with the place of its ids */
    struct format_section attrs;
    uint64_t data_start, data_end;
    struct format_section features[FORMAT_FEATURES];
    bool has_feature[FORMAT_FEATURES];

    struct perfdata_event *events;
    struct record_layout *layouts; /* per event */
    uint32_t *event_class;         /* per event: index in id_places */
    uint32_t n_events;
    size_t events_cap;
    bool *named;         /* per event: told by the file */
    struct map event_of; /* id → event */
    struct {
        uint64_t id;
        uint32_t event;
    } recent_ids[16]; /* of those that were looked for lately, by their last bits */
    uint64_t n_ids;
    struct id_place *id_places; /* the different ones */
    uint32_t n_id_places;

    struct perfdata_info info;
    struct perfdata_build_id *build_ids;
    uint32_t n_build_ids;
    size_t build_ids_cap;
    struct kept_feature {
        uint8_t *bytes;
        size_t n;
    } kept[FORMAT_FEATURES];
    uint64_t kept_bytes;
    struct arena strings;

    uint64_t setup_end; /* pipe mode: records before it were applied by perfdata_open */
    struct unpacker *zstd;
    bool zstd_tried, zstd_full, zstd_broken;
    uint8_t *plain; /* what compressed records held */
    size_t plain_n, plain_cap;
    struct run *runs;
    size_t n_runs, runs_cap;
    uint64_t n_records;
    bool indexed;

    uint8_t copy[INPUT_GET_MAX]; /* of the record at hand, if it is no sample */

    struct readings readings;
    struct map cgroup_name; /* id → string in cgroup_names */
    struct intern *cgroup_names;
    uint64_t count_of[FORMAT_RECORD_USER_END]; /* records by type */
    struct map count_of_others;
    struct perfdata_count *counts; /* as perfdata_counts gave them out */
    uint64_t damage[DAMAGE_KINDS];
    char *damage_text[DAMAGE_KINDS + 1]; /* and p->trouble */
    uint32_t n_damage_text;
};

/* damage.c */
void damage_note(struct perfdata *p, enum damage kind, uint64_t count);
void damage_tell(struct perfdata *p); /* makes the lines */
void damage_done(struct perfdata *p);

/* folder.c: the file with the header out of a folder that perf record --threads made; -1: there is none. Then the others. */
int folder_open_data(int dir_fd, const char *path, struct error *e);
void folder_open_parts(struct perfdata *p, int dir_fd);

/* counts.c */
void counts_add(struct perfdata *p, uint32_t type);

/* header.c: what stands before and behind the records. The first FORMAT_PIPE_BYTES bytes: */
bool header_is_ours(const uint8_t *head, const char *path, struct error *e);
bool header_read(struct perfdata *p, const char *path, struct error *e);
/* One event; entry_n bytes of an attr, of which as much is taken as the attr says and we know. */
void header_add_event(struct perfdata *p, const uint8_t *entry, size_t entry_n);
void header_add_ids(struct perfdata *p, uint32_t event, struct cursor ids);
void header_finish_events(struct perfdata *p); /* when all are there: names, places of ids */

/* attr.c */
void attr_read(struct cursor *c, struct perf_event_attr *out); /* c holds one attr and no more */
void attr_name(const struct perf_event_attr *attr, char *dst, size_t cap);

/* features.c */
void feature_apply(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n);
void feature_add_build_id(struct perfdata *p, const uint8_t *record, size_t n);
/* Keeps a section's bytes, as far as the file's size allows; those of several records one behind the other. */
void feature_keep(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n);
void feature_name_event(struct perfdata *p, uint32_t event, const char *name, size_t n);

/* tracing.c: "sched:sched_switch" of the tracepoint with that id, from the tracing data; false: not in it */
bool tracing_name(const struct perfdata *p, uint64_t id, char *dst, size_t cap);

/* walk.c: record after record */
struct walk {
    struct perfdata *p;
    bool (*go_on)(void *ctx, uint64_t pos); /* asked every MiB of what is no record; NULL: none */
    void *ctx;
    bool stopped;      /* it said so */
    uint64_t pos, end; /* places */
    bool more;         /* what is cut at the end will go on: no damage */
    bool quiet;        /* no damage is noted */
    uint64_t cut;      /* where a record begins that the end cuts; 0: none */
};
struct raw_record {
    uint64_t place;
    const uint8_t *bytes; /* borrowed until the next access to the file */
    uint32_t type, size;
    uint16_t misc;
    uint64_t payload; /* bytes behind the record that belong to it */
};
bool walk_next(struct walk *w, struct raw_record *out);
const uint8_t *walk_bytes(struct perfdata *p, uint64_t place, size_t n);
void walk_await(const struct perfdata *p, uint64_t place, size_t n); /* see input_await */
/* A record of that type: what is no sample is copied, as its strings must not change once they were looked at. */
const uint8_t *walk_record(struct perfdata *p, uint64_t place, uint32_t type, size_t n);

/* index.c: all records into runs. go_on may be NULL. */
void index_build(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx);
/* The event of a record; false: a sample of none that we know. */
bool index_event(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint32_t *event);
/* The time that orders a record; false: it has none and stays behind the one before it. */
bool index_time(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint64_t *time_ns);

/* setup.c: records that describe the recording: all of a file that was written to a pipe; of others the tracing data,
 * which simpleperf writes as a record */
void setup_read(struct perfdata *p); /* those before the kernel's */
void setup_apply(struct perfdata *p, const struct raw_record *r);

/* split.c: a sample that read a group's counters as one sample per member */
bool split_applies(const struct perfdata *p, const struct record *r, uint32_t event);
bool split_sample(struct perfdata *p, const struct record *r, uint32_t event, perfdata_record_fn *fn,
                  void *ctx);

/* expand.c: compressed records */
void expand_record(struct perfdata *p, const struct raw_record *r);
void expand_end(struct perfdata *p); /* the next one begins a stream of its own */

/* merge.c: hands all records out in order of time; false: fn said so */
bool merge_records(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e);

#endif
