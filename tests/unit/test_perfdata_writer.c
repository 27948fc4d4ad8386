// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "perf/tracepoint.h"
#include "perfdata_fixture.h"
#include "unit_test.h"

TEST(written_files_are_read_back)
{
    struct seen s = { .check = true };
    struct buf damage = { 0 };
    struct error e = { 0 };
    assert_true(fixture_write(fixture_path("a"), NULL, &e));
    assert_true(fixture_read(fixture_path("a"), &s, &damage, &e));
    assert_string_equal(buf_str(&damage), "");
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(s.out_of_order, 0);
    assert_int_equal(s.per_event[1], FIXTURE_SAMPLES / 4);
    assert_int_equal(s.types[PERF_RECORD_MMAP], 1);
    assert_int_equal(s.types[PERF_RECORD_MMAP2], 1);
    assert_int_equal(s.types[PERF_RECORD_COMM], 2);
    assert_int_equal(s.types[PERF_RECORD_FORK], 1);
    assert_int_equal(s.types[PERF_RECORD_KSYMBOL], 1);
    assert_int_equal(s.types[PERF_RECORD_CGROUP], 1);
    buf_done(&damage);
}

TEST(names_of_jit_code_are_kept)
{
    struct error e = { 0 };
    size_t n;
    assert_true(fixture_write(fixture_path("a"), NULL, &e));
    struct perfdata *p = perfdata_open(fixture_path("a"), &e);
    assert_non_null(p);
    const char *text = perfdata_feature(p, FORMAT_JIT_NAMES, &n);
    assert_int_equal(n, strlen(FIXTURE_JIT));
    assert_memory_equal(text, FIXTURE_JIT, n);
    perfdata_close(p);
}

/* perf inject crashes on a section with a number that it does not know. */
TEST(all_sections_have_perfs_format)
{
    struct format_header h;
    struct error e = { 0 };
    assert_true(fixture_write(fixture_path("a"), NULL, &e));
    FILE *file = fopen(fixture_path("a"), "rb");
    assert_int_equal(fread(&h, sizeof h, 1, file), 1);
    fclose(file);
    assert_int_equal(h.features[0] >> (FORMAT_PMU_CAPS + 1), 0);
    assert_int_equal(h.features[1] | h.features[2] | h.features[3], 0);
}

/* The end of a file that claims more names than there are bytes, or that is truncated. */
TEST(a_damaged_end_loses_only_the_names)
{
    const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - 15, 1 << 20, 0 };
    struct error e = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct seen s = { 0 };
        struct buf damage = { 0 };
        size_t n;
        assert_true(fixture_write(fixture_path("a"), NULL, &e));
        FILE *file = fopen(fixture_path("a"), "r+b");
        assert_int_equal(fseek(file, -(long)sizeof(struct format_tail), SEEK_END), 0);
        assert_int_equal(fwrite(&sizes[i], sizeof sizes[i], 1, file), 1);
        fclose(file);
        struct perfdata *p = perfdata_open(fixture_path("a"), &e);
        assert_non_null(p);
        (void)perfdata_feature(p, FORMAT_JIT_NAMES, &n);
        assert_int_equal(n, 0);
        perfdata_close(p);
        assert_true(fixture_read(fixture_path("a"), &s, &damage, &e));
        assert_int_equal(s.samples, FIXTURE_SAMPLES);
        assert_int_equal(damage.len != 0, sizes[i] != 0);
        buf_done(&damage);
    }
}

static bool check_sideband(void *ctx, const struct record *r)
{
    uint32_t *seen = ctx;
    if (r->type == PERF_RECORD_MMAP2) {
        assert_int_equal(r->mmap.addr, FIXTURE_TEXT);
        assert_int_equal(r->mmap.len, 0x10000);
        assert_int_equal(r->mmap.pgoff, 0x1000);
        assert_int_equal(r->mmap.maj, 8);
        assert_int_equal(r->mmap.ino, 12);
        assert_int_equal(r->mmap.ino_generation, 3);
        assert_true(r->mmap.prot & 4);
        assert_string_equal(r->mmap.path, "/usr/bin/parent");
        ++*seen;
    } else if (r->type == PERF_RECORD_MMAP) {
        assert_int_equal(r->mmap.pid, ~0u);
        assert_int_equal(r->misc, PERF_RECORD_MISC_KERNEL);
        assert_string_equal(r->mmap.path, "[kernel.kallsyms]_text");
        ++*seen;
    } else if (r->type == PERF_RECORD_COMM) {
        assert_int_equal(r->comm.exec, r->comm.pid == 100);
        assert_string_equal(r->comm.comm, r->comm.pid == 100 ? "parent" : "child");
        ++*seen;
    } else if (r->type == PERF_RECORD_FORK) {
        assert_int_equal(r->task.pid, 101);
        assert_int_equal(r->task.ppid, 100);
        ++*seen;
    } else if (r->type == PERF_RECORD_CGROUP) {
        assert_int_equal(r->cgroup.id, 42);
        assert_string_equal(r->cgroup.path, "/system.slice/some.service");
        ++*seen;
    } else if (r->type == PERF_RECORD_KSYMBOL) {
        assert_int_equal(r->ksymbol.len, 64);
        assert_string_equal(r->ksymbol.name, "bpf_prog_0123456789abcdef_x");
        ++*seen;
    }
    return true;
}

TEST(side_band_records_keep_their_fields)
{
    struct error e = { 0 };
    uint32_t seen = 0;
    assert_true(fixture_write(fixture_path("a"), NULL, &e));
    struct perfdata *p = perfdata_open(fixture_path("a"), &e);
    assert_non_null(p);
    assert_true(perfdata_each(p, check_sideband, &seen, NULL, &e));
    assert_int_equal(seen, 7);
    perfdata_close(p);
}

TEST(the_header_describes_events_machine_and_modules)
{
    const struct perfdata_event *events;
    const struct perfdata_build_id *ids;
    struct error e = { 0 };
    char host[65] = "";
    assert_true(fixture_write(fixture_path("a"), NULL, &e));
    struct perfdata *p = perfdata_open(fixture_path("a"), &e);
    assert_non_null(p);
    assert_int_equal(perfdata_events(p, &events), 2);
    assert_string_equal(events[0].name, "cpu-clock");
    assert_string_equal(events[1].name, "task-clock");
    assert_int_equal(events[0].attr.sample_freq, 99);
    assert_int_equal(events[0].attr.clockid, CLOCK_MONOTONIC);
    assert_int_equal(events[0].n_ids, 1);
    gethostname(host, sizeof host - 1);
    const struct perfdata_info *info = perfdata_info(p);
    assert_string_equal(info->hostname, host);
    assert_true(info->cpus_online >= 1);
    assert_true(info->total_mem_kb > 0);
    assert_non_null(strstr(info->version, "flametop"));
    assert_non_null(strstr(info->cmdline, program_invocation_short_name));
    assert_int_equal(info->sample_first_ns, FIXTURE_START_NS);
    assert_int_equal(info->sample_last_ns, FIXTURE_START_NS + (FIXTURE_SAMPLES - 1) * FIXTURE_STEP_NS);
    assert_int_equal(perfdata_build_ids(p, &ids), 2);
    assert_string_equal(ids[0].path, "[kernel.kallsyms]");
    assert_int_equal(ids[0].misc, PERF_RECORD_MISC_KERNEL);
    assert_int_equal(ids[0].size, 20);
    assert_int_equal(ids[1].size, 16);
    assert_int_equal(ids[1].id[15], 17);
    perfdata_close(p);
}

TEST(facts_of_another_machine_replace_those_of_this_one)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                    .use_clockid = 1,
                                    .clockid = CLOCK_MONOTONIC };
    struct perfdata_write_event event = { .name = "cpu-clock", .attr = &attr };
    struct perfdata_info other = {
        .hostname = "elsewhere", .release = "3.2.1", .cpus_online = 7, .cmdline = "x y"
    };
    struct buf a = { 0 }, b = { 0 };
    struct error e = { 0 };
    for (int i = 0; i < 2; i++) {
        struct perfdata_writer *w =
            perfdata_writer_open(fixture_path(i ? "b" : "a"), &event, 1, false, false, &e);
        assert_non_null(w);
        perfdata_write_host(w, &other);
        perfdata_write_sample(w, &(struct perfdata_write_sample){ .time_ns = 5, .ip = 6, .misc = 2 });
        assert_true(perfdata_writer_commit(w, NULL, &e));
    }
    struct perfdata *p = perfdata_open(fixture_path("a"), &e);
    assert_non_null(p);
    assert_string_equal(perfdata_info(p)->hostname, "elsewhere");
    assert_string_equal(perfdata_info(p)->cmdline, "x y");
    assert_int_equal(perfdata_info(p)->cpus_online, 7);
    assert_string_equal(perfdata_info(p)->cpudesc, "");
    assert_int_equal(perfdata_info(p)->total_mem_kb, 0);
    perfdata_close(p);
    assert_true(file_read(fixture_path("a"), 1 << 20, &a, &e));
    assert_true(file_read(fixture_path("b"), 1 << 20, &b, &e));
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    buf_done(&a);
    buf_done(&b);
}

TEST(overlong_chains_paths_and_payloads_are_truncated_to_a_record)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .config = 1 };
    struct perfdata_write_event event = { .name = "none:such", .attr = &attr };
    struct error e = { 0 };
    struct seen s = { 0 };
    uint64_t *chain = calloc(20000, sizeof *chain);
    char *path = malloc(100001);
    memset(path, 'x', 100000);
    path[100000] = '\0';
    struct perfdata_writer *w = perfdata_writer_open(fixture_path("a"), &event, 1, true, false, &e);
    assert_non_null(w);
    perfdata_write_comm(w, 1, 1, 1, path, false);
    perfdata_write_mmap(w, 1, &(struct perfdata_write_map){ .pid = 1, .path = path });
    perfdata_write_sample(w,
                          &(struct perfdata_write_sample){ .time_ns = 2, .chain = chain, .chain_n = 20000 });
    perfdata_write_sample(
        w, &(struct perfdata_write_sample){
               .time_ns = 3, .chain = chain, .chain_n = 20000, .raw = path, .raw_size = 30000 });
    perfdata_write_sample(w,
                          &(struct perfdata_write_sample){ .time_ns = 3, .raw = path, .raw_size = 100000 });
    perfdata_write_build_id(w, path, false, (const uint8_t *)path, 20);
    perfdata_write_sample(w, &(struct perfdata_write_sample){ .event = 1 });
    assert_true(perfdata_writer_commit(w, NULL, &e));
    assert_true(fixture_read(fixture_path("a"), &s, NULL, &e));
    assert_int_equal(s.samples, 3);
    assert_true(s.chain_entries > 8000);
    free(chain);
    free(path);
}

static bool copy_record(void *w, const struct record *r)
{
    perfdata_write_record(w, r);
    return true;
}

/* Sizes that divide the size of a round among them: such a round ends exactly with a record. */
TEST(records_of_any_size_stay_whole_where_a_round_ends)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };
    struct perfdata_write_event event = { .name = "cpu-clock", .attr = &attr };
    static const uint64_t chain[9] = { 0 };
    struct error e = { 0 };
    for (uint32_t i = 0; i < 2 * 9; i++) {
        struct seen s = { 0 };
        struct buf damage = { 0 };
        struct perfdata_writer *w = perfdata_writer_open(fixture_path("a"), &event, 1, true, false, &e);
        for (uint32_t k = 0; k < 100000; k++)
            perfdata_write_sample(
                w, &(struct perfdata_write_sample){ .time_ns = 1 + k, .chain = chain, .chain_n = i % 9 });
        assert_true(perfdata_writer_commit(w, NULL, &e));
        struct perfdata *from = perfdata_open(fixture_path("a"), &e);
        w = perfdata_writer_copy(fixture_path("b"), from, true, &e);
        if (i < 9)
            perfdata_write_packed(w);
        assert_true(perfdata_each(from, copy_record, w, NULL, &e));
        assert_true(perfdata_writer_commit(w, NULL, &e));
        perfdata_close(from);
        assert_true(fixture_read(fixture_path("b"), &s, &damage, &e));
        assert_string_equal(buf_str(&damage), "");
        assert_int_equal(s.samples, 100000);
        assert_true(s.types[FORMAT_RECORD_FINISHED_ROUND]);
        buf_done(&damage);
    }
}

static bool perf_says(const char *what, const char *file, struct buf *out, struct buf *err)
{
    char command[256];
    /* A separate home folder: perf keeps build-ids and configuration there. */
    snprintf(command, sizeof command, "HOME='%s' PAGER=cat perf %s -i '%s' >'%s/out' 2>'%s/err'", fixture_dir,
             what, file, fixture_dir, fixture_dir);
    int rc = system(command);
    return file_read(fixture_path("out"), 16 << 20, out, NULL) &&
           file_read(fixture_path("err"), 1 << 20, err, NULL) && rc == 0;
}

static bool have_perf(void)
{
    if (!system("perf --version >/dev/null 2>&1"))
        return true;
    print_message("perf is not installed here\n");
    return false;
}

/* The build-ids are invented, so perf rightly finds no such kernel. */
static bool is_quiet(char *err)
{
    for (char *line = err ? strtok(err, "\n") : NULL; line; line = strtok(NULL, "\n"))
        if (!strstr(line, "No kallsyms or vmlinux with build-id"))
            return false;
    return true;
}

TEST(a_tracepoint_with_a_name_of_its_own_keeps_its_format)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .config = 7 };
    struct perfdata_write_event event = { .name = "mine:too", .tracepoint = "t:real", .attr = &attr };
    struct error e = { 0 };
    size_t n;
    mkdir(fixture_path("events"), 0700);
    mkdir(fixture_path("events/t"), 0700);
    mkdir(fixture_path("events/t/real"), 0700);
    FILE *f = fopen(fixture_path("events/t/real/format"), "w");
    assert_non_null(f);
    fputs(
        "name: real\nID: 7\nformat:\n\tfield:int known;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
        f);
    fclose(f);
    tracepoint_set_root(fixture_dir);
    struct perfdata_writer *w = perfdata_writer_open(fixture_path("t"), &event, 1, false, false, &e);
    assert_non_null(w);
    perfdata_write_sample(w,
                          &(struct perfdata_write_sample){ .time_ns = 1, .raw = "payload", .raw_size = 8 });
    assert_true(perfdata_writer_commit(w, NULL, &e));
    tracepoint_set_root(NULL);
    struct perfdata *p = perfdata_open(fixture_path("t"), &e);
    assert_non_null(p);
    const char *format = perfdata_tracepoint(p, 7, &n);
    assert_non_null(format);
    assert_non_null(memmem(format, n, "field:int known;", 16));
    perfdata_close(p);
}

TEST(perf_reads_it_without_complaint)
{
    static const char *const commands[] = { "report --stdio", "script",
                                            "evlist -v",      "report --header-only",
                                            "buildid-list",   "report --stdio -s cgroup,comm,dso,sym" };
    struct perf_event_attr tracepoint = { .type = PERF_TYPE_TRACEPOINT, .config = 314, .sample_period = 1 };
    struct error e = { 0 };
    if (!have_perf())
        skip();
    uint64_t id;
    if (tracepoint_id("sched", "sched_switch", &id, &e)) /* otherwise: an empty format */
        tracepoint.config = id;
    for (int traced = 0; traced < 2; traced++) {
        assert_true(fixture_write(fixture_path("p"), traced ? &tracepoint : NULL, &e));
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            struct buf out = { 0 }, err = { 0 };
            bool ok = perf_says(commands[i], fixture_path("p"), &out, &err);
            ok = ok && is_quiet(err.data);
            if (!ok)
                print_message("perf %s: %s\n", commands[i], buf_str(&err));
            assert_true(ok);
            assert_true(out.len > 0);
            buf_done(&out);
            buf_done(&err);
        }
    }
}

TEST(perf_sees_the_same_samples)
{
    struct buf out = { 0 }, err = { 0 };
    struct error e = { 0 };
    uint32_t i = 0;
    if (!have_perf())
        skip();
    assert_true(fixture_write(fixture_path("p"), NULL, &e));
    assert_true(
        perf_says("script --ns -G -F comm,tid,cpu,time,event,period,ip", fixture_path("p"), &out, &err));
    for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"), i++) {
        char comm[16], event[32];
        unsigned tid, cpu;
        unsigned long long sec, ns, period, ip, want_ip;
        uint64_t chain[5];
        bool kernel;
        assert_int_equal(sscanf(line, " %15s %u [%u] %llu.%llu: %llu %31[^:]: %llx", comm, &tid, &cpu, &sec,
                                &ns, &period, event, &ip),
                         8);
        fixture_chain(i, chain, (uint64_t *)&want_ip, &kernel);
        assert_string_equal(comm, i % 2 ? "child" : "parent");
        assert_int_equal(tid, 100 + i % 2);
        assert_int_equal(cpu, i % 8);
        assert_int_equal(sec * 1000000000 + ns, FIXTURE_START_NS + i * FIXTURE_STEP_NS);
        assert_int_equal(period, i % 4 == 3 ? 1 : 1000 + i);
        assert_string_equal(event, i % 4 == 3 ? "task-clock" : "cpu-clock");
        /* perf prints an unknown function as an offset in its module */
        assert_int_equal(ip & 0xfff, want_ip & 0xfff);
    }
    assert_int_equal(i, FIXTURE_SAMPLES);
    buf_done(&out);
    buf_done(&err);
}

TEST(a_full_disk_is_reported_and_leaves_nothing)
{
    struct rlimit old, small = { 4096, 4096 };
    struct error e = { 0 };
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = fixture_write(fixture_path("full"), NULL, &e);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    assert_non_null(strstr(e.text, "full"));
    assert_int_not_equal(access(fixture_path("full"), F_OK), 0);
}

struct group_seen {
    uint64_t periods[3];
    uint32_t n, again;
};

static bool check_group(void *ctx, const struct record *r)
{
    struct group_seen *seen = ctx;
    if (r->type != PERF_RECORD_SAMPLE)
        return true;
    assert_true(r->source < 3);
    seen->periods[r->source] = seen->periods[r->source] * 1000 + r->sample.period;
    seen->n++;
    seen->again += r->again;
    return true;
}

TEST(a_group_read_from_a_file_is_written_as_a_group)
{
    struct perf_event_attr lone = { .type = PERF_TYPE_SOFTWARE }, leader = lone, other = lone;
    const struct perfdata_event *events;
    struct group_seen seen = { 0 };
    struct error e = { 0 };
    leader.sample_type = PERF_SAMPLE_READ;
    leader.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    leader.sample_period = 100;
    other.config = PERF_COUNT_SW_PAGE_FAULTS;
    other.sample_period = 100;
    struct perfdata_write_event written[] = { { .name = "alone", .attr = &lone },
                                              { .name = "leader", .attr = &leader, .group = 2 },
                                              { .name = "other", .attr = &other, .group = 2 } };
    static const struct {
        uint32_t event;
        uint64_t periods[2];
    } samples[] = {
        { 1, { 100, 7 } }, { 0, { 50, 0 } }, { 1, { 101, 0 } }, { 1, { 0, 9 } }, { 2, { 5, 0 } }
    };
    struct perfdata_writer *w = perfdata_writer_open(fixture_path("group"), written, 3, false, false, &e);
    for (uint32_t i = 0; i < 5; i++) {
        struct perfdata_write_sample s = {
            .time_ns = 1000 + i, .event = samples[i].event, .pid = 1, .tid = 1
        };
        s.period = samples[i].periods[0];
        s.member_periods = s.event == 1 ? samples[i].periods : NULL;
        perfdata_write_sample(w, &s); /* of a member by itself: nothing is written */
    }
    assert_true(perfdata_writer_commit(w, NULL, &e));
    struct perfdata *p = perfdata_open(fixture_path("group"), &e);
    assert_int_equal(perfdata_events(p, &events), 3);
    assert_int_equal(events[0].leader, 0);
    assert_int_equal(events[2].leader, 1);
    assert_int_equal(events[1].attr.sample_period, 100);
    assert_int_equal(events[2].attr.sample_period, 0);
    assert_true(perfdata_each(p, check_group, &seen, NULL, &e));
    assert_int_equal(seen.n, 5);
    assert_int_equal(seen.again, 1);
    assert_int_equal(seen.periods[0], 50);
    assert_int_equal(seen.periods[1], 100101);
    assert_int_equal(seen.periods[2], 7009);
    perfdata_close(p);
}

TEST(abort_leaves_nothing)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };
    struct perfdata_write_event event = { .name = "cpu-clock", .attr = &attr };
    struct error e = { 0 };
    struct perfdata_writer *w = perfdata_writer_open(fixture_path("no"), &event, 1, true, true, &e);
    assert_non_null(w);
    perfdata_writer_abort(w);
    perfdata_writer_abort(NULL);
    assert_int_not_equal(access(fixture_path("no"), F_OK), 0);
    assert_null(perfdata_writer_open(fixture_path("no"), &event, 0, true, true, &e));
    assert_null(perfdata_writer_open(fixture_path("no/such/folder"), &event, 1, true, true, &e));
}

TEST_MAIN(fixture_setup, fixture_teardown)
