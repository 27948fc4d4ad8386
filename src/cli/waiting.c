// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows a progress line while a recording is read from a pipe or decompressed, before there is a screen. ^C
 * stops reading, and what was read is shown. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/options.h"
#include "perfdata/spool.h"

#define SAY_NS (200 * NS_PER_MS)

static volatile sig_atomic_t interrupts;
static struct sigaction before;
static bool installed; /* only if reading takes long: until then ^C ends the program */

static void on_interrupt(int sig)
{
    (void)sig;
    interrupts++;
}

static void say(const char *name, uint64_t read_bytes, uint64_t of_bytes)
{
    char size[32], share[32] = "", shown[128];
    text_elide(shown, sizeof shown, name, 40, true);
    text_bytes(size, sizeof size, read_bytes);
    if (of_bytes)
        snprintf(share, sizeof share, ", %u%%", (unsigned)(100.0 * (double)read_bytes / (double)of_bytes));
    fprintf(stderr, "\r\033[Kflametop: reading %s: %s%s (^C: %s)", shown, size, share,
            interrupts ? "stop at once" : "stop reading");
    fflush(stderr);
}

/* Shows the progress and returns what ^C asks for. The first ^C also went to the pipe's writer, which now
 * writes its last data: so reading goes on to its end. A second ^C stops at once. */
static enum spool_wish poll_keys(void *ctx, const char *name, uint64_t read_bytes, uint64_t of_bytes)
{
    uint64_t *said_ns = ctx, now_ns = clock_now_ns();
    if (!installed)
        sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_interrupt }, &before);
    installed = true;
    if (isatty(STDERR_FILENO) && now_ns - *said_ns >= SAY_NS) {
        say(name, read_bytes, of_bytes);
        *said_ns = now_ns;
    }
    return interrupts > 1 ? SPOOL_STOP : interrupts ? SPOOL_END : SPOOL_GO_ON;
}

static uint64_t said_ns;
static const struct spool_wait wait_for_it = { poll_keys, &said_ns };

const struct spool_wait *waiting_begin(void)
{
    interrupts = 0;
    said_ns = 0;
    return &wait_for_it;
}

void waiting_end(void)
{
    if (said_ns)
        fputs("\r\033[K", stderr);
    if (installed)
        sigaction(SIGINT, &before, NULL);
    installed = false;
}
