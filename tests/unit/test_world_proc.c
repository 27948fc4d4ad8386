// SPDX-License-Identifier: GPL-2.0-or-later
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit_test.h"
#include "world_fixture.h"

/* The dynamic linker's data about the object at an address. */
struct object {
    uint64_t addr;
    const char *path;
    uint64_t offset;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct object *o = ctx;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type == PT_LOAD && o->addr >= start && o->addr < start + ph->p_memsz) {
            o->path = info->dlpi_name;
            o->offset = o->addr - start + ph->p_offset;
            return 1;
        }
    }
    return 0;
}

TEST(libc_of_this_process_is_resolved_to_its_file_offset)
{
    struct world *w = world_new(true);
    uint32_t pid = (uint32_t)getpid(), t;
    struct object o = { .addr = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version") };
    const struct world_thread *thread;
    char path[PATH_MAX];
    struct location p;

    assert_int_equal(world_wants_proc(w, pid), pid);
    read_and_install(w, pid);
    assert_int_equal(world_wants_proc(w, pid), 0);
    t = thread_of(w, pid, pid);
    thread = world_thread(w, t);
    assert_non_null(strstr(thread->comm, "test_world"));
    assert_int_equal(thread->uid, geteuid());
    assert_int_equal(dl_iterate_phdr(find_object, &o), 1);
    assert_true(world_resolve(w, t, o.addr, false, &p));
    assert_int_equal(p.offset, o.offset);
    assert_non_null(realpath(o.path, path));
    assert_string_equal(world_module(w, p.module)->path, path);
    assert_true(world_module(w, p.module)->live);
    int fd = module_open(world_module(w, p.module), NULL);
    assert_true(fd >= 0);
    close(fd);
    world_free(w);
}

/* Maps a new memfd that starts with these bytes as code, and applies the record to the world. */
static uint64_t map_memfd(struct world *w, const char *begin, int *fd)
{
    struct record r = record(PERF_RECORD_MMAP2);
    struct stat st;
    void *code;

    *fd = memfd_create("plugin", MFD_CLOEXEC);
    assert_int_equal(write(*fd, begin, strlen(begin)), (ssize_t)strlen(begin));
    assert_int_equal(ftruncate(*fd, 8192), 0);
    assert_int_equal(fstat(*fd, &st), 0);
    code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, *fd, 4096);
    assert_true(code != MAP_FAILED);
    r.mmap.pid = r.mmap.tid = (uint32_t)getpid();
    r.mmap.addr = (uintptr_t)code;
    r.mmap.len = r.mmap.pgoff = 4096;
    r.mmap.maj = major(st.st_dev);
    r.mmap.min = minor(st.st_dev);
    r.mmap.ino = st.st_ino;
    r.mmap.prot = PROT_READ | PROT_EXEC;
    r.mmap.path = "/memfd:plugin (deleted)";
    world_apply(w, &r);
    return (uintptr_t)code;
}

static void check_memfds(struct world *w)
{
    struct world_memfd m;
    bool elf;

    while (world_wants_memfd(w, &m)) {
        bool known = world_read_memfd(&m, &elf);
        world_tell_memfd(w, &m, known, elf);
    }
}

TEST(a_library_in_a_memfd_is_distinguished_from_jit_code)
{
    struct world *w = world_new(true);
    uint32_t pid = (uint32_t)getpid(), child = pid + 1, jit, file;
    uint64_t library, other;
    struct world_memfd m;
    int fds[2];

    library = map_memfd(w, "\177ELF", &fds[0]);
    other = map_memfd(w, "\220\220", &fds[1]);
    jit = module_at(w, thread_of(w, pid, pid), library);
    assert_int_equal(world_module(w, jit)->kind, MODULE_JIT); /* until it is checked */
    do_fork(w, child, child, pid, pid);
    check_memfds(w);
    assert_false(world_wants_memfd(w, &m));
    file = module_at(w, thread_of(w, pid, pid), library);
    assert_int_equal(world_module(w, file)->kind, MODULE_FILE);
    assert_string_equal(place_of(w, thread_of(w, pid, pid), library + 16), "memfd:plugin+0x1010");
    assert_int_equal(module_at(w, thread_of(w, child, child), library), file);
    assert_int_equal(world_module(w, module_at(w, thread_of(w, pid, pid), other))->kind, MODULE_JIT);
    munmap((void *)(uintptr_t)library, 4096);
    munmap((void *)(uintptr_t)other, 4096);
    close(fds[0]);
    close(fds[1]);
    world_free(w);
}

TEST(unreadable_memory_is_requested_once)
{
    struct world *w = world_new(true);
    uint32_t pid = (uint32_t)getpid();
    struct world_memfd m;
    uint64_t library;
    int fd;

    library = map_memfd(w, "\177ELF", &fd);
    munmap((void *)(uintptr_t)library, 4096);
    close(fd);
    check_memfds(w);
    assert_false(world_wants_memfd(w, &m));
    assert_int_equal(world_module(w, module_at(w, thread_of(w, pid, pid), library))->kind, MODULE_JIT);
    world_free(w);
}

TEST(the_idle_task_is_not_read)
{
    struct world *live = world_new(true), *file = world_new(false);

    assert_int_equal(world_wants_proc(live, 0), 0);
    assert_int_equal(world_wants_proc(live, ~0u), 0);
    assert_int_equal(world_wants_proc(file, (uint32_t)getpid()), 0);
    world_free(live);
    world_free(file);
}

TEST(an_ended_process_is_requested_once)
{
    struct world *w = world_new(true);
    pid_t child = fork();
    uint32_t pid = (uint32_t)child;

    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    assert_int_equal(world_wants_proc(w, pid), pid);
    read_and_install(w, pid);
    assert_int_equal(world_wants_proc(w, pid), 0);
    assert_true(thread_of(w, pid, pid) != 0);
    world_free(w);
}

TEST(later_mapping_records_override_the_maps_read)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "old", 7);
    uint32_t t;

    do_map(w, 10, 0x14000, 0x16000, 0, "/new.so");
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /old.so");
    snapshot_map(p, "30000-31000 r-xp 00000000 00:00 0 ");
    world_install(w, 10, p);
    t = thread_of(w, 10, 10);
    assert_string_equal(place_of(w, t, 0x13fff), "old.so+0x4fff");
    assert_string_equal(place_of(w, t, 0x14000), "new.so+0x0");
    assert_string_equal(place_of(w, t, 0x16000), "old.so+0x7000");
    assert_string_equal(place_of(w, t, 0x30001), "[JIT]+0x30001");
    world_free(w);
}

TEST(after_an_exec_there_is_nothing_to_read)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);

    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/sh");
    thread_of(w, 10, 10);
    assert_int_equal(world_wants_proc(w, 10), 10);
    /* the exec happens while /proc is read */
    do_comm(w, 10, 10, "ls", true);
    world_install(w, 10, p);
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000), "?");
    assert_string_equal(comm_of(w, 10, 10), "ls");
    assert_int_equal(world_thread(w, thread_of(w, 10, 10))->uid, 7);
    assert_int_equal(world_wants_proc(w, 10), 0);
    world_free(w);
}

TEST(a_child_gets_the_maps_read_for_its_parent)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "bash", 1000);
    uint32_t t;

    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/bash");
    do_fork(w, 20, 20, 10, 10);
    do_fork(w, 30, 30, 10, 10);
    do_comm(w, 30, 30, "ls", true);
    assert_int_equal(world_wants_proc(w, 20), 10);
    assert_int_equal(world_wants_proc(w, 30), 10);
    world_install(w, 10, p);
    t = thread_of(w, 20, 20);
    assert_string_equal(place_of(w, t, 0x10000), "bash+0x1000");
    assert_string_equal(world_thread(w, t)->comm, "bash");
    assert_int_equal(world_thread(w, t)->uid, 1000);
    assert_int_equal(world_thread(w, thread_of(w, 30, 30))->uid, 1000);
    assert_string_equal(place_of(w, thread_of(w, 30, 30), 0x10000), "?");
    assert_int_equal(world_wants_proc(w, 20), 0);
    assert_int_equal(world_wants_proc(w, 30), 0);
    do_fork(w, 40, 40, 10, 10);
    assert_int_equal(world_wants_proc(w, 40), 0);
    world_free(w);
}

TEST(maps_read_for_a_child_do_not_change_its_parent)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(20, "ls", 1000);

    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/ls");
    do_fork(w, 20, 20, 10, 10);
    world_install(w, 20, p);
    assert_string_equal(place_of(w, thread_of(w, 20, 20), 0x10000), "ls+0x1000");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000), "?");
    assert_int_equal(world_wants_proc(w, 10), 10);
    world_free(w);
}

TEST(namespaces_are_inherited_and_read_again_after_an_exec)
{
    struct world *w = world_new(true);
    struct namespaces own = { .links = { { 4, 77 } } }, other = { .links = { { 4, 78 } } };
    struct proc_snapshot *p = snapshot(10, "sh", 7);
    uint32_t t;

    p->has_namespaces = true;
    p->namespaces = own;
    world_install(w, 10, p);
    assert_false(world_wants_namespaces(w, 10));
    do_fork(w, 20, 20, 10, 10);
    assert_false(world_wants_namespaces(w, 20));
    t = thread_of(w, 20, 20);
    assert_memory_equal(world_namespaces(w, world_thread(w, t)->namespaces), &own, sizeof own);
    do_comm(w, 20, 20, "nsenter", true);
    assert_true(world_wants_namespaces(w, 20));
    do_fork(w, 40, 40, 20, 20);
    assert_true(world_wants_namespaces(w, 40));
    world_set_namespaces(w, 40, NULL); /* the process has ended */
    assert_false(world_wants_namespaces(w, 40));
    world_set_namespaces(w, 20, &other);
    assert_false(world_wants_namespaces(w, 20));
    t = thread_of(w, 20, 20);
    assert_memory_equal(world_namespaces(w, world_thread(w, t)->namespaces), &other, sizeof other);
    do_fork(w, 30, 30, 20, 20);
    t = thread_of(w, 30, 30);
    assert_memory_equal(world_namespaces(w, world_thread(w, t)->namespaces), &other, sizeof other);
    do_exit(w, 30, 30);
    assert_false(world_wants_namespaces(w, 30));
    assert_false(world_wants_namespaces(w, 0));
    world_free(w);
}

TEST(lost_records_cause_a_full_rescan)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);
    uint32_t t;

    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/sh");
    world_install(w, 10, p);
    t = thread_of(w, 10, 10);
    world_resync(w);
    assert_string_equal(world_thread(w, t)->comm, "sh");
    assert_string_equal(place_of(w, t, 0x10000), "sh+0x1000");
    assert_int_equal(world_wants_proc(w, 10), 10);
    assert_int_not_equal(thread_of(w, 10, 10), t);
    world_free(w);
}

TEST(a_process_whose_exit_record_was_lost_is_found_to_have_ended)
{
    struct world *w = world_new(true);
    pid_t child = fork();
    uint32_t t;

    if (!child)
        _exit(0);
    t = thread_of(w, (uint32_t)child, (uint32_t)child);
    waitpid(child, NULL, 0);
    collect_all(w);
    assert_int_equal(world_thread_count(w), t + 1);
    do_lose(w);
    collect_all(w);
    assert_int_equal(world_thread_count(w), 1);
    world_free(w);
}

TEST(many_sleeping_processes_cost_nothing_per_record)
{
    struct world *w = world_new(false);
    uint64_t start, spent;

    for (uint32_t pid = 100; pid < 100100; pid++)
        do_fork(w, pid, pid, 5, 5);
    start = clock_self_cpu_ns();
    for (uint32_t i = 0; i < 100000; i++) {
        do_comm(w, 100 + i, 100 + i, "x", true);
        do_map(w, 100 + i, 0x1000, 0x2000, 0, "/bin/x");
    }
    spent = clock_self_cpu_ns() - start;
    print_message("%.2f us for each record, %.1f MB for 100,000 processes\n", (double)spent / 200000 / 1000,
                  (double)world_bytes(w) / (1 << 20));
    assert_true(spent < 20 * NS_PER_SEC);
    world_free(w);
}

TEST_MAIN(NULL, NULL)
