#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of Python programs equal those that the programs report: functions, lines, callers and shares.
Run with /usr/bin/python3 and with the interpreters in FLAMETOP_PYTHONS, separated by colons (3.8 to 3.13)."""
import collections
import json
import os
import platform
import re
import subprocess

import machine as m
from ptyscreen import Screen, Skip, run

PROGRAM = os.path.join(m.SOURCE, "tests", "live", "interpreted.py")
FRAME = re.compile(r"(.+) \((.+):(\d+)\)$")
UNREAD = "[Python frame not read]"
ENOUGH = 500
EVALUATOR = "_PyEval_EvalFrameDefault"


def start(python, threads):
    m.need_events()
    return m.started(python, PROGRAM, threads, stdin=subprocess.PIPE)


def sampled(load, *options):
    """Stacks as tuples from the root, without the comm, with their sample counts."""
    stacks = collections.Counter()
    for _ in range(8):
        for stack, n in m.stacks_of(m.sampled(load.pid, "folded", "-K", "--fold", "raw", *options,
                                              seconds=2, rate=1249)):
            stacks[tuple(stack[1:])] += n
        if sum(stacks.values()) >= ENOUGH:
            break
    return stacks


def truth_of(load):
    text, _ = load.communicate(timeout=m.LIMIT)
    told = json.loads(text.splitlines()[-1])
    return {tuple(map(tuple, stack)): seconds for stack, seconds in told["burnt"]}, told["lines"]


def need_probe(stacks):
    """Skips if the kernel permits no BPF program, without which no frames are read; the doctor says so."""
    if any(UNREAD in stack or frames_of(stack) for stack in stacks):
        return
    load = start("/usr/bin/python3", "none")
    _, said, _ = m.flametop("-b", "-n", "3", "--view", "doctor", "-p", str(load.pid))
    m.stop(load)
    if "frames are not read: cannot" in said:
        raise Skip("the kernel permits no BPF program here")


def frames_of(stack):
    found = [FRAME.match(frame) for frame in stack]
    return tuple((f.group(1), f.group(2), int(f.group(3))) for f in found if f)


def share(stacks, wanted):
    return sum(n for stack, n in stacks.items() if wanted(stack)) / sum(stacks.values())


def is_python(stack):
    return any(frame.startswith((EVALUATOR, UNREAD)) or FRAME.match(frame) for frame in stack)


def check(version, python, threads):
    load = start(python, threads)
    stacks = sampled(load)
    burnt, lines = truth_of(load)
    need_probe(stacks)
    stacks = collections.Counter({stack: n for stack, n in stacks.items() if is_python(stack)})
    unread = share(stacks, lambda stack: UNREAD in stack)

    def is_true(stack):
        frames = frames_of(stack)
        own = [f for f in frames if f[1] == os.path.basename(PROGRAM)]
        names = [f[0] for f in frames]
        if not all(f[2] in lines.get(f[0], ()) for f in own):
            return False
        return "burn" not in names or frames[:names.index("burn")] in burnt

    wrong = collections.Counter({stack: n for stack, n in stacks.items()
                                 if UNREAD not in stack and not is_true(stack)})
    print("# %s, threads: %s: %d samples, %.2f %% not read, %.2f %% wrong" % (
        version, threads, sum(stacks.values()), 100 * unread,
        100 * sum(wrong.values()) / sum(stacks.values())))
    assert unread <= 0.01, [s for s in stacks.most_common(2000) if UNREAD in s[0]][:5]
    assert sum(wrong.values()) <= 0.001 * sum(stacks.values()), wrong.most_common(5)
    by_stack = collections.Counter()
    for stack, n in stacks.items():
        frames = frames_of(stack)
        names = [f[0] for f in frames]
        if "burn" in names and "note" not in names:
            by_stack[frames[:names.index("burn")]] += n
    seconds, samples = sum(burnt.values()), sum(by_stack.values())
    for stack, its in burnt.items():
        m.near(";".join(f[0] for f in stack), by_stack[stack] / samples, its / seconds, samples)


def stacks_are_what_the_program_reports():
    """functions, lines, callers and shares equal those that the program reports"""
    for version, python in m.pythons():
        check(version, python, "none")


def threads_are_what_the_program_reports():
    """threads that compete for the GIL have the stacks that the program reports"""
    for version, python in m.pythons():
        check(version, python, "gil")


def check_without_the_gil(threads, caller):
    load = start("/usr/bin/python3", threads)
    stacks = sampled(load)
    m.stop(load)
    need_probe(stacks)
    hashing = collections.Counter({s: n for s, n in stacks.items()
                                   if any("SHA256" in f or "libcrypto" in f for f in s)})
    assert sum(hashing.values()) > 50, stacks

    def is_right(stack):
        return [f[0] for f in frames_of(stack)][-2:] == [caller, "hash_without_lock"]

    assert all(is_right(stack) or UNREAD in stack for stack in hashing), hashing
    assert share(hashing, is_right) >= 0.98, hashing


def work_without_the_gil_has_its_callers():
    """C code that has released the GIL has its Python callers"""
    check_without_the_gil("hash", "hashing_thread")


def brief_threads_have_their_callers():
    """the same in threads that begin while they are sampled, and end soon"""
    if platform.machine() != "x86_64":
        raise Skip("only on x86-64, the BPF program can tell which thread of a process runs")
    check_without_the_gil("brief", "brief_thread")


def code_that_is_gone_is_marked():
    """a frame whose code was freed before it was read is marked, and never gets a wrong name"""
    load = start("/usr/bin/python3", "passing")
    stacks = sampled(load)
    m.stop(load)
    need_probe(stacks)
    passing = collections.Counter({s: n for s, n in stacks.items()
                                   if any(f.startswith("passing (") for f in s)})
    assert sum(passing.values()) > 50, stacks
    names = [[re.sub(r" \(.*", "", f) for f in s] for s in passing]
    for stack in names:
        after = [f for f in stack[stack.index("passing") + 1:]
                 if f in (UNREAD, "<module>", "burn", "once", "main")]
        assert after in ([], [UNREAD], ["<module>"], [UNREAD, "burn"], ["<module>", "burn"]), stack


DEEP = """
def deep(n):
    if n: return deep(n - 1)
    print("ready", flush=True)
    while True: n += 1
deep(300)
"""


def deep_recursion_has_its_innermost_frames():
    """of a recursion deeper than the frames that are copied, samples have these, and a mark for the others"""
    m.need_events()
    load = m.started("/usr/bin/python3", m.write("deep.py", DEEP))
    stacks = sampled(load)
    m.stop(load)
    need_probe(stacks)
    wanted = [("deep", "deep.py")] * 192
    right = sum(n for stack, n in stacks.items()
                if [f[:2] for f in frames_of(stack)] == wanted and stack.count(UNREAD) == 1)
    assert right >= 0.95 * sum(stacks.values()), stacks.most_common(3)


def saved_frames_are_the_same():
    """a recording has the sampled stacks in each format"""
    load = start("/usr/bin/python3", "none")
    data = m.path("python.data")
    m.flametop("-p", str(load.pid), "-F", "499", "--duration", "2", "-o", data)
    m.stop(load)
    folded = m.export(data, "folded", "--fold", "raw")
    need_probe([tuple(line.rsplit(" ", 1)[0].split(";")) for line in folded.splitlines()])
    found = set(re.findall(r"[^;\s]+ \(interpreted\.py:\d+\)", folded))
    assert any(f.startswith("burn ") for f in found), folded[:2000]
    for form in "script", "json", "report":
        text = m.export(data, form)
        assert "burn (interpreted.py:" in text, (form, text[:2000])
    again = m.path("again.data")
    m.flametop("-i", data, "-o", again)
    assert m.export(again, "folded", "--fold", "raw") == folded


def frames_can_be_switched_off():
    """--no-interpreted shows the interpreter's own functions"""
    load = start("/usr/bin/python3", "none")
    stacks = sampled(load, "--no-interpreted")
    m.stop(load)
    assert not any(frames_of(stack) or UNREAD in stack for stack in stacks), stacks
    assert share(stacks, lambda stack: EVALUATOR in stack) > 0.9, stacks


def waits_have_their_frames():
    """a wait has the Python functions that were running when it began, and each function its time"""
    m.need_tracepoints()
    load = start("/usr/bin/python3", "waits")
    folded = m.flametop("--off-cpu", "--idle", "-p", str(load.pid), "--duration", "4", "--fold", "raw",
                        "--export", "folded", "-o", "-")[1]
    truth = json.loads(load.communicate(timeout=m.LIMIT)[0].splitlines()[-1])
    stacks = m.stacks_of(folded)
    need_probe([tuple(stack) for stack, _ in stacks])
    found = {}
    for name, function, waits_in in (("pause", "pausing_thread", "(do|hrtimer)_nanosleep"),
                                     ("receive", "receiving_thread", r"(anon_)?pipe_read")):
        own = [(stack, us) for stack, us in stacks if any(re.fullmatch(waits_in, f) for f in stack)]
        unread = sum(us for stack, us in own if UNREAD in stack)
        found[name] = sum(us for _, us in own)
        assert unread <= 0.002 * found[name], (name, unread, found)
        for frames in (frames_of(stack) for stack, _ in own if UNREAD not in stack):
            assert [f[0] for f in frames][-2:] == [function, name], frames
            assert all(f[2] in truth["lines"][f[0]] for f in frames[-2:]), frames
    wanted = truth["waited"]["pause"] / truth["waited"]["receive"]
    assert abs(found["pause"] / found["receive"] / wanted - 1) <= 0.02, (found, truth["waited"])


def tracepoints_have_their_frames():
    """samples of a tracepoint, of a probe and of operations have the Python functions that met it"""
    m.need_tracepoints()
    load = start("/usr/bin/python3", "waits")
    events = (("-e", "syscalls:sys_enter_read"), ("-e", "sched:sched_waking"),
              ("-e", "probe:libc.so.6:read"), ("--latency", "syscalls"))
    folded = m.at_once(lambda event: m.flametop(*event, "--idle", "-p", str(load.pid), "--duration", "3",
                                                "--fold", "raw", "--export", "folded", "-o", "-")[1], *events)
    truth = json.loads(load.communicate(timeout=m.LIMIT)[0].splitlines()[-1])
    need_probe([tuple(stack) for text in folded for stack, _ in m.stacks_of(text)])
    for event, text in zip(events, folded):
        found = collections.Counter()
        for stack, n in m.stacks_of(text):
            met = [f for f in stack if re.fullmatch("_Py_(read|write)", f)]
            if met:
                frames = frames_of(stack)
                found[tuple(f[0] for f in frames[-2:])] += n
                assert all(f[2] in truth["lines"].get(f[0], (f[2],)) for f in frames), stack
        named = found[("receiving_thread", "receive")] + found[("main", "send")]
        # before the first sample of a thread nothing is known of its frames
        assert named >= 0.9 * sum(found.values()) and named, (event, found)


def sampled_tracepoints_have_the_interpreters_functions():
    """where only one in some is sampled no frames are read, which is announced; and frames of waits are not
    used"""
    m.need_tracepoints()
    load = start("/usr/bin/python3", "gil")
    data = m.path("both.data")
    some = ["-e", "syscalls:sys_enter_futex", "-c", "3"]
    m.flametop("-e", "off-cpu", *some, "-p", str(load.pid), "--duration", "3", "-o", data)
    folded = m.export(data, "folded", "--fold", "raw", "-e", "syscalls:sys_enter_futex")
    stacks = [stack for stack, _ in m.stacks_of(folded) if EVALUATOR in stack]
    assert stacks and not any(UNREAD in stack or frames_of(stack) for stack in stacks), stacks
    text = m.flametop("-b", "-n", "1", "--view", "doctor", *some, "-p", str(load.pid))[1]
    assert "frames are not read: this event cannot" in text, text
    assert "tracepoints have them with each event (-c 1)" in text, text
    m.stop(load)


def each_event_that_can_has_frames():
    """frames are there again after an event that cannot have them"""
    m.need_tracepoints()
    load = start("/usr/bin/python3", "gil")
    scope = "--call-graph", "dwarf", "-p", str(load.pid)  # auto samples many waits by frame pointers
    with Screen(scope, size=(120, 40)) as s:
        s.wait(r"\(interpreted\.py:\d+\)")
        s.send("O", shows="off-cpu")
        s.wait(r"\(interpreted\.py:\d+\)")
        s.send("O", shows="wall")
        s.wait(r"\(interpreted\.py:\d+\)")
        s.quit()
    with Screen(["-e", "syscalls:sys_enter_futex", "-c", "3", *scope], size=(120, 40)) as s:
        s.wait(EVALUATOR)
        s.send("O", shows="off-cpu")
        s.send("x")
        s.wait(r"\(interpreted\.py:\d+\)")
        s.quit()
    m.stop(load)


run(stacks_are_what_the_program_reports, threads_are_what_the_program_reports,
    work_without_the_gil_has_its_callers, brief_threads_have_their_callers, code_that_is_gone_is_marked,
    deep_recursion_has_its_innermost_frames, saved_frames_are_the_same,
    frames_can_be_switched_off, waits_have_their_frames, tracepoints_have_their_frames,
    sampled_tracepoints_have_the_interpreters_functions, each_event_that_can_has_frames)
