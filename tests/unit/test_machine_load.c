// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "session/machine_load.h"

static void expect_text(const struct machine_load *l, unsigned line, const char *wanted)
{
    char text[192];
    machine_load_text(l, line, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void load_and_pressure_are_formatted_in_two_lines(void **state)
{
    struct machine_load l = { 0 };
    (void)state;
    machine_load_average(&l, "1.79 2.38 3.06 3/96 18763\n");
    machine_load_stat(&l, "cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1 2 3\nprocs_running 3\nprocs_blocked 2\n");
    expect_text(&l, 0, "load 1.79 2.38 3.06  run queue 3 of 96 tasks  blocked 2  steal ...");
    machine_load_stat(&l, "cpu  150 0 100 725 0 0 0 125 0 0\nprocs_blocked 0\n");
    expect_text(&l, 0, "load 1.79 2.38 3.06  run queue 3 of 96 tasks  blocked 0  steal 25.0%");
    machine_load_pressure(&l, MACHINE_CPU,
                          "some avg10=12.34 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00\n");
    machine_load_pressure(&l, MACHINE_IO,
                          "some avg10=2.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.50 avg60=0.00\n");
    expect_text(&l, 1, "PSI 10s:  cpu some 12.3%  io some 2.0% full 1.5%");
}

static void missing_load_and_pressure_are_reported(void **state)
{
    struct machine_load l = { .average = { -1 } };
    (void)state;
    expect_text(&l, 0, "load: /proc/loadavg cannot be read");
    expect_text(&l, 1, "PSI: this kernel does not provide it (CONFIG_PSI, or psi=1 at boot)");
    machine_load_pressure(&l, MACHINE_CPU, "some avg10=1.00 avg60=0.00\n"); /* before Linux 5.13 */
    expect_text(&l, 1, "PSI 10s:  cpu some 1.0%");
}

static void malformed_input_changes_nothing(void **state)
{
    static const char *const texts[] = {
        "", "\n", "cpu", "cpu 1 2", "some", "some avg10=", "load", "1.0 2.0", "1 2 3 4", "\nprocs_blocked x"
    };
    struct machine_load l = { 0 }, before;
    (void)state;
    machine_load_average(&l, "1 2 3 4/5 6");
    before = l;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        machine_load_average(&l, texts[i]);
        machine_load_stat(&l, texts[i]);
        machine_load_pressure(&l, MACHINE_MEMORY, texts[i]);
    }
    assert_memory_equal(&l, &before, sizeof l);
    machine_load_stat(&l, "cpu 10 10 10 10 10 10 10 10\n");
    machine_load_stat(&l, "cpu 9 9 9 9 9 9 9 9\n"); /* the counter went backwards */
    assert_true(l.steal_percent < 0);
    machine_load_read(&l);
    assert_true(l.average[0] >= 0 && l.tasks > 0 && l.total > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_and_pressure_are_formatted_in_two_lines),
        cmocka_unit_test(missing_load_and_pressure_are_reported),
        cmocka_unit_test(malformed_input_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
