#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of threads in the time view show what each thread did, as tests/live/phases.c knows it: live,
frozen and from a file; a selected range says what a thread waited for."""
import functools
import re
import time

import machine as m
from ptyscreen import Screen, run, shared

TURN = 0.5  # seconds
PLAIN = {"NO_COLOR": "1"}


@functools.lru_cache(None)
def load():
    m.need_tracepoints("states of threads")
    return m.start(m.build("phases", "-pthread"), str(TURN))


def threads(s):
    """Opens the rows of threads."""
    s.send("9", "v", shows=r"RUN% +WAIT% THREAD")
    s.wait(r"worker/\d+ ")


def row_of(s, comm):
    """The states of a thread, one letter per column, from its first to its last."""
    found = s.find(r"^ *[\d.]+ +[\d.]+ %s/\d+ +(\S.*)" % comm)
    return found.group(1).rstrip() if found else ""


def end_of_row(s, comm):
    """The number of the column in which the states of a thread end."""
    return len(s.find(r"^ *[\d.]+ +[\d.]+ %s/\d+ +\S.*" % comm).group(0).rstrip())


def columns_in_s(s):
    """The length of a column in seconds."""
    number, unit = s.wait(r"threads? by ([\d.]+)(ms|s)").groups()
    return float(number) * (1 if unit == "s" else 0.001)


def check_turns(row, column_s):
    """Running and waiting in turns, each TURN long: a busy machine makes some of it runnable."""
    turns = [(kind, len(text)) for text, kind in
             ((t.group(0), t.group(0)[0]) for t in re.finditer(r"[RrQq]{3,}|[Ss]{3,}", row))]
    whole = turns[1:-1]  # the first and the last are cut
    assert len(whole) >= 3, row
    for kind, columns in whole:
        assert abs(columns * column_s - TURN) <= 2 * column_s + 0.1, (kind, columns, column_s, row)
    kinds = "".join("S" if kind in "Ss" else "R" for kind, _ in turns)
    assert "RR" not in kinds and "SS" not in kinds, row


@shared
def recorded_both():
    """Of the load, for five turns and a half: time off the CPU and wall-clock time."""
    scope = "-p", str(load().pid), "--duration", str(5.5 * TURN)
    files = m.path("off.data"), m.path("wall.data")
    cases = ("--off-cpu", "-o", files[0]), ("--wall", "-o", files[1])
    m.at_once(lambda case: m.flametop(*case, *scope), *cases)
    return files


def recorded():
    return recorded_both()[0]


def in_a_file():
    """in a file, a thread that runs and waits in turns is R and S in the columns of its turns"""
    with Screen(["-i", recorded()], size=(120, 40), env=PLAIN) as s:
        threads(s)
        check_turns(row_of(s, "worker"), columns_in_s(s))
        assert re.fullmatch(r"S+", row_of(s, "reader")), s.text()
        assert re.fullmatch(r"\.+", row_of(s, "phases")), s.text()  # sigsuspend: waits for work
        assert re.search(r"[rsq]{20}", row_of(s, "mixed")), s.text()  # two states in each column
        s.wait(r"R running +Q runnable \(waits for a CPU\) +S waiting +D .* +T stopped +\. waiting for work")


def in_wall_clock():
    """wall-clock time has the same states, live and from a file"""
    for source in (["-i", recorded_both()[1]], ["--wall", "-p", str(load().pid)]):
        with Screen(source, size=(120, 40), env=PLAIN) as s:
            threads(s)
            if "-i" not in source:
                began = time.monotonic()
                s.until(lambda t=began: time.monotonic() - t > 5 * TURN, "time stands still")
                s.send("z", shows=r"FROZEN")
            check_turns(row_of(s, "worker"), columns_in_s(s))
            assert re.fullmatch(r"[S?]?S+", row_of(s, "reader")), s.text()
            assert re.fullmatch(r"[.?]?\.+", row_of(s, "phases")), s.text()


def share(s, name):
    return s.number(name + r" (\d+) %") or 0


def shares():
    """the line below says the reasons, within 5 points: half of the time a futex, also while frozen"""
    with Screen(["--off-cpu", "-p", str(load().pid)], size=(120, 40), env=PLAIN) as s:
        threads(s)
        began = time.monotonic()
        # the turns are by the clock
        s.until(lambda: time.monotonic() - began > 5 * TURN, "time stands still")
        s.send("z", shows=r"FROZEN")
        for _ in range(3):
            if s.find(r"^worker/\d+ 0"):
                break
            s.send("down")
        s.wait(r"^worker/\d+ 0\.\d*s.* futex")
        end = float(s.wait(r"^worker/\d+ 0\.\d*s.([\d.]+)s:").group(1))
        least = (end - TURN) / 2 / end  # the first and the last turn may be of either kind
        most = (end + TURN) / 2 / end
        assert 100 * least - 5 <= share(s, "futex") <= 100 * most + 5, s.text()
        assert abs(share(s, "futex") + share(s, "running") + share(s, "runnable") - 100) <= 5, s.text()
        check_turns(row_of(s, "worker"), columns_in_s(s))


def go_to(s, comm):
    for _ in range(5):
        if s.find(r"^%s/\d+ \d" % comm):
            return
        before = s.wait(r"^(\w+/\d+) \d").group(1)
        s.send("down")
        s.until(lambda: s.wait(r"^(\w+/\d+) \d").group(1) != before, "the cursor stays")


def why():
    """a range of one thread narrows all views to both, and Enter shows the stacks that waited in it"""
    with Screen(["-i", recorded()], size=(120, 40), env=PLAIN) as s:
        threads(s)
        go_to(s, "worker")
        row, column_s = row_of(s, "worker"), columns_in_s(s)
        # the first wait had begun before, so that its stack is not known
        wait = next(w for w in re.finditer(r"[Ss]{5,}", row) if w.start() > 3)
        s.send(*["right"] * (wait.start() + 3), " ", shows=r"the range starts here")
        chosen = r"^worker/\d+ [\d.]+s.[\d.]+s: futex 100 %"
        first = s.wait(chosen).group()
        s.send("right", "right")
        s.until(lambda: s.wait(chosen).group() != first, "the range does not grow")
        s.send("enter", shows=r"CALLEES")
        s.wait(r"range [\d.]+s.[\d.]+s of .*thread:worker")
        s.wait(r"\[wait: futex\]")
        s.send("1", shows=r"^ *0\.0 +100\.0 .*await")
        assert not s.find(r"burn|reader"), s.text()
        for _ in range(8):  # a message, two views, the thread and the range
            if s.find(r"4 threads by") and not s.find(r"range \d"):
                break
            s.send("esc")
            s.pump(0.5)
        s.wait(r"4 threads by")
        assert columns_in_s(s) == column_s, s.text()


def open_wait():
    """a wait that has not ended is shown up to now, and a freeze includes it up to its moment"""
    with Screen(["--off-cpu", "-p", str(load().pid)], size=(200, 40), env=PLAIN) as s:
        threads(s)
        s.until(lambda: (s.number(r"LIVE 00:00:(\d+)") or 0) >= 4, "time stands still")
        live = row_of(s, "reader")
        assert re.fullmatch(r"[S?]?S{20,}", live), s.text()
        # without the freeze's own report it may miss an eighth of the wait
        for pause in (0, 0.75, 0.85, 0.95):
            began = time.monotonic()
            s.until(lambda: time.monotonic() - began >= pause, "time stands still")
            s.send("z", shows=r"FROZEN")
            s.until(lambda: all(abs(end_of_row(s, "reader") - end_of_row(s, other)) <= 1
                                for other in ("worker", "mixed")), "the wait ends early", 10)
            assert re.search(r"[^?]{20}$", row_of(s, "mixed")), s.text()
            if pause < 0.95:
                s.send("z", shows=r"LIVE")
        go_to(s, "reader")
        waited = s.wait(r"^reader/\d+ 0\.\d*s.([\d.]+)s: pipe (\d+) %")
        assert int(waited.group(2)) >= 95, s.text()
        s.send("enter", shows=r"CALLEES")
        s.wait(r"\[wait: pipe\]")
        s.wait(r"100\.0 ")


def crowded():
    """on a crowded CPU, a freeze includes all waits up to its moment, and turns are seen column by column"""
    m.need_tools("taskset")
    pin = "taskset", "-c", "0"
    crowd = m.start(*pin, m.build("phases", "-pthread"), str(TURN), "0", "80", becomes="phases")
    with Screen(["--off-cpu", "-p", str(crowd.pid)], size=(200, 40), env=PLAIN) as s:
        threads(s)
        s.until(lambda: (s.number(r"LIVE 00:00:(\d+)") or 0) >= 3, "time stands still")
        for _ in range(3):
            s.send("z", shows=r"FROZEN")
            s.pump(0.5)
            lengths = [len(row) for row in s.text().split("\n") if re.match(r" *[\d.]+ +[\d.]+ burner/", row)]
            assert len(lengths) >= 20, s.text()
            assert min(lengths) >= max(lengths) - 1, s.text()
            s.send("z", shows=r"LIVE")
            s.pump(0.7)
        worker = row_of(s, "worker")
        assert len(re.findall(r"[a-z?]", worker)) <= len(worker) / 8, s.text()
    m.stop(crowd)


def sizes():
    """with 500 threads, and at all sizes, the rows, the legend and the line below fit"""
    crowd = m.start(m.build("phases", "-pthread"), str(TURN), "497")
    with Screen(["--off-cpu", "-p", str(crowd.pid), "--history", "4M"], size=(200, 60)) as s:
        threads(s)
        s.wait(r"501 threads by")
        for size in ((200, 60), (120, 40), (40, 10), (20, 5), (80, 24)):
            s.resize(*size)
            s.pump(0.3)
            assert s.ended() is None, size
        s.wait(r"running .*runnable .*waiting .*stopped")
        s.wait(r"^worker/\d+ |^mixed/\d+ ")
        s.send("end", shows=r"^(sleeper/\d+ \d.*timer|phases/\d+ \d.*signal)")
    m.stop(crowd)


def colours():
    """each state has its own background; two states in a column share the cell"""
    with Screen(["-i", recorded()], size=(120, 40)) as s:
        threads(s)
        s.wait(r"waiting for work")
        y = next(i for i, line in enumerate(s.screen.display) if "worker/" in line)
        seen = {s.screen.buffer[y][x].bg for x in range(42, 110)}
        assert len(seen - {"default"}) >= 2, seen
        y = next(i for i, line in enumerate(s.screen.display) if "mixed/" in line)
        assert "\u258c" in s.screen.display[y], s.text()


def plain():
    """without UTF-8 everything is ASCII"""
    with Screen(["-i", recorded()], size=(80, 24), env={"NO_COLOR": "1", "LC_ALL": "C"}) as s:
        threads(s)
        s.wait(r"\. for work +\? unknown")
        assert max(s.raw) < 128, "bytes beyond ASCII"


run(in_a_file, in_wall_clock, shares, why, open_wait, crowded, sizes, colours, plain)
