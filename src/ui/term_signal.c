// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/mem.h"
#include "ui/term.h"

/* Signals while the terminal is in use.
 * A terminal that accepts no bytes (a hung SSH connection) blocks write(2), and restoring it would block
 * again. So a signal that ends the program also starts a timer. If the program is still writing to the
 * terminal when it expires, the handler exits without waiting. Work that does not touch the terminal gets
 * more time: it may be writing a file. */
#define QUIT_FIRST_MS 700
#define QUIT_AGAIN_MS 250
#define QUIT_TRIES    36

static const int quit_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define N_QUIT  (sizeof quit_signals / sizeof *quit_signals)
#define N_CRASH (sizeof crash_signals / sizeof *crash_signals)

static struct {
    volatile sig_atomic_t quit, resize, stop, output, tries;
    volatile sig_atomic_t ours; /* the terminal's settings are changed */
    int pipe[2];
    int in, out;
    struct termios saved;
    char leave[256];
    size_t leave_n;
    struct sigaction old_quit[N_QUIT], old_crash[N_CRASH], old_resize, old_stop;
    void *stack;
} state = { .pipe = { -1, -1 } };

/* Restores the terminal without ever blocking. Async-signal-safe, for crash handlers. */
static void emergency_restore(void)
{
    if (!state.ours)
        return;
    state.ours = 0;
    int saved_errno = errno;
    int flags = fcntl(state.out, F_GETFL);
    /* O_NONBLOCK belongs to the open terminal, which the shell shares: it is reset at once. */
    if (flags >= 0)
        (void)fcntl(state.out, F_SETFL, flags | O_NONBLOCK);
    ssize_t n = write(state.out, state.leave, state.leave_n);
    (void)n;
    if (flags >= 0)
        (void)fcntl(state.out, F_SETFL, flags);
    (void)tcsetattr(state.in, TCSANOW, &state.saved);
    errno = saved_errno;
}

static void timer_start(long ms)
{
    struct itimerval t = { .it_value = { ms / 1000, (ms % 1000) * 1000 } };
    (void)setitimer(ITIMER_REAL, &t, NULL); /* a plain system call on Linux: safe in a handler */
}

static void wake(void)
{
    ssize_t n = write(state.pipe[1], "", 1); /* if the pipe is full, it is readable anyway */
    (void)n;
}

static void on_quit(int sig)
{
    int saved_errno = errno;
    if (!state.quit) {
        state.quit = sig;
        timer_start(QUIT_FIRST_MS);
    }
    wake();
    errno = saved_errno;
}

static void on_alarm(int sig)
{
    (void)sig;
    state.tries = state.tries + 1;
    if (!state.output && state.tries < QUIT_TRIES) {
        timer_start(QUIT_AGAIN_MS);
        return;
    }
    emergency_restore();
    _exit(128 + state.quit);
}

static void on_resize(int sig)
{
    int saved_errno = errno;
    if (sig == SIGWINCH)
        state.resize = 1;
    else
        state.stop = 1;
    wake();
    errno = saved_errno;
}

static void on_crash(int sig)
{
    static const char words[] = "\nflametop: crashed; the terminal was restored\n";
    bool ours = state.ours;
    emergency_restore();
    if (ours) {
        ssize_t n = write(STDERR_FILENO, words, sizeof words - 1);
        (void)n;
    }
    (void)raise(sig); /* default action, because of SA_RESETHAND */
}

static void handle(int sig, void (*handler)(int), int flags, struct sigaction *old)
{
    struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };
    (void)sigemptyset(&sa.sa_mask);
    (void)sigaction(sig, &sa, old);
}

static void handle_crashes(void)
{
    state.stack = mem_alloc(64 * 1024);
    stack_t stack = { .ss_sp = state.stack, .ss_size = 64 * 1024 };
    (void)sigaltstack(&stack, NULL); /* after a stack overflow, a handler needs another stack */
    for (size_t i = 0; i < N_CRASH; i++) {
        /* Existing handlers (of a sanitizer) stay. */
        if (sigaction(crash_signals[i], NULL, &state.old_crash[i]) == 0 &&
            state.old_crash[i].sa_handler == SIG_DFL)
            handle(crash_signals[i], on_crash, (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK), NULL);
    }
}

static void take_signals(bool first)
{
    for (size_t i = 0; i < N_QUIT; i++)
        handle(quit_signals[i], on_quit, 0, first ? &state.old_quit[i] : NULL);
    handle(SIGALRM, on_alarm, 0, NULL); /* stays: it also guards the exit of other modules */
    handle(SIGWINCH, on_resize, SA_RESTART, first ? &state.old_resize : NULL);
    handle(SIGTSTP, on_resize, SA_RESTART, first ? &state.old_stop : NULL);
}

void term_signal_retake(void)
{
    take_signals(false);
}

bool term_signal_start(int in, int out, const char *leave, size_t leave_n, struct error *e)
{
    if (tcgetattr(in, &state.saved) != 0)
        return error_sys(e, errno, "cannot read the terminal's settings");
    if (state.pipe[0] < 0 && pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_sys(e, errno, "cannot make a pipe");
    state.in = in;
    state.out = out;
    state.leave_n = leave_n < sizeof state.leave ? leave_n : 0;
    memcpy(state.leave, leave, state.leave_n);
    state.quit = state.resize = state.stop = state.tries = 0;
    state.ours = 1;
    take_signals(true);
    handle_crashes();
    mem_on_exhausted(emergency_restore);
    guard_on_crash(emergency_restore);
    return true;
}

void term_signal_stop(void)
{
    state.ours = 0;
    mem_on_exhausted(NULL);
    guard_on_crash(NULL);
    /* After a signal to quit, another one must not kill the program while it closes files. */
    for (size_t i = 0; i < N_QUIT && !state.quit; i++)
        (void)sigaction(quit_signals[i], &state.old_quit[i], NULL);
    (void)sigaction(SIGWINCH, &state.old_resize, NULL);
    (void)sigaction(SIGTSTP, &state.old_stop, NULL);
    for (size_t i = 0; i < N_CRASH; i++)
        (void)sigaction(crash_signals[i], &state.old_crash[i], NULL);
    stack_t none = { .ss_flags = SS_DISABLE };
    (void)sigaltstack(&none, NULL);
    mem_free(state.stack);
    state.stack = NULL;
}

int term_signal_fd(void)
{
    return state.pipe[0];
}

void term_signal_drain(void)
{
    char bytes[64];
    while (read(state.pipe[0], bytes, sizeof bytes) > 0)
        ;
}

void term_signal_forgive(void)
{
    timer_start(0);
    state.quit = state.tries = 0;
}

int term_signal_quit(void)
{
    return state.quit;
}

bool term_signal_take_resize(void)
{
    bool was = state.resize;
    state.resize = 0;
    return was;
}

bool term_signal_take_stop(void)
{
    bool was = state.stop;
    state.stop = 0;
    return was;
}

void term_signal_stop_self(void)
{
    struct sigaction ours;
    handle(SIGTSTP, SIG_DFL, 0, &ours);
    state.ours = 0;
    (void)raise(SIGTSTP); /* not SIGSTOP: an orphaned process group must not stop forever */
    state.ours = 1;
    (void)sigaction(SIGTSTP, &ours, NULL);
    state.stop = 0;
}

void term_signal_output(bool begins)
{
    state.output = begins;
}
