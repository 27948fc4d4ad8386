#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What counting costs those that are counted, beside perf stat in the same run: ratios hold when the
machine's speed drifts.

    tests/bench/counters_cost.py PROGRAM [ROUNDS [LOAD ...]]

LOAD: forks (a storm of them), dd (by single bytes); both, if none is named. Each is a fixed amount of work,
of a third of a second on a machine with nothing else to do. In each round it runs REPEATS times alone, beside
perf stat -a -d -I 1000, beside -b --view counters, and beside the screen in view 1 and in view 4; the order
changes with each round. Nine rounds of both take five minutes on a quiet machine. Load: its CPU time (user
and system) in milliseconds, as of wait4(2), of all of a round's runs. Own: CPU time of the one that counts,
per second that it ran, in milliseconds. Paired: the median of the rounds' ratios of the load's time to that
beside perf stat, or in view 4 to that in view 1, with the quartiles; then the same of the shortest of each
round's runs, which others on a busy machine disturb less.
"""
import fcntl
import os
import pty
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

FORKS = r"""
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 4000; i++) {
        pid_t pid = fork();
        if (!pid)
            _exit(0);
        waitpid(pid, 0, 0);
    }
    return 0;
}
"""
WARM_S = 1.5
REPEATS = 4


def on_terminal(argv):
    """Starts a program with a terminal that somebody reads."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execvp(argv[0], argv)

    def drain():
        try:
            while os.read(fd, 65536):
                pass
        except OSError:
            pass
        os.close(fd)
    threading.Thread(target=drain, daemon=True).start()
    return pid


def in_background(argv):
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL).pid


def cpu_s(usage):
    return usage.ru_utime + usage.ru_stime


def measure(load, start, argv):
    """(CPU seconds of the load by run, CPU milliseconds of the counter per second)"""
    began = time.monotonic()
    counter = start(argv) if argv else None
    if counter:
        time.sleep(WARM_S)
    runs = [cpu_s(os.wait4(in_background(load), 0)[2]) for _ in range(REPEATS)]
    if not counter:
        return runs, 0
    os.kill(counter, signal.SIGINT)
    own = os.wait4(counter, 0)[2]
    return runs, 1000 * cpu_s(own) / (time.monotonic() - began)


def quartiles(values):
    q = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return "%.3f (%.3f to %.3f)" % (statistics.median(values), q[0], q[2])


def compare(name, load, ways, rounds):
    results = {way: [] for way in ways}
    names = list(ways)
    for i in range(rounds):
        for way in names[i % len(names):] + names[:i % len(names)]:
            results[way].append(measure(load, *ways[way]))
    print("%s: %d rounds" % (name, rounds))
    for way, got in results.items():
        print("    %-20s load %7.1f ms   own %6.1f ms/s" %
              (way, 1000 * statistics.median(sum(g[0]) for g in got),
               statistics.median(g[1] for g in got)))
    for way, beside in (("-b --view counters", "perf stat -a -d"), ("perf stat -a -d", "alone"),
                        ("-b --view counters", "alone"), ("screen, view 4", "perf stat -a -d"),
                        ("screen, view 4", "screen, view 1")):
        pairs = list(zip(results[way], results[beside]))
        print("    %s beside %s: %s; shortest %s" %
              (way, beside, quartiles([sum(a[0]) / sum(b[0]) for a, b in pairs]),
               quartiles([min(a[0]) / min(b[0]) for a, b in pairs])), flush=True)


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ways = {"alone": (None, None),
            "perf stat -a -d": (in_background, ["perf", "stat", "-a", "-d", "-I", "1000"]),
            "-b --view counters": (in_background, [program, "-b", "--view", "counters"]),
            "screen, view 1": (on_terminal, [program]),
            "screen, view 4": (on_terminal, [program, "--view", "counters"])}
    with tempfile.TemporaryDirectory() as folder:
        forks = os.path.join(folder, "forks")
        loads = {"forks": [forks], "dd": ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000"]}
        chosen = sys.argv[3:] or list(loads)
        if set(chosen) - set(loads):
            sys.exit("LOAD is one of: " + ", ".join(loads))
        subprocess.run(["cc", "-O1", "-x", "c", "-", "-o", forks], input=FORKS, text=True, check=True)
        for name in chosen:
            compare(name, loads[name], ways, rounds)


main()
