// SPDX-License-Identifier: GPL-2.0-or-later
/* The child that fetches one debug file: the only door to libdebuginfod. That library brings some thirty others for the
 * network, so it is loaded here and by name: nobody else pays for it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef HAVE_DEBUGINFOD
#include <elfutils/debuginfod.h>
#endif

#include "base/clock.h"
#include "base/library.h"
#include "symbols/fetch.h"
#include "symbols/sandbox.h"

#define REPORT_FD     3
#define REPORT_EACH   (100 * NS_PER_MS)
#define FILE_SIZE_MAX (UINT64_C(8) << 30)
#define CPU_SECONDS   300

static void report(const struct fetch_report *r)
{
    /* Nobody listens any more: then there is nothing to do either. */
    if (write(REPORT_FD, r, sizeof *r) != (ssize_t)sizeof *r)
        _exit(1);
}

static void __attribute__((noreturn)) answer(enum fetch_kind kind, const char *text)
{
    struct fetch_report r = { .magic = FETCH_MAGIC, .kind = kind };

    snprintf(r.text, sizeof r.text, "%s", text);
    report(&r);
    _exit(0);
}

#ifdef HAVE_DEBUGINFOD

static volatile sig_atomic_t told_to_leave;

static struct {
    __typeof__(debuginfod_begin) *debuginfod_begin;
    __typeof__(debuginfod_set_progressfn) *debuginfod_set_progressfn;
    __typeof__(debuginfod_get_url) *debuginfod_get_url;
    __typeof__(debuginfod_find_debuginfo) *debuginfod_find_debuginfo;
    __typeof__(debuginfod_end) *debuginfod_end;
} library;

static void leave(int sig)
{
    (void)sig;
    told_to_leave = 1;
}

/* b is 0, or there is no url, as long as no server has answered; below 0: it does not say how much there will be. */
static int progress(debuginfod_client *client, long a, long b)
{
    static uint64_t last_ns;
    uint64_t now = clock_now_ns();
    struct fetch_report r = { .magic = FETCH_MAGIC, .kind = FETCH_PROGRESS };

    if (now - last_ns >= REPORT_EACH && b && library.debuginfod_get_url(client)) {
        last_ns = now;
        r.got = a > 0 ? (uint64_t)a : 0;
        r.total = b > 0 ? (uint64_t)b : 0;
        report(&r);
    }
    return told_to_leave;
}

static void limit(int what, uint64_t most)
{
    struct rlimit now, want = { most, most };

    if (!getrlimit(what, &now) && now.rlim_max < most)
        want = (struct rlimit){ now.rlim_max, now.rlim_max };
    setrlimit(what, &want);
}

/* Its parent may end in any way. */
static void confine(void)
{
    struct sigaction sa = { .sa_handler = leave };
    struct error e = { 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!sandbox_no_new_privileges(&e) || !sandbox_drop_capabilities(&e))
        answer(FETCH_FAILED, e.text);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_SECONDS);
    limit(RLIMIT_FSIZE, FILE_SIZE_MAX);
}

static void load_library(void)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(library, debuginfod_begin),   LIBRARY_SYMBOL(library, debuginfod_set_progressfn),
        LIBRARY_SYMBOL(library, debuginfod_get_url), LIBRARY_SYMBOL(library, debuginfod_find_debuginfo),
        LIBRARY_SYMBOL(library, debuginfod_end),
    };
    struct error e = { 0 };

    if (!library_load(DEBUGINFOD_SONAME, "libdebuginfod1", symbols, sizeof symbols / sizeof *symbols, &e))
        answer(FETCH_FAILED, e.text);
}

void symbol_fetch_main(const char *id)
{
    debuginfod_client *client;
    char *path = NULL;
    int fd;

    confine();
    load_library();
    client = library.debuginfod_begin();
    if (!client)
        answer(FETCH_FAILED, "libdebuginfod cannot be started");
    library.debuginfod_set_progressfn(client, progress);
    fd = library.debuginfod_find_debuginfo(client, (const unsigned char *)id, 0, &path);
    library.debuginfod_end(client);
    if (fd >= 0)
        answer(FETCH_DONE, path ? path : "");
    answer(fd == -ENOENT ? FETCH_MISSING : FETCH_FAILED, strerror(-fd));
}

bool symbolizer_can_fetch(void)
{
    return true;
}

#else

void symbol_fetch_main(const char *id)
{
    (void)id;
    answer(FETCH_FAILED, "built without debuginfod");
}

bool symbolizer_can_fetch(void)
{
    return false;
}

#endif
