// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/machine_load.h"
#include "unit_test.h"

/* The system, with a cgroup if there is one. */
static struct machine_load load_of(const char *cgroup)
{
    struct machine_load l = { 0 };
    VEC_RESERVE_ZEROED(&l.places, 2);
    l.places.n = cgroup ? 2 : 1;
    if (cgroup)
        strcpy(l.places.items[1].cgroup, cgroup);
    return l;
}

/* Reads such a file's text at this second. */
static void take_pressure(struct pressure_place *place, enum pressure_resource r, const char *text,
                          double second)
{
    struct pressure_line lines[PRESSURE_KINDS];
    assert_true(pressure_parse(lines, text));
    pressure_update(&place->of[r], lines, (uint64_t)(second * NS_PER_SEC));
}

static void expect_text(const struct machine_load *l, unsigned line, const char *wanted)
{
    char text[256];
    machine_load_text(l, line, text, sizeof text);
    assert_string_equal(text, wanted);
}

static const struct load_row *row_at(const struct machine_load *l, size_t i, enum load_row_kind kind,
                                     const char *name)
{
    assert_true(i < l->rows.n);
    const struct load_row *row = &l->rows.items[i];
    assert_string_equal(row->name, name);
    assert_int_equal(row->kind, kind);
    return row;
}

static void expect_row(const struct machine_load *l, size_t i, const char *name, const char *value,
                       const char *detail)
{
    const struct load_row *row = row_at(l, i, LOAD_VALUE, name);
    assert_string_equal(row->value, value);
    assert_string_equal(row->detail, detail);
}

/* ---- parsers ---- */

/* A file of Linux 6.18. */
static const char io_text[] = "some avg10=0.12 avg60=0.52 avg300=1.25 total=341724894\n"
                              "full avg10=0.11 avg60=0.50 avg300=1.07 total=161902725\n";

TEST(pressure_files_are_parsed)
{
    struct pressure_line lines[PRESSURE_KINDS];
    const struct pressure_line *some = &lines[PRESSURE_SOME], *full = &lines[PRESSURE_FULL];
    assert_true(pressure_parse(lines, io_text));
    assert_true(some->there && full->there);
    assert_true(some->total_us == 341724894 && full->total_us == 161902725);
    assert_true(some->average[0] == 0.12 && some->average[1] == 0.52 && some->average[2] == 1.25);
    /* cpu before Linux 5.13; irq */
    assert_true(pressure_parse(lines, "some avg10=1.00 avg60=2.00 avg300=3.00 total=4\n"));
    assert_true(some->there && !full->there);
    assert_true(pressure_parse(lines, "full avg10=1.00 avg60=2.00 avg300=3.00 total=18446744073709551615\n"));
    assert_true(!some->there && full->there && full->total_us == UINT64_MAX);
    /* other lines are ignored, as is their order */
    assert_true(pressure_parse(lines, "\nsomething else\nfull avg10=1 avg60=2 avg300=3 total=5\n"
                                      "some avg10=1 avg60=2 avg300=3 total=4\n"));
    assert_true(some->there && full->there && some->total_us == 4);
}

TEST(malformed_pressure_is_refused)
{
    static const char *const texts[] = {
        "",
        "\n",
        "\n\n\n",
        "some",
        "some ",
        "some\n",
        "some avg10=",
        "some avg10=1.00 avg60=2.00 avg300=3.00\n",                             /* no total */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=\n",                      /* no number */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=12",                      /* truncated: 12…? */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=12x\n",                   /* not a number */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=-1\n",                    /* negative */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=18446744073709551616\n",  /* too large */
        "some avg10=1.00 avg60=2.00 avg300=3.00 total=999999999999999999999\n", /* too large */
        "some avg10=nan avg60=2.00 avg300=3.00 total=1\n",
        "some avg10=1.00 avg60=inf avg300=3.00 total=1\n",
        "some avg10=-1.00 avg60=2.00 avg300=3.00 total=1\n",
        "some avg10=1.00 avg60=2.00 avg300=100.01 total=1\n",
        "somewhat avg10=1.00 avg60=2.00 avg300=3.00 total=1\n",
        "all avg10=1.00 avg60=2.00 avg300=3.00 total=1\n",
    };
    struct pressure_line lines[PRESSURE_KINDS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(pressure_parse(lines, texts[i]));
        assert_false(lines[PRESSURE_SOME].there || lines[PRESSURE_FULL].there);
    }
    /* a file that ends in its second line keeps its first */
    assert_true(pressure_parse(lines, "some avg10=1 avg60=2 avg300=3 total=4\nfull avg10=1 avg60="));
    assert_true(lines[PRESSURE_SOME].there && !lines[PRESSURE_FULL].there);
}

TEST(a_share_is_of_the_time_since_the_last_read)
{
    struct machine_load l = load_of(NULL);
    struct pressure *io = &l.places.items->of[PRESSURE_IO];
    take_pressure(l.places.items, PRESSURE_IO, io_text, 100);
    assert_true(io->share[PRESSURE_SOME].now < 0 && !io->share[PRESSURE_SOME].n_trend);
    take_pressure(l.places.items, PRESSURE_IO,
                  "some avg10=0.00 avg60=0.00 avg300=0.00 total=342224894\n" /* 0.5 s more */
                  "full avg10=0.00 avg60=0.00 avg300=0.00 total=162402725\n",
                  102);
    assert_true(io->share[PRESSURE_SOME].now == 25 && io->share[PRESSURE_FULL].now == 25);
    assert_true(io->share[PRESSURE_SOME].n_trend == 1 && io->share[PRESSURE_SOME].trend[0] == 2500);
    /* without its second line, the first still counts; more time than passed is all of it */
    take_pressure(l.places.items, PRESSURE_IO, "some avg10=0 avg60=0 avg300=0 total=345224894\n", 103);
    assert_true(io->share[PRESSURE_SOME].now == 100 && io->share[PRESSURE_FULL].now < 0);
    /* a total that decreased is of a new cgroup with the name of the old one */
    take_pressure(l.places.items, PRESSURE_IO, "some avg10=0 avg60=0 avg300=0 total=5\n", 104);
    assert_true(io->share[PRESSURE_SOME].now < 0 && io->share[PRESSURE_SOME].n_trend == 2);
    pressure_restart(l.places.items);
    take_pressure(l.places.items, PRESSURE_IO, "some avg10=0 avg60=0 avg300=0 total=9\n", 105);
    assert_true(io->share[PRESSURE_SOME].now < 0);
    machine_load_done(&l);
}

TEST(load_and_run_queue_are_parsed)
{
    struct machine_load l = load_of(NULL);
    assert_true(machine_load_average(&l, "1.79 2.38 3.06 3/96 18763\n"));
    assert_true(l.average.now == 1.79 && l.average_5 == 2.38 && l.average_15 == 3.06);
    assert_true(l.running == 3 && l.threads == 96);
    assert_true(machine_load_stat(
        &l, "cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1 2 3\nprocs_running 3\nprocs_blocked 2\n"));
    assert_true(l.queue.now == 3 && l.blocked.now == 2 && l.steal.now < 0);
    assert_true(
        machine_load_stat(&l, "cpu  150 0 100 725 0 0 0 125 0 0\nprocs_running 1\nprocs_blocked 0\n"));
    assert_true(l.queue.now == 1 && l.queue.n_trend == 2 && l.queue.trend[0] == 300);
    assert_true(l.steal.now == 25 && l.steal.n_trend == 1);
    machine_load_done(&l);
}

TEST(malformed_load_changes_nothing)
{
    static const char *const texts[] = {
        "",
        "\n",
        "cpu",
        "cpu 1 2",
        "load",
        "1.0 2.0",
        "1 2 3 4",
        "1 2 3 4/",
        "nan 2 3 4/5 6",
        "1 inf 3 4/5 6",
        "1 2 -3 4/5 6",
        "\nprocs_blocked x",
        "cpu 1 2 3 4 5 6 7 8\n",
        "cpu 1 2 3 4 5 6 7 8\nprocs_running 1\n",
        "cpu 1 2 3 4 5 6 7\nprocs_running 1\nprocs_blocked 2\n",
        "procs_running 1\nprocs_blocked 2\n",
    };
    struct machine_load l = load_of(NULL), before;
    assert_true(machine_load_average(&l, "1 2 3 4/5 6"));
    before = l;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(machine_load_average(&l, texts[i]) || machine_load_stat(&l, texts[i]));
    assert_memory_equal(&l, &before, sizeof l);
    assert_true(machine_load_stat(&l, "cpu 10 10 10 10 10 10 10 10\nprocs_running 1\nprocs_blocked 0\n"));
    /* the counters went backwards */
    assert_true(machine_load_stat(&l, "cpu 9 9 9 9 9 9 9 9\nprocs_running 1\nprocs_blocked 0\n"));
    assert_true(l.steal.now < 0);
    machine_load_done(&l);
}

TEST(a_trend_keeps_the_last_values)
{
    struct measured m = { 0 };
    measured_add(&m, -1);
    assert_int_equal(m.n_trend, 0);
    for (int i = 0; i < MEASURED_TREND + 5; i++)
        measured_add(&m, i);
    measured_add(&m, 1e300);
    assert_int_equal(m.n_trend, MEASURED_TREND);
    assert_int_equal(m.trend[0], 600);
    assert_int_equal(m.trend[MEASURED_TREND - 1], UINT32_MAX);
}

/* ---- rows ---- */

TEST(rows_of_the_system_and_of_a_cgroup)
{
    struct machine_load l = load_of("/a.slice/b\x1b[1m");
    machine_load_average(&l, "1.79 2.38 3.06 3/96 18763\n");
    machine_load_stat(&l, "cpu  100 0 100 700 0 0 0 100 0 0\nprocs_running 3\nprocs_blocked 2\n");
    for (int second = 1; second <= 2; second++) {
        static const char *const cpu[] = { "some avg10=1.00 avg60=2.00 avg300=100.00 total=1000000\n"
                                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                                           "some avg10=3.00 avg60=2.00 avg300=100.00 total=1250000\n"
                                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" };
        take_pressure(&l.places.items[0], PRESSURE_CPU, cpu[second - 1], second);
        take_pressure(&l.places.items[1], PRESSURE_CPU, cpu[second - 1], second);
    }
    take_pressure(&l.places.items[0], PRESSURE_IRQ, "full avg10=0.50 avg60=0.00 avg300=0.00 total=7\n", 1);
    machine_load_make_rows(&l);
    row_at(&l, 0, LOAD_HEADING, "system");
    expect_row(&l, 1, "load average", "1.79", "5 min 2.38, 15 min 3.06");
    expect_row(&l, 2, "run queue", "3", "of 96 threads");
    expect_row(&l, 3, "blocked", "2", "");
    expect_row(&l, 4, "steal", "...", "");
    expect_row(&l, 5, "cpu pressure some", "25.0%", "  3.00   2.00 100.00"); /* no full: always 0 */
    expect_row(&l, 6, "irq pressure full", "...", "  0.50   0.00   0.00");
    const struct load_row *heading = row_at(&l, 7, LOAD_HEADING, l.rows.items[7].name);
    assert_true(!strncmp(heading->name, "cgroup /a.slice/b", 17) && !strchr(heading->name, '\x1b'));
    expect_row(&l, 8, "cpu pressure some", "25.0%", "  3.00   2.00 100.00");
    expect_row(&l, 9, "cpu pressure full", "0.0%", "  0.00   0.00   0.00");
    assert_int_equal(l.rows.n, 10);
    assert_non_null(strstr(l.rows.items[8].help, " of /a.slice/b"));
    assert_null(strchr(l.rows.items[8].help, '\x1b'));
    assert_true(l.rows.items[5].key != l.rows.items[8].key);
    expect_text(&l, 0, "load 1.79 2.38 3.06  run queue 3 of 96 threads  blocked 2  steal ...");
    expect_text(&l, 1, "pressure:  cpu some 25.0%  irq full ...");
    struct buf text = { 0 };
    machine_load_print(&l, &text);
    assert_non_null(strstr(buf_str(&text), "\nblocked                                     2\n"));
    assert_non_null(strstr(buf_str(&text), "\n\ncgroup /a.slice/b"));
    buf_done(&text);
    machine_load_done(&l);
}

TEST(missing_files_are_reasons)
{
    struct machine_load l = load_of("/a");
    machine_load_stat(&l, "cpu  100 0 100 700 0 0 0 100 0 0\nprocs_running 3\nprocs_blocked 2\n");
    l.average.now = -1;
    error_sys(&l.no_average, EACCES, "cannot open /proc/loadavg");
    error_set(&l.places.items[0].why_not, ERROR_UNSUPPORTED, "no pressure");
    error_sys(&l.places.items[1].of[PRESSURE_MEMORY].why_not, EACCES, "cannot open memory.pressure");
    take_pressure(&l.places.items[1], PRESSURE_CPU, "some avg10=0 avg60=0 avg300=0 total=7\n", 1);
    machine_load_make_rows(&l);
    assert_string_equal(row_at(&l, 1, LOAD_REASON, "load average")->detail,
                        "cannot open /proc/loadavg: Permission denied");
    expect_row(&l, 2, "run queue", "3", "");
    assert_string_equal(row_at(&l, 5, LOAD_REASON, "pressure")->detail, "no pressure");
    row_at(&l, 6, LOAD_HEADING, "cgroup /a");
    expect_row(&l, 7, "cpu pressure some", "...", "  0.00   0.00   0.00");
    assert_string_equal(row_at(&l, 8, LOAD_REASON, "memory pressure")->detail,
                        "cannot open memory.pressure: Permission denied");
    assert_int_equal(l.rows.n, 9);
    expect_text(&l, 0, "load: cannot open /proc/loadavg: Permission denied");
    expect_text(&l, 1, "no pressure");
    machine_load_done(&l);
}

/* ---- reading ---- */

static void put_file(int folder, const char *name, const char *text)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

TEST(files_of_a_cgroup_are_read)
{
    char path[] = "/tmp/flametop-pressure-XXXXXX";
    assert_non_null(mkdtemp(path));
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    struct machine_load l = load_of("/a");
    struct pressure_place *place = &l.places.items[1];

    pressure_read(place, folder);
    assert_non_null(strstr(place->why_not.text, "No such file or directory"));
    assert_non_null(strstr(place->why_not.text, "CONFIG_PSI"));

    put_file(folder, "cpu.pressure", io_text);
    put_file(folder, "io.pressure", "some avg10=0.1");
    assert_int_equal(mkdirat(folder, "memory.pressure", 0700), 0);
    pressure_read(place, folder);
    assert_string_equal(place->why_not.text, "");
    assert_true(pressure_has(place, PRESSURE_CPU, PRESSURE_FULL));
    assert_string_equal(place->of[PRESSURE_IO].why_not.text,
                        "io.pressure has no line \"some avg10=... total=...\"");
    assert_non_null(strstr(place->of[PRESSURE_MEMORY].why_not.text, "Is a directory"));
    assert_string_equal(place->of[PRESSURE_IRQ].why_not.text, ""); /* many kernels do not have it */

    unlinkat(folder, "cpu.pressure", 0);
    pressure_read(place, folder); /* a value that was there is not shown any more */
    assert_false(pressure_has(place, PRESSURE_CPU, PRESSURE_SOME));
    unlinkat(folder, "io.pressure", 0);
    unlinkat(folder, "memory.pressure", AT_REMOVEDIR);
    close(folder);
    rmdir(path);
    machine_load_done(&l);
}

TEST(this_machine_is_read)
{
    struct machine_load l = { 0 };
    struct scope scope = { .kind = SCOPE_CGROUP, .cgroup = "/flametop-no-such-cgroup" };
    machine_load_open(&l, &scope);
    assert_true(l.average.now >= 0 && l.threads > 0 && l.queue.now > 0 && l.steal.now < 0);
    assert_true(*l.places.items[1].why_not.text);
    assert_true(!access("/proc/pressure/cpu", R_OK) == !*l.places.items[0].why_not.text);
    uint32_t n = l.average.n_trend;
    machine_load_read(&l);
    if (!*l.places.items[0].why_not.text)
        assert_true(l.places.items[0].of[PRESSURE_CPU].share[PRESSURE_SOME].now >= 0);
    /* the same scope keeps the trends, another one does not */
    machine_load_open(&l, &scope);
    assert_true(l.average.n_trend > n && l.places.n == 2);
    assert_true(scope_set_all(&scope, "", NULL));
    machine_load_open(&l, &scope);
    assert_true(l.average.n_trend == 1 && l.places.n == 1);
    machine_load_done(&l);
}

TEST_MAIN(NULL, NULL)
