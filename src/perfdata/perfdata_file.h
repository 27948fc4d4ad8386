// SPDX-License-Identifier: GPL-2.0-or-later
/* The internals of struct perfdata, shared only by the files of the reader. */
#ifndef FLAMETOP_PERFDATA_PERFDATA_FILE_H
#define FLAMETOP_PERFDATA_PERFDATA_FILE_H

#include "base/cursor.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "perf/readings.h"
#include "perfdata/format.h"
#include "perfdata/input.h"
#include "perfdata/reader.h"

/* Kinds of damage, each with a count of bytes, records or sections; see damage.c. */
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

/* The location of a record: an offset in the file or, with this bit set, in the decompressed bytes. */
#define PLACE_PLAIN (UINT64_C(1) << 63)
/* A folder has more files with records, numbered from 1 on: the file's number is in the bits above the
 * offset. */
#define PLACE_PART_SHIFT 48
#define PLACE_PARTS      (1u << 14)
#define PLACE_OFFSET     ((UINT64_C(1) << PLACE_PART_SHIFT) - 1)

/* Consecutive records whose times do not decrease. */
struct run {
    uint64_t first_ns, start, end; /* locations */
    uint64_t seq;                  /* order in the file */
};

/* Location of the event id in a record; depends on the other fields that an event samples. */
struct id_target {
    uint32_t sample, other; /* bytes after the header; bytes before the record's end; 0: none */
};

struct perfdata {
    struct input in;
    struct input *parts; /* of a folder: the files that contain only records */
    uint32_t n_parts;
    uint64_t all_bytes; /* of all files */
    char trouble[240];  /* why the input is incomplete (perfdata/spool.h) */
    bool swap, pipe;
    bool unpadded; /* record sizes are not multiples of 8, as written by hiperf */
    /* From the header: its own size, and that of an event with the section of its ids. */
    uint64_t header_bytes, attr_bytes;
    struct format_section attrs;
    uint64_t data_start, data_end;
    struct format_section features[FORMAT_FEATURES];
    bool has_feature[FORMAT_FEATURES];

    VEC(struct perfdata_event) events;
    struct record_layout *layouts; /* per event */
    uint32_t *event_class;         /* per event: index in id_targets */
    bool *named;                   /* per event: the file contains its name */
    struct map event_of;           /* id → event */
    struct {
        uint64_t id;
        uint32_t event;
    } recent_ids[16]; /* cache of recent lookups, by the id's low bits */
    uint64_t n_ids;
    struct id_target *id_targets; /* without duplicates */
    uint32_t n_id_targets;

    struct perfdata_info info;
    VEC(struct perfdata_build_id) build_ids;
    struct kept_feature {
        uint8_t *bytes;
        size_t n;
    } kept[FORMAT_FEATURES];
    uint64_t kept_bytes;
    struct arena strings;

    uint64_t setup_end; /* pipe mode: perfdata_open applied the records before it */
    struct unpacker *zstd;
    bool zstd_tried, zstd_full, zstd_broken;
    uint8_t *plain; /* contents of compressed records */
    size_t plain_n, plain_cap;
    struct run *runs;
    size_t n_runs, runs_cap;
    uint64_t n_records;
    bool indexed;

    uint8_t copy[INPUT_GET_MAX]; /* of the current record, unless it is a sample */

    struct readings readings;
    uint64_t count_of[FORMAT_RECORD_USER_END]; /* records by type */
    struct map count_of_others;
    struct perfdata_count *counts; /* the last result of perfdata_counts */
    uint64_t damage[DAMAGE_KINDS];
    char *damage_text[DAMAGE_KINDS + 1]; /* includes p->trouble */
    uint32_t n_damage_text;
};

/* damage.c */
void damage_note(struct perfdata *p, enum damage kind, uint64_t count);
void damage_tell(struct perfdata *p); /* makes the lines */
void damage_done(struct perfdata *p);

/* In folder.c. folder_open_data opens the file with the header in a folder made by perf record --threads; -1:
 * missing. folder_open_parts opens the others. */
int folder_open_data(int dir_fd, const char *path, struct error *e);
void folder_open_parts(struct perfdata *p, int dir_fd);

/* counts.c */
void counts_add(struct perfdata *p, uint32_t type);

/* file_header.c: data before and after the records. head: the first FORMAT_PIPE_BYTES bytes. */
bool header_is_ours(const uint8_t *head, const char *path, struct error *e);
bool header_read(struct perfdata *p, const char *path, struct error *e);

/* add_event.c */
/* Adds one event from an attr of entry_n bytes. Uses as many bytes as the attr declares and flametop
 * knows. */
void header_add_event(struct perfdata *p, const uint8_t *entry, size_t entry_n);
void header_add_ids(struct perfdata *p, uint32_t event, struct cursor ids);

/* attr.c */
void attr_read(struct cursor *c, struct perf_event_attr *out); /* c holds exactly one attr */
void attr_name(const struct perf_event_attr *attr, char *dst, size_t cap);

/* features.c */
void feature_apply(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n);
void feature_add_build_id(struct perfdata *p, const uint8_t *record, size_t n);
/* Keeps a section's bytes, up to a total of the file's size. Concatenates the bytes of several records. */
void feature_keep(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n);
void feature_name_event(struct perfdata *p, uint32_t event, const char *name, size_t n);

/* In tracing.c: returns the name of the tracepoint with this id ("sched:sched_switch") from the tracing data.
 * False: not in it. */
bool tracing_name(const struct perfdata *p, uint64_t id, char *dst, size_t cap);

/* read_records.c: reads record after record. */
struct record_reader {
    struct perfdata *p;
    bool (*go_on)(void *ctx, uint64_t pos); /* called every MiB of data that is not a record; NULL: never */
    void *ctx;
    bool stopped;      /* go_on returned false */
    uint64_t pos, end; /* locations */
    bool more;         /* a record truncated at the end will continue: no damage */
    bool quiet;        /* does not count damage */
    uint64_t cut;      /* location of a record truncated at the end; 0: none */
};
struct raw_record {
    uint64_t place;
    const uint8_t *bytes; /* borrowed until the next access to the file */
    uint32_t type, size;
    uint16_t misc;
    uint64_t payload; /* bytes after the record that belong to it */
};
bool next_record(struct record_reader *w, struct raw_record *out);
const uint8_t *read_bytes_at(struct perfdata *p, uint64_t place, size_t n);
void await_bytes_at(const struct perfdata *p, uint64_t place, size_t n); /* see input_await */
/* Returns a record of that type. All but samples are copied: their strings must not change after a check. */
const uint8_t *read_record_at(struct perfdata *p, uint64_t place, uint32_t type, size_t n);

/* index.c: sorts all records into runs. go_on may be NULL. */
void index_build(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx);
/* Finds the event of a record. False: a sample of an unknown event. */
bool index_event(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint32_t *event);
/* Returns the time by which a record is ordered. False: the record has none and follows the previous
 * record. */
bool index_time(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint64_t *time_ns);

/* setup.c: applies records that describe the recording. For pipe-mode files these are all of them; for others
 * only the tracing data, which simpleperf writes as a record. */
void setup_read(struct perfdata *p); /* those before the kernel's records */
void setup_apply(struct perfdata *p, const struct raw_record *r);

/* offcpu_payload.c: fills in the fields of a sample of perf record --off-cpu from its payload, after its time
 * is known. False: the payload is damaged. */
bool offcpu_payload_applies(const struct perfdata *p, uint32_t event);
bool offcpu_payload_apply(struct record *r);

/* split.c: splits a sample with a group's counters into one sample per member. */
bool split_applies(const struct perfdata *p, const struct record *r, uint32_t event);
bool split_sample(struct perfdata *p, const struct record *r, uint32_t event, perfdata_record_fn *fn,
                  void *ctx);

/* expand.c: decompresses records. */
void expand_record(struct perfdata *p, const struct raw_record *r);
void expand_end(struct perfdata *p); /* the next record starts a new stream */

/* merge.c: passes all records to fn in time order; false: fn returned false. */
bool merge_records(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e);

#endif
