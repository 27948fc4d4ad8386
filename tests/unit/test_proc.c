// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/maps.h"
#include "process/proc.h"
#include "unit_test.h"

static bool parse(const char *text, struct maps_entry *e)
{
    static char line[8192];

    snprintf(line, sizeof line, "%s", text);
    return maps_parse_line(line, strlen(line), e);
}

TEST(a_line_is_read_field_by_field)
{
    struct maps_entry e;

    assert_true(parse(
        "7fa643e93000-7fa643fe9000 r-xp 00026000 fe:1a 332835                     /usr/lib/libc.so.6", &e));
    assert_int_equal(e.start, 0x7fa643e93000);
    assert_int_equal(e.end, 0x7fa643fe9000);
    assert_int_equal(e.pgoff, 0x26000);
    assert_int_equal(e.maj, 0xfe);
    assert_int_equal(e.min, 0x1a);
    assert_int_equal(e.ino, 332835);
    assert_true(e.exec);
    assert_string_equal(e.path, "/usr/lib/libc.so.6");
}

TEST(anonymous_memory_has_no_path)
{
    struct maps_entry e;

    assert_true(parse("1000-2000 rwxp 00000000 00:00 0 ", &e));
    assert_string_equal(e.path, "");
    assert_true(parse("1000-2000 rw-p 00000000 00:00 0", &e));
    assert_string_equal(e.path, "");
    assert_false(e.exec);
}

TEST(escapes_in_paths_are_undone)
{
    struct maps_entry e;

    assert_true(parse("1000-2000 r-xp 0 08:01 12   /tmp/a\\012b c (deleted)", &e));
    assert_string_equal(e.path, "/tmp/a\nb c (deleted)");
    assert_true(parse("1000-2000 r-xp 0 08:01 12   /tmp/\\01", &e));
    assert_string_equal(e.path, "/tmp/\\01");
}

TEST(invalid_lines_are_refused)
{
    static const char *const bad[] = {
        "",
        "-",
        "1000",
        "1000-2000",
        "1000-2000 r-x",
        "1000-2000 r-xp",
        "2000-1000 r-xp 0 08:01 12 /a",
        "1000-1000 r-xp 0 08:01 12 /a",
        "10000000000000000-10000000000000001 r-xp 0 08:01 12 /a",
        "1000-2000 r-xp 0 08:01 99999999999999999999999 /a",
        "1000-2000 r-xp 0 100000000:01 12 /a",
        "1000-2000 r-xp 0 08-01 12 /a",
        "1000-2000  r-xp 0 08:01 12 /a",
        "g000-2000 r-xp 0 08:01 12 /a",
        " 1000-2000 r-xp 0 08:01 12 /a",
    };
    struct maps_entry e;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(parse(bad[i], &e));
}

TEST(lines_split_anywhere_give_the_same_maps)
{
    static const char text[] = "1000-2000 r-xp 0 08:01 12 /a\n2000-3000 r--p 0 08:01 12 /a\nnonsense\n"
                               "3000-4000 r-xp 1000 08:01 12 /a\n4000-5000 --xp 0 08:01 13 /b";

    for (size_t cut = 0; cut < sizeof text; cut++) {
        struct maps m = { 0 };
        char copy[sizeof text], rest[sizeof text];
        size_t used, left;

        memcpy(copy, text, cut);
        used = maps_add_text(&m, copy, cut, false);
        left = sizeof text - 1 - used < sizeof rest ? sizeof text - 1 - used : 0;
        memcpy(rest, text + used, left);
        assert_int_equal(maps_add_text(&m, rest, left, true), left);
        assert_int_equal(m.n, 3);
        assert_int_equal(m.items[1].start, 0x3000);
        assert_ptr_equal(m.items[0].path, m.items[1].path);
        assert_string_equal(m.items[2].path, "/b");
        maps_done(&m);
    }
}

/* The file is found by the mapping before or after. Memory with a file and memory that is not code get
 * none. */
TEST(anonymous_code_keeps_the_file_of_the_neighbouring_mapping)
{
    char text[] = "1000-2000 r--p 0 08:01 12 /a\n"
                  "2000-4000 r-xp 0 00:00 0\n"
                  "4000-5000 rw-p 3000 08:01 12 /a\n"
                  "6000-7000 rwxp 0 00:00 0\n"
                  "8000-9000 rwxp 0 00:00 0 [anon:code]\n"
                  "9000-a000 r--p 7000 08:01 13 /b\n"
                  "a000-b000 rw-p 0 00:00 0\n"
                  "b000-c000 r-xp 1000 08:01 12 /a\n";
    struct maps m = { 0 };

    maps_add_text(&m, text, sizeof text - 1, true);
    assert_int_equal(m.n, 4);
    assert_string_equal(m.items[0].group_sums.path, "/a");
    assert_int_equal(m.items[0].group_sums.pgoff, 0x1000);
    assert_int_equal(m.items[0].group_sums.ino, 12);
    assert_null(m.items[1].group_sums.path);
    assert_string_equal(m.items[2].group_sums.path, "/b");
    assert_int_equal(m.items[2].group_sums.pgoff, 0x6000);
    assert_null(m.items[3].group_sums.path);
    maps_done(&m);
}

TEST(too_many_maps_are_truncated)
{
    struct maps m = { 0 };
    int fds[2];
    pid_t child;

    assert_int_equal(pipe(fds), 0);
    child = fork();
    if (!child) {
        FILE *f = fdopen(fds[1], "w");

        close(fds[0]);
        for (unsigned long i = 1; i <= MAPS_MAX + 10; i++)
            fprintf(f, "%lx-%lx r-xp 0 08:01 12 /a\n", i << 12, (i + 1) << 12);
        fclose(f);
        _exit(0);
    }
    close(fds[1]);
    maps_read_fd(&m, fds[0]);
    close(fds[0]);
    waitpid(child, NULL, 0);
    assert_int_equal(m.n, MAPS_MAX);
    assert_true(m.cut);
    assert_int_equal(m.items[MAPS_MAX - 1].end, (uint64_t)(MAPS_MAX + 1) << 12);
    maps_done(&m);
}

TEST(an_endless_line_does_no_harm)
{
    struct maps m = { 0 };
    FILE *f = tmpfile();

    assert_non_null(f);
    fputs("1000-2000 r-xp 0 08:01 12 /", f);
    for (int i = 0; i < 300000; i++)
        fputc('x', f);
    fputs("\n5000-6000 r-xp 0 08:01 12 /b\n", f);
    rewind(f);
    maps_read_fd(&m, fileno(f));
    fclose(f);
    assert_int_equal(m.n, 2);
    assert_string_equal(m.items[1].path, "/b");
    maps_done(&m);
}

static const struct maps_entry *map_of(const struct proc_snapshot *p, uint64_t addr)
{
    for (uint32_t i = 0; i < p->maps.n; i++)
        if (addr >= p->maps.items[i].start && addr < p->maps.items[i].end)
            return &p->maps.items[i];
    return NULL;
}

static bool holds(const struct proc_snapshot *p, uint64_t addr)
{
    return map_of(p, addr) != NULL;
}

static pthread_barrier_t barrier;

static void *named_thread(void *arg)
{
    prctl(PR_SET_NAME, "a\033b\nc");
    *(uint32_t *)arg = (uint32_t)gettid();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

TEST(this_process_is_read)
{
    uint32_t tid = 0, found = 0;
    struct proc_snapshot *p;
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, named_thread, &tid), 0);
    pthread_barrier_wait(&barrier);
    p = proc_read((uint32_t)getpid());
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    assert_false(p->gone);
    assert_int_equal(p->uid, geteuid());
    assert_int_equal(p->ppid, getppid());
    assert_true(*p->parent);
    assert_true(holds(p, (uintptr_t)&this_process_is_read));
    assert_true(holds(p, (uintptr_t)&getpid));
    for (uint32_t i = 0; i < p->n_threads; i++) {
        if (p->threads[i].tid == tid) {
            assert_string_equal(p->threads[i].comm, "a?b?c");
            found++;
        } else if (p->threads[i].tid == (uint32_t)getpid()) {
            assert_non_null(strstr(p->threads[i].comm, "test_proc"));
            found++;
        }
    }
    assert_int_equal(found, 2);
    proc_snapshot_free(p);
}

/* Programs can run from a memfd, and JITs keep code in one. */
TEST(a_program_in_a_memfd_is_distinguished_from_other_code)
{
    int program = memfd_create("program", MFD_CLOEXEC), other = memfd_create("other", MFD_CLOEXEC);
    void *code[2];
    struct proc_snapshot *p;
    const struct maps_entry *e;

    assert_int_equal(write(program, "\177ELF", 4), 4);
    assert_int_equal(write(other, "\220\220\220\303", 4), 4);
    code[0] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0);
    code[1] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, other, 0);
    assert_true(code[0] != MAP_FAILED && code[1] != MAP_FAILED);
    p = proc_read((uint32_t)getpid());
    e = map_of(p, (uintptr_t)code[1]);
    assert_non_null(e);
    assert_false(e->program);
    e = map_of(p, (uintptr_t)code[0]);
    assert_non_null(e);
    assert_true(e->program); /* through its open descriptor, even without permission to follow map_files */
    assert_false(proc_runs((uint32_t)getpid(), e->maj, e->min, e->ino));
    proc_snapshot_free(p);
    munmap(code[0], 4096);
    munmap(code[1], 4096);
    close(program);
    close(other);
}

TEST(an_ended_process_is_reported)
{
    pid_t child = fork();
    struct proc_snapshot *p;

    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    p = proc_read((uint32_t)child);
    assert_true(p->gone);
    assert_int_equal(p->uid, ~0u);
    assert_int_equal(p->maps.n, 0);
    proc_snapshot_free(p);
    proc_snapshot_free(NULL);
}

TEST(a_zombie_has_a_name_and_no_maps)
{
    pid_t child = fork();
    struct proc_snapshot *p;
    siginfo_t info;

    if (!child)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    p = proc_read((uint32_t)child);
    waitpid(child, NULL, 0);
    assert_false(p->gone);
    assert_int_equal(p->maps.n, 0);
    assert_int_equal(p->threads[0].tid, child);
    proc_snapshot_free(p);
}

TEST_MAIN(NULL, NULL)
