#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who woke a thread, in files that flametop saves, and in those of perf record with sched:sched_waking."""
import os
import re

import machine as m
from ptyscreen import Screen, run

ROUNDS = "150"
PAIR = {"ping": "pong", "pong": "ping"}


def load():
    """Two processes that wake each other."""
    return m.build("pingpong")


def counted(text):
    """How often each process waited for the other one, as the kernel counts it."""
    found = {name: int(n) for name, n in re.findall(r"^(ping|pong) (\d+)$", text, re.M)}
    assert found.keys() == PAIR.keys() and min(found.values()) > 0.5 * int(ROUNDS), text
    return found


def recorded(name, *options):
    m.need_tracepoints()
    _, out, err = m.flametop("--off-cpu", *options, "-o", m.path(name), "--", load(), ROUNDS, cwd=m.WORK)
    return counted(out + err)


def folded(name, *options):
    return m.export(m.path(name), "folded", "--idle", "-e", "wakers", *options)


def woken(text):
    """Of folded stacks in which a process waits for the other one: {(comm, waker): microseconds}. Each wait
    ends with its reason, then the waker's stack begins, with names of its own process."""
    sums = {}
    for frames, us in m.stacks_of(text):
        by = [i for i, frame in enumerate(frames) if frame.startswith("[woken by ")]
        assert len(by) == 1 and frames[by[0] - 1].startswith("[wait"), frames
        own, waker = frames[:by[0]], frames[by[0] + 1:]
        if own[0] in own[1:]:  # ping in ping(), pong in pong()
            sums[own[0], frames[by[0]]] = sums.get((own[0], frames[by[0]]), 0) + us
            if frames[by[0]] == "[woken by %s]" % PAIR[own[0]]:
                assert "main" in waker and re.search(r"pipe_write", " ".join(waker)), frames
                assert not any("unknown" in frame for frame in waker), frames
    return sums


def waits(name, comm):
    """The row of the waker of a process in the waits view: its number of waits, from the average."""
    text = m.export(m.path(name), "waits", "--idle", "-e", "wakers")
    scale = {"us": 1e-6, "ms": 1e-3, "s": 1}
    row = re.search(r"^ *[\d.]+ +[\d.]+ +\S+ +([\d.]+) (us|ms|s) .* \[woken by %s\]$" % comm, text, re.M)
    assert row, text
    return float(row.group(1)) * scale[row.group(2)]


def check(name, truth):
    """Each process was woken by the other one, as often as it waited."""
    sums = woken(folded(name))
    for comm, other in PAIR.items():
        by = {waker: us for (own, waker), us in sums.items() if own == comm}
        us = by.get("[woken by %s]" % other, 0)
        assert us > 0.95 * sum(by.values()), (comm, sums)
        times = us / 1e6 / waits(name, other)
        assert abs(times - truth[comm]) <= 0.02 * truth[comm] + 2, (comm, times, truth, sums)
    return sums


def saved():
    """a saved perf.data says who woke each thread, in whole, in part, in a bundle, and saved again"""
    check("saved.data", recorded("saved.data"))
    text = folded("saved.data", "--fold", "tid")
    for name, *options in (("whole.data",), ("part.data", "-e", "wakers"), ("bundle.tar.zst", "--idle")):
        m.flametop("-i", m.path("saved.data"), *options, "-o", m.path(name))
        assert folded(name, "--fold", "tid") == text, name
    os.makedirs(m.path("nothing"), exist_ok=True)
    assert folded("bundle.tar.zst", "--fold", "tid", "--symfs", m.path("nothing"), "--no-cache") == text


def perf_reads_it():
    """perf shows samples of wakers as the waits that ended, and the other events as before"""
    m.need_perf()
    truth = recorded("perf.data")
    for command in (("report", "--stdio"), ("script",), ("evlist", "-v")):
        out, why = m.perf(command[0], "-i", m.path("perf.data"), *command[1:])
        assert out.strip() and not why.strip(), (command, why)
        assert "wakers" in out and "BPF output" not in out, (command, out[:500])
    blocks = m.perf("script", "-i", m.path("perf.data"), "-F", "comm,event,period,ip,sym")[0].split("\n\n")
    theirs = {}
    for block in blocks:
        head = re.match(r"\s*(\S+) +(\d+) +wakers:", block)
        if head and re.search(r" %s$" % head.group(1), block, re.M):
            theirs[head.group(1)] = theirs.get(head.group(1), 0) + int(head.group(2)) / 1000
    sums = woken(folded("perf.data"))
    ours = {comm: sum(us for (own, _), us in sums.items() if own == comm) for comm in truth}
    assert ours.keys() == theirs.keys() and all(abs(ours[c] - theirs[c]) < 100 for c in ours), (ours, theirs)


def write(s, form, name):
    """Writes what a screen shows."""
    if os.path.exists(m.path(name)):  # of a first try: the program would ask
        os.remove(m.path(name))
    formats = [line.split()[0] for line in m.flametop("--list-exports")[1].splitlines()]
    s.send("E", *["down"] * formats.index(form), "enter", "\x15" + m.path(name), "enter")
    s.wait(r"(?i)(written|wrote).*%s" % name)


def screens():
    """a frozen screen shows the same wakers as the file that it saves; i leads to them in both; a file of one
    process still has the names of its wakers"""
    m.need_tracepoints()
    with Screen(["-e", "wakers", "--idle", "--", load(), "100000"], size=(200, 50)) as s:
        s.wait(r"\[woken by p[io]ng\]")
        s.send("z", shows="FROZEN")
        write(s, "folded", "live.folded")
        write(s, "perf.data", "live.data")
    live = m.folded(m.path("live.folded"))
    saved_too = m.stacks_of(folded("live.data"))
    assert live and sorted(live) == sorted(saved_too), (live, saved_too)
    with Screen(["-i", m.path("live.data"), "--idle", "--view", "waits"], size=(200, 50)) as s:
        s.wait(r"S pipe")
        s.send("/", "pipe", "enter", "i", shows=r"by waker")
        s.wait(r"S pipe +\[woken by p[io]ng\]")
        s.send("esc", "B", shows=r"Waits by")
        s.send("home", "down", "enter", shows=r"by process")
        s.send("/", "pong", "enter", "enter", shows=r"process:pong")
        write(s, "perf.data", "pong.data")
    pong = m.stacks_of(folded("pong.data"))
    assert pong and sorted(pong) == sorted(stack for stack in saved_too if stack[0][0] == "pong"), pong


run(saved, perf_reads_it, screens)
