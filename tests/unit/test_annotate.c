// SPDX-License-Identifier: GPL-2.0-or-later
/* Annotates a program whose every instruction is known from a perf.data whose every sample is known. */
#include "session_fixture.h"

#include "elf_maker.h"
#include "perfdata/writer.h"
#include "session/annotate.h"

#define START_NS    UINT64_C(1000000000000)
#define BASE        UINT64_C(0x10000000) /* where the program is mapped, code at ELF_MAKER_OFFSET */
#define OUTER       (ELF_MAKER_OFFSET + 0)
#define INNER       (ELF_MAKER_OFFSET + 0x20)
#define LONG_ENOUGH (60 * NS_PER_SEC)

/* outer: nop; call inner; call *%rax; ret.  inner: div %ecx; nop; call inner; ret */
static const uint8_t outer_code[] = { 0x90, 0xe8, 0x1a, 0, 0, 0, 0xff, 0xd0, 0xc3 };
static const uint8_t inner_code[] = { 0xf7, 0xf1, 0x90, 0xe8, 0xf8, 0xff, 0xff, 0xff, 0xc3 };
enum {
    CALL_INNER = OUTER + 1,
    CALL_POINTER = OUTER + 6,
    DIV = INNER,
    BEHIND_DIV = INNER + 2,
    RECURSES = INNER + 3
};
/* Return addresses. */
enum { BY_CALL = OUTER + 6, BY_POINTER = OUTER + 8, BY_ITSELF = INNER + 8 };

static const struct {
    uint32_t n;
    uint64_t frames[4];
} stacks[] = {
    { 10, { BEHIND_DIV, BY_CALL } },
    { 3, { BEHIND_DIV, BY_ITSELF, BY_CALL } },
    { 4, { BEHIND_DIV, BY_ITSELF, BY_ITSELF, BY_CALL } },
    { 2, { DIV, BY_POINTER } },
    { 1, { OUTER } },
};

static char folder[] = "/tmp/flametop-annotate-XXXXXX";
static char data_path[64], program[64];
static struct annotation an;

static void write_program(void)
{
    static const struct elf_maker_symbol symbols[] = { { "outer", ELF_MAKER_VADDR, sizeof outer_code, 0 },
                                                       { "inner", ELF_MAKER_VADDR + 0x20, sizeof inner_code,
                                                         0 } };
    const struct elf_maker m = { .symbols = symbols, .n_symbols = 2, .symtab_type = SHT_SYMTAB };
    static union {
        struct elf_maker_file f;
        uint8_t bytes[sizeof(struct elf_maker_file) + ELF_MAKER_OFFSET + ELF_MAKER_SIZE];
    } file;
    _Static_assert(offsetof(struct elf_maker_file, extras) <= ELF_MAKER_OFFSET,
                   "the code must not overlap a section");
    elf_maker_fill(&file.f, &m);
    memcpy(file.bytes + OUTER, outer_code, sizeof outer_code);
    memcpy(file.bytes + INNER, inner_code, sizeof inner_code);
    FILE *f = fopen(program, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(&file, 1, sizeof file, f), sizeof file);
    assert_int_equal(fclose(f), 0);
}

static void write_sample(struct perfdata_writer *w, uint64_t time_ns, const uint64_t *frames)
{
    uint64_t chain[5] = { PERF_CONTEXT_USER };
    uint32_t n = 1;
    for (; n < 5 && frames[n - 1]; n++)
        chain[n] = BASE + frames[n - 1];
    perfdata_write_sample(w, &(struct perfdata_write_sample){ .time_ns = time_ns,
                                                              .ip = chain[1],
                                                              .period = 100,
                                                              .pid = 100,
                                                              .tid = 100,
                                                              .misc = PERF_RECORD_MISC_USER,
                                                              .chain = chain,
                                                              .chain_n = n });
}

static void open_file(void)
{
    struct perf_event_attr clock = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1, .sample_freq = 99
    };
    struct perfdata_write_event events[] = { { .name = "cpu-clock", .attr = &clock } };
    write_program();
    struct perfdata_writer *w = perfdata_writer_open(data_path, events, 1, true, true, &error);
    assert_non_null(w);
    perfdata_write_comm(w, START_NS, 100, 100, "prog", false);
    perfdata_write_mmap(w, START_NS,
                        &(struct perfdata_write_map){
                            .pid = 100, .tid = 100, .addr = BASE, .len = 0x10000, .path = program });
    for (uint32_t i = 0, at = 0; i < sizeof stacks / sizeof *stacks; i++)
        for (uint32_t n = 0; n < stacks[i].n; n++)
            write_sample(w, START_NS + ++at * NS_PER_MS, stacks[i].frames);
    assert_true(perfdata_writer_commit(w, NULL, &error));
    cfg.input = data_path;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, LONG_ENOUGH, NULL);
    session_query(session, &query, &view);
    session_settle(session, LONG_ENOUGH);
    session_query(session, &query, &view);
}

static uint64_t key_of(const char *name)
{
    for (uint32_t i = 1; i < view.n_funcs; i++)
        if (!strcmp(view.funcs[i].name, name))
            return view.funcs[i].key;
    fail_msg("no function %s in the result", name);
    return 0;
}

static void annotate(const char *name)
{
    struct annotate_location place;
    assert_true(annotate_find(session, &view, key_of(name), &place));
    assert_string_equal(place.name, name);
    annotate_open(&an, &place, false);
    annotate_update(&an, session, &view, true);
    while (annotate_is_pending(&an)) {
        annotate_wait(session, LONG_ENOUGH);
        annotate_update(&an, session, &view, true);
    }
}

static struct annotate_sum row_at(uint64_t offset)
{
    int64_t row = annotate_row_at(&an, offset);
    return row < 0 ? (struct annotate_sum){ 0 } : an.sums[an.rows[row].slot];
}

/* Samples of calls have an address inside the call instruction, which has no row without a disassembler. */
static uint64_t call_at(uint64_t offset, uint64_t next)
{
#ifdef HAVE_CAPSTONE
    (void)next;
    return offset;
#else
    (void)offset;
    return next - 1;
#endif
}

static int free_annotation_and_tear_down(void **state)
{
    annotate_done(&an);
    return tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, free_annotation_and_tear_down)

FIXTURE_TEST(samples_are_summed_by_instruction)
{
    open_file();
    annotate("inner");
    assert_int_equal(an.all.self_samples, 19);
    assert_int_equal(an.all.total_samples, 19);
    assert_int_equal(an.all.self, 1900);
    assert_int_equal(an.result_weight, 2000);
    assert_int_equal(row_at(BEHIND_DIV).self_samples, 17);
    assert_int_equal(row_at(BEHIND_DIV).self, 1700);
    assert_int_equal(row_at(DIV).self_samples, 2);
    assert_int_equal(an.n_sampled, 2);
    assert_int_equal(an.outside, 0);
    assert_int_equal(an.other_copies, 0);
}

FIXTURE_TEST(a_call_that_recurses_counts_once_per_sample)
{
    open_file();
    annotate("inner");
    assert_int_equal(row_at(call_at(RECURSES, BY_ITSELF)).self_samples, 0);
    assert_int_equal(row_at(call_at(RECURSES, BY_ITSELF)).total_samples, 7);
    annotate("outer");
    assert_int_equal(an.all.self_samples, 1);
    assert_int_equal(an.all.total_samples, 20);
    assert_int_equal(row_at(call_at(CALL_INNER, BY_CALL)).total_samples, 17);
    assert_int_equal(row_at(call_at(CALL_POINTER, BY_POINTER)).total_samples, 2);
    assert_int_equal(row_at(OUTER).self_samples, 1);
}

FIXTURE_TEST(instructions_and_functions_are_ranked_by_sample_count)
{
    open_file();
    annotate("inner");
    assert_int_equal(an.rows[annotate_hottest(&an, 0)].offset, BEHIND_DIV);
    assert_int_equal(an.rows[annotate_hottest(&an, 1)].offset, DIV);
    assert_int_equal(annotate_hottest(&an, 2), -1);
    struct annotate_location place;
    assert_true(annotate_find_hottest(session, &view, 0, &place));
    assert_string_equal(place.name, "inner");
    annotate_location_done(&place);
    assert_true(annotate_find_hottest(session, &view, 1, &place));
    assert_string_equal(place.name, "outer");
    annotate_location_done(&place);
    assert_false(annotate_find_hottest(session, &view, 2, &place));
}

FIXTURE_TEST(direct_calls_lead_to_their_target_and_indirect_calls_to_sampled_callees)
{
    char text[64];
    struct annotate_location place;
#ifndef HAVE_CAPSTONE
    skip();
#endif
    open_file();
    annotate("outer");
    uint32_t direct = an.rows[annotate_row_at(&an, CALL_INNER)].slot,
             pointer = an.rows[annotate_row_at(&an, CALL_POINTER)].slot;
    assert_string_equal(annotate_text(&an, session, direct, false, text, sizeof text), "callq  inner");
    assert_string_equal(annotate_text(&an, session, pointer, true, text, sizeof text), "callq  *%rax");
    assert_true(annotate_callee(&an, session, &view, direct, &place));
    assert_string_equal(place.name, "inner");
    assert_int_equal(place.start, INNER);
    annotate_location_done(&place);
    assert_true(annotate_callee(&an, session, &view, pointer, &place));
    assert_string_equal(place.name, "inner");
    annotate_location_done(&place);
    query.filter[0] = 'x'; /* no function name contains x */
    session_query(session, &query, &view);
    annotate_update(&an, session, &view, true);
    assert_int_equal(an.all.total_samples, 0);
    assert_int_equal(an.n_sums, 4);
    assert_false(annotate_callee(&an, session, &view, pointer, &place));
}

/* The program was deleted: rows are addresses only, with the reason. */
FIXTURE_TEST(addresses_keep_their_samples_when_the_code_is_missing)
{
    open_file();
    assert_int_equal(unlink(program), 0);
    annotate("inner");
    assert_int_equal(an.state, SYMBOL_NONE);
    assert_non_null(strstr(an.code->trouble, "flametop-annotate"));
    assert_int_equal(an.n_rows, 3);
    assert_int_equal(row_at(BEHIND_DIV).self_samples, 17);
    assert_int_equal(row_at(DIV).self_samples, 2);
    assert_int_equal(row_at(BY_ITSELF - 1).total_samples, 7);
    assert_int_equal(an.rows[annotate_hottest(&an, 0)].offset, BEHIND_DIV);
}

/* The state before the program was read. */
FIXTURE_TEST(a_symbol_resolved_later_is_annotated)
{
    open_file();
    annotate("inner");
    struct annotate_location early = {
        .module = module_get(an.location.module), .offset = BEHIND_DIV, .key = 1, .name = "prog+0x122"
    };
    annotate_open(&an, &early, false);
    annotate_update(&an, session, &view, true);
    assert_string_equal(an.location.name, "inner");
    assert_int_equal(an.location.key, key_of("inner"));
    assert_int_equal(an.location.start, INNER);
    assert_int_equal(an.location.size, sizeof inner_code);
    assert_int_equal(an.all.self_samples, 19);
}

FIXTURE_TEST(annotation_notes_whether_the_event_has_skid)
{
    char text[200];
    open_file();
    annotate_skid(session, text, sizeof text);
    assert_string_equal(text,
                        "cpu-clock has skid: samples are behind the instruction that took the time (timer)");
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(data_path, sizeof data_path, "%s/perf.data", folder);
    snprintf(program, sizeof program, "%s/prog", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(data_path);
    unlink(program);
    return rmdir(folder);
}

WORKER_TEST_MAIN(make_folder, remove_folder)
