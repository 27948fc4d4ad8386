// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs --stat: counts events over a command or a time, by perf stat's rules; csv has perf stat's fields. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "perf/probe.h"
#include "perf/tally.h"

#define LOOK_MS 50 /* how often to check that the counted tasks still exist */
/* The default events of perf stat. */
#define STAT_EVENTS                                                                                          \
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses"

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
    (void)sig;
    stopped = 1;
}

struct counting {
    struct options *o;
    struct scope scope;
    pid_t command; /* 0: none */
    uint32_t command_id;
    int release_fd, failed_fd;
    uint64_t start_ns, elapsed_ns;
    struct rusage used;
    int status;
};

/* Waits for a byte from hold, then runs the command; writes errno to failed if exec fails. Between fork and
 * exec only async-signal-safe calls are allowed. */
static void command_child(char *const *argv, int hold, int failed)
{
    char go;
    signal(SIGPIPE, SIG_DFL); /* flametop ignores these two, and an exec would keep that */
    signal(SIGXFSZ, SIG_DFL);
    if (read(hold, &go, 1) == 1)
        execvp(argv[0], argv);
    int sys = errno;
    if (write(failed, &sys, sizeof sys) < 0)
        _exit(126);
    _exit(127);
}

static bool start_command(struct counting *s, struct error *e)
{
    char *const *argv = s->o->session.command;
    int hold[2], failed[2];
    if (pipe2(hold, O_CLOEXEC) || pipe2(failed, O_CLOEXEC) || (s->command = fork()) < 0)
        return error_sys(e, errno, "cannot start %s", argv[0]);
    if (s->command == 0) {
        close(hold[1]);
        command_child(argv, hold[0], failed[1]);
    }
    close(hold[0]);
    close(failed[1]);
    s->release_fd = hold[1];
    s->failed_fd = failed[0];
    s->command_id = (uint32_t)s->command;
    s->scope.kind = SCOPE_TIDS;
    s->scope.ids = mem_array(1, sizeof *s->scope.ids);
    s->scope.ids[0] = s->command_id;
    s->scope.n_ids = 1;
    s->scope.command = true;
    return true;
}

/* Starts the waiting command. Returns false with the command's errno if its exec fails. */
static bool release_command(struct counting *s, struct error *e)
{
    int sys = 0;
    bool told = write(s->release_fd, "g", 1) == 1;
    close(s->release_fd);
    s->release_fd = -1;
    ssize_t n = read(s->failed_fd, &sys, sizeof sys);
    if (told && n != sizeof sys)
        return true;
    return error_sys(e, sys, "cannot run %s", s->o->session.command[0]);
}

static bool lives(const struct scope *scope)
{
    if (scope->kind != SCOPE_PIDS && scope->kind != SCOPE_TIDS)
        return true;
    for (uint32_t i = 0; i < scope->n_ids; i++)
        if (kill((pid_t)scope->ids[i], 0) == 0 || errno == EPERM)
            return true;
    return false;
}

static void wait_command(struct counting *s)
{
    while (wait4(s->command, &s->status, 0, &s->used) < 0 && errno == EINTR)
        if (stopped)
            kill(s->command, SIGTERM);
    s->command = 0;
}

static void wait_time(struct counting *s)
{
    double left = s->o->duration_s > 0 ? s->o->duration_s : 1e9;
    uint64_t end_ns = s->start_ns + (uint64_t)(left * NS_PER_SEC);
    for (uint64_t now; !stopped && (now = clock_now_ns()) < end_ns && lives(&s->scope);) {
        uint64_t ns = end_ns - now < LOOK_MS * NS_PER_MS ? end_ns - now : LOOK_MS * NS_PER_MS;
        nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
    }
}

static double ns_of(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* Returns the count of an event; those of EVENT_TOOL are not counters but times, as in perf stat. */
static struct tally_result result_of(const struct counting *s, struct tally *t, size_t i, size_t part)
{
    const struct event *ev = &s->o->events.items[i];
    struct tally_result r = tally_read(t, i, part);
    if (ev->kind != EVENT_TOOL)
        return r;
    r.state = COUNT_OK;
    r.enabled_ns = r.running_ns = s->elapsed_ns;
    r.value = ev->attr.config == EVENT_TOOL_DURATION ? (double)s->elapsed_ns
              : ev->attr.config == EVENT_TOOL_USER   ? ns_of(s->used.ru_utime)
                                                     : ns_of(s->used.ru_stime);
    return r;
}

static const char *unit_of(const struct event *ev)
{
    return *ev->unit ? ev->unit : event_is_clock(ev) ? "msec" : ev->kind == EVENT_TOOL ? "ns" : "";
}

static const char *state_word(enum count_state state)
{
    return state == COUNT_NOT_SUPPORTED ? "<not supported>" : "<not counted>";
}

static void put_number(char *dst, size_t cap, const struct event *ev, double value, bool csv)
{
    if (event_is_clock(ev) || ev->scale > 0)
        snprintf(dst, cap, "%.2f", event_is_clock(ev) ? value / 1e6 : value);
    else if (csv)
        snprintf(dst, cap, "%.0f", value);
    else
        text_thousands(dst, cap, (uint64_t)(value + 0.5));
}

/* Puts a row as perf stat -x, does, without the metric. The cgroup is a field only if there is one. */
static void put_csv(struct buf *out, const struct event *ev, const char *cgroup, const struct tally_result *r)
{
    char number[64];
    double share = r->enabled_ns ? 100.0 * (double)r->running_ns / (double)r->enabled_ns : 0;
    put_number(number, sizeof number, ev, r->value, true);
    buf_printf(out, "%s,%s,%s,%s%s%llu,%.2f,,\n", r->state == COUNT_OK ? number : state_word(r->state),
               unit_of(ev), ev->name, cgroup, *cgroup ? "," : "", (unsigned long long)r->running_ns,
               r->state == COUNT_OK ? share : 0);
}

/* Puts a row of text: count, unit, event, the rate (or, for a clock, the CPUs used), the share of the time
 * that the event was counted if counters were multiplexed, and the reason if it was not counted. */
static void put_text(struct buf *out, const struct counting *s, const struct event *ev, const char *cgroup,
                     const struct tally_result *r)
{
    char number[64], rate[32];
    put_number(number, sizeof number, ev, r->value, false);
    buf_printf(out, "%20s %-6s %-*s", r->state == COUNT_OK ? number : state_word(r->state), unit_of(ev),
               *cgroup ? 20 : 36, ev->name);
    if (*cgroup)
        buf_printf(out, " %-20s", cgroup);
    if (r->state == COUNT_OK && event_is_clock(ev))
        buf_printf(out, " %10.3f CPUs", r->value / (double)(s->elapsed_ns + 1));
    else if (r->state == COUNT_OK && ev->kind != EVENT_TOOL)
        buf_printf(out, " %10s/s", text_si(rate, sizeof rate, r->value * 1e9 / (double)(s->elapsed_ns + 1)));
    double share = r->enabled_ns ? (double)r->running_ns / (double)r->enabled_ns : 1;
    if (r->state == COUNT_OK && share < 0.9995)
        buf_printf(out, "  (ran %.1f%% of the time)", 100 * share);
    size_t name = strlen(ev->name);
    const char *why =
        r->why && !strncmp(r->why, ev->name, name) && r->why[name] == ':' ? r->why + name + 2 : r->why;
    buf_printf(out, "%s%s\n", why ? "  " : "", why ? why : "");
}

static void put_part(struct buf *out, const struct counting *s, struct tally *t, size_t part)
{
    const char *cgroup = s->scope.kind == SCOPE_CGROUP ? scope_cgroup(&s->scope, (uint32_t)part) : "";
    for (size_t i = 0; i < s->o->events.n; i++) {
        struct tally_result r = result_of(s, t, i, part);
        if (s->o->stat_csv)
            put_csv(out, &s->o->events.items[i], cgroup, &r);
        else
            put_text(out, s, &s->o->events.items[i], cgroup, &r);
    }
}

static bool print(const struct counting *s, struct tally *t, struct error *e)
{
    struct buf out = { 0 };
    bool ok;
    for (size_t part = 0; part < tally_parts(t); part++)
        put_part(&out, s, t, part);
    if (!s->o->stat_csv)
        buf_printf(&out, "%20.3f seconds\n", (double)s->elapsed_ns / 1e9);
    if (s->o->output && strcmp(s->o->output, "-")) {
        struct outfile file;
        ok = outfile_open(&file, s->o->output, e) &&
             (outfile_write(&file, buf_str(&out), out.len), outfile_commit(&file, e));
    } else
        ok = file_write_all(s->o->output ? STDOUT_FILENO : STDERR_FILENO, buf_str(&out), out.len, e);
    buf_done(&out);
    return ok;
}

static bool count(struct counting *s, struct error *e)
{
    struct tally *t = tally_open(&s->o->events, &s->scope, e);
    if (!t)
        return false;
    tally_start(t);
    s->start_ns = clock_now_ns();
    bool ok = !s->command || release_command(s, e);
    if (ok && s->command)
        wait_command(s);
    else if (ok)
        wait_time(s);
    s->elapsed_ns = clock_now_ns() - s->start_ns;
    ok = ok && print(s, t, e);
    tally_close(t);
    return ok;
}

static void catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &(struct sigaction){ .sa_handler = on_signal }, NULL);
    probe_release_signals();
}

int stat_run(struct options *o, struct error *e)
{
    struct counting s = { .o = o, .release_fd = -1, .failed_fd = -1 };
    scope_init(&s.scope);
    bool ok = o->events.n || event_list_parse(&o->events, STAT_EVENTS, e);
    catch_signals();
    ok = ok && scope_copy(&s.scope, &o->session.scope) && (!o->session.command || start_command(&s, e)) &&
         count(&s, e);
    if (s.release_fd >= 0)
        close(s.release_fd); /* the command exits if it gets no byte */
    if (s.failed_fd >= 0)
        close(s.failed_fd);
    if (s.command > 0)
        waitpid(s.command, NULL, 0);
    scope_done(&s.scope);
    if (!ok)
        return 1;
    return WIFEXITED(s.status) ? WEXITSTATUS(s.status) : 128 + WTERMSIG(s.status);
}
