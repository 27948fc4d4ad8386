#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Little memory, and far more work than CPUs: flametop raises its priority, loses no sample, ends in time,
and reports limits."""
import os
import re
import subprocess
import time

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

BUSY = 15  # for each CPU


def crowd():
    m.need_root()
    m.need_events()
    spin = "while :; do :; done"
    return [m.start("sh", "-c", spin) for _ in range(BUSY * os.cpu_count())]


def nices(pid):
    """The nice values of its threads."""
    return [int(m.stat(pid, int(tid))[16]) for tid in os.listdir("/proc/%d/task" % pid)]


def loses_nothing():
    """on an overloaded system a recording begun at the lowest priority is complete; the command keeps its
    priority"""
    busy = crowd()
    done = subprocess.Popen(["nice", "-n", "19", PROGRAM, "--no-cache", "--duration", "4", "-o",
                             m.path("crowd.folded"), "--", "sleep", "60"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL)
    command = None
    while done.poll() is None and not command:
        command = m.child_called(done.pid, "sleep")
        time.sleep(0.05)
    priority = nices(command)[0] if command else None
    message = done.communicate(timeout=120)[1]
    for load in busy:
        m.stop(load)
    taken, lost = re.search(r"([\d,]+) samples, (\d+) lost", message).groups()
    assert not done.returncode and lost == "0", (done.returncode, message)
    assert priority == 19, "the command has flametop's priority: %s" % priority


def told():
    """the screen reports the overload and the raised priority; flametop's CPU share is relative to all
    CPUs"""
    busy = crowd()
    time.sleep(0.5)
    with Screen(["--no-cache"], size=(160, 30)) as s:
        s.wait(r"the system is overloaded")
        s.wait(r"samples +[1-9]")
        assert set(nices(s.pid)) == {-10}, nices(s.pid)
        for _ in range(5):
            share = float(re.search(r"self ([\d.]+)%", s.text()).group(1)) if "self " in s.text() else 0
            assert share <= 100 * os.cpu_count(), s.text()
            time.sleep(0.5)
    for load in busy:
        m.stop(load)


def collectors(pid):
    """Its threads with real-time priority."""
    return [tid for tid in os.listdir("/proc/%d/task" % pid)
            if os.sched_getscheduler(int(tid)) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR]


def prompt():
    """while off-cpu runs, the collector has real-time priority, and nothing else of flametop; not before, and
    not later"""
    m.need_tracepoints()
    with Screen([], size=(120, 30)) as s:
        s.wait(r"samples +[1-9]")
        assert not collectors(s.pid)
        s.send("O", shows="off-cpu")
        m.until(lambda: len(collectors(s.pid)) == 1, "no thread has real-time priority")
        children = m.children(s.pid)
        assert children and not any(collectors(child) for child in children), children
        s.send("OO")
        m.until(lambda: not collectors(s.pid), "it keeps its real-time priority")


def memory_group(bytes):
    """The folder of a new cgroup with this memory limit."""
    m.need_root()
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = os.path.join(root, "flametop-test-%d" % os.getpid())
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, limit), "w") as file:
                file.write(str(bytes))
            return folder
        except OSError:
            if os.path.isdir(folder):
                os.rmdir(folder)
    raise Skip("cannot create a cgroup with a memory limit")


def in_group(folder, *args):
    return m.ran("sh", "-c", 'echo $$ > "$0"/cgroup.procs; exec "$@"', folder, PROGRAM, *args, timeout=120)


def little_memory():
    """in a cgroup of 24 MB the history shrinks, with a note; in one of 8 MB flametop says what it needs"""
    m.need_events()
    folder = memory_group(24 << 20)
    try:
        done = in_group(folder, "-F", "999", "-b", "-n", "2", "-d", "3")
        assert done.returncode == 0 and "allows 24M of memory: the history has 2.0M" in done.stdout, \
            (done.returncode, done.stdout, done.stderr)
        memory_group(8 << 20)
        done = in_group(folder, "-b", "-n", "1")
        assert done.returncode == 1 and "allows 8.0M of memory, and it needs 16M" in done.stderr, \
            (done.returncode, done.stderr)
    finally:
        m.until(lambda: not open(os.path.join(folder, "cgroup.procs"), encoding="ascii").read(),
                "a process stays in the cgroup")
        os.rmdir(folder)


MANY_SYMBOLS = """
volatile unsigned long n;
int main(void) { for (;;) n++; }
__asm__(".macro one\\n" "f_\\\\@: nop\\n" ".type f_\\\\@, %function\\n" ".size f_\\\\@, 1\\n" ".endm\\n"
        ".rept 300000\\n" "one\\n" ".endr\\n");
"""


def oom_kills(folder):
    """The number of OOM kills in the cgroup; None if this kernel does not report it."""
    for name in ("memory.oom_control", "memory.events"):
        try:
            with open(os.path.join(folder, name)) as f:
                found = re.search(r"^oom_kill (\d+)", f.read(), re.M)
        except OSError:
            continue
        if found:
            return int(found.group(1))
    return None


def large_file_in_little_memory():
    """a file whose table does not fit into the cgroup is given up before the kernel kills a process"""
    m.need_events()
    if os.environ.get("SANITIZER_FLAGS"):
        raise Skip("under a sanitizer the worker's memory has no limit")
    folder = memory_group(24 << 20)
    load = m.start(m.compiled("many", MANY_SYMBOLS, "-O1"))
    try:
        if oom_kills(folder) is None:
            raise Skip("this kernel does not count OOM kills in a cgroup")
        done = in_group(folder, "--no-cache", "-e", "cpu-clock", "-p", str(load.pid), "--duration", "3",
                        "--export", "doctor", "-o", "-")
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert oom_kills(folder) == 0, done.stdout
        assert re.search(r"many.*\n?.*memory", done.stdout), done.stdout
    finally:
        m.stop(load)
        m.until(lambda: not open(os.path.join(folder, "cgroup.procs"), encoding="ascii").read(),
                "a process stays in the cgroup")
        os.rmdir(folder)


run(loses_nothing, told, prompt, little_memory, large_file_in_little_memory)
