// SPDX-License-Identifier: GPL-2.0-or-later
/* An annotated function: instructions (or sampled addresses), their samples, and the source lines between
 * them. */
#ifndef FLAMETOP_SESSION_ANNOTATE_H
#define FLAMETOP_SESSION_ANNOTATE_H

#include "base/mem.h"
#include "session/session.h"
#include "symbols/code.h"

struct annotate_location { /* location of a function's code */
    struct module *module; /* a reference is held; NULL: unknown */
    uint64_t start, size;  /* offsets in the module; size 0: bounds unknown */
    /* Offset in the module of one of the function's samples, or of its start. After a rename, the function
     * is found again by it. */
    uint64_t offset;
    uint64_t key;   /* of its name, as a symbol's key */
    char name[256]; /* cleaned */
    enum symbol_class class;
};
void annotate_location_done(struct annotate_location *p);
/* Finds the code with the most samples among the functions of this name. For an inlined function: the code
 * of the function around it. False: the result has no such function. */
bool annotate_find(struct session *s, const struct view *v, uint64_t func_key, struct annotate_location *out);
/* True if the function has code: false for truncated stacks, for guests, and where no mapping is known. */
bool annotate_has_code(const struct view *v, uint64_t func_key);
/* Updates the name and bounds of the code at location->offset: names arrive late, and better names later.
 * False: nothing changed, or its name is still being read. */
bool annotate_location_renew(struct session *s, struct annotate_location *location);
/* The function with the n-th most self samples (0: most). False: fewer functions have samples. */
bool annotate_find_hottest(struct session *s, const struct view *v, uint32_t n,
                           struct annotate_location *out);

struct annotate_sum {
    uint64_t self, total; /* weights: of samples in it; also of samples in its callees */
    uint32_t self_samples, total_samples;
};
enum annotate_kind { ANNOTATE_INSN, ANNOTATE_SOURCE, ANNOTATE_ADDRESS };
struct annotate_row {
    enum annotate_kind kind;
    /* Index in `sums`, and in the code's rows if there are any. Of a source line: of the row that follows
     * it. */
    uint32_t slot;
    uint64_t offset;  /* of the slot, in the module */
    const char *file; /* of a source line, with `line` */
    uint32_t line;
    bool new_file;       /* differs from the file of the source line above */
    const char *inlined; /* function that is inlined there; NULL: none */
};

struct annotate_location_line { /* source line of an instruction */
    const char *file, *inlined; /* NULL: unknown; not inlined */
    uint32_t line;
    bool known;
};
struct annotate_file {
    const char *path;
    struct source *source; /* NULL: not read yet */
};
#define ANNOTATE_FILES_MAX 64
#define ANNOTATE_LINES_MAX 20000 /* no source lines for a function with more instructions */

struct annotation { /* zero-initialised: no function */
    struct annotate_location location;
    struct code *code;       /* NULL: not read yet */
    enum symbol_state state; /* of the code */
    /* Start of the requested code: for a function that is too large, of the part around its hottest
     * instruction. */
    uint64_t code_start;
    bool intel, source, cut;   /* syntax; source lines are wanted; `code` is only a part */
    struct annotate_sum *sums; /* per instruction, or per address */
    uint32_t n_sums, n_sampled;
    struct annotate_sum all; /* of the function */
    uint64_t result_weight;  /* of the result that the sums come from */
    uint64_t outside;        /* part of all.self that is at no shown instruction */
    uint64_t other_copies;   /* self weight of other functions of this name, not in all.self */
    struct annotate_row *rows;
    uint32_t n_rows;
    /* private */
    size_t sums_cap, rows_cap;
    VEC(uint64_t) addresses;        /* without instructions: the address of each slot */
    BUFFER(uint32_t) slot_of_frame; /* slot + 1; 0: the frame is elsewhere */
    BUFFER(struct annotate_sum) node_sums;
    VEC(struct annotate_location_line) lines;
    uint32_t lines_left;
    struct annotate_file files[ANNOTATE_FILES_MAX];
    uint32_t n_files;
    struct arena strings;
    bool rows_stale;
};
/* Switches to another function and forgets the previous one. Takes `location`, and empties it. */
void annotate_open(struct annotation *a, struct annotate_location *location, bool intel);
/* Counts the result's samples in the function, under its current name; collects code, lines and source texts
 * that have arrived. */
void annotate_update(struct annotation *a, struct session *s, const struct view *v, bool source);
/* True while code, lines or texts are still being read. */
bool annotate_is_pending(const struct annotation *a);
/* Waits until the session has read more, at most timeout_ns. */
void annotate_wait(struct session *s, uint64_t timeout_ns);
void annotate_done(struct annotation *a);

/* Row of the instruction with the n-th most self samples (0: most). -1: fewer instructions have samples. */
int64_t annotate_hottest(const struct annotation *a, uint32_t n);
/* Row of that instruction or address; -1: none. */
int64_t annotate_row_at(const struct annotation *a, uint64_t offset);
/* Text of an instruction with its target: "callq  memcpy", "jne    4f". Targets inside the function are
 * offsets in it, or with `absolute` the addresses that the file was linked to. */
const char *annotate_text(const struct annotation *a, struct session *s, uint32_t slot, bool absolute,
                          char *dst, size_t cap);
/* Text of a row's source line; "": not available. */
const char *annotate_source(const struct annotation *a, const struct annotate_row *r, char *dst, size_t cap);
/* Why the text of some source file is missing; "": all texts are there. */
const char *annotate_source_trouble(const struct annotation *a);
/* Finds the function that a call leads to: from the instruction or, for indirect calls and stubs of other
 * modules, the most frequent callee in the samples. False: unknown. */
bool annotate_callee(const struct annotation *a, struct session *s, const struct view *v, uint32_t slot,
                     struct annotate_location *out);
/* Writes a sentence on the skid: how far samples are from the instruction that caused the event. */
void annotate_skid(struct session *s, char *dst, size_t cap);

#endif
