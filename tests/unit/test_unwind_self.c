// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds this process by the tables of the mapped files, and compares the result with the compiler's own
 * unwinder, which uses the same call-frame information in memory. */

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/mem.h"
#include "symbols/elf.h"
#include "unit_test.h"
#include "unwind/unwind.h"

#define FRAMES 128
#define DUMP   (64u << 10)
#define FILES  32

struct file {
    char path[256];
    void *blob;
    struct unwind_rows rows;
};
static struct file files[FILES];
static unsigned n_files;

static struct taken { /* a stack, by both unwinders */
    struct unwind_frame frames[FRAMES];
    uint32_t n;
    enum unwind_end end;
    uint64_t theirs[FRAMES];
    uint32_t n_theirs;
} taken;

static const struct unwind_rows *rows_of(const char *path)
{
    char link[ELF_LINK_MAX];
    struct file *f;
    size_t size;
    int fd;

    for (unsigned i = 0; i < n_files; i++)
        if (!strcmp(files[i].path, path))
            return files[i].rows.header ? &files[i].rows : NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || n_files == FILES)
        return NULL;
    f = &files[n_files++];
    strncpy(f->path, path, sizeof f->path - 1);
    if (elf_read_unwind(fd, -1, &f->blob, &size, link, NULL))
        unwind_rows_view(&f->rows, f->blob, size, NULL);
    close(fd);
    return f->rows.header ? &f->rows : NULL;
}

struct search {
    uint64_t addr, offset;
    const char *path;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *s = ctx;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t into = s->addr - (info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && into < p->p_filesz) {
            s->offset = p->p_offset + into;
            s->path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
            return 1;
        }
    }
    return 0;
}

static bool find_rows(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct search s = { .addr = addr };

    (void)ctx;
    if (!dl_iterate_phdr(find_segment, &s))
        return false;
    *out = (struct unwind_location){ .offset = s.offset, .rows = rows_of(s.path) };
    return true;
}

static void regs_of(const ucontext_t *u, struct unwind_regs *r)
{
    *r = (struct unwind_regs){ 0 };
#if defined(__x86_64__)
    static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
    for (unsigned i = 0; i < 17; i++)
        r->r[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
    r->known = (1u << 17) - 1;
    r->pc = r->r[16], r->sp = r->r[7], r->fp = r->r[6];
#elif defined(__aarch64__)
    for (unsigned i = 0; i < 31; i++)
        r->r[i] = u->uc_mcontext.regs[i];
    r->r[31] = r->sp = u->uc_mcontext.sp;
    r->r[32] = r->pc = u->uc_mcontext.pc;
    r->fp = r->r[29];
    r->known = (UINT64_C(1) << 33) - 1;
#else
    (void)u;
#endif
}

/* Up to the end of the stack that contains sp: a copy, made word by word, because sanitizers check the
 * original. */
__attribute__((noinline, no_sanitize("address"))) static size_t dump(uint64_t sp, uint64_t end, uint64_t *out)
{
    size_t n = 0;

    for (; n < DUMP / 8 && sp + 8 * (n + 1) <= end; n++)
        out[n] = *(const volatile uint64_t *)(uintptr_t)(sp + 8 * n);
    return n * 8;
}

static uint64_t end_of_stack(void)
{
    pthread_attr_t attr;
    void *start;
    size_t size;

    if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &start, &size))
        return 0;
    pthread_attr_destroy(&attr);
    return (uint64_t)(uintptr_t)start + size;
}

static void unwind_from(const ucontext_t *u, uint64_t end)
{
    static uint64_t stack[DUMP / 8];
    struct unwind_source source = { .find = find_rows };
    struct unwind_input in = { .arch = unwind_arch_native(), .stack = (const uint8_t *)stack };

    regs_of(u, &in.regs);
    in.stack_bytes = dump(in.regs.sp, end, stack);
    taken.n = unwind_stack(&in, &source, taken.frames, FRAMES, &taken.end);
}

static _Unwind_Reason_Code note(struct _Unwind_Context *c, void *ctx)
{
    uint64_t ip = _Unwind_GetIP(c);

    (void)ctx;
    if (!ip || taken.n_theirs == FRAMES)
        return _URC_END_OF_STACK;
    taken.theirs[taken.n_theirs++] = ip;
    return _URC_NO_REASON;
}

/* The registers of the caller, which is frame 1 of both. */
__attribute__((noinline)) static void capture_stacks(uint64_t end)
{
    ucontext_t u;

    getcontext(&u);
    taken.n_theirs = 0;
    _Unwind_Backtrace(note, NULL);
    unwind_from(&u, end);
}

/* The first frame is where each unwinder began. */
static void assert_same_frames(uint32_t n)
{
    assert_true(taken.n >= n);
    for (uint32_t i = 1; i < n; i++)
        assert_true(taken.frames[i].addr + !taken.frames[i].exact == taken.theirs[i]);
}

static void assert_same_stack(void)
{
    assert_int_equal(taken.end, UNWIND_ROOT);
    assert_int_equal(taken.n, taken.n_theirs);
    assert_same_frames(taken.n);
}

/* Frames of several sizes; one of variable size is found by the frame pointer. */
__attribute__((noinline)) static int deep(int n)
{
    volatile char room[n * 16 + 1];

    room[n] = (char)n;
    if (n == 0)
        capture_stacks(end_of_stack());
    else
        room[n] = (char)deep(n - 1);
    return room[n] + 1;
}

TEST(the_main_stack_is_unwound_to_its_root)
{
    deep(20);
    assert_true(taken.n > 22);
    assert_same_stack();
}

__attribute__((noinline)) static int realigned(int n)
{
    volatile _Alignas(64) char room[64] = { (char)n };

    if (n == 0)
        capture_stacks(end_of_stack());
    else
        room[1] = (char)realigned(n - 1);
    return room[0] + room[1];
}

TEST(a_realigned_stack_is_unwound)
{
    realigned(5);
    assert_same_stack();
}

static int compare_backtrace(const void *a, const void *b)
{
    capture_stacks(end_of_stack());
    return *(const int *)a - *(const int *)b;
}

TEST(a_callback_from_the_c_library_is_unwound)
{
    int numbers[] = { 3, 1, 2 };

    qsort(numbers, 3, sizeof *numbers, compare_backtrace);
    assert_same_stack();
}

/* The sanitizers report each change of stacks that they cannot follow; the one for threads also reports
 * reading files in a handler, which is safe where the signal is raised by hand. */
#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN 1
#elif __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifndef TSAN
#define TSAN 0
#endif
#ifndef ASAN
#define ASAN 0
#endif

static void skip_where(bool sanitized)
{
    if (!sanitized)
        return;
    print_message("the sanitizer would report the test itself\n");
    skip();
}

static void on_signal(int signal)
{
    (void)signal;
    capture_stacks(end_of_stack());
}

TEST(a_signal_handler_is_unwound)
{
    struct sigaction action = { .sa_handler = on_signal };
    unsigned exact = 0;

    skip_where(TSAN);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    assert_int_equal(taken.end, UNWIND_ROOT);
    for (uint32_t i = 2; i < taken.n; i++)
        exact += taken.frames[i].exact && taken.frames[i - 1].exact; /* trampoline and interrupted frame */
    assert_int_equal(exact, 1);
    assert_int_equal(taken.n, taken.n_theirs);
    assert_same_frames(taken.n);
}

static stack_t other = { .ss_size = 256 << 10 };

static void on_other_stack(int signal)
{
    (void)signal;
    capture_stacks((uint64_t)(uintptr_t)other.ss_sp + other.ss_size);
}

TEST(a_handler_on_its_own_stack_ends_at_the_interrupted_frame)
{
    struct sigaction action = { .sa_handler = on_other_stack, .sa_flags = SA_ONSTACK };
    stack_t none = { .ss_flags = SS_DISABLE };

    skip_where(TSAN);
    other.ss_sp = mem_alloc(other.ss_size);
    assert_int_equal(sigaltstack(&other, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    sigaltstack(&none, NULL);
    mem_free(other.ss_sp);
    assert_int_equal(taken.end, UNWIND_ELSEWHERE);
    assert_true(taken.n >= 3);
    assert_true(taken.frames[taken.n - 1].exact);
}

static void *run_thread(void *arg)
{
    capture_stacks(end_of_stack());
    return arg;
}

TEST(a_thread_ends_at_its_start)
{
    pthread_t t;

    assert_int_equal(pthread_create(&t, NULL, run_thread, NULL), 0);
    pthread_join(t, NULL);
    assert_true(taken.n >= 3);
    assert_same_stack();
}

static ucontext_t back;
static char coroutine_stack[256 << 10];

static void run_coroutine(void)
{
    capture_stacks((uint64_t)(uintptr_t)coroutine_stack + sizeof coroutine_stack);
    setcontext(&back);
}

TEST(a_coroutine_ends_at_its_start)
{
    ucontext_t there;

    skip_where(ASAN || TSAN);
    assert_int_equal(getcontext(&there), 0);
    there.uc_stack.ss_sp = coroutine_stack;
    there.uc_stack.ss_size = sizeof coroutine_stack;
    there.uc_link = &back;
    makecontext(&there, run_coroutine, 0);
    assert_int_equal(swapcontext(&back, &there), 0);
    assert_int_equal(taken.end, UNWIND_ROOT);
    assert_in_range(taken.n, 2, 3); /* capture_stacks, coroutine, and its return address */
    assert_same_frames(2);
}

static int set_up(void **state)
{
    struct search s = { .addr = (uint64_t)(uintptr_t)set_up };

    return dl_iterate_phdr(find_segment, &s) && rows_of(s.path) ? 0 : -1;
}

static int tear_down(void **state)
{
    for (unsigned i = 0; i < n_files; i++)
        mem_free(files[i].blob);
    return 0;
}

int main(void)
{
    if (unwind_arch_native() == UNWIND_ARCH_NONE)
        return 77; /* automake: skipped */
    return run_listed_tests(set_up, tear_down);
}
