// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports of a perf.data whose samples are known. Its functions are those of this program. */
#include "session_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "export/export.h"
#include "export/json.h"
#include "perfdata/writer.h"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static char folder[] = "/tmp/flametop-export-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/perf.data", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

/* Never called: their addresses are sampled. */
__attribute__((noinline, used)) static unsigned export_test_leaf(unsigned x)
{
    for (unsigned i = 0; i < x; i++)
        x = x * 7 + i;
    return x;
}

__attribute__((noinline, used)) static unsigned export_test_caller(unsigned x)
{
    return export_test_leaf(x + 1) + export_test_leaf(x + 2) + x;
}

#define LEAF   ((uint64_t)(uintptr_t)export_test_leaf)
#define CALLER ((uint64_t)(uintptr_t)export_test_caller)

/* Finds the executable mapping of this program. */
static void map_self(struct perfdata_writer *w, uint32_t pid)
{
    unsigned long start, end, pgoff;
    char name[512], line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511s", &start, &end, &pgoff, name) == 4 && LEAF >= start &&
            LEAF < end)
            perfdata_write_mmap(w, 1,
                                &(struct perfdata_write_map){ .pid = pid,
                                                              .tid = pid,
                                                              .addr = start,
                                                              .len = end - start,
                                                              .pgoff = pgoff,
                                                              .path = name });
    fclose(maps);
}

static void put_sample(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint64_t leaf,
                       uint64_t caller)
{
    uint64_t chain[] = { PERF_CONTEXT_USER, leaf, caller };
    perfdata_write_sample(w, &(struct perfdata_write_sample){ .time_ns = time_ns,
                                                              .ip = leaf,
                                                              .period = 1,
                                                              .pid = pid,
                                                              .tid = pid,
                                                              .cpu = pid % 3,
                                                              .chain = chain,
                                                              .misc = PERF_RECORD_MISC_USER,
                                                              .chain_n = caller ? 3 : 2 });
}

static void put_none(struct perfdata_writer *w)
{
    (void)w;
}

/* "zeta": 3 in leaf below caller, 2 in caller; "a;b": 1 in leaf. */
static void put_few(struct perfdata_writer *w)
{
    for (uint64_t i = 0; i < 3; i++)
        put_sample(w, 10 + i, 100, LEAF + i, CALLER + 5);
    for (uint64_t i = 0; i < 2; i++)
        put_sample(w, 20 + i, 100, CALLER + i, 0);
    put_sample(w, 30, 200, LEAF, 0);
}

static void open_file_of(void (*put_samples)(struct perfdata_writer *w))
{
    struct perf_event_attr clock = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1, .sample_freq = 99
    };
    struct perfdata_write_event event = { .name = "cpu-clock", .attr = &clock };
    struct perfdata_writer *w = perfdata_writer_open(path, &event, 1, true, false, &error);
    assert_non_null(w);
    perfdata_write_comm(w, 1, 100, 100, "zeta", false);
    perfdata_write_comm(w, 1, 200, 200, "a;b", false);
    map_self(w, 100);
    map_self(w, 200);
    put_samples(w);
    assert_true(perfdata_writer_commit(w, NULL, &error));
    cfg.input = path;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, 60 * NS_PER_SEC, NULL);
}

static void open_file(bool samples)
{
    open_file_of(samples ? put_few : put_none);
}

static const struct export_options options;

/* Returns what an exporter writes to a file. The caller frees it. */
static char *exported(const struct exporter *x)
{
    char file[80];
    struct buf text = { 0 };
    snprintf(file, sizeof file, "%s/out", folder);
    if (!export_run(x, session, &query, &options, file, &error))
        fail_msg("%s", error.text);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(file_read(file, 1 << 20, &text, &error));
    unlink(file);
    return buf_take(&text);
}

FIXTURE_TEST(folded_stacks_are_summed_and_sorted)
{
    open_file(true);
    char *text = exported(&export_folded);
    assert_string_equal(text, "a:b;export_test_leaf 1\n"
                              "zeta;export_test_caller 2\n"
                              "zeta;export_test_caller;export_test_leaf 3\n");
    free(text);
}

static char *folded_with(struct export_options o)
{
    struct buf text = { 0 };
    query.group = o.pid || o.tid ? VIEW_GROUP_THREAD : VIEW_GROUP_COMM_SYMBOL;
    export_query(session, &query, &view);
    export_folded.text(session, &query, &view, &o, &text);
    return buf_take(&text);
}

/* Stacks of up to 40 frames of two functions: most lines share long prefixes. */
static void put_recursions(struct perfdata_writer *w)
{
    uint64_t chain[42] = { PERF_CONTEXT_USER }, random = 1;
    for (uint64_t i = 0; i < 3000; i++) {
        uint32_t n = 1;
        do {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            chain[n++] = (random >> 40 & 1 ? LEAF : CALLER) + 5 + (random >> 33 & 3);
        } while (n < 41 && random >> 60);
        perfdata_write_sample(w, &(struct perfdata_write_sample){ .time_ns = 10 + i,
                                                                  .ip = chain[1],
                                                                  .period = 1,
                                                                  .pid = 100,
                                                                  .tid = 100,
                                                                  .chain = chain,
                                                                  .chain_n = n,
                                                                  .misc = PERF_RECORD_MISC_USER });
    }
}

FIXTURE_TEST(folded_stacks_with_common_prefixes_are_sorted_and_unique)
{
    open_file_of(put_recursions);
    char *text = exported(&export_folded), *rest = NULL, *before = NULL, *count;
    unsigned long sum = 0, lines = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
        assert_non_null(count = strrchr(line, ' '));
        *count = '\0';
        sum += strtoul(count + 1, NULL, 10);
        assert_true(!before || strcmp(before, line) < 0);
        before = line;
    }
    assert_int_equal(sum, 3000);
    assert_true(lines > 500);
    free(text);
}

/* Name lengths chosen so that offsets in the exporter's memory differ as much as those of the two
 * functions. */
static void put_threads(struct perfdata_writer *w)
{
    for (uint32_t i = 0; i < 20; i++) {
        char comm[16];
        snprintf(comm, sizeof comm, i & 8 ? "t%03u" : "thread%02u", i);
        perfdata_write_comm(w, 1, 300 + i, 300 + i, comm, false);
        map_self(w, 300 + i);
        put_sample(w, 10 + 2 * i, 300 + i, LEAF, 0);
        put_sample(w, 11 + 2 * i, 300 + i, CALLER, 0);
    }
}

FIXTURE_TEST(folded_stacks_are_kept_separate_per_thread)
{
    open_file_of(put_threads);
    char *text = exported(&export_folded);
    for (uint32_t i = 0; i < 20; i++) {
        char line[64];
        snprintf(line, sizeof line, i & 8 ? "t%03u;export_test_leaf 1\n" : "thread%02u;export_test_leaf 1\n",
                 i);
        assert_non_null(strstr(text, line));
        snprintf(line, sizeof line,
                 i & 8 ? "t%03u;export_test_caller 1\n" : "thread%02u;export_test_caller 1\n", i);
        assert_non_null(strstr(text, line));
    }
    free(text);
}

FIXTURE_TEST(folded_stacks_can_include_process_and_thread_ids)
{
    open_file(true);
    char *text = folded_with((struct export_options){ .pid = true });
    assert_non_null(strstr(text, "zeta-100;export_test_caller 2\n"));
    mem_free(text);
    text = folded_with((struct export_options){ .tid = true, .annotate_kernel = true, .fold_period = true });
    assert_non_null(strstr(text, "a:b-200/200;export_test_leaf 1\n"));
    mem_free(text);
}

FIXTURE_TEST(exports_apply_the_current_zoom)
{
    open_file(true);
    zoom_to(ZOOM_PROCESS, 200, "");
    char *text = exported(&export_folded);
    assert_string_equal(text, "a:b;export_test_leaf 1\n");
    free(text);
}

static const char *line_with(const char *text, const char *word)
{
    static char line[256];
    const char *at = strstr(text, word);
    line[0] = '\0';
    if (!at)
        return line;
    while (at > text && at[-1] != '\n')
        at--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

FIXTURE_TEST(the_report_lists_functions_by_self_share)
{
    double self, total;
    unsigned samples;
    open_file(true);
    char *text = exported(&export_report);
    assert_non_null(strstr(text, "cpu-clock 99Hz"));
    assert_non_null(strstr(text, "\nsamples 6  idle 0  broken stacks 0  lost 0"));
    assert_int_equal(sscanf(line_with(text, "export_test_leaf"), "%lf %lf %u", &self, &total, &samples), 3);
    assert_true(self > 66 && self < 67 && total == self && samples == 4);
    assert_int_equal(sscanf(line_with(text, "export_test_caller"), "%lf %lf %u", &self, &total, &samples), 3);
    assert_true(self > 33 && self < 34 && total > 83 && total < 84 && samples == 2);
    assert_true(strstr(text, "export_test_leaf") < strstr(text, "export_test_caller"));
    free(text);
}

FIXTURE_TEST(the_report_lists_groups_when_requested)
{
    unsigned samples;
    open_file(true);
    query.group = VIEW_GROUP_COMM;
    char *text = exported(&export_report);
    assert_int_equal(sscanf(line_with(text, "zeta"), "%*f %*f %u", &samples), 1);
    assert_int_equal(samples, 5);
    assert_null(strstr(text, "export_test_leaf"));
    free(text);
    query.group = VIEW_GROUP_COMM_SYMBOL;
    text = exported(&export_report);
    assert_non_null(strstr(line_with(text, "a;b"), "export_test_leaf"));
    free(text);
    query.group = VIEW_GROUP_MODULE;
    text = exported(&export_report);
    assert_int_equal(sscanf(line_with(text, "test_export"), "%*f %*f %u", &samples), 1);
    assert_int_equal(samples, 6);
    free(text);
}

FIXTURE_TEST(the_report_has_the_requested_number_of_rows)
{
    struct buf text = { 0 };
    open_file(true);
    export_query(session, &query, &view);
    report_print(session, &query, &view, 1, &text);
    assert_non_null(strstr(buf_str(&text), "export_test_leaf"));
    assert_null(strstr(buf_str(&text), "export_test_caller"));
    buf_done(&text);
}

FIXTURE_TEST(exports_without_samples_are_empty)
{
    char file[80];
    open_file(false);
    char *text = exported(&export_folded);
    assert_string_equal(text, "");
    free(text);
    for (int g = 0; g < VIEW_GROUP_COUNT; g++) {
        query.group = (enum view_group)g;
        text = exported(&export_report);
        assert_non_null(strstr(text, "SELF%"));
        free(text);
    }
    snprintf(file, sizeof file, "%s/out.data", folder);
    assert_false(export_run(&export_perfdata, session, &query, &options, file, &error));
    assert_int_not_equal(access(file, F_OK), 0);
}

FIXTURE_TEST(formats_are_found_by_name_or_file_extension)
{
    assert_ptr_equal(export_find("folded", "x.data", &error), &export_folded);
    assert_ptr_equal(export_find(NULL, "x.folded", &error), &export_folded);
    assert_ptr_equal(export_find(NULL, "x.txt", &error), &export_report);
    assert_ptr_equal(export_find(NULL, "x.callers.txt", &error), &export_callers);
    assert_ptr_equal(export_find(NULL, "x.json", &error), &export_json);
    assert_ptr_equal(export_find(NULL, "x.speedscope.json", &error), &export_speedscope);
    assert_ptr_equal(export_find(NULL, "x.pb.gz", &error), &export_pprof);
    assert_ptr_equal(export_find(NULL, "x.data", &error), &export_perfdata);
    assert_ptr_equal(export_find(NULL, "x", &error), &export_perfdata);
    assert_ptr_equal(export_find(NULL, "", &error), &export_perfdata);
    assert_null(export_find("foldde", "x", &error));
    assert_non_null(strstr(error.text, "did you mean folded?"));
    assert_null(export_find("", "x", &error));
    for (size_t i = 0; i < export_table_n; i++) {
        assert_true(*export_table[i]->help && export_table[i]->suffix[0] == '.');
        assert_true(export_table[i]->text || export_table[i]->stream || export_table[i]->write ||
                    export_table[i]->plan);
    }
}

FIXTURE_TEST(call_graphs_are_exported_top_down_or_bottom_up)
{
    double total, self;
    unsigned samples;
    open_file(true);
    char *text = exported(&export_callgraph);
    const char *caller = strstr(text, "5  export_test_caller  test_export\n");
    assert_non_null(caller);
    assert_int_equal(sscanf(line_with(text, "5  export_test_caller"), "%lf %lf %u", &total, &self, &samples),
                     3);
    assert_true(total > 83 && total < 84 && self > 33 && self < 34);
    assert_non_null(strstr(caller, "3    export_test_leaf  test_export\n"));
    free(text);
    text = exported(&export_callers);
    const char *leaf = strstr(text, "4  export_test_leaf  test_export\n");
    assert_non_null(leaf);
    assert_non_null(strstr(leaf, "3    export_test_caller  test_export\n"));
    assert_non_null(strstr(leaf, "2  export_test_caller  test_export\n"));
    free(text);
}

FIXTURE_TEST(the_json_contains_all_samples)
{
    open_file(true);
    char *text = exported(&export_json);
    assert_non_null(strstr(text, "\"samples\":6,\"lost\":0"));
    assert_non_null(strstr(text, "{\"name\":\"zeta\",\"samples\":5,\"period\":5}"));
    assert_non_null(strstr(text, "{\"tid\":200,\"pid\":200,\"comm\":\"a;b\",\"samples\":1,\"period\":1}"));
    assert_non_null(strstr(text, "{\"cpu\":2,\"samples\":1,\"period\":1}"));
    assert_non_null(
        strstr(text, "{\"name\":\"export_test_leaf\",\"module\":\"test_export\",\"self\":4,\"total\":4}"));
    assert_non_null(strstr(text, "\"time\":{\"first_ns\":10,\"last_ns\":30}"));
    free(text);
    zoom_to(ZOOM_PROCESS, 200, "");
    text = exported(&export_json);
    assert_non_null(strstr(text, "\"samples\":1,\"lost\":0"));
    assert_null(strstr(text, "zeta"));
    free(text);
}

TEST(any_bytes_in_names_give_valid_json)
{
    struct buf text = { 0 };
    json_item(&text, "a\"b\\c\n\x1b[31m\x7f");
    assert_string_equal(buf_str(&text), "\"a\\\"b\\\\c\\u000a\\u001b[31m\\u007f\"");
    buf_clear(&text);
    json_item(&text, "\xff\xc3\xa9\xe2\x82\xed\xa0\x80");
    assert_string_equal(
        buf_str(&text),
        "\"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    buf_done(&text);
}

FIXTURE_TEST(write_errors_are_reported)
{
    char file[96], target[96];
    open_file(true);
    snprintf(file, sizeof file, "%s/no/such/folder", folder);
    assert_false(export_run(&export_folded, session, &query, &options, file, &error));
    assert_non_null(strstr(error.text, "/no/such"));
    snprintf(file, sizeof file, "%s/link", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(symlink(target, file), 0);
    assert_false(export_run(&export_report, session, &query, &options, file, &error));
    unlink(file);
    assert_int_not_equal(access(target, F_OK), 0);
}

WORKER_TEST_MAIN(make_folder, remove_folder)
