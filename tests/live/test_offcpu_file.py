#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of perf record and perf sched record with the tracepoint sched:sched_switch open as time off the CPU:
as long as the waiting program itself measures it, and as perf sched timehist does."""
import functools
import os
import re

import machine as m
from ptyscreen import Screen, Skip, run, shared

REASONS = {"f1": "timer", "f2": "futex", "f3": "pipe"}
FUNCTIONS = [*REASONS, "f4", "f5"]
# a ring that holds all: with lost records, waits are unknown
DWARF = ("-m", "4096", "--call-graph", "dwarf,1024")


@functools.lru_cache(None)
def load():
    m.need_perf()
    if os.geteuid():
        raise Skip("tracepoints need root")
    return m.build("waits", "-pthread")


PIDS = {}  # of the load in each file


def perf(*commands, seconds=3, cpu=""):
    """Records the load with perf into a file, or into several at the same time: (name, *arguments) of each,
    those of all CPUs first. Returns the load's own waits by function, in microseconds. With lost records,
    waits are unknown: then again."""
    shell = 'echo $$ >"$0.pid"; exec ${2:+taskset -c "$2"} "$0" "$1"'
    argv = [word for name, *args in commands for word in ("perf", *args, "-o", m.path(name), "--")]
    for _ in range(3):
        done = m.ran(*argv, "sh", "-c", shell, load(), str(seconds), cpu)
        if all("LOST" not in m.perf("report", "--stats", "-i", m.path(name))[0] for name, *_ in commands):
            break
    truth = {f: int(us) for f, us in re.findall(r"^(f\d|queue) (\d+)$", done.stdout + done.stderr, re.M)}
    assert len(truth) >= 5, done
    with open(load() + ".pid") as file:
        PIDS.update(dict.fromkeys([name for name, *_ in commands], int(file.read())))
    intervals.cache_clear()
    return truth


OWN = (*m.RECORD, "-e", "sched:sched_switch", *DWARF)
ALL = (*OWN, "-a")


@shared
def recorded():
    """The waits of a load that is in three files."""
    return perf(("all.data", *ALL, "--switch-events"), ("bare.data", *ALL), ("noends.data", *OWN))


def folded(name, *options, of=None):
    """The stacks of the load in a file, or in one made of it, by thread."""
    stacks = m.stacks_of(m.export(m.path(name), "folded", "--idle", "--fold", "tid", *options))
    return [(frames, us) for frames, us in stacks if re.match(r".*-%d/\d+$" % PIDS[of or name], frames[0])]


@functools.lru_cache(None)
def intervals(name):
    """By thread and in microseconds, from perf script: [[state, time off the CPU, and of that after a
    wakeup, whether the thread has its number when it leaves the CPU again]], and the time off the CPU whose
    end is not in the file, since some machines hide the switches of their own agents."""
    text = m.perf("script", "-i", m.path(name), "--ns", "-G", "-F", "tid,time,event,trace")[0]
    left, seen, unseen, woken = {}, {}, {}, {}
    for tid, s, ns, before, state, after, wakes in re.findall(
            r"(-?\d+) +(\d+)\.(\d{9}): +sched:sched_(?:switch: .*prev_pid=(\d+) .*prev_state=(\S+) ==> "
            r".*next_pid=(\d+)|waking: .*\bpid=(\d+))", text):
        now = int(s) * 1000000 + int(ns) / 1000
        if wakes:
            woken.setdefault(int(wakes), now)
            continue
        before, after = int(before), int(after)
        woken.pop(before, 0)
        if before in left:
            unseen[before] = unseen.get(before, 0) + now - left[before][1]
        left[before] = (state, now)
        if before in seen:
            seen[before][-1][3] = tid != "-1"
        if after in left:
            state, since = left.pop(after)
            seen.setdefault(after, []).append([state, now - since, now - woken.get(after, now), True])
    return seen, unseen


def unseen(name):
    return intervals(name)[1].get(PIDS[name], 0)


def check(name, truth, missing=0):
    """The sums by function are the program's. f4 and f5 leave the CPU often and shortly, and perf works at
    each switch; a host of the machine takes time from f5 that no record has."""
    sums, reasons = m.by_function(folded(name))
    for function in FUNCTIONS:
        us = truth[function]
        got, few = sums.get(function, 0), function in REASONS
        assert got <= (1.02 if few else 1.06) * us + 3000, (function, sums, truth)
        assert got >= (0.98 if few else 0.5) * us - 3000 - missing, (function, sums, truth, missing)
    for function, reason in REASONS.items():
        assert truth[function] < 10000 or "[wait: %s]" % reason in reasons[function], (function, reasons)
    return sums


def switch_records():
    """waits of a file with switch records are as long as the program measures them"""
    check("all.data", recorded())


def one_process():
    """so are those of a file of one process with switch records"""
    check("one.data", perf(("one.data", *OWN, "--switch-events")))


def tracepoint_alone():
    """without switch records, the tracepoint of all CPUs says when a thread comes back"""
    check("bare.data", recorded(), unseen("bare.data"))


def no_ends():
    """without switch records, a file of one process has no ends of waits: a sentence says so"""
    truth = recorded()
    doctor = m.export(m.path("noends.data"), "doctor")
    assert re.search(r"waits are too short: the file does not say when they ended", doctor), doctor
    assert "--switch-events" in doctor, doctor
    sums, _ = m.by_function(folded("noends.data"))
    assert all(us <= 1.02 * truth[f] + 3000 for f, us in sums.items()), (sums, truth)  # never too long
    assert m.by_function(folded("noends.data", "-e", "sched:*"))[0], "the file's own samples are not shown"


def first_waits(name):
    """By thread, in microseconds: the time until it first ran, from its start or from its first wakeup. And
    the threads that were started."""
    text = m.perf("script", "-i", m.path(name), "--ns", "-G", "-F", "time,event,trace")[0]
    ready, started, waits, left = {}, set(), {}, set()
    for s, ns, event, tid, before, after in re.findall(
            r"(\d+)\.(\d{9}): +sched:sched_(?:(wakeup_new|waking): .*\bpid=(\d+)|"
            r"switch: .*prev_pid=(\d+) .*next_pid=(\d+))", text):
        now = int(s) * 1000000 + int(ns) / 1000
        if event:
            ready.setdefault(tid, now)
            started |= {int(tid)} if event == "wakeup_new" else set()
            continue
        left.add(before)
        if after in ready and after not in left:
            waits.setdefault(int(after), now - ready[after])
        left.add(after)
    return waits, started


def threads(name):
    """The lines of perf sched timehist for the threads of the load: (tid, numbers)."""
    out, _ = m.perf("sched", "timehist", "-s", "--state", "-i", m.path(name))
    pid = PIDS[name]
    mine = r"^\s*\w+\[(?:%d|(\d+)/%d)\]\s+-?\d+\s+\d+\s+([\d. ]+)$" % (pid, pid)
    found = [(int(tid or pid), numbers) for tid, numbers in re.findall(mine, out, re.M)]
    assert len(found) == 3, out
    return found


def timehist(name):
    """perf's own sums of each thread of the load, in microseconds: waiting, runnable. perf counts the state
    R+ as sleep, and leaves out a wait if the thread that ends has no number when it leaves the CPU again. It
    counts the time from the first wakeup; flametop knows nothing of a thread before it runs or is started."""
    seen, _ = intervals(name)
    sums, (first, started) = {}, first_waits(name)
    for tid, numbers in threads(name):
        _, sleep, iowait, preempt, delay = (1000 * float(number) for number in numbers.split()[:5])
        again = sum(us for state, us, _, named in seen[tid] if named and state == "R+")
        missing = [wait for wait in seen[tid] if not wait[3]]
        left_out = sum(after if state[0] != "R" else us for state, us, after, _ in missing)
        woken = delay - first.get(tid, 0)  # part of what perf counts as sleep
        delay = delay if tid in started else woken
        sums[tid] = (sleep + iowait - woken - again + sum(us for _, us, _, _ in missing) - left_out,
                     preempt + delay + again + left_out)
    return sums


def by_thread(name):
    """The same of flametop."""
    sums = {}
    for frames, us in folded(name):
        tid, runnable = int(frames[0].split("/")[1]), frames[-1] == "[runnable]"
        old = sums.get(tid, (0, 0))
        sums[tid] = (old[0] + us * (not runnable), old[1] + us * runnable)
    return sums


CPUS = sorted(os.sched_getaffinity(0))


def sched(name, *args):
    """Runs perf sched record; returns the load's own waits. Some kernels hide the switches of an idle task,
    and with them the ends of waits on its CPU: perf's times are then no oracle, and another CPU is tried."""
    for cpu in CPUS[:]:
        truth = perf((name, "sched", *m.RECORD, *args), seconds=4, cpu=str(cpu))
        hidden = intervals(name)[1]
        if all(hidden.get(tid, 0) < 500 for tid, _ in threads(name)):
            return truth
        CPUS.append(CPUS.pop(0))  # the next file begins with the other one
    raise Skip("this kernel hides switches: threads come onto a CPU without a record")


def check_threads(name):
    ours, theirs = by_thread(name), timehist(name)
    assert ours.keys() == theirs.keys(), (ours, theirs)
    for tid, times in theirs.items():
        assert all(abs(a - b) <= 0.02 * b + 1000 for a, b in zip(ours[tid], times)), (tid, ours, theirs)


def sched_record():
    """a file of perf sched record has the time that a thread waits for a CPU, as the kernel counts it"""
    burners = [m.start("sh", "-c", "while :; do :; done") for _ in range(2 * (os.cpu_count() or 1))]
    truth = sched("sched.data")
    for burner in burners:
        m.stop(burner)
    if "queue" not in truth:
        raise Skip("this kernel does not count the time that a thread waits for a CPU")
    runnable = by_thread("sched.data")[PIDS["sched.data"]][1]
    assert runnable > 200000, runnable  # it had to compete
    slack = 0.02 * truth["queue"] + 3000 + unseen("sched.data")
    assert abs(runnable - truth["queue"]) <= slack, (runnable, truth, slack)


def sched_record_with_stacks():
    """perf sched record -g has the times of perf sched timehist by thread, and the program's by function"""
    truth = sched("stacks.data", *DWARF)
    check("stacks.data", truth, unseen("stacks.data"))
    check_threads("stacks.data")


def saved():
    """a file saved from such a file, whole or in part, has the same waits"""
    first = "bare.data"
    sums = check(first, recorded(), unseen(first))
    m.flametop("-i", m.path(first), "-o", m.path("whole.data"))
    assert m.by_function(folded("whole.data", of=first))[0] == sums
    m.flametop("-i", m.path(first), "--idle", "-o", m.path("bundle.flametop"))
    bundle = m.by_function(folded("bundle.flametop", of=first))[0]
    assert all(abs(bundle[f] - us) < 100 for f, us in sums.items()), (bundle, sums)
    m.flametop("-i", m.path(first), "-e", "off-cpu", "--idle", "-o", m.path("part.data"))
    part = m.by_function(folded("part.data", of=first))[0]
    assert all(abs(part[f] - us) < 100 for f, us in sums.items()), (part, sums)
    out, _ = m.perf("script", "-i", m.path("part.data"), "-F", "event,period")[:2]
    assert set(re.findall(r"(\S+):\s*$", out, re.M)) == {"off-cpu", "on-cpu"}, out[:300]


def other_formats():
    """formats of all the file's events leave out what follows from them; -e off-cpu holds it alone"""
    perf(("formats.data", "sched", *m.RECORD), seconds=1)
    theirs = m.perf("script", "-i", m.path("formats.data"), "-F", "event")[0]
    ours = m.export(m.path("formats.data"), "script", "--fields", "event")
    assert sorted(ours.split()) == sorted(theirs.split())
    alone = m.export(m.path("formats.data"), "script", "--fields", "event", "-e", "off-cpu")
    assert set(alone.split()) == {"off-cpu:"}, alone[:300]


def screen():
    """the screen shows the waits first; O switches to the file's own samples and back"""
    recorded()
    with Screen(["-i", m.path("bare.data"), "--idle"]) as s:
        s.wait(r"off-cpu each.* FILE [\s\S]*\[wait: timer\]")
        s.send("O", shows="event sched:sched_switch")
        s.send("O", shows="event off-cpu")


def other_events_first():
    """beside another event the waits are one key away"""
    perf(("both.data", *m.RECORD, "-e", "cpu-clock/freq=4000/", "-e", "sched:sched_switch", "-g"),
         seconds=1)
    with Screen(["-i", m.path("both.data"), "--idle"]) as s:
        s.wait("cpu-clock.* FILE ")
        s.send("O", shows="event off-cpu")


run(switch_records, one_process, tracepoint_alone, no_ends, sched_record, sched_record_with_stacks, saved,
    other_formats, screen, other_events_first)
