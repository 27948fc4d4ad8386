#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JIT code named by the times in its jitdump."""
import os
import shutil
import signal

import machine as m
from ptyscreen import PROGRAM, run

NAMES = {"phase1": "first", "phase2": "second", "phase3": "third"}


def sampled(milliseconds, *profiler):
    """Runs tests/live/jitdump.c with a profiler in its phases; returns its pid."""
    done = m.path("done")
    if os.path.exists(done):
        os.unlink(done)
    load = m.start(m.build("jitdump"), str(milliseconds), done, cwd=m.WORK)
    live = m.start(*profiler, "-p", str(load.pid))
    m.until(lambda: m.has_events(live.pid), "it did not begin")
    load.send_signal(signal.SIGUSR1)
    m.until(lambda: os.path.exists(done), "the phases did not end", 300)
    live.send_signal(signal.SIGINT)
    live.wait(120)
    m.stop(load)
    return load.pid


def profiled(milliseconds):
    """The stacks of tests/live/jitdump.c in its phases."""
    sampled(milliseconds, PROGRAM, "-K", "-F", "999", "-o", m.path("phases.folded"))
    return m.folded(m.path("phases.folded"))


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
    file = m.path("phases.data")
    pid = sampled(milliseconds, "perf", *m.RECORD, "-k", "1", "-e", "cpu-clock:u", "-F",
                  "999", "-o", file)
    return file, m.path("jit-%d.dump" % pid)


def names_in(file):
    m.flametop("-i", file, "-o", m.path("phases.folded"))
    frames = {frame for frames, _ in m.folded(m.path("phases.folded")) for frame in frames}
    return frames & set(NAMES.values())


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


def node_tells_by_its_dump():
    """node --perf-prof, which writes most of its dump at exit, has its names"""
    m.need_events()
    m.need_tools("node", package="nodejs")
    live = m.start(PROGRAM, "-K", "-o", m.path("node.folded"), "--", "node", "--perf-prof",
                   m.write("hot.js", SCRIPT), cwd=m.WORK)
    m.until(lambda: m.has_open(live.pid, "/jit-"), "it did not find the dump")
    m.write("enough", "")
    assert live.wait(300) == 0
    stacks = m.folded(m.path("node.folded"))
    hot = sum(count for frames, count in stacks
              if any(frame.startswith("JS:") and "hot.js" in frame for frame in frames))
    assert hot > 0.3 * sum(count for _, count in stacks), stacks


run(code_has_the_name_of_its_time, a_dump_names_what_perf_recorded, node_tells_by_its_dump)
