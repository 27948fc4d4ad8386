// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that would end the program between the definition of a probe and the handlers of its mode: they
 * wait for those, so that the probe is removed. */
#include <signal.h>
#include <stddef.h>

#include "perf/probe_parts.h"

static const int quit_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static volatile sig_atomic_t held;

/* The second signal ends the program at once. */
static void on_signal(int sig)
{
    held = sig;
    for (size_t i = 0; i < sizeof quit_signals / sizeof *quit_signals; i++)
        signal(quit_signals[i], SIG_DFL);
}

void probe_hold_signals(void)
{
    struct sigaction now;
    for (size_t i = 0; i < sizeof quit_signals / sizeof *quit_signals; i++)
        if (!sigaction(quit_signals[i], NULL, &now) && now.sa_handler == SIG_DFL)
            sigaction(quit_signals[i], &(struct sigaction){ .sa_handler = on_signal }, NULL);
}

void probe_release_signals(void)
{
    int sig = held;
    held = 0;
    if (sig)
        raise(sig);
}
