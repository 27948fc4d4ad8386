#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JIT code named by its jitdump: node's --perf-prof, perf inject --jit, and files saved by flametop."""
import os
import re

import machine as m
from ptyscreen import Skip, run

WORK = """
function leafSum(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const used = () => { const u = process.cpuUsage(); return u.user + u.system; };
const before = used();
let t = 0;
while (used() - before < 1e6)
    for (let i = 0; i < 50; i++) t ^= leafSum(20000);
"""
NODE = ("node", "--perf-prof", "--no-turbo-inlining", m.path("work.js"))


def need():
    m.need_perf()
    m.need_events()
    m.need_tools("node", package="nodejs")
    m.write("work.js", WORK)


def inject(file):
    """perf's injected recording: images of the code from the dump, and their mappings."""
    done = m.ran("perf", "inject", "--jit", "-i", file, "-o", file + ".injected", cwd=m.WORK)
    if "--jit" in done.stderr:
        raise Skip("this perf cannot inject: " + done.stderr.strip().split("\n")[-1])
    assert not done.returncode, (done.returncode, done.stderr[-500:])
    return file + ".injected"


def share(file):
    """the share of the hot function"""
    own = sum(count for frames, count in m.folded(file) if "leafSum" in frames[-1])
    n = sum(count for _, count in m.folded(file))
    assert n > 100, n
    return own / n, n


def folded_of(file):
    m.flametop("-i", file, "-o", file + ".folded")
    return file + ".folded"


def injected():
    """a recording after perf inject --jit has the names of the code and matches perf line by line"""
    need()
    file = inject(m.perf_record("injected.data", "-k", "1", "-g", "-e", "cpu-clock", "-F", "999", *NODE,
                                cwd=m.WORK))
    theirs = m.perf("script", "--no-inline", "-i", file)[0].splitlines()
    mine = m.export(file, "script", "--as-perf", "--no-inline").splitlines()
    assert [line.rstrip() for line in mine if line] == [line.rstrip() for line in theirs if line], \
        [pair for pair in zip(mine, theirs) if pair[0].rstrip() != pair[1].rstrip()][:4]
    assert share(folded_of(file))[0] > 0.5


def live():
    """live samples are named by the dump and saved with these names; perf inject makes its own from the
    file"""
    need()
    file = m.path("live.data")
    m.flametop("-F", "999", "-o", file, "--", *NODE, cwd=m.WORK)
    dumps = [name for name in os.listdir(m.WORK) if re.fullmatch(r"jit-\d+\.dump", name)]
    named = share(folded_of(file))
    assert named[0] > 0.5, named
    again = inject(file)
    m.near("the hot function after perf inject", share(folded_of(again))[0], named[0], named[1])
    assert "leafSum" in m.perf("report", "--stdio", "-g", "none", "-i", again)[0]
    for name in dumps:
        os.unlink(m.path(name))
    assert share(folded_of(file)) == named  # the saved file needs no dump
    m.tool("perf", "inject", "-b", "-i", file, "-o", m.path("ids.data"))
    assert m.perf("script", "-i", file)[0] == m.perf("script", "-i", m.path("ids.data"))[0]


run(injected, live)
