#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who woke a thread, in files that flametop saves, and in those of perf record with sched:sched_waking."""
import json
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
    assert found.keys() == PAIR.keys() and min(found.values()) > 0.3 * int(ROUNDS), text
    return found


def recorded(name, *options):
    m.need_tracepoints()
    _, out, err = m.flametop("--off-cpu", *options, "-o", m.path(name), "--", load(), ROUNDS, cwd=m.WORK)
    return counted(out + err)


def folded(name, *options):
    return m.export(m.path(name), "folded", "--idle", "-e", "wakers", *options)


def of_waits(text):
    """Without waits for a CPU, which say who ran meanwhile."""
    return [(frames, us) for frames, us in m.stacks_of(text) if "[runnable]" not in frames]


def woken(text, dumps=True):
    """Of folded stacks in which a process waits for the other one: {(comm, waker): microseconds}. Each wait
    ends with its reason, then the waker's stack begins, with names of its own process. dumps: without frame
    pointers, the caller of a function of the C library is known."""
    sums = {}
    for frames, us in of_waits(text):
        by = [i for i, frame in enumerate(frames) if frame.startswith("[woken by ")]
        assert len(by) == 1 and frames[by[0] - 1].startswith("[wait"), frames
        own, waker = frames[:by[0]], frames[by[0] + 1:]
        if own[0] in PAIR and own[-1] == "[wait: pipe]":
            assert own[0] in own[1:] or not dumps, frames  # ping in ping(), pong in pong()
            sums[own[0], frames[by[0]]] = sums.get((own[0], frames[by[0]]), 0) + us
            if frames[by[0]] == "[woken by %s]" % PAIR[own[0]]:
                assert "main" in waker and re.search(r"pipe_write", " ".join(waker)), frames
                assert PAIR[own[0]] in waker or not dumps, frames
                assert not any("unknown" in frame for frame in waker), frames
    return sums


def pipe_waits(name):
    """How many waits for a pipe the waits view counts."""
    rows = json.loads(m.export(m.path(name), "json", "-e", "wakers"))["waits"]
    return next(row["count"] for row in rows if row["by"] == "reason" and row["name"] == "pipe")


def check(name, truth, dumps=True):
    """Each process was woken by the other one, as often as it waited."""
    sums = woken(folded(name), dumps)
    for comm, other in PAIR.items():
        by = {waker: us for (own, waker), us in sums.items() if own == comm}
        assert by.get("[woken by %s]" % other, 0) > 0.95 * sum(by.values()), (comm, sums)
    count, all_rounds = pipe_waits(name), sum(truth.values())
    assert abs(count - all_rounds) <= 0.02 * all_rounds + 4, (count, truth, sums)
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
    ours = dict.fromkeys(truth, 0)
    for frames, us in m.stacks_of(folded("perf.data")):
        reason = next(i for i, frame in enumerate(frames) if re.match(r"\[(wait|runnable)", frame))
        if frames[0] in frames[1:reason]:
            ours[frames[0]] += us
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
    with Screen(["-e", "wakers", "--idle", "--", load(), "1000000"], size=(200, 50)) as s:
        s.wait(r"\[woken by p[io]ng\]")
        s.send("z", shows="FROZEN")
        write(s, "folded", "live.folded")
        write(s, "perf.data", "live.data")
    live = m.folded(m.path("live.folded"))
    saved_too = m.stacks_of(folded("live.data"))
    missing = [stack for stack in live if stack not in saved_too]
    assert live and not missing and len(live) == len(saved_too), (missing, saved_too)
    with Screen(["-i", m.path("live.data"), "--idle", "--view", "waits"], size=(200, 50)) as s:
        s.wait(r"S pipe")
        s.send("/", "pipe", "enter", "i", shows=r"by waker")
        s.wait(r"S pipe +\[woken by p[io]ng\]")
        s.send("esc", "B", shows=r"Waits by")
        s.send("home", "down", "enter", shows=r"by process")
        s.send("/", "pong", "enter", "enter", shows=r"process:pong")
        write(s, "perf.data", "pong.data")
    pong = m.stacks_of(folded("pong.data"))
    assert pong and sorted(pong) == sorted((frames, us) for frames, us in saved_too if
                                           frames[0] == "pong" and "[wait: pipe]" in frames), pong


# a ring that holds all
RECORD = (*m.RECORD, "-m", "4096", "--switch-events", "-a", "-e", "sched:sched_switch", "-e",
          "sched:sched_waking")
DWARF = ("--call-graph", "dwarf,1024")


def of_perf(name, *args, program=None):
    """Records the load with perf until no record is lost; returns its output."""
    m.need_perf()
    m.need_tracepoints()
    for _ in range(3):
        out, err = m.perf(*args, "-o", m.path(name), "--", *(program or (load(), ROUNDS)), cwd=m.WORK)
        if "LOST" not in m.perf("report", "--stats", "-i", m.path(name))[0]:
            break
    return out + err


def wakings(name):
    """perf's count of wakeups of each process by the other one."""
    text = m.perf("script", "-i", m.path(name), "-G", "-F", "comm,event,trace")[0]
    found = re.findall(r"^ *(ping|pong) +sched:sched_waking: comm=(ping|pong) ", text, re.M)
    return {comm: found.count((other, comm)) for comm, other in PAIR.items()}


def two_processes():
    """a file of perf record with sched_waking names both wakers as often as perf counts them, with switch
    records and without, with stacks by frame pointers and with dumps"""
    for name, *args in (("fp.data", *RECORD, "-g"), ("dumps.data", *RECORD, *DWARF),
                        ("sched.data", "sched", *m.RECORD, "-m", "4096", "-g")):
        truth = counted(of_perf(name, *args))
        by_perf = wakings(name)
        assert all(abs(by_perf[c] - truth[c]) <= 0.02 * truth[c] + 2 for c in truth), (by_perf, truth)
        check(name, truth, dumps=name == "dumps.data")


def saved_again():
    """files saved from such a file have the same wakers"""
    of_perf("from.data", *RECORD, *DWARF)
    text = folded("from.data")
    for name, *options in (("whole.data",), ("part.data", "-e", "wakers", "--idle"),
                           ("bundle.tar.zst", "--idle")):
        m.flametop("-i", m.path("from.data"), *options, "-o", m.path(name))
        again = folded(name)
        assert woken(again) == woken(text) and again.count("\n") == text.count("\n"), name


@m.seen_everywhere()
def interrupts():
    """timers and disk interrupts are named as such; without stacks, an interrupt is no thread"""
    program = (m.build("waits", "-pthread"), "2")
    for name, timer, *args in (
            ("stacks.data", "a timer", *RECORD, *DWARF),
            ("none.data", "an interrupt", "sched", *m.RECORD, "-m", "4096")):
        of_perf(name, *args, program=program)
        wakers = {}
        for frames, us in of_waits(folded(name)):
            by = next(i for i, frame in enumerate(frames) if frame.startswith("[woken by "))
            for place in {f for f in frames[:by] if re.match(r"f\d$|\[wait\]$", f) and frames[0] == "waits"}:
                times = wakers.setdefault(place, {})
                times[frames[by]] = times.get(frames[by], 0) + us
        sleeps = wakers["[wait]" if timer == "an interrupt" else "f1"]
        assert max(sleeps, key=sleeps.get) == "[woken by %s]" % timer, sleeps
        if timer == "an interrupt":
            assert "[woken by holder]" in sleeps, sleeps
            continue
        assert "[woken by holder]" in wakers["f2"] and "[woken by writer]" in wakers["f3"], wakers
        writes = wakers.get("f4")
        if writes and m.ran("findmnt", "-no", "SOURCE", "-T", m.WORK).stdout.startswith("/dev/vd"):
            assert "[woken by a disk interrupt]" in writes, writes


def wakeup_names_nobody():
    """sched_wakeup says since when a thread waits for a CPU, but may run on that CPU: it names no waker"""
    of_perf("wakeup.data", *RECORD[:-1], "sched:sched_wakeup", "-g")
    stacks = m.stacks_of(m.export(m.path("wakeup.data"), "folded", "--idle"))
    assert any(frames[0] == "ping" and frames[-1] == "[runnable]" for frames, _ in stacks), stacks
    code, _, said = m.flametop("-i", m.path("wakeup.data"), "-e", "wakers", "-o", "-", check=False)
    assert code and "has no such event" in said, said
    with Screen(["-i", m.path("wakeup.data"), "--idle", "--view", "waits"], size=(120, 30)) as s:
        s.wait(r"S pipe")
        s.send("i", shows=r"does not say who woke the threads: perf sched record -g does")


def unseen_cpus():
    """Those where perf does not record each wakeup of a program that sleeps."""
    m.need_perf()
    m.need_tools("taskset")
    naps, unseen = 20, []
    program = "import time\nfor _ in range(%d): time.sleep(0.005)" % naps
    for cpu in sorted(os.sched_getaffinity(0)):
        file = m.perf_record("idle.data", "-a", "-e", "sched:sched_waking", "--", "taskset", "-c", str(cpu),
                           "python3", "-c", program)
        if len(re.findall("sched_waking: comm=python3 ", m.perf("script", "-i", file)[0])) < naps:
            unseen.append(cpu)
    return unseen


def hidden(*args):
    """CPUs of the note on interrupts that have no records"""
    text = m.flametop("-e", "sched:sched_waking", "--call-graph", "none", "--duration", "2", *args)[1]
    note = re.search(r"^NOTE this kernel hides events in interrupts of the idle CPUs? ([\d, ]+):", text, re.M)
    return [int(cpu) for cpu in note.group(1).split(", ")] if note else []


def idle_cpus():
    """a note names the CPUs that hide what interrupts their idle task: those where perf lacks wakeups; not
    while they are busy, nor where they are out of scope"""
    m.need_tracepoints("events of all CPUs")
    m.until(lambda: hidden() == unseen_cpus(), "not the CPUs of perf")
    with m.seen_everywhere():
        assert not hidden(), "a busy CPU is named"
    seen = os.sched_getaffinity(0) - set(unseen_cpus() + hidden())
    if seen:
        assert not hidden("-C", ",".join(map(str, sorted(seen))))


run(idle_cpus, saved, perf_reads_it, screens, two_processes, saved_again, interrupts, wakeup_names_nobody)
