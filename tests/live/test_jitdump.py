#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JIT code named by the times in its jitdump."""
import os
import shutil
import signal

import machine as m
from ptyscreen import PROGRAM, Skip, run

NAMES = {"phase1": "first", "phase2": "second", "phase3": "third"}


def profiled(milliseconds):
    """The stacks of tests/live/jitdump.c in its phases."""
    done = m.path("done")
    if os.path.exists(done):
        os.unlink(done)
    load = m.start(m.build("jitdump"), str(milliseconds), done, cwd=m.WORK)
    out = m.path("phases.folded")
    live = m.start(PROGRAM, "-K", "-F", "999", "-p", str(load.pid), "-o", out)
    m.until(lambda: m.has_events(live.pid), "it did not begin")
    load.send_signal(signal.SIGUSR1)
    m.until(lambda: os.path.exists(done), "the phases did not end", 300)
    live.send_signal(signal.SIGINT)
    live.wait(120)
    m.stop(load)
    return m.folded(out)


def code_has_the_name_of_its_time():
    """three functions at one address, which the dump names at the end, are distinguished"""
    m.need_events()
    for milliseconds in (500, 2000, 8000):
        found = {}
        for frames, count in profiled(milliseconds):
            for name in set(NAMES.values()) & set(frames):
                found[frames[0], name] = found.get((frames[0], name), 0) + count
        if min(found.get(right, 0) for right in NAMES.items()) > 50:
            break
    assert set(found) == set(NAMES.items()), found


def recorded(milliseconds):
    """A recording made by perf of tests/live/jitdump.c, which has ended, and its dump."""
    done, file = m.path("done"), m.path("phases.data")
    if os.path.exists(done):
        os.unlink(done)
    load = m.start(m.build("jitdump"), str(milliseconds), done, cwd=m.WORK)
    perf = m.start("perf", "record", "-q", "-k", "1", "-e", "cpu-clock:u", "-F", "999", "-o", file, "-p", str(load.pid))
    m.until(lambda: m.has_events(perf.pid), "it did not begin")
    load.send_signal(signal.SIGUSR1)
    m.until(lambda: os.path.exists(done), "the phases did not end", 300)
    perf.send_signal(signal.SIGINT)
    perf.wait(120)
    m.stop(load)
    return file, os.path.join(m.WORK, "jit-%d.dump" % load.pid)


def names_in(file):
    m.flametop("-i", file, "-o", m.path("phases.folded"))
    return {frame for frames, _ in m.folded(m.path("phases.folded")) for frame in frames} & set(NAMES.values())


def a_dump_names_what_perf_recorded():
    """for an ended process, only the dump that perf saw mapped is read, not another file in its place"""
    m.need_events()
    m.need_perf()
    for milliseconds in (500, 2000, 8000):
        file, dump = recorded(milliseconds)
        names = names_in(file)
        if names:
            break
    assert "third" in names, names
    shutil.copy(dump, dump + ".copy")
    os.replace(dump + ".copy", dump)
    assert not names_in(file), "another file was read"


SCRIPT = """
function hot(x, n) { for (let i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; } return x; }
const fs = require('fs');
let x = 1;
while (!fs.existsSync('enough')) x = hot(x, 1000000);
const end = process.cpuUsage().user + 1e6;
while (process.cpuUsage().user < end) x = hot(x, 1000000);
"""


def has_dump(pid):
    """Whether a process has a jitdump open."""
    folder = "/proc/%d/fd" % pid
    try:
        return any("/jit-" in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder))
    except OSError:
        return False


def node_tells_by_its_dump():
    """node --perf-prof, which writes most of its dump at exit, has its names"""
    m.need_events()
    if not shutil.which("node"):
        raise Skip("node is not installed (apt-get install nodejs)")
    with open(m.path("hot.js"), "w", encoding="ascii") as file:
        file.write(SCRIPT)
    live = m.start(PROGRAM, "-K", "-o", m.path("node.folded"), "--", "node", "--perf-prof", m.path("hot.js"), cwd=m.WORK)
    m.until(lambda: has_dump(live.pid), "it did not find the dump")
    with open(m.path("enough"), "w", encoding="ascii"):
        pass
    assert live.wait(300) == 0
    stacks = m.folded(m.path("node.folded"))
    hot = sum(count for frames, count in stacks if any(frame.startswith("JS:") and "hot.js" in frame for frame in frames))
    assert hot > 0.3 * sum(count for _, count in stacks), stacks


run(code_has_the_name_of_its_time, a_dump_names_what_perf_recorded, node_tells_by_its_dump)
