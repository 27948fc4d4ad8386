#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Time ranges over files with known samples: the first of two threads runs hot_a in even seconds and hot_b in
odd ones; the second thread runs idle_b all the time, a little."""
import re

import machine as m
from perffile import Program, Sample, write
from ptyscreen import KEYS, Screen, run

SECONDS = 4
program = None


def recorded():
    """The recording, made once."""
    global program
    path = m.path("time.data")
    if program:
        return path
    program = Program(m.path("phases"), ["hot_a", "hot_b", "path_a", "path_b", "idle_b"])
    samples = []
    for i in range(SECONDS * 100):
        letter = "a" if i // 100 % 2 == 0 else "b"
        samples.append(Sample(i * 0.01, 100, 0, ["main", "path_" + letter, "hot_" + letter]))
        if i % 10 == 0:
            samples.append(Sample(i * 0.01 + 0.005, 101, 1, ["main", "idle_b"]))
    write(path, program, samples, {100: "first", 101: "second"})
    return path


def opened(size=(80, 24), args=(), **more):
    s = Screen(["-i", recorded(), *args], size=size, **more)
    s.wait(r"^ *\d+\.\d+ .*hot_a")
    s.wait(r"^ *\d+\.\d+ .*hot_b")
    return s


def strip(s):
    s.send("r", shows=r"^cursor ")


def cursor_to(s, seconds):
    """Moves the strip's cursor to the column that begins at this time."""
    s.send("home")
    wanted = "%.2fs" % seconds
    for _ in range(s.size[0]):
        if s.find(r"^cursor %s" % re.escape(wanted)):
            return
        before = s.wait(r"^cursor (\S+)").group(1)
        s.send("right")
        s.until(lambda: s.wait(r"^cursor (\S+)").group(1) != before, "the cursor stays at " + before)
    raise AssertionError("no column begins at %s\n%s" % (wanted, s.text()))


def choose(s, start, end):
    """Selects a range by keys at both ends; a column is 50 ms."""
    cursor_to(s, end - 0.05)
    s.send("]")
    cursor_to(s, start)
    s.send("[", shows=r"range %.2fs–%.2fs of" % (start, end))


def samples_of(s, name):
    return s.number(r"^ *[\d.]+ +[\d.]+ +([\d,]+) .*" + name)


def ranges():
    """a range on the strip limits functions, call graph and flame graph, and the header shows it"""
    with opened() as s:
        strip(s)
        choose(s, 0, 1)
        s.wait_not(r"hot_b")
        assert samples_of(s, "hot_a") == 100 and samples_of(s, "idle_b") == 10, s.text()
        s.send("enter", "2", shows=r"CALLEES:(.*\n)+.* path_a ")
        assert not s.find(r"path_b"), s.text()
        s.send("3", shows=r"▏hot_a")
        assert not s.find(r"hot_b"), s.text()


def steps():
    """{ and } move by the length of the range, and stop at the ends"""
    with opened() as s:
        strip(s)
        choose(s, 0, 1)
        s.send("enter", shows=r"F10Quit")
        s.send("}", shows=r"range 1\.00s–2\.00s of")
        s.wait_not(r"hot_a")
        assert samples_of(s, "hot_b") == 100, s.text()
        s.send("}", "{", "{", shows=r"range 0\.00s–1\.00s of")
        s.wait_not(r"hot_b")
        s.send("{", shows=r"no samples before this range")
        s.send("}", "}", "}", "}", shows=r"no samples after this range")


def undone():
    """Backspace and Esc undo ranges and zooms in reverse order, and R shows everything"""
    with opened() as s:
        strip(s)
        choose(s, 0, 1)
        s.send("enter", shows=r"F10Quit")
        s.send("d", shows=r"module:ph")
        s.send("}", shows=r"range 1\.00s–2\.00s of.*module:ph")
        s.send("backspace", shows=r"range 0\.00s–1\.00s of.*module:ph")
        s.send("esc")
        s.wait_not(r"module:")
        s.wait(r"range 0\.00s–1\.00s of")
        s.send("R")
        s.wait_not(r"range \d")
        s.wait(r"hot_b")
        s.send("backspace", shows=r"range 0\.00s–1\.00s of")


def hot_cells():
    """H goes to the next hot cell of the heat map, and wraps around"""
    with opened() as s:
        s.send("9", shows=r"^cell ")
        s.send("g")
        seen = set()
        for _ in range(6):
            before = s.wait(r"^cell (\S+)").group(1)
            seen.add(before)
            s.send("H")
            s.until(lambda: s.wait(r"^cell (\S+)").group(1) != before, "the cursor stays")
            assert int(s.wait(r"^cell \S+ +(\d+) samples?").group(1)) > 0, s.text()
        assert len(seen) == 6, seen


def marks():
    """Space sets a mark, arrows extend the range at once, Esc cancels"""
    with opened() as s:
        strip(s)
        s.send("home", " ", shows=r"range 0\.\d+s–0\.05\d*s of")
        s.send("right", shows=r"range 0\.\d+s–0\.10\d*s of")
        s.send("esc")
        s.wait_not(r"range 0")
        s.wait(r"^cursor ")
        s.send("home", "right", " ", "right", "right", "enter", shows=r"range 0\.05\d*s–0\.20\d*s of")
        s.wait(r"F10Quit")


def strip_zooms():
    """the strip zooms in to the range and out again"""
    with opened() as s:
        strip(s)
        choose(s, 1, 2)
        s.send("+", shows=r"samples in (?!50)\d\d?ms +range 1\.00s–2\.00s of")
        assert not s.find(r"│3s"), s.text()
        s.send("0", shows=r"│3s")
        s.wait(r"samples in 50ms")


def written():
    """saved files and exports contain the range"""
    with opened() as s:
        strip(s)
        choose(s, 0, 1)
        s.send("enter", shows=r"F10Quit")
        s.send("w", "enter", shows=r"write perf.data to:")
        s.send("\x15" + m.path("part.data") + KEYS["enter"], shows=r"110 samples \(the range shown\) written")
        s.send("E", shows=r"folded")
        s.send(*"folded")
        s.wait_not(r"the functions table as text")
        s.send("enter", shows=r"write folded to:")
        s.send("\x15" + m.path("part.folded") + KEYS["enter"], shows=r"written to")
    out = m.export(m.path("part.data"), "folded")
    for stacks in (out, open(m.path("part.folded")).read()):
        assert "hot_a 100" in stacks and "idle_b 10" in stacks and "hot_b" not in stacks, stacks


def dragged():
    """dragging the mouse over the strip selects a range"""
    with opened(args=["--mouse"]) as s:
        strip(s)
        row = next(i for i, line in enumerate(s.screen.display) if line.startswith("│0s")) - 1
        s.send("\x1b[<0;1;%dM" % (row + 1), "\x1b[<0;20;%dm" % (row + 1), shows=r"range 0\.00s–1\.00s of")
        s.wait_not(r"hot_b")


def heat_map():
    """in the heat map a range extends from one cell to another"""
    with opened() as s:
        s.send("9", shows=r"heat map: 1s by 62\.5ms")
        s.send("home", shows=r"^cell 0\.00s–0\.06s  (7|8) samples")
        s.send(" ", shows=r"from the mark to here: 62\.5ms")
        for _ in range(15):
            s.send("down")
        s.wait(r"from the mark to here: 1s")
        s.send("enter", shows=r"range 0\.00s–1\.00s of")
        s.send("1", shows=r"hot_a")
        assert samples_of(s, "hot_a") == 100 and not s.find("hot_b"), s.text()
        s.send("9", "right", "enter")  # a single cell
        s.wait(r"range 1\.\d+s–2\.0\d*s of")
        s.send("backspace", shows=r"range 0\.00s–1\.00s of")


def heat_columns():
    """columns of the heat map can cover less and more time without losing samples"""
    with opened() as s:
        s.send("9", shows=r"heat map: 1s by")
        s.send("+", shows=r"heat map: 100ms by")
        s.send("-", "-", shows=r"heat map: 10s by")
        s.send("home", shows=r"^cell 0\.0s–0\.6s  (\d+) samples")


def heat_mouse():
    """dragging the mouse over cells selects a range"""
    with opened(args=["--mouse"]) as s:
        s.send("9", shows=r"heat map: 1s by 62\.5ms")
        row = next(i for i, line in enumerate(s.screen.display) if line.startswith("     0 ")) + 1
        s.send("\x1b[<0;8;%dM" % row, "\x1b[<0;9;%dm" % (row + 15), shows=r"range 0\.00s–1\.00s of")


def threads():
    """threads and CPUs are rows over the range, and Enter zooms into one"""
    with opened() as s:
        s.send("9", "v", shows=r"2 threads by")
        s.wait(r"^ *90\.9 first/100")
        s.wait(r"^ *9\.1 second/101")
        s.send("down", "enter", shows=r"thread:second/101")
        s.wait(r"^ *100\.0 second/101")
        assert not s.find(r"first/100"), s.text()
        s.send("1", shows=r"idle_b")
        assert samples_of(s, "idle_b") == 40, s.text()
        s.send("backspace", shows=r"hot_a")
        s.send("9", "v", "v", shows=r"2 CPUs by")
        s.wait(r"^ *90\.9 cpu 0")
        s.send("down", "enter", shows=r"cpu:cpu 1")


def boxes(s, name):
    """The columns where boxes of this name begin."""
    return [match.start() for line in s.screen.display for match in re.finditer("▏" + name, line)]


def flame_chart():
    """the flame chart shows hot_a, hot_b, hot_a, hot_b in order; Enter zooms into the time of one"""
    with opened() as s:
        s.send("9", "v", "v", shows=r"first/100: 1 of 2")
        s.wait(r"▏hot_a +▏hot_b +▏hot_a +▏hot_b")
        assert boxes(s, "hot_a") == [0, 40] and boxes(s, "hot_b") == [20, 60], s.text()
        assert boxes(s, "main") == [0], s.text()
        s.send("home", "down", "down", shows=r"selected: hot_a  0\.00s–1\.00s \(1s\)  phases")
        s.send("right", shows=r"selected: hot_b  1\.00s–2\.00s \(1s\)")
        s.send("enter", shows=r"range 1\.00s–2\.00s of")
        s.wait_not(r"hot_a")
        s.send("backspace", shows=r"▏hot_a +▏hot_b +▏hot_a +▏hot_b")
        s.send(".", shows=r"second/101: 2 of 2")
        s.wait(r"▏idle_b")
        assert not s.find("hot_"), s.text()
        s.send(",", shows=r"first/100: 1 of 2")


def live():
    """while sampling goes on, the selected range stays"""
    m.need_events()
    load = m.busy(m.build("shape"), "36000")
    with Screen(["-F", "199", "-p", str(load.pid)], size=(80, 24)) as s:
        s.wait(r"^ *\d+\.\d+ .*hot_a")
        s.until(lambda: (samples_of(s, "main") or 0) > 200, "few samples come")
        strip(s)
        s.send("home", " ", "end", "enter", shows=r"F10Quit")
        said = s.wait(r"range (\S+) of")
        count = s.still(lambda: samples_of(s, "main"))
        seen = set()

        def goes_on():
            seen.add(s.wait(r"range \S+ of (\S+)").group(1))
            return len(seen) > 3
        s.until(goes_on, "time stands still")
        now = s.wait(r"range (\S+) of")
        assert now.group(1) == said.group(1), (said.group(0), now.group(0))
        assert samples_of(s, "main") == count, s.text()
        s.send("R")
        s.until(lambda: (samples_of(s, "main") or 0) > count, "no more samples than in the range")
    m.stop(load)


def plain():
    """without colours and UTF-8 the strip is ASCII, and attributes mark the range"""
    with opened(env={"NO_COLOR": "1", "LC_ALL": "C"}) as s:
        strip(s)
        s.send("home", " ", "right", "right", shows=r"range 0\.\d+s-0\.15\d*s of")
        row = next(i for i, line in enumerate(s.screen.display) if line.startswith("|0s")) - 1
        marked = [x for x in range(80) if s.screen.buffer[row][x].reverse]
        assert marked[:2] == [0, 1], marked
        s.send("enter", "9", shows=r"^cell ")
        s.wait(r"####")
        for picture in (r"^ *\d+\.\d first/100 +[.:o#]", r"\|hot_a", r"cpu 0 +[.:o#]", r"\|hot_a"):
            s.send("v", shows=picture)
        assert max(s.raw) < 128, "bytes beyond ASCII"


def sizes():
    """the charts are usable from 80x24, do not fail below, and follow the size of the screen"""
    with opened(size=(200, 60)) as s:
        s.send("r", "esc", "9")
        for _ in range(5):
            for size in ((200, 60), (40, 10), (20, 5), (80, 24)):
                s.resize(*size)
                s.pump(0.2)
                assert s.ended() is None, size
            s.wait(r"│0s .*│1s .*│2s .*│3s")
            s.send("v")
        s.wait(r"heat map: 1s by")


run(hot_cells, ranges, steps, undone, marks, strip_zooms, written, dragged, heat_map, heat_columns,
    heat_mouse, threads, flame_chart, live, plain, sizes)
