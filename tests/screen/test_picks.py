#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Choosing what to measure: events with their rates and what they would cost."""
import os

import machine as m
from ptyscreen import Screen, Skip, run

SYSCALLS = "raw_syscalls:sys_enter"
busy = None


def need_syscalls():
    m.need_events()
    for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.path.exists(root + "/events/raw_syscalls/sys_enter/id"):
            return
    raise Skip("no tracepoints can be read here")


def caller():
    """A process that makes system calls as fast as it can."""
    global busy
    need_syscalls()
    if os.cpu_count() > 32:
        raise Skip("one process is within the budget of so many CPUs")
    if not busy:
        busy = m.start("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    return str(busy.pid)


def typed(s, text):
    for letter in text:
        s.send(letter)


def rates():
    """in the event picker a key counts how often what is shown happens"""
    m.need_events()
    for size in ((80, 24), (120, 40)):
        with Screen([], size=size) as s:
            s.wait(r"^flametop .*LIVE")
            s.send("e")
            s.wait(r"\^R counts how often")
            typed(s, "cpu-clock")
            s.wait(r"filter: cpu-clock")
            assert not s.find(r"cpu-clock +\d+\.\d+ CPUs")
            s.send("\x12")
            s.wait(r"cpu-clock +\d+\.\d\d CPUs  \S")
            s.send("esc", "esc")
            s.wait(r"SELF%")


def dear():
    """an event that would cost too much is counted first, and a period is offered; Esc leaves all as it was"""
    with Screen(["-p", caller()], size=(100, 24)) as s:
        s.wait(r"^flametop .*LIVE")
        for answer in ("esc", "enter"):
            s.send("e")
            s.wait(r"\^R counts how often")
            typed(s, SYSCALLS)
            s.wait(r"filter: " + SYSCALLS)
            s.send("enter")
            s.wait(SYSCALLS + r" happens often: \S+ [KMG]/s")
            s.wait(r"one in \d+ .* samples a second: about \d\.\d% of the CPUs")
            s.wait(r"each one .* samples a second: ")
            s.send(answer)
            s.wait_not(r"happens often")
            if answer == "esc":
                assert not s.find(r"^.*%s.* LIVE" % SYSCALLS), "it was switched to"
        s.wait(r"^.*%s every \d+ \[2/2\]" % SYSCALLS)
        s.wait(r"^ *\d+\.\d +\d+\.\d +\d")


def dear_on_the_command_line():
    """samples that cost more than the budget are said to, with a period that would do"""
    with Screen(["-p", caller(), "-e", SYSCALLS, "-c", "1", "--call-graph", "none"], size=(200, 24)) as s:
        s.wait(r"DEGRADED \S+( [KMG])? samples a second of %s take about \d+%% of the CPUs" % SYSCALLS)


run(rates, dear, dear_on_the_command_line)
