#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads now: what each thread of a process does at this moment, and the process runs on afterwards."""
import contextlib
import os
import signal
import time

import machine as m
from ptyscreen import Screen, run

STRANGER = 4321
SILENCE = 6  # seconds after which flametop gives up a process that stops threads and reports nothing
QUESTION = r"Briefly stop each thread of %d \S+ to read its stack\? \(y/N\)"


def tasks(pid, name):
    """The lines of /proc/PID/task/*/status that begin with this name."""
    found = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ends at this moment
            with open("/proc/%d/task/%s/status" % (pid, tid)) as file:
                found += [line.split()[1] for line in file if line.startswith(name + ":")]
    return found


def runs_on(pid):
    return set(tasks(pid, "TracerPid")) == {"0"} and not set(tasks(pid, "State")) & {"t", "T"}


def stoppers(pid):
    """Processes of flametop that stop threads."""
    names = []
    for child in m.children(pid):
        with contextlib.suppress(OSError), open("/proc/%d/cmdline" % child) as file:
            names.append(file.read())
    return [name for name in names if "--thread-stacks" in name]


def opened(s, pid):
    """Opens the list of threads; the scope is this process."""
    s.wait(r"^flametop .*LIVE")
    s.send("N", shows=QUESTION % pid)
    s.send("y", shows=r"THREADS +STATE +FOR +WAITS FOR +NAME +CALL")


def equal_stacks():
    """threads with equal stacks are one row with a count; Enter and arrows open and close its stack"""
    process = m.load_threads("many", "2")
    for size in (80, 24), (120, 40):
        with Screen(["-p", str(process.pid)], size=size) as s:
            opened(s, process.pid)
            s.wait(r"3 stopped, one at a time, for \d+\.\d\d ms")
            s.wait(r"\[\+\] +2 sleeping +\d\S* s futex +2 threads +futex\(0")
            s.wait(r"\[\+\] +1 sleeping +\d\S* s signal +%d threads +pause\(" % process.pid)
            assert not s.find("wait_for_work")
            assert runs_on(process.pid)
            s.send("enter", shows=r"\[-\] +2 sleeping(.|\n)* wait_for_work +threads")
            s.wait(r"threads +2 threads: \d+ \d+ *│")
            s.wait(r"state +sleeping for \S+ s( to \S+ s)?: futex")
            s.send("left")
            s.wait_not(r"wait_for_work")
            s.send("right", shows=r" wait_for_work ")
            s.send("enter")
            s.wait_not(r"wait_for_work")
            s.send("G", "right", shows=r"\[-\] +1 sleeping(.|\n)* main +threads")
            s.send("esc", shows=r"SELF%")
            assert runs_on(process.pid)
            s.quit()
    m.stop(process)


def blocked_first():
    """a thread that is blocked in the kernel comes first; why it has no user stack is written above"""
    process = m.load_threads("blocked")
    m.until(lambda: tasks(process.pid, "State").count("D"), "not blocked")
    with Screen(["-p", str(process.pid)], size=(100, 30)) as s:
        opened(s, process.pid)
        s.wait(r"1 thread is blocked in the kernel and could not be stopped: no user stack")
        s.wait(r"WAITS FOR.*\n.*\[\+\] +1 blocked .*\n.*\[\+\] +\d sleeping ")
    m.stop(process)


def taken_again():
    """N reads the threads again: the opened row stays open, and the stop before did not end the waits"""
    process = m.load_threads("many", "2")
    started = time.monotonic()
    with Screen(["-p", str(process.pid)], size=(100, 40)) as s:
        opened(s, process.pid)
        s.send("enter", shows=r"wait_for_work")
        since = r"\[-\] +2 sleeping +(\d+\.\d+) s"
        for wait in 1, 2:
            s.wait(since)
            s.until(lambda: time.monotonic() - started > wait, "time does not pass")
            least = time.monotonic() - started
            s.send("N")
            s.until(lambda: s.number(since) >= least, "the stop before ended the wait")
            assert s.number(since) < time.monotonic() - started + 1
            s.wait(r"wait_for_work")
        s.send("esc", shows=r"SELF%")
        least = time.monotonic() - started
        opened(s, process.pid)
        s.send("enter", shows=since)
        assert least <= s.number(since), "it is forgotten when the list is closed"
        process.kill()
        process.wait()
        s.send("P", shows=r"there is no process %d" % process.pid)
        s.wait(r"wait_for_work")


def search():
    """/ finds functions in closed rows and opens these; then N goes back, and P reads the threads again"""
    process = m.load_threads("many", "2")
    with Screen(["-p", str(process.pid)], size=(100, 40)) as s:
        opened(s, process.pid)
        s.send("/", "start_thread", shows=r"\[-\] +2 sleeping(.|\n)* start_thread ")
        s.send("enter", "/", "_start", "enter")
        s.send("n", shows=r"\[-\] +1 sleeping(.|\n)*_libc_start_main")
        s.wait(r"P reads the threads again")
        s.send("/", "no_such", shows=r"nothing matches \"no_such\"")
        s.send("esc", shows=r"N reads the threads again")
    m.stop(process)


def chosen_process():
    """the process is that of the row, of the zoom, or of the scope; else one that is picked"""
    busy = m.busy("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    idle = m.load_threads("many", "2", "the-idle-one")
    m.need_events()
    scope = "%d,%d" % (busy.pid, idle.pid)
    with Screen(["-p", scope, "--group-by", "process"], size=(100, 30)) as s:
        s.wait(r"^ *\d+\.\d.* dd/%d" % busy.pid)
        s.send("N", shows=QUESTION % busy.pid)
        s.send("n")
        s.wait_not(r"\(y/N\)")
    with Screen(["-p", scope, "--group-by", "thread"], size=(100, 30)) as s:
        s.wait(r"^ *\d+\.\d.* dd.%d" % busy.pid)
        s.send("N", shows=QUESTION % busy.pid)
        s.send("n", "T", shows=r"thread:dd")
        s.send("2", "N", shows=QUESTION % busy.pid)
    with Screen(["-p", scope, "--view", "time"], size=(100, 30)) as s:
        s.wait(r"LIVE")
        s.send("v", shows=r"THREAD(.|\n)* dd/%d" % busy.pid)
        s.send("N", shows=QUESTION % busy.pid)
    with Screen(["-p", scope], size=(100, 30)) as s:
        s.wait(r"^ *\d+\.\d.*\[kernel\]")
        s.send("N", shows=r"Process whose threads to show(.|\n)*COMMAND")
        assert not s.find("all processes")
        s.send(*"idle-one", shows=r"%d .*the-idle-one(.|\n)*filter: idle-one" % idle.pid)
        s.send("enter", shows=QUESTION % idle.pid)
        s.send("y", shows=r"\[\+\] +2 sleeping")
    m.stop(busy)
    m.stop(idle)


def cancelled():
    """Esc cancels the reading: the view was alive meanwhile, and the process runs on at once"""
    process = m.endless()
    with Screen(["-p", str(process.pid)], size=(100, 24)) as s:
        for way in "esc", "q":
            s.wait(r"^flametop .*LIVE")
            s.send("P", shows=QUESTION % process.pid)
            s.send("y", shows=r"reading the threads of process %d \.\.\. +\(Esc cancels\)" % process.pid)
            clock = s.wait(r"LIVE (\S+)").group(1)
            s.until(lambda: s.find(r"LIVE (\S+)").group(1) != clock, "the header does not change")
            m.until(lambda: stoppers(s.pid), "nothing reads the threads")
            assert s.find(r"reading the threads") and s.find(r"SELF%")
            s.send(way, shows=r"cancelled: process %d runs on" % process.pid)
            m.until(lambda: not stoppers(s.pid), "the threads are still read", SILENCE / 2)
            assert runs_on(process.pid)
    m.stop(process)


def killed():
    """SIGKILL of flametop while it stops threads leaves the process running"""
    process = m.load_threads("count", "200")
    for _ in range(3):
        with Screen(["-p", str(process.pid)], size=(100, 24)) as s:
            s.wait(r"^flametop .*LIVE")
            s.send("P", shows=QUESTION % process.pid)
            s.send("y")
            os.kill(s.pid, signal.SIGKILL)
        m.until(lambda: runs_on(process.pid), "still stopped")
    before = process.stdout.readline()
    for _ in range(20):
        after = process.stdout.readline()
    assert int(after) == int(before) + 20
    m.stop(process)


def given_up():
    """stacks that take too long are given up with a sentence; the rest of the list is shown"""
    process = m.endless()
    with Screen(["-p", str(process.pid)], size=(100, 24)) as s:
        opened(s, process.pid)
        s.wait(r"User stacks are missing: unwinding was given up")
        s.wait(r"\[-\] +1 sleeping .*pause\(")
        assert runs_on(process.pid)
    m.stop(process)


def ended_process():
    """a zombie and a process that is gone get a sentence"""
    process = m.load_threads("many", "2")
    with Screen(["-p", str(process.pid)], size=(100, 24)) as s:
        s.wait(r"^flametop .*LIVE")
        process.kill()
        m.until(lambda: tasks(process.pid, "State") == ["Z"], "no zombie")
        opened(s, process.pid)
        s.wait(r"The process is a zombie: it has ended")
        s.wait(r"\[-\] +1 zombie ")
        s.send("q", shows=r"SELF%")
        process.wait()
        s.send("N", shows=r"\(y/N\)")
        s.send("y", shows=r"there is no process %d" % process.pid)
        s.wait(r"SELF%")


def other_user():
    """without the right to trace, the states are listed below a sentence"""
    m.need_root()
    process = m.load_threads("many", "2", "of-root")
    user = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
    own = [m.load_threads("many", "1", **user) for _ in range(2)]

    def become():
        os.setgroups([])
        os.setgid(STRANGER)
        os.setuid(STRANGER)
    with Screen(["--no-cache", "-p", ",".join(str(o.pid) for o in own)], size=(100, 30), preexec=become) as s:
        s.wait(r"LIVE")
        s.send("N", shows=r"Process whose threads to show(.|\n)*COMMAND")
        s.send(*"of-root", shows=r"%d .*threads many 2 of-root(.|\n)*filter: of-root" % process.pid)
        s.send("enter", shows=QUESTION % process.pid)
        s.send("y", shows=r"\[[-+]\] +\d sleeping")
        s.wait(r"Run as the process's user or as root|ptrace_scope")
        s.wait(r"Kernel stacks are readable by root only")
    for each in process, *own:
        m.stop(each)


def recording():
    """a recording has no running processes: a sentence, and no question"""
    m.need_events()
    m.flametop("-p", str(m.shape().pid), "--duration", "1", "-o", m.path("busy.data"))
    with Screen(["-i", m.path("busy.data")], size=(100, 24)) as s:
        s.wait(r"SELF%(.|\n)*shape")
        s.send("N", shows=r"a recording has no running processes")
        assert not s.find(r"\(y/N\)")


run(equal_stacks, blocked_first, taken_again, search, chosen_process, cancelled, killed, given_up,
    ended_process, other_user, recording)
