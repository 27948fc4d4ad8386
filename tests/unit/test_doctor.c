/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's rows for a perf.data whose every sample is known. */
#include "session_fixture.h"

#include "perfdata/writer.h"
#include "session/doctor.h"

#define START_NS UINT64_C(1000000000000)
#define KERNEL   UINT64_C(0xffffffff81000000)
#define NAMED    (KERNEL + 0x10)
#define LIBA     UINT64_C(0x10000000)
#define LIBB     UINT64_C(0x20000000)
#define NO_CODE  UINT64_C(0x7000) /* in no mapping: the target of a register that is not a frame pointer */

static char folder[] = "/tmp/flametop-doctor-XXXXXX";
static char path[64], names_path[64];
static struct doctor doctor;

/* n samples of a process: the leaf is in the kernel, which has symbols, or in a library, which has none,
 * called from the other library; then the next caller; 0: the previous one was the root. */
struct made {
    uint32_t n, pid;
    uint64_t leaf, caller, root;
};

static void write_samples(struct perfdata_writer *w, uint64_t *time_ns, const struct made *m)
{
    bool kernel = m->leaf >= KERNEL;
    uint64_t chain[] = { kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER, m->leaf, m->caller, m->root };
    uint32_t i;

    for (i = 0; i < m->n; i++)
        perfdata_write_sample(w, &(struct perfdata_write_sample){
                                     .time_ns = *time_ns += NS_PER_MS,
                                     .ip = m->leaf,
                                     .period = 1,
                                     .pid = m->pid,
                                     .tid = m->pid,
                                     .misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
                                     .chain = chain,
                                     .chain_n = m->root     ? 4
                                                : m->caller ? 3
                                                            : 2,
                                 });
}

/* Process 100 is "alpha", 200 is "beta"; both map liba.so and libb.so, which do not exist. */
static void write_processes(struct perfdata_writer *w)
{
    uint32_t pid;
    int lib;

    for (pid = 100; pid <= 200; pid += 100) {
        perfdata_write_comm(w, START_NS, pid, pid, pid == 100 ? "alpha" : "beta", false);
        for (lib = 0; lib < 2; lib++)
            perfdata_write_mmap(w, START_NS,
                                &(struct perfdata_write_map){
                                    .pid = pid,
                                    .tid = pid,
                                    .addr = lib ? LIBB : LIBA,
                                    .len = 0x10000,
                                    .ino = lib ? 12 : 11,
                                    .path = lib ? "/no/such/libb.so" : "/no/such/liba.so",
                                });
    }
}

static void examine(void)
{
    session_examine(session, &query, &doctor);
}

static void examine_samples(const struct made *made, size_t n)
{
    struct perf_event_attr clock = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1, .sample_freq = 99
    };
    struct perfdata_write_event event = { .name = "cpu-clock", .attr = &clock };
    struct perfdata_writer *w = perfdata_writer_open(path, &event, 1, true, false, &error);
    uint64_t time_ns = START_NS;
    size_t i;

    assert_non_null(w);
    write_processes(w);
    for (i = 0; i < n; i++)
        write_samples(w, &time_ns, &made[i]);
    assert_true(perfdata_writer_commit(w, NULL, &error));
    cfg.input = path;
    cfg.kallsyms = names_path;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, 60 * NS_PER_SEC, NULL);
    examine(); /* requests the symbols */
    session_settle(session, 60 * NS_PER_SEC);
    examine();
}

#define EXAMINE(...)                                                                                         \
    do {                                                                                                     \
        static const struct made made_[] = { __VA_ARGS__ };                                                  \
        examine_samples(made_, sizeof made_ / sizeof *made_);                                                \
    } while (0)

static int close_session_and_remove_folder(void **state)
{
    doctor_done(&doctor);
    return tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, close_session_and_remove_folder)

static int make_folder(void **state)
{
    FILE *f;

    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/perf.data", folder);
    snprintf(names_path, sizeof names_path, "%s/kallsyms", folder);
    f = fopen(names_path, "w");
    if (!f)
        return -1;
    fprintf(f, "%llx T _text\n%llx T do_something\n%llx T _etext\n", (unsigned long long)KERNEL,
            (unsigned long long)NAMED, (unsigned long long)KERNEL + 0x100000);
    return fclose(f);
}

static int remove_folder(void **state)
{
    unlink(path);
    unlink(names_path);
    return rmdir(folder);
}

/* Returns the row of the subject and module; NULL: none. */
static const struct doctor_row *row_about(enum doctor_subject subject, const char *module)
{
    uint32_t i;

    for (i = 0; i < doctor.rows.n; i++)
        if (doctor.rows.items[i].subject == subject && !strcmp(doctor.rows.items[i].module, module))
            return &doctor.rows.items[i];
    return NULL;
}

static uint32_t count_system_rows(void)
{
    uint32_t i, n = 0;

    for (i = 0; i < doctor.rows.n; i++)
        n += doctor.rows.items[i].subject == DOCTOR_SYSTEM;
    return n;
}

/* 40 stacks of alpha are truncated in libb.so, 20 are complete; beta has 30, and 10 are in the kernel. */
static void examine_truncated_stacks_and_missing_names(void)
{
    EXAMINE({ 40, 100, LIBA + 0x10, LIBB + 0x101, NO_CODE }, { 20, 100, LIBA + 0x20, LIBB + 0x101, 0 },
            { 30, 200, LIBB + 0x20, LIBB + 0x201, 0 }, { 10, 200, NAMED, 0, 0 });
}

FIXTURE_TEST(truncated_stacks_and_unnamed_frames_are_counted)
{
    examine_truncated_stacks_and_missing_names();
    assert_int_equal(doctor.samples, 100);
    assert_int_equal(doctor.cut, 40);
    assert_int_equal(doctor.whole, 60);
    assert_int_equal(doctor.unnamed, 90);
}

FIXTURE_TEST(truncated_stacks_are_reported_by_module_and_cause)
{
    const struct doctor_row *row;

    examine_truncated_stacks_and_missing_names();
    row = row_about(DOCTOR_STACKS, "libb.so");
    assert_non_null(row);
    assert_int_equal(row->samples, 40);
    assert_float_equal(row->percent, 40, 1e-9);
    assert_string_equal(row->process, "alpha/100");
    assert_string_equal(row->cause, "code without frame pointers: they lead to addresses without code");
    assert_string_equal(row->fix, "record with --call-graph dwarf (perf), or auto (flametop)");
    assert_int_equal(row->action, DOCTOR_NOTHING); /* a file cannot be sampled differently */
    assert_null(row_about(DOCTOR_STACKS, "liba.so"));
}

FIXTURE_TEST(unnamed_frames_are_reported_by_module)
{
    const struct doctor_row *a, *b;

    examine_truncated_stacks_and_missing_names();
    a = row_about(DOCTOR_NAMES, "liba.so");
    b = row_about(DOCTOR_NAMES, "libb.so");
    assert_true(a && b);
    assert_int_equal(a->samples, 60);
    assert_int_equal(b->samples, 90); /* beta's stacks have two frames of it each and count once */
    assert_string_equal(a->process, "alpha/100");
    assert_string_equal(b->process, "alpha/100"); /* alpha has more samples than beta */
    assert_true(a->cause[0] && b->cause[0]);
    assert_non_null(strstr(a->fix, "install its debug symbols"));
    assert_null(row_about(DOCTOR_NAMES, "[kernel]"));
}

FIXTURE_TEST(system_rows_come_first_then_rows_by_sample_count)
{
    uint32_t first, i;

    examine_truncated_stacks_and_missing_names();
    first = count_system_rows();
    assert_int_equal(doctor.rows.n, first + 3);
    for (i = 0; i < first; i++)
        assert_int_equal(doctor.rows.items[i].subject, DOCTOR_SYSTEM);
    assert_string_equal(doctor.rows.items[first].module, "libb.so");
    assert_int_equal(doctor.rows.items[first].subject, DOCTOR_NAMES);
    assert_string_equal(doctor.rows.items[first + 1].module, "liba.so");
    assert_int_equal(doctor.rows.items[first + 1].subject, DOCTOR_NAMES);
    assert_int_equal(doctor.rows.items[first + 2].subject, DOCTOR_STACKS);
    assert_ptr_equal(doctor_worst(&doctor), &doctor.rows.items[first]);
}

FIXTURE_TEST(only_samples_of_the_current_view_are_examined)
{
    examine_truncated_stacks_and_missing_names();
    zoom_to(ZOOM_PROCESS, 200, "");
    examine();
    assert_int_equal(doctor.samples, 40);
    assert_int_equal(doctor.cut, 0);
    assert_null(row_about(DOCTOR_STACKS, "libb.so"));
    assert_null(row_about(DOCTOR_NAMES, "liba.so"));
    assert_int_equal(row_about(DOCTOR_NAMES, "libb.so")->samples, 30);
    assert_string_equal(row_about(DOCTOR_NAMES, "libb.so")->process, "beta/200");
}

FIXTURE_TEST(rows_keep_their_key_when_shares_change)
{
    uint64_t key;

    examine_truncated_stacks_and_missing_names();
    key = row_about(DOCTOR_NAMES, "libb.so")->key;
    assert_int_not_equal(key, row_about(DOCTOR_STACKS, "libb.so")->key);
    assert_int_not_equal(key, row_about(DOCTOR_NAMES, "liba.so")->key);
    zoom_to(ZOOM_PROCESS, 200, "");
    examine();
    assert_int_equal(row_about(DOCTOR_NAMES, "libb.so")->key, key);
}

FIXTURE_TEST(a_complete_profile_has_no_rows)
{
    EXAMINE({ 50, 200, NAMED, 0, 0 });
    assert_int_equal(doctor.samples, 50);
    assert_int_equal(doctor.whole, 50);
    assert_int_equal(doctor.cut + doctor.unnamed, 0);
    assert_int_equal(doctor.rows.n, count_system_rows());
    assert_null(doctor_worst(&doctor));
}

FIXTURE_TEST(the_header_reports_no_negligible_problems)
{
    EXAMINE({ 199, 200, NAMED, 0, 0 }, { 1, 100, LIBA + 0x10, 0, 0 });
    assert_non_null(row_about(DOCTOR_NAMES, "liba.so"));
    assert_null(doctor_worst(&doctor));
}

WORKER_TEST_MAIN(make_folder, remove_folder)
