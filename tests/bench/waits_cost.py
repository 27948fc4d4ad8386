#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What off-cpu costs programs that switch all the time, next to perf in the same run.

    tests/bench/waits_cost.py PROGRAM [ROUNDS]

First the figures of src/perf/rate.c: the CPU time that a load loses per record of a switch and per stack,
plus flametop's own: of two threads, and of 400 processes, where caches are cold. Then the throughput of
"perf bench sched pipe" and "messaging": alone, next to flametop that samples the CPU as usual (off-cpu is
off), next to perf record -e sched:sched_switch -g, and next to flametop --off-cpu. The order changes from
round to round. Ratios are of the same round. Own CPU: per cent of one CPU, and of all.
"""
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from beside_perf import cpu_ns

HERE = os.path.dirname(os.path.abspath(__file__))
LOADS = {"pipe": ["perf", "bench", "-f", "simple", "sched", "pipe", "-l", "100000"],
         "messaging": ["perf", "bench", "-f", "simple", "sched", "messaging", "-g", "10", "-l", "500"]}


class Profiler:
    """Runs from its first events on; then its own CPU time since, and what it said."""

    def __init__(self, argv):
        self.process = argv and subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                 stderr=subprocess.STDOUT, text=True, errors="replace")
        while argv and not self._has_events():
            time.sleep(0.05)
        time.sleep(1 if argv else 0)
        self.begun = (cpu_ns(self.process.pid) if argv else 0, time.monotonic())

    def _has_events(self):
        folder = "/proc/%d/fd" % self.process.pid
        try:
            return any("perf_event" in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder))
        except OSError:
            return False

    def own_ns(self):
        return cpu_ns(self.process.pid) - self.begun[0] if self.process else 0

    def own_percent(self):
        return self.own_ns() / (time.monotonic() - self.begun[1]) / 1e7

    def stop(self):
        if not self.process:
            return ""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[0]


def lost(said):
    found = re.search(r"(\d+) lost|LOST (\d+) chunks|lost (\d+)", said.replace(",", ""))
    return int(next(n for n in found.groups() if n)) if found else 0


def used():
    """CPU time in microseconds, and switches, of the children that have ended."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e6 * (r.ru_utime + r.ru_stime), r.ru_nvcsw + r.ru_nivcsw


def switch_us(program, argv, options):
    """CPU time of the load, plus flametop's own, per switch."""
    top = Profiler([program, "--off-cpu", *options, "--duration", "600", "-o", os.devnull, "--export",
                    "report"] if options else None)
    before = used()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    us, switches = (b - a for a, b in zip(before, used()))
    us += top.own_ns() / 1000
    top.stop()
    return us / switches


def costs(program, name, argv, rounds):
    ways = {"alone": [], "times": ["--budget", "0.01"]}
    ways.update({mode: ["--budget", "100", "--call-graph", mode] for mode in ("none", "fp", "dwarf")})
    runs = {name: [] for name in ways}
    for _ in range(rounds):
        for way, options in ways.items():
            runs[way].append(switch_us(program, argv, options))
    us = {way: min(found) for way, found in runs.items()}  # others only add to it
    print("%s: per record of a switch: %.2f us" % (name, (us["times"] - us["alone"]) / 2))
    for mode in ("none", "fp", "dwarf"):  # of the thread that leaves, and of the one that wakes it
        print("    per stack, %-5s: %.2f us" % (mode, (us[mode] - us["times"]) / 2), flush=True)


def throughput(program, rounds):
    commands = {"alone": None, "off": [program, "--duration", "600", "-o", os.devnull, "--export", "report"],
                "perf": ["perf", "record", "-e", "sched:sched_switch", "-g", "-a", "-o", "/dev/null"],
                "off-cpu": [program, "--off-cpu", "--duration", "600", "-o", os.devnull,
                            "--export", "report"]}
    for load, argv in LOADS.items():
        rows = {name: [] for name in commands}
        for number in range(rounds):
            names = list(commands)
            for name in names[number % 4:] + names[:number % 4]:
                top = Profiler(commands[name])
                took = float(subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout)
                own = top.own_percent()
                rows[name].append((took, own, lost(top.stop())))
        print("\nperf bench sched %s, %d rounds" % (load, rounds))
        for name, runs in rows.items():
            own = statistics.median(r[1] for r in runs)
            print("%-8s %6.2f s  own CPU %5.1f%% of one, %4.1f%% of all  lost %s" %
                  (name, statistics.median(r[0] for r in runs), own, own / os.cpu_count(),
                   " ".join(str(r[2]) for r in runs)))
        for one, other in (("off-cpu", "perf"), ("off-cpu", "alone"), ("off", "alone")):
            ratios = [b[0] / a[0] for a, b in zip(rows[one], rows[other])]
            print("throughput, %s / %s: %.2f (%s)" % (one, other, statistics.median(ratios),
                                                      " ".join("%.2f" % r for r in ratios)), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        pairs = os.path.join(folder, "pairs")
        subprocess.run(["cc", "-O1", "-o", pairs, os.path.join(HERE, "pairs.c")], check=True)
        costs(program, "pairs", ["taskset", "-c", "0", pairs, "20000", "3"], rounds)
    costs(program, "messaging", LOADS["messaging"], rounds)
    throughput(program, rounds)


if __name__ == "__main__":
    main()
