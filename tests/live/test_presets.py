#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Presets for one kind of activity find the process that causes it, next to one that does something else."""
import json
import os
import sys

import machine as m
from ptyscreen import Skip, run

# 20 MB a second in one burst, then a pause: the rate of page faults changes all the time
LEAK = """
import mmap, time
held = []
while True:
    held.append(mmap.mmap(-1, 20 << 20))
    for at in range(0, 20 << 20, 4096):
        held[-1][at] = 1
    if len(held) > 10:
        held.pop(0).close()
    time.sleep(0.9)
"""
SPIN = "x = 0\nwhile True: x = (x * 3 + 1) % 1000003"
WAIT = "import time\nwhile True: time.sleep(0.005)"


def python(text):
    return m.start(sys.executable, "-c", text)


def samples_of(preset, seconds, *more):
    _, text, _ = m.flametop("--preset", preset, "--duration", str(seconds), "--export", "json",
                            "-o", "-", *more)
    found = json.loads(text)
    return {row["pid"]: (row["samples"], row["period"]) for row in found["pids"]}, found


def memory():
    """--preset memory: a leaking program next to a computing one has nearly all samples, and they count its
    faults"""
    m.need_events()
    leak, spin = python(LEAK), python(SPIN)
    rows, found = samples_of("memory", 8, "-p", "%d,%d" % (leak.pid, spin.pid))
    samples, period = rows[leak.pid]
    assert samples > 100 and period > 0.9 * sum(p for _, p in rows.values()), (rows, leak.pid)
    # the faults of eight bursts, give or take one: 5120 pages each
    assert 6 * 5120 < period < 10 * 5120, (rows, found["events"])


def blocking():
    """--preset blocking: preempted programs do not block, a sleeping one does"""
    m.need_events()
    if not os.path.isdir("/sys/kernel/tracing/events/sched") or os.geteuid():
        raise Skip("without tracepoints preempted threads count, too: "
                   "mount -t tracefs tracefs /sys/kernel/tracing")
    spins, wait = [python(SPIN) for _ in range(2 * (os.cpu_count() or 1))], python(WAIT)
    pids = ",".join(str(p.pid) for p in [*spins, wait])
    rows, _ = samples_of("blocking", 6, "-p", pids)
    assert rows[wait.pid][0] > 50, rows
    others = sum(rows.get(spin.pid, (0, 0))[0] for spin in spins)
    assert others < 0.1 * rows[wait.pid][0], (rows, wait.pid)


def by_frequency_if_asked():
    """a frequency or period given by the user overrides the preset's"""
    m.need_events()
    leak = python(LEAK)
    _, text, _ = m.flametop("-e", "page-faults", "-c", "50", "-p", str(leak.pid), "--duration", "3",
                            "--export", "json", "-o", "-")
    event = json.loads(text)["events"][0]
    assert event["samples"] and event["period"] == 50 * event["samples"], event


run(memory, blocking, by_frequency_if_asked)
