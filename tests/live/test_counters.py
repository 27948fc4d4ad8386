#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters as text compared with perf stat: both count from before to after the work, and must agree."""
import os
import re
import signal
import subprocess

import machine as m
from ptyscreen import LIMIT, PROGRAM, run

PAGES, SLEEPS = 20000, 3000
EVENTS = "task-clock,page-faults,context-switches"


def frames(text):
    """[{event: count}] of each complete frame"""
    found = []
    for frame in text.split("flametop counters  ")[1:]:
        if "\n\n" in frame and frame.endswith("\n\n"):
            rows = re.findall(r"^(\S+) +(\d+) ", frame.split("\n\n")[0], re.M)
            found.append({name: int(count) for name, count in rows})
    return found


class Counters:
    """The program counting into a file, from its first frame on."""
    number = 0

    def __init__(self, *args):
        Counters.number += 1
        self.path = m.path("counters%d.txt" % Counters.number)
        with open(self.path, "wb") as out:
            self.process = m.adopt(subprocess.Popen([PROGRAM, "-b", "--view", "counters", "-d", "0.2", *args],
                                                    stdout=out, stdin=subprocess.DEVNULL,
                                                    start_new_session=True))
        self.wait_frames(1)

    def frames(self):
        with open(self.path) as f:
            return frames(f.read())

    def wait_frames(self, more):
        wanted = len(self.frames()) + more
        m.until(lambda: len(self.frames()) >= wanted or self.process.poll() is not None, "no frame came")
        assert self.process.poll() is None, open(self.path).read()

    def end(self):
        """The sums of all frames."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(LIMIT) == 0
        sums = {}
        for frame in self.frames():
            for name, count in frame.items():
                sums[name] = sums.get(name, 0) + count
        return sums


class Perf:
    """perf stat in intervals, from its first output on."""

    def __init__(self, *args):
        self.path = m.path("perf%d.txt" % Counters.number)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.process = m.adopt(subprocess.Popen(["perf", "stat", "-I", "100", "-x", ";", "-e", EVENTS, "-o",
                                                 self.path, *args],
                                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL, start_new_session=True))
        m.until(self.rows, "perf stat printed no interval")

    def rows(self):
        try:
            with open(self.path) as f:
                return re.findall(r"^ *[\d.]+;([\d.]+|<not counted>);[^;]*;([\w-]+)", f.read(), re.M)
        except OSError:
            return []

    def end(self):
        """The sums of all intervals; waits for more of them, because perf does not print the last one."""
        wanted = len(self.rows()) + 2 * len(EVENTS.split(","))
        m.until(lambda: len(self.rows()) >= wanted, "perf stat printed no more")
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT)
        sums = {}
        for count, name in self.rows():
            # not counted while asleep
            sums[name] = sums.get(name, 0) + (0 if count == "<not counted>" else float(count))
        return sums


def load():
    done = m.path("done")
    if os.path.exists(done):
        os.unlink(done)
    return m.start(m.build("paced"), str(PAGES), str(SLEEPS), done)


def work(process):
    os.kill(process.pid, signal.SIGUSR1)
    m.until(lambda: os.path.exists(m.path("done")), "the load did not end")


def of_a_process():
    """a process and its later child are counted as perf stat -p counts them"""
    m.need_events()
    m.need_perf()
    process = load()
    ours = Counters("-p", str(process.pid))
    theirs = Perf("-p", str(process.pid))
    work(process)
    ours.wait_frames(2)
    got, wanted = ours.end(), theirs.end()
    m.stop(process)
    assert got["page-faults"] >= 2 * PAGES, got
    # the clock's unit is ms in perf, ns in flametop
    for name, unit in (("page-faults", 1), ("context-switches", 1), ("task-clock", 1e6)):
        assert abs(got[name] - wanted[name] * unit) <= 0.01 * wanted[name] * unit + 2 * unit, \
            (name, got, wanted)


def of_all_cpus():
    """the count on all CPUs is between that of a perf stat inside the interval and one around it"""
    m.need_events()
    m.need_perf()
    m.need_root()
    around = Perf("-a")
    ours = Counters()
    within = m.ran("perf", "stat", "-a", "-x", ";", "-e", EVENTS, "sleep", "1")
    ours.wait_frames(2)
    got, most = ours.end(), around.end()
    least = {name: float(count)
             for count, name in re.findall(r"^([\d.]+);[^;]*;([\w-]+)", within.stderr, re.M)}
    for name in ("page-faults", "context-switches"):
        assert least[name] <= got[name] <= most[name], (name, least, got, most)


def parts():
    """the sum is divided by the requested grouping; a missing grouping is reported in one line"""
    m.need_events()
    process = load()
    _, out, _ = m.flametop("-b", "--view", "counters", "-n", "1", "-d", "0.2", "-p", str(process.pid))
    assert re.search(r"^process .*\n%d paced" % process.pid, out, re.M), out
    _, out, why = m.flametop("-b", "--view", "counters", "-n", "1", "-d", "0.2", "--split", "cpu", "-p",
                             str(process.pid))
    assert re.search(r"^process ", out, re.M), out
    m.stop(process)
    _, out, why = m.flametop("-b", "--view", "counters", "-n", "1", "-d", "0.2", "--split", "thread")
    assert "split by thread" in why and re.search(r"^cpu .*\n0 ", out, re.M), (out, why)


def cgroups():
    """the work of a cgroup is counted for it, and the cgroup is a row next to its siblings"""
    m.need_events()
    m.need_root()
    mounts = [line.split() for line in open("/proc/mounts")]
    root = next((f[1] for f in mounts if f[2] == "cgroup2"), None)
    if not root or any(f[2] == "cgroup" and "perf_event" in f[3].split(",") for f in mounts):
        raise m.Skip("no cgroup2 is mounted that perf uses")
    folder = os.path.join(root, "flametop-counters.%d" % os.getpid())
    try:
        os.mkdir(folder)
    except OSError as error:
        raise m.Skip("cannot make a cgroup: %s" % error)
    process = load()
    try:
        with open(folder + "/cgroup.procs", "w") as f:
            f.write(str(process.pid))
        name = "/" + os.path.basename(folder)
        _, out, _ = m.flametop("-b", "--view", "counters", "-n", "1", "-d", "0.2", "--split", "cgroup")
        assert re.search(r"^cgroup .*\n(.*\n)*%s " % re.escape(name), out, re.M), out
        ours = Counters("-G", name)
        work(process)
        ours.wait_frames(2)
        faults = ours.end()["page-faults"]
        assert 2 * PAGES <= faults <= 2.1 * PAGES, faults
    finally:
        m.stop(process)
        m.until(lambda: not open(folder + "/cgroup.procs").read(), "the cgroup did not become empty")
        os.rmdir(folder)


def refusals():
    """a command, a file, an ended process and custom events are refused with a message"""
    for args, why in ((("--", "true"), "give -p PID"), (("-e", "page-faults"), "--stat counts"),
                      (("-i", "x.data"), "running system"), (("-p", "4194303"), "no process")):
        status, _, said = m.flametop("-b", "--view", "counters", "-n", "1", *args, check=False)
        assert status and why in said, (status, said)


def ends_with_its_target():
    """counting ends when the process does"""
    m.need_events()
    process = load()
    ours = Counters("-p", str(process.pid))
    m.stop(process)
    m.until(lambda: ours.process.poll() is not None, "it still counts")
    assert ours.process.returncode == 0


run(of_a_process, of_all_cpus, parts, cgroups, refusals, ends_with_its_target)
