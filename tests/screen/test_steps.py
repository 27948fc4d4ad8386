#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Esc undoes steps in reverse order and restores cursor and scroll position; the recording has known samples:
forty threads, the busiest first, each with functions of its own number."""

import machine as m
from perffile import Program, Sample, write
from ptyscreen import Screen, run

THREADS = 40
program = None


def recorded():
    """The recording, made once."""
    global program
    path = m.path("steps.data")
    if program:
        return path
    names = ["f%02d" % n for n in range(60)]
    program = Program(m.path("many"), names)
    samples, comms = [], {}
    for n in range(THREADS):
        comms[100 + n] = "proc%02d" % n
        for i in range(2 * (THREADS - n)):
            samples.append(Sample(len(samples) * 0.001, 100 + n, 0, ["f59", "f%02d" % ((n + i % 3) % 59)]))
    write(path, program, samples, comms)
    return path


def opened(*args, size=(170, 24)):
    s = Screen(["-i", recorded(), *args], size=size)
    s.wait(r"^ *\d+\.\d+ .*\b(f|proc)\d\d")
    return s


def cursor_on(s, name):
    s.until(lambda: name in s.cursor_row()[1], "the cursor is not on " + name)


def down_to(s, name, last):
    """Moves to the end and then up, so that the row is neither at the top nor at the end of the screen."""
    s.send("end")
    cursor_on(s, last)
    for _ in range(THREADS):
        if name in s.cursor_row()[1]:
            return s.cursor_row()
        before = s.cursor_row()
        s.send("up")
        s.until(lambda: s.cursor_row() != before, "the cursor stays")
    raise AssertionError("no row %s\n%s" % (name, s.text()))


def grouped():
    """after Group, thread and Enter, Esc returns to the threads, with the same row on the same line, then to
    symbols"""
    with opened() as s:
        s.send("f9", "thread", "enter", shows=r"by thread,")
        line, row = down_to(s, "proc30", "proc39")
        s.send("enter", shows=r"thread:proc30.*by symbol,")
        s.send("down", "down", "esc", shows=r"by thread,")
        s.wait_not(r"thread:proc30")
        s.until(lambda: s.cursor_row() == (line, row), "the cursor is not on the same line as before")
        s.send("esc", shows=r"by symbol,")


def mixed():
    """zooms, a filter, a search, a flame graph zoom and views are undone newest first"""
    with opened() as s:
        s.send("b", "b")  # one step: comm
        s.wait(r"by comm,")
        down_to(s, "proc20", "proc39")
        s.send("enter")
        s.wait(r"comm:proc20 += 2\.4% of all.*by symbol,")  # 40 of 1,640 samples
        s.send("\\", *"f2", "enter", shows=r"filter:f2")
        s.send("3", shows=r"all 100\.0%")
        s.send("down", "down", "down", shows=r"selected: f20")
        s.send("enter")
        s.wait_not(r"f21 ")
        s.send("2", shows=r"CALLEES")
        s.send("esc", shows=r"selected: f20")
        assert not s.find(r"f21 "), s.text()
        s.send("esc", shows=r"f21 ")
        s.wait(r"selected: f20")
        for undone, shown in ((r"selected:", r"filter:f2"), (r"filter:", r"comm:proc20"),
                              (r"comm:", r"by comm,")):
            s.send("esc")
            s.wait_not(undone)
            s.wait(shown)
        cursor_on(s, "proc20")
        s.send("esc", shows=r"by symbol,")
        s.send("esc", shows=r"nothing to go back to")


def opened_twice():
    """functions opened one from the other in the same views are left one by one"""
    with opened() as s:
        s.send("/", *"f10", "enter")
        cursor_on(s, "f10")
        s.send("i", shows=r"CALLERS of f10")
        s.send("end")
        cursor_on(s, "f59")
        s.send("a", shows=r"^f59 \(many\)")
        s.send("i", shows=r"CALLERS of f59")
        s.send("esc", shows=r"^f59 \(many\)")
        s.send("esc", shows=r"CALLERS of f10")
        cursor_on(s, "f59")
        s.send("esc", shows=r"SELF%.*FUNCTION")
        cursor_on(s, "f10")


def called_off():
    """a cancelled search or filter restores the cursor"""
    with opened("--group-by", "thread") as s:
        line, row = down_to(s, "proc25", "proc39")
        for key, text in (("/", "proc03"), ("\\", "f03")):
            s.send(key, *text, shows=r"%s" % text)
            s.until(lambda: s.cursor_row() != (line, row), "the cursor stays")
            s.send("esc")
            s.until(lambda: s.cursor_row() == (line, row), "the cursor is not where it was")


def first_rows():
    """a zoom shows the first rows, unless the cursor's row is further down"""
    with opened() as s:
        s.send("end")
        s.until(lambda: s.cursor_row()[0] > 15, "the cursor is not at the end")
        s.send("T", shows=r"Threads that run")
        s.send("enter", shows=r"thread:")
        s.wait(r"^ *(33\.|34\.)")


def exact_names():
    """in a picker the row with exactly the typed name is selected, before rows that only contain it"""
    with opened("--group-by", "thread") as s:
        for name in ("comm", "cgroup", "symbol", "process", "cpu", "module"):
            s.send("f9", shows=r"Group by")
            s.send(name, "enter", shows=r"by %s," % name)


run(grouped, mixed, opened_twice, called_off, first_rows, exact_names)
