#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Common stumbling blocks: truncated texts, dead keys, ended targets, prompts."""
import os
import re
import signal
import time

import machine as m
from ptyscreen import KEYS, LIMIT, SLOW, Screen, run


def started(args=(), size=(80, 24), **more):
    m.need_events()
    s = Screen(["-F", "199", "-p", str(m.shape().pid), *args], size=size, **more)
    s.wait(r"^ *\d+\.\d+ .*hot_a")
    return s


def lines(s):
    return [line.rstrip() for line in s.screen.display]


def header_keeps_what_matters():
    """at 80 columns the header keeps event, rate, scope, mode and state, however long they are"""
    with started() as s:
        s.send("K", shows=r"^.*(cpu-clock|cycles)\S* 199Hz  scope: pid \d+  :k .*LIVE \d\d:\d\d:\d\d$")
        s.send("K", shows=r"^.*scope: pid \d+  :u .*LIVE")
        s.send("K", "z", shows=r"^.*199Hz  scope: pid \d+ .*FROZEN \d\d:\d\d:\d\d$")
        s.wait_not(r":u")


def ended_is_held():
    """an ended target is frozen and reported, with a command's status; its output is in the help"""
    m.need_events()
    with Screen(["--", "sh", "-c", "echo torn; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3"],
                size=(80, 24)) as s:
        s.wait(r"ENDED the command, with status 3")
        clock = lambda: s.number(r"ENDED 00:00:(\d\d)$")
        first = s.still(clock)
        s.pump(2.2 * SLOW)
        assert clock() == first, "time goes on"
        assert "torn" not in s.text()
        s.send("f1", "end", shows=r"sh: torn")
        s.wait(r"ended with status 3")


def nothing_sampled():
    """a target that ended without a sample is reported as ended"""
    m.need_events()
    with Screen(["--", "sleep", "0.3"], size=(80, 24)) as s:
        s.wait(r"ENDED the command, with status 0")
        s.wait(r"has ended without samples|^ *\d+\.\d +\d+\.\d ")  # or it was sampled at its start


def prompts():
    """typing replaces a proposed text; a search without a match says so while typing"""
    with started() as s:
        s.send("f", "497", "enter", shows=r"sampling 497 times")
        s.send("/", "zzz", shows=r"^search: zzz +nothing matches")
        s.send("esc")
        s.send("w", "enter", shows=r"^write perf.data to: flametop-\S+-\d{8}-\d{6}\.data$")
        s.send("end", "x", shows=r"^write perf.data to: flametop-\S+\.datax$")


def writing():
    """w asks before it overwrites a file, and says why a file cannot be written"""
    target, link = m.path("qa.data"), m.path("qa.link")
    os.symlink(target, link)
    with started(size=(120, 40)) as s:
        s.send("w", "enter", target, "enter", shows=r"samples \(all of the history\) written to")
        size = os.stat(target).st_size
        assert size > 1000 and os.stat(target).st_mode & 0o777 == 0o600
        s.send("w", "enter", target, "enter", shows=r"exists: overwrite it\?")
        s.send("y", shows=r"written to")
        for path, why in ((link, "symbolic link"), (m.path("nowhere/x"), "No such file|create the folder"),
                          (m.WORK, "no regular file")):
            s.send("w", "enter", path, "enter", shows=why)
            s.send("esc")


def exports():
    """E writes each format, and never to the screen"""
    patterns = {"perf.data": rb"PERFILE2", "folded": rb"shape;.*hot_a \d+", "pprof": rb"^\x1f\x8b",
                "doctor": rb"of stacks reach their root",
                "waits": rb"does not measure time off the CPU",
                "latency": rb"does not measure latencies",
                "script": rb"\nshape +\d+ .*\n(\t.*\n)*\t.* hot_a\+0x"}
    names = [line.split()[0] for line in m.flametop("--list-exports")[1].splitlines()]
    packs = "+zlib" in m.flametop("--version")[1]
    with started(size=(120, 40)) as s:
        for number, name in enumerate(names):
            # a bundle first lists its content
            if name == "bundle" or (name == "pprof" and not packs):
                continue
            path = m.path("export%d" % number)
            s.send("E", KEYS["down"] * number, "enter", path, "enter")
            s.wait(r"written to .*export%d as %s" % (number, re.escape(name)))
            with open(path, "rb") as f:
                assert re.search(patterns.get(name, rb"hot_a"), f.read()), path
        s.send("E", "down", "enter", "\x15-", "enter", shows=r"standard output is the screen")


def bundle():
    """while a bundle is written, progress is shown and keys work; Esc cancels, and q does not wait"""
    names = [line.split()[0] for line in m.flametop("--list-exports")[1].splitlines()]
    path = m.path("made.tar")

    def press_while_made(s, key, done):
        """On a busy machine the second may be over before the key: then the bundle is made again."""
        for _ in range(5):
            s.send("esc", "E", KEYS["down"] * names.index("bundle"), "enter")
            s.wait(r"write bundle to: flametop-")
            s.send(*["backspace"] * 60, shows=r"write bundle to: *$")
            s.send(*path, "enter", shows=r"^making the bundle: a second of counters|will contain")
            s.send(key)
            s.until(lambda: done() or s.find(r"will contain|nothing was written"), "the key did nothing")
            if done():
                return
            if s.find(r"will contain"):
                s.send("n", shows=r"nothing was written")
        raise AssertionError("the bundle is always made before the key")

    with started(size=(120, 40)) as s:
        press_while_made(s, "2", lambda: "CALLEES" in s.text())
        s.wait(r"will contain")
        s.send("y", shows=r"written to .*made\.tar as bundle")
        assert os.path.getsize(path) > 10000
        os.unlink(path)
        press_while_made(s, "esc", lambda: s.find(r"cancelled: nothing was written"))
        press_while_made(s, "q", lambda: s.ended() is not None)
        assert s.ended() == 0
        assert not os.path.exists(path)


def dead_keys():
    """a key without effect in a view says so; sample keys do not act on the counters"""
    with started() as s:
        s.send("Y", shows=r"Y does nothing here: F1 lists the keys")
        s.send("4", shows=r"context-switches")
        s.send("d", shows=r"Counters cover the whole scope: this key works in views of samples only")
        s.send("enter", shows=r"there is nothing to open here")
        s.send("n", shows=r"this view has no search")
        assert "last 60s" not in s.text()


def foreign_sequences():
    """keys missing in the terminal's description do nothing; Esc before another key is still Esc"""
    with started(term="vt100") as s:
        for keys in ("\x1b[1;5C", "\x1b[1;2P", "\x1b[200~", "\x1b[201~", "\x1b[<0;3;3M", "\x1b[24;2~"):
            s.send(keys)
            s.pump(0.2)
        assert re.search(r"SELF%.*FUNCTION", s.text()) and "does nothing" not in s.text()
        s.send("/", "hot_b", "enter", shows=r"search:hot_b")
        s.send("\x1b4", shows=r"context-switches")
        assert "search:hot_b" not in s.text()


def counters_frozen():
    """the counters say why they are frozen"""
    with started() as s:
        s.send("z", "4", shows=r"Frozen before anything was counted here: z thaws")
        s.send("z", shows=r"CPUs utilized")


def ways_out():
    """each filter and zoom is shown with the key that undoes it; Esc undoes one step at a time"""
    with started() as s:
        s.send("/", "hot_b", "enter", shows=r"search:hot_b.*Esc undoes$")
        s.send("esc", "d", shows=r"module:shape.*Esc undoes$")
        s.send("g", "enter", shows=r"^hot_\w \(shape\)")
        s.wait(r"module:shape")
        s.send("i", shows=r"CALLERS of hot_")
        s.wait(r"module:shape")
        s.send("esc", shows=r"^hot_\w \(shape\)")
        s.send("esc", shows=r"SELF%.*FUNCTION")
        s.wait(r"module:shape")
        s.send("esc")
        s.wait_not(r"module:shape")


def go_to(s, pattern):
    """Moves down in the flame graph to the selected box: the number of libc frames before main varies."""
    for _ in range(16):
        selected = s.wait(r"^selected: .*$").group().split(" ")[1]
        if s.find(pattern):
            return
        s.send("down")
        s.wait_not(r"^selected: %s " % re.escape(selected))
    s.wait(pattern)


def flame():
    """in the flame graph T zooms into a comm and Enter into a box, and one Esc undoes each"""
    with started() as s:
        s.send("3", "down", "T", shows=r"comm:shape")
        s.send("backspace")
        s.wait_not(r"comm:shape")
        go_to(s, r"selected: path_")
        s.send("enter", shows=r", zoomed")
        s.wait("Esc undoes")
        s.wait(r"selected: path_")
        s.send("esc")
        s.wait_not(r"zoomed")
        s.wait(r"selected: path_")


def pickers():
    """the bottom bar shows Tag only where several can be selected; Enter on an unavailable row says why"""
    with started() as s:
        s.send("p", shows=r"Processes to sample")
        s.wait(r"^Esc Cancel Enter Choose Space Tag")
        s.send("esc", "m", shows=r"Stacks")
        assert "Space Tag" not in s.text()
        s.send("esc", "e", "stalled-cycles-backend", shows=r"stalled-cycles-backend +\S")
        if "<not supported>" in s.text():
            s.send("enter", shows=r"stalled-cycles-backend.*(no hardware counters|not supported|does not)")


def help_is_true():
    """the help lists the keys of this view, and no text leaves its box"""
    with started() as s:
        s.send("3", "f1", shows=r"^│")
        wanted = [r"^│ +c +choose what colours show", r"^│ +C +pick a cgroup"]
        end = time.monotonic() + LIMIT
        while wanted and time.monotonic() < end:
            page = s.still(lambda: tuple(line for line in lines(s) if line.startswith("│")))
            for line in page:
                assert line.endswith(" │"), line
            wanted = [pattern for pattern in wanted if not re.search(pattern, "\n".join(page), re.M)]
            s.send("pgdn")
        assert not wanted, "no page has %s" % wanted


def help_search():
    """/ in the help finds a line, n the next one, and the help stays open"""
    with started() as s:
        s.send("f1", "/", *"redraw the", "enter", shows=r"redraw the screen")
        s.send("n", "/", *"no such line anywhere", "enter", shows=r'nothing matches "no such line anywhere"')
        s.send("up", shows=r"line \d+ of \d+")
        s.send("esc", shows=r"SELF%.*FUNCTION")


def narrow_bar():
    """Quit is in the bottom bar of a narrow screen"""
    with started(size=(60, 20)) as s:
        s.until(lambda: lines(s)[-1].endswith("F10Quit"), "Quit never was at the end of the last line")


def nothing_to_act_on():
    """without samples the keys of a view say that there is nothing, and select nothing"""
    m.need_events()
    stopped = m.start("sleep", "36000", becomes="sleep")
    os.kill(stopped.pid, signal.SIGSTOP)
    m.until(lambda: m.stat(stopped.pid)[0] == "T", "it did not stop")
    with Screen(["-p", str(stopped.pid)], size=(80, 24)) as s:
        s.wait(r"no samples in this window yet")
        for view, key, says in (("1", "enter", r"there is nothing to open here"),
                                ("2", "+", r"this key has nothing to act on here"),
                                ("9", "enter", r"there is nothing to open here"),
                                ("9", " ", r"this key has nothing to act on here"),
                                ("1", "T", r"no samples here: no thread")):
            s.send(view, key, shows=says)
        assert "range" not in s.text()


def events_of_one_list():
    """an event without samples says that others have some, and a key shows them"""
    m.need_events()
    spins = m.busy(m.build("shape"), "36000")
    with Screen(["-F", "199", "-p", str(spins.pid), "-e", "alignment-faults,cpu-clock"], size=(120, 40)) as s:
        s.wait(r"no samples of alignment-faults in this window so far; the other events have some: \] shows")
        s.send("]", shows=r"cpu-clock 199Hz \[2/2\]")
        s.wait(r"^ *\d+\.\d+ .*hot_a")


def bar_offers_what_works():
    """the bottom bar lists the keys that work in the view, and no others"""
    with started(size=(120, 40)) as s:
        for view, has, without in (("1", r"F6Sort .* e Event ", "Invert"),
                                   ("2", r" i Invert \* Hot ", "Sort"), ("3", r" i Invert c Colour ", "Sort"),
                                   ("4", r" u Parts ", "Search|Filter|Sort|Group"),
                                   ("8", r" D Fix ", "Sort|Group"), ("9", r" v Chart ", "Search|Sort|Group")):
            s.send(view, shows=r"^F1Help .*%s.*F10Quit$" % has)
            assert not re.search(without, lines(s)[-1]), lines(s)[-1]


def cheap():
    """every view sends less than 2 KB a second at one redraw a second"""
    with started(size=(120, 40)) as s:
        for view in "1234":
            s.send(view)
            s.pump(1.5 * SLOW)

            def rate():
                s.raw = b""
                start = time.monotonic()
                s.pump(2.5)
                return len(s.raw) / (time.monotonic() - start)
            # output delayed by the machine arrives in one interval; a view that sends too much does so in all
            rates = [rate()]
            while rates[-1] >= 2048 and len(rates) < 4:
                rates.append(rate())
            assert rates[-1] < 2048, "view %s: %s bytes a second" % (view, rates)


run(header_keeps_what_matters, ended_is_held, nothing_sampled, prompts, writing, exports, bundle, dead_keys,
    foreign_sequences, counters_frozen, ways_out, flame, pickers, help_is_true, help_search, narrow_bar,
    nothing_to_act_on, events_of_one_list, bar_offers_what_works, cheap)
