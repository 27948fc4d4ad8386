#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Wall-clock time: of each thread the time on the CPU, waiting for a CPU and waiting for something else add
up to its lifetime, and each has its stacks, on the screen and in files."""
import functools
import os
import re
import subprocess

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run, shared

THREADS = ("burner", "sleeper", "still")
SECONDS = "4"  # 400 turns of burner and sleeper


@functools.lru_cache(None)
def load():
    return m.build("wall", "-pthread")


def truth_of(text):
    """{thread: [lifetime, time on a CPU in burn(), time off the CPU in rest()]} and time that the host took
    from the CPUs, in microseconds"""
    truth = {name: list(map(int, times)) for name, *times in
             re.findall(r"^(\w+) (\d+) (\d+) (\d+)$", text, re.M)}
    assert set(truth) == set(THREADS), text
    return truth, int(re.search(r"^stolen (\d+)$", text, re.M)[1])


EVENTS = (["--wall"], ["-e", "task-clock,wall"], ["-e", "cpu-clock:u,wall"], ["--preset", "wall"])
FOLDED = ("--idle", "--export", "folded", "--fold", "tid")


@shared
def recorded():
    """What the threads of the load say of themselves, while it is sampled with each of EVENTS into a file of
    stacks, named by its number, and into saved.data."""
    m.need_tracepoints()
    files = [[*event, *FOLDED, "-o", m.path("wall%d.folded" % i)] for i, event in enumerate(EVENTS)]
    return truth_of(m.watched((load(), SECONDS), *files, ["--wall", "--idle", "-o", m.path("saved.data")]))


def is_wait(frames):
    return frames[-1].startswith("[wait") or frames[-1] == "[runnable]"


def near(what, got, wanted, all, unknown=0, stolen=0):
    """Within 2 points, and time that is said to be missing: of a preempted thread there is no stack, and of
    time in which records were lost nothing is known. The kernel's CPU time of a thread does not include
    stolen time; that of events does."""
    assert wanted - 0.02 * all - unknown <= got <= wanted + 0.02 * all + stolen, (what, got, wanted, all,
                                                                                  unknown, stolen)


def check(stacks, truth, whole_life=True):
    threads, stolen = truth
    for thread, (life, burnt, rested) in threads.items():
        own = [(frames, us) for frames, us in stacks if re.fullmatch(thread + r"-\d+/\d+", frames[0])]
        assert own, (thread, stacks)
        # a thread's lifetime begins behind the barrier at which it waits for the others
        whole = sum(us for frames, us in own if "pthread_barrier_wait" not in frames)
        burn = sum(us for frames, us in own if "burn" in frames and not is_wait(frames))
        rest = sum(us for frames, us in own if "rest" in frames and is_wait(frames))
        bare = sum(us for frames, us in own if len(frames) == 2 and is_wait(frames))
        lost = sum(us for frames, us in own if frames[-1] == "[unknown: records lost]")
        assert not whole_life or abs(whole - life) <= 0.005 * life, (thread, whole, life, own)
        near((thread, "burn"), burn, burnt, life, lost, stolen)
        near((thread, "rest"), rest, rested, life, bare + lost)


def lifetimes():
    """the rows of each thread add up to its lifetime, whatever event samples the CPU"""
    truth = recorded()
    for i in range(len(EVENTS)):
        stacks = m.folded(m.path("wall%d.folded" % i))
        check(stacks, truth)
        leaves = {frames[-1] for frames, _ in stacks}
        assert "[wait: timer]" in leaves and "[runnable]" in leaves, leaves


def begun_meanwhile():
    """threads that begin while the events are opened are seen in full"""
    m.need_tracepoints()
    file = m.path("late.folded")
    for _ in range(3):
        process = m.started(load(), "1", "300", stdin=subprocess.PIPE)
        top = m.start(PROGRAM, "--wall", *FOLDED, "-o", file, "-p", str(process.pid))
        # before, it counts with one event per thread; then there are several, for each CPU
        while len(os.listdir("/proc/%d/fd" % top.pid)) < 400:
            assert top.poll() is None, top.returncode
        process.stdin.write("start\n")
        process.stdin.flush()
        m.until(lambda: m.is_sampling(top.pid), "flametop did not open its events")
        truth = truth_of(process.communicate("begin\n")[0])
        assert top.wait() == 0
        check(m.folded(file), truth, whole_life=False)


def one_section():
    """a report has wall-clock time, and of the events that it is made from those that were named"""
    m.need_tracepoints()
    forms = ["-b"], ["--export", "report", "-o", "-"]
    events = (["--wall"], ["wall"]), (["-e", "cpu-clock,wall"], ["cpu-clock", "wall"])
    cases = [(*event, form) for event in events for form in forms]
    reports = m.at_once(lambda case: m.flametop(*case[0], "--idle", *case[2], "--", load(), "0.5")[1], *cases)
    for (_, events, form), out in zip(cases, reports):
        heads = re.findall(r"^flametop - .* cpus  (\S+)", out, re.M)
        assert heads and heads == events * (len(heads) // len(events)), (form, heads)


def one_sentence():
    """the waits of a file are those of the events that measure them; without such an event it is said once"""
    recorded()
    waits = m.flametop("-i", m.path("saved.data"), "--view", "waits")[1]
    heads = re.findall(r"^flametop - .* cpus  (\S+)", waits, re.M)
    assert set(heads) == {"off-cpu", "wakers", "wall"} and "does not measure" not in waits, waits
    latency = m.flametop("-i", m.path("saved.data"), "--view", "latency")[1]
    assert latency.count("this event does not measure latencies") == 1, latency


def competition():
    """the same while more threads want a CPU than there are CPUs"""
    m.need_tracepoints()
    burners = [m.start("sh", "-c", "while :; do :; done") for _ in range(2 * (os.cpu_count() or 1))]
    truth = truth_of(m.flametop("--wall", *FOLDED, "-o", m.path("busy.folded"), "--", load(), SECONDS)[1])
    for burner in burners:
        m.stop(burner)
    check(m.folded(m.path("busy.folded")), truth)


def saved():
    """a saved perf.data has the same numbers in flametop and in perf script"""
    m.need_perf()
    truth = recorded()
    stacks = m.stacks_of(m.export(m.path("saved.data"), "folded", "--idle", "--fold", "tid", "--wall"))
    check(stacks, truth)
    theirs = {}
    text = m.perf("script", "-i", m.path("saved.data"), "-F", "tid,event,period", "-G")[0]
    for tid, period in re.findall(r"^\s*(\d+)\s+(\d+)\s+wall:", text, re.M):
        theirs[tid] = theirs.get(tid, 0) + int(period) / 1000
    ours = {}
    for frames, us in stacks:
        tid = frames[0].split("/")[1]
        ours[tid] = ours.get(tid, 0) + us
    assert ours.keys() == theirs.keys(), (ours, theirs)
    for tid, us in ours.items():
        assert abs(us - theirs[tid]) < 100, (tid, ours, theirs)


def files_of_perf():
    """a file of perf record with samples of CPU time and all switches has wall-clock time, too"""
    m.need_tracepoints()
    m.need_perf()
    file = m.path("perf.data")
    truth = truth_of("".join(m.perf(*m.RECORD, "-m", "4096", "-e", "cpu-clock/freq=500/", "-e",
                                    "sched:sched_switch", "--switch-events", "--call-graph", "dwarf,1024",
                                    "-o", file, "--", load(), "3")))
    if "LOST" in m.perf("report", "--stats", "-i", file)[0]:
        raise Skip("perf lost records")
    check(m.stacks_of(m.export(file, "folded", "--idle", "--fold", "tid", "--wall")), truth)


def fill_of(svg, name):
    """The colours of an SVG's frames with this name."""
    frame = r'<g[^>]*><title>%s \([^<]*</title><rect[^>]*fill="([^"]*)"'
    return set(re.findall(frame % re.escape(name), svg))


def colours():
    """waits have colours by reason in an SVG"""
    recorded()
    svg = m.export(m.path("saved.data"), "svg", "--idle", "--wall")
    found = [fill_of(svg, name) for name in ("[wait: timer]", "[runnable]", "burn")]
    assert all(len(f) == 1 for f in found) and len(set.union(*found)) == 3, (found, svg[:3000])
    assert "idle wait" in svg and "runnable" in svg, svg[:3000]


def keys():
    """O shows time on the CPU, time off the CPU and both, one after the other; each event is sampled only
    while it is shown"""
    m.need_tracepoints()
    process = m.start(load(), "3600", cwd=m.WORK)
    with Screen(["--idle", "-p", str(process.pid)]) as s:
        s.wait(r"(cycles|cpu-clock)\S* \d+Hz")
        s.send("O", shows=r"off-cpu each")
        s.wait(r"\[wait: timer\]")
        s.send("O", shows=r"wall clock: % of thread time")
        s.wait(r"\[wait: timer\]")
        s.wait(r" burn$")
        s.send("O", shows=r"(cycles|cpu-clock)\S* \d+Hz  ")
        s.wait_not(r"wall clock")
        s.send("[", shows="wall clock")
        s.send("[", shows="wakers each")


def refused():
    """what wall cannot do is said: some CPUs only, counting, a group"""
    m.need_tracepoints()
    for options, said in ((["--wall", "-C", "0", "--duration", "1", "-o", m.path("x.data")], "all CPUs"),
                          (["--wall", "--stat", "--", "true"], "context-switches"),
                          (["-e", "{cs,wall}", "-b"], "no member of a group")):
        status, _, err = m.flametop(*options, check=False)
        assert status and said in err, (options, err)


run(lifetimes, begun_meanwhile, one_section, one_sentence, competition, saved, files_of_perf, colours, keys,
    refused)
