#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pasted text, and the mouse (--mouse) as xterm and its relatives report it (1006), on a frozen screen."""
import re

import machine as m
from ptyscreen import LIMIT, Screen, run

LEFT, WHEEL_UP, WHEEL_DOWN = 0, 64, 65


def started(args=(), size=(120, 30), **more):
    m.need_events()
    s = Screen(["--mouse", "-F", "499", "-p", str(m.shape().pid), *args], size=size, **more)
    # with hundreds of samples, the order is that of the known shares
    s.wait(r"^ *[\d.]+ +[\d.]+ +[\d,]{3,} .* hot_a.*\n(.*\n)*.* hot_b.*\n(.*\n)*.* hot_c.*\n(.*\n)*.* "
           r"path_two")
    s.send("z", shows=r"FROZEN")
    s.wait(r"frozen: sampling goes on")
    s.send("esc", shows=r"F7Thaw")
    s.still(lambda: names(s))
    return s


def report(s, button, row, column, times=1):
    """Presses and releases a button (the wheel: presses) at a cell, from 0; twice is a double click."""
    press = "\x1b[<%d;%d;%d" % (button, column + 1, row + 1)
    s.send((press + "M" + (press + "m" if button < WHEEL_UP else "")) * times)


def place(s, text):
    """The cell where a text begins."""
    for row, line in enumerate(s.screen.display):
        if text in line:
            return row, line.index(text)
    raise AssertionError("%r is not on the screen:\n%s" % (text, s.text()))


def click(s, text, times=1):
    row, column = place(s, text)
    report(s, LEFT, row, column + 1, times)


def names(s):
    """The functions from top to bottom."""
    return re.findall(r"^ *[\d.]+ +[\d.]+ +[\d,]+ .{8} \S+ +(\S+)", s.text(), re.M)


def plain():
    """text without a background style uses the terminal's, in every row except the header and the cursor
    row"""
    with started() as s:
        first = place(s, "SELF%")[0] + 2
        assert len(names(s)) > 3, s.text()
        for row in range(first, first + len(names(s)) - 1):
            colours = {cell.bg for cell in s.screen.buffer[row].values()}
            assert colours == {"default"}, (s.screen.display[row], colours)


def selects():
    """a click moves the cursor to a row, a double click opens it"""
    with started() as s:
        click(s, "hot_b")
        s.until(lambda: "hot_b" in s.cursor_row()[1], "the cursor on hot_b")
        click(s, "hot_c", 2)
        s.wait(r"^hot_c \(shape\)")


def cursor_line(s):
    """The line of a list with the cursor: the first one below the head that has a background."""
    return [y for y in range(4, s.size[1] - 1) if s.screen.buffer[y][1].bg != "default"][1]


def selects_in_all_lists():
    """in each view that is a list, a click moves the cursor to the clicked row"""
    m.need_tracepoints("latencies")
    waits, latencies = m.path("waits.data"), m.path("latencies.data")
    m.flametop("--wall", "--idle", "--call-graph", "dwarf,64", "-o", waits, "--duration", "1")
    m.flametop("-e", "latency:syscalls", "-o", latencies, "--duration", "1")
    for file, views in (waits, "1568"), (latencies, "6V"):
        with Screen(["--mouse", "-i", file, "--idle"], size=(160, 40)) as s:
            s.wait(r"^ *SELF% .*\n.*\d")
            for key in views:
                s.send(key)
                s.still(s.text)
                s.send("home")
                head = next(y for y, line in enumerate(s.screen.display)
                            if re.match(r" *(SELF%|SHARE%|SECONDS|COUNT) ", line))
                s.until(lambda: cursor_line(s) == head + 1, "the cursor on the first row")
                for y in head + 3, head + 2:
                    report(s, LEFT, y, 20)
                    s.until(lambda: cursor_line(s) == y, "the cursor on line %d after %s" % (y, key))


def sorts():
    """a click on a column header sorts by it, a second click reverses the order"""
    with started(size=(150, 40)) as s:
        s.wait(r"by symbol, self first")
        click(s, "TOTAL%")
        s.wait(r"total first(;| |$)")
        assert names(s)[0] not in ("hot_a", "hot_b", "hot_c"), s.text()
        click(s, "FUNCTION")
        s.wait(r"function first(;|  |$)")
        assert names(s) == sorted(names(s)), names(s)
        click(s, "FUNCTION")
        s.wait(r"function first \(reversed\)")
        assert names(s) == sorted(names(s), reverse=True), names(s)


def wheels():
    """the wheel scrolls through rows, and through flame graphs"""
    with started() as s:
        rows = names(s)
        assert len(rows) > 5, s.text()
        report(s, WHEEL_DOWN, 10, 10)
        s.until(lambda: rows[3] in s.cursor_row()[1], "the cursor on the fourth row")
        report(s, WHEEL_UP, 10, 10)
        s.until(lambda: rows[0] in s.cursor_row()[1], "the cursor on the first row")
        s.send("f6", shows=r"Sort by")
        report(s, WHEEL_DOWN, 10, 10)
        s.send("enter", shows=r"trend first")


def tabs_and_keys():
    """tabs and keys of the bottom line can be clicked"""
    with started() as s:
        click(s, "2 Calls")
        s.wait(r"CALLEES: callees below")
        click(s, "1 Funcs")
        s.wait(r"SELF%.*FUNCTION")
        click(s, "F7Thaw")
        s.wait(r"live again")
        s.send("esc", shows=r"F1Help")
        click(s, "F1Help")
        s.wait(r"a page up")
        s.send("esc")
        s.wait_not(r"a page up")
        click(s, "F10Quit")
        assert s.wait_end() == 0


def pickers():
    """a click in a picker moves the cursor, a second click selects"""
    with started() as s:
        s.send("f9", shows=r"module")
        row, column = place(s, "cgroup")
        report(s, LEFT, 1, 1)  # a click outside does nothing
        report(s, LEFT, row, column, 2)
        s.wait(r"by cgroup")


def branches():
    """in the call graph a click selects and a second click opens; in the flame graph it zooms"""
    with started() as s:
        s.send("2", "Z", "g", shows=r"\[\+\] shape")
        click(s, "] shape", 2)
        s.wait(r"\[-\] shape")
        s.send("3", shows=r"path_one")
        click(s, "path_one")
        s.wait(r"selected: path_one")
        click(s, "path_one", 2)
        s.wait(r"zoomed")


def wide():
    """columns beyond 223 can be clicked, even if terminfo only knows the older mouse mode limited to 223"""
    for term in ("screen-256color", "xterm-256color"):
        with started(size=(420, 30), term=term) as s:
            assert b"\x1b[?1006h" in s.raw
            for name in ("hot_b", "hot_c"):
                report(s, LEFT, place(s, name)[0], 249)
                s.until(lambda: name in s.cursor_row()[1], "the cursor on " + name)
            report(s, WHEEL_UP, 10, 249)
            s.until(lambda: s.cursor_row()[1] and "hot_c" not in s.cursor_row()[1], "the cursor elsewhere")
            s.quit()
            assert s.raw.rfind(b"\x1b[?1006l") > s.raw.rfind(b"\x1b[?1006h") > 0


def off():
    """without --mouse the terminal keeps the mouse, and it is released on exit"""
    with Screen([], size=(80, 24)) as s:
        s.wait(r"SELF%|no samples")
        s.quit()
        assert b"1000h" not in s.raw and b"1006h" not in s.raw
    with started() as s:
        s.quit()
        assert s.raw.rfind(b"1000l") > s.raw.rfind(b"1000h") > 0


def pasted():
    """pasted text does not act as keys; a text prompt inserts it without line ends"""
    m.need_events()
    begin, end = "\033[200~", "\033[201~"
    with Screen(["-d", str(10 * LIMIT)]) as s:
        s.wait(r"samples")
        s.send(begin + "q\nq B x\n" + end, shows=r"pasted text was dropped")
        assert s.ended() is None and not s.find(r"Group by"), s.text()
        s.send("/")
        s.send(begin + "some\nwords" + end, shows=r"somewords")
        s.send("esc", "B", shows=r"Group by")
        s.send("esc")
        s.wait_not(r"Group by")
        s.send(begin + "x")
        s.pump(1.5)  # a lost end marker must not block keys forever
        s.send("B", shows=r"Group by")


run(plain, selects, selects_in_all_lists, sorts, wheels, tabs_and_keys, pickers, branches, wide, off,
    pasted)
