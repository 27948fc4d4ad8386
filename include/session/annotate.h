// SPDX-License-Identifier: GPL-2.0-or-later
/* An annotated function: its instructions (or, without them, the addresses that were sampled) with the samples of an
 * answer at each, and the source lines between them. */
#ifndef FLAMETOP_SESSION_ANNOTATE_H
#define FLAMETOP_SESSION_ANNOTATE_H

#include "base/mem.h"
#include "session/session.h"
#include "symbols/code.h"

struct annotate_place {    /* where a function's code is */
    struct module *module; /* a reference is held; NULL: nowhere */
    uint64_t start, size;  /* in the module's offsets; size 0: nothing tells where it begins and ends */
    uint64_t
        offset; /* in it, of a sample or its beginning: what is called otherwise later is found again by it */
    uint64_t key;   /* of its name, as a symbol's */
    char name[256]; /* cleaned */
    enum symbol_class class;
};
void annotate_place_done(struct annotate_place *p);
/* The code with most samples of those that are called so; of what was inlined that of the function around it. False:
 * the answer has no such function. */
bool annotate_find(struct session *s, const struct view *v, uint64_t func_key, struct annotate_place *out);
/* Is there code where this function is? Not where stacks are cut, in a guest, or where nothing is known to be mapped. */
bool annotate_has_code(const struct view *v, uint64_t func_key);
/* What the code at place->offset is called by now, and where it begins and ends: names come late, and better ones later.
 * False: as before. */
bool annotate_place_renew(struct session *s, struct annotate_place *place);
/* The function with the n-th most samples in itself (0: most). False: not so many have samples. */
bool annotate_find_hottest(struct session *s, const struct view *v, uint32_t n, struct annotate_place *out);

struct annotate_sum {
    uint64_t self, total; /* weights: of samples in it; and in what it calls */
    uint32_t self_samples, total_samples;
};
enum annotate_kind { ANNOTATE_INSN, ANNOTATE_SOURCE, ANNOTATE_ADDRESS };
struct annotate_row {
    enum annotate_kind kind;
    uint32_t
        slot; /* of `sums`, and of the code's rows if there are any; of a source line, those of what follows */
    uint64_t offset;  /* the same, in the module */
    const char *file; /* of a source line; and */
    uint32_t line;
    bool new_file;       /* another one than the line before it */
    const char *inlined; /* function that is inlined there; NULL: none */
};

struct annotate_place_line {    /* of an instruction */
    const char *file, *inlined; /* NULL: not known; none */
    uint32_t line;
    bool known;
};
struct annotate_file {
    const char *path;
    struct source *source; /* NULL: not there yet */
};
#define ANNOTATE_FILES_MAX 64
#define ANNOTATE_LINES_MAX 20000 /* instructions of a function of which source lines are asked for */

struct annotation { /* zero-initialised has no function */
    struct annotate_place place;
    struct code *code;       /* NULL: on its way */
    enum symbol_state state; /* of that */
    uint64_t code_start; /* what was asked for: of a function that is too large the part around the hottest */
    bool intel, source, cut;   /* syntax; source lines are wanted; it is only a part */
    struct annotate_sum *sums; /* per instruction, or per address */
    uint32_t n_sums, n_sampled;
    struct annotate_sum all; /* of the function */
    uint64_t answer_weight;  /* of the answer that they are of */
    uint64_t outside;        /* of all.self: at no instruction that is shown */
    uint64_t other_copies;   /* self weight of functions of that name elsewhere, which are not in it */
    struct annotate_row *rows;
    uint32_t n_rows;
    /* private */
    size_t sums_cap, rows_cap, slots_cap, nodes_cap, addresses_cap, lines_cap;
    uint64_t *addresses; /* without instructions: of each slot */
    uint32_t n_addresses;
    uint32_t *slot_of_frame; /* plus one */
    struct annotate_sum *node_sums;
    struct annotate_place_line *lines;
    uint32_t n_lines, lines_left;
    struct annotate_file files[ANNOTATE_FILES_MAX];
    uint32_t n_files;
    struct arena strings;
    bool rows_stale;
};
/* Another function: takes `place`. What was there before is forgotten. */
void annotate_open(struct annotation *a, struct annotate_place *place, bool intel);
/* The samples of the answer, under the name that the place has by now; and what came meanwhile of instructions, lines and texts. */
void annotate_update(struct annotation *a, struct session *s, const struct view *v, bool source);
/* Is something still on its way? */
bool annotate_is_pending(const struct annotation *a);
void annotate_wait(struct session *s, uint64_t timeout_ns); /* for that; with samples nothing happens */
void annotate_done(struct annotation *a);

/* Row of the instruction with the n-th most samples in itself (0: most); -1: so many were not sampled. */
int64_t annotate_hottest(const struct annotation *a, uint32_t n);
/* Row of that instruction or address; -1: there is none. */
int64_t annotate_row_at(const struct annotation *a, uint64_t offset);
/* "callq  memcpy", "jne    4f": the instruction with where it leads; inside the function as an offset in it, or (absolute) as
 * the address that the file was linked to. */
const char *annotate_text(const struct annotation *a, struct session *s, uint32_t slot, bool absolute,
                          char *dst, size_t cap);
/* The text of a row's source line, "" if it is not to be had. */
const char *annotate_source(const struct annotation *a, const struct annotate_row *r, char *dst, size_t cap);
/* Why no text is shown of some source file, "" if all are. */
const char *annotate_source_trouble(const struct annotation *a);
/* What a call leads to: as it is encoded or, where that says nothing (pointers, stubs of other modules), as it was seen
 * most in the samples. False: neither tells. */
bool annotate_callee(const struct annotation *a, struct session *s, const struct view *v, uint32_t slot,
                     struct annotate_place *out);
/* How far from what the event counts its samples lie, in a sentence. */
void annotate_skid(struct session *s, char *dst, size_t cap);

#endif
