#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor: what is missing in the other views and how to fix it; and the menu of stack modes."""
import machine as m
from ptyscreen import Screen, run

loads = {}


def started(args=(), flags=(), size=(120, 40), first=r"^ *\d+\.\d+ .*hot_a"):
    m.need_events()
    if flags not in loads:
        loads[flags] = m.busy(m.build("shape", *flags), "36000")
    s = Screen(["-F", "199", "-p", str(loads[flags].pid), *args], size=size)
    s.wait(first)
    return s


def nameless(args=(), **more):
    """A program without symbols: functions are file offsets or starts from the unwind table."""
    return started(args, flags=("-s",), first=r"^ *\d+\.\d+ .*shape\+0x", **more)


def select(s, pattern):
    """Moves down until the line below the list matches; the first rows are findings about the system."""
    for _ in range(16):
        if s.find(pattern):
            break
        row = s.cursor_row()[0]
        s.send("down")
        s.until(lambda: s.cursor_row()[0] != row, "the cursor stays")
    s.wait(pattern)


def opens():
    """8 and D open the doctor, Tab passes through it, Esc and the keys of other views leave it"""
    with started() as s:
        s.send("8", shows=r"^[\d,]+ samples: .* of their stacks reach the root")
        s.wait(r"^SHARE%  SAMPLES WHAT ")
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.wait_not(r"reach the root")
        s.send("s-tab", shows=r"9 Time .* heat map")
        s.send("s-tab", shows=r"^SHARE%  SAMPLES WHAT ")
        s.send("tab", shows=r"9 Time .* heat map")
        s.send("tab", shows=r"SELF%.*FUNCTION")
        s.send("D", shows=r"^SHARE%  SAMPLES WHAT ")
        s.send("esc", shows=r"SELF%.*FUNCTION")


def names():
    """a program without symbols is a finding with its share, process and fix; D says who can fix it"""
    with nameless() as s:
        s.send("8", shows=r"^ *\d+\.\d +[\d,]+ names +shape +shape/\d+ +\S.*")
        select(s, r"^ ?shape in shape/\d+ *$")
        s.wait(r"your own build: do not strip it")
        s.send("D", shows=r"flametop cannot fix this itself")
        for key in ("b", "f9"):  # keys without effect here must not change the other views either
            s.send(key, shows=r"rows are by module and reason")
        s.send("d", shows=r"8 Doctor .*module:shape")
        s.send("1", shows=r"by symbol")


def cut():
    """stacks deeper than the copied bytes are reported in the header and as a finding; D copies more"""
    with started(["--call-graph", "dwarf,64"]) as s:
        s.wait(r"stacks: dwarf 64 ")
        s.wait(r"lost \d+  truncated \d+%")
        s.send("8", shows=r"^ *\d+\.\d +[\d,]+ stacks +shape +shape/\d+ +the stack is deeper than ")
        select(s, r"D copies the maximum of each stack")
        s.wait(r"the stack is deeper than its copied part, now 64 bytes")
        s.send("m", shows=r"Stacks")
        s.send("home", "down", "enter", shows=r"stacks: fp ")
        s.wait(r"the stack is deeper than the part of it that was copied then")
        assert "now 0 " not in s.text()
        select(s, r"D copies the maximum of each stack")
        s.send("D", shows=r"stacks: dwarf 65528 ")
        s.send("x")
        s.wait_not(r"truncated \d+%")
        s.wait_not(r"^ *\d+\.\d +[\d,]+ stacks +shape ")
        s.send("1", shows=r"_start|__libc_start_main")


def pointers():
    """without frame pointers in the code, such stacks end at the leaf and are marked; D switches to unwind
    tables"""
    finding = r"^ *\d+\.\d +[\d,]+ stacks +shape +shape/\d+ +code without frame pointers: the leaf"
    with started(["--call-graph", "fp"], flags=("-fomit-frame-pointer",)) as s:
        s.wait(r"stacks: fp ")
        s.wait(r"lost \d+  truncated \d+%")
        s.send("8", shows=finding)
        select(s, r"^ ?D unwinds by tables instead")
        s.send("D", shows=r"stacks: auto ")
        s.wait(r"samples from now on are unwound by tables; x forgets the older ones")
        s.send("x")
        s.wait_not(r"truncated \d+%")
        s.wait_not(finding)


def menu():
    """m changes the stack mode, and begins at the current one"""
    with started() as s:
        s.wait(r"stacks: auto")
        s.send("m", shows=r"Stacks")
        s.wait(r"auto: by unwind tables")
        s.wait(r"fp: by frame pointers")
        s.send("down", "enter", shows=r"stacks: fp ")
        s.wait(r"stacks by frame pointers")
        s.send("m", shows=r"auto: by unwind tables")
        s.send("up", "enter", shows=r"stacks: auto ")
        s.send("m", "end", shows=r"none: instruction pointer only")
        s.send("esc")
        s.wait_not(r"none: instruction pointer only")
        s.wait(r"stacks: auto ")


def over_a_file():
    """a file is examined too, and m says that its stacks cannot be changed"""
    m.need_events()
    file = m.path("examined.data")
    with started() as s:
        s.send("w", "enter", shows=r"^write perf\.data to: ")
        s.send("\x15", file, "enter", shows=r"(?i)wrote|written")
    with Screen(["-i", file], size=(120, 40)) as s:
        s.send("8", shows=r"^[\d,]+ samples: ")
        s.send("m", shows=r"a recording's stacks cannot be changed")


run(opens, names, cut, pointers, menu, over_a_file)
