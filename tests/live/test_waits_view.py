#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The waits view: how many waits a program had, and how long they were, by reason, process, thread, function,
CPU and cgroup; on the screen, as text, and from a file."""
import functools
import json
import re

import machine as m
from ptyscreen import Screen, run

NAPS = 101


@functools.lru_cache(None)
def load():
    return m.build("naps", "-pthread")


UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6, "min": 60e6}
TIMES = {None: 1, "K": 1e3, "M": 1e6}
NUMBERS = re.compile(r" *([\d.]+) +([\d.]+) +(\d\S*)(?: ([KM]))?" + r" +(?:([\d.]+) (\w+)|-)" * 4 +
                     r"  ([A-Z?])  ")


def tables(text):
    """{"reason": {"timer": row}, …}; a row has the numbers of its columns, lengths in microseconds."""
    found, at = {}, 0
    for line in text.splitlines():
        row = NUMBERS.match(line)
        if line.startswith("SHARE%"):
            at = line.rindex(" ") + 1  # the last column is the name
            rows = found.setdefault(line[at:].lower(), {})
        elif row and at:
            lengths = [float(n) * UNITS[u] if n else None for n, u in zip(row.groups()[4:12:2],
                                                                         row.groups()[5:12:2])]
            rows[line[at:]] = {
                "share": float(row.group(1)), "wait": float(row.group(2)),
                "per_s": float(row.group(3)) * TIMES[row.group(4)],
                "average": lengths[0], "p50": lengths[1], "p99": lengths[2], "maximum": lengths[3],
                "state": row.group(13)}
    return found


def recorded(name):
    m.need_tracepoints()
    _, out, err = m.flametop("--off-cpu", "-o", m.path(name), "--", load(), str(NAPS - 1), cwd=m.WORK)
    return {name: int(us) for name, us in re.findall(r"^(longest|median|all) (\d+)$", out + err, re.M)}


def lengths():
    """the number of waits is the program's own, and so are their lengths, though equal ones share a sample;
    the tables by reason, function, thread and CPU agree"""
    truth = recorded("naps.data")
    file = m.path("naps.data")
    found = tables(m.export(file, "waits", "--idle", "-e", "off-cpu"))
    timer, futex = found["reason"]["timer"], found["reason"]["futex"]
    assert timer["state"] == "S" and futex["state"] == "S", found
    # a nap also has the time from its wakeup until the thread runs
    assert 4900 < timer["p50"] < 1.04 * truth["median"], (timer, truth)
    assert 0.9 * truth["longest"] < timer["maximum"] < 1.02 * truth["longest"], (timer, truth)
    assert timer["p50"] < timer["average"] < timer["maximum"] >= timer["p99"] >= timer["p50"], timer
    stacks = m.stacks_of(m.export(file, "folded", "--idle"))
    total_us = sum(us for frames, us in stacks if frames[-1] == "[wait: timer]")
    assert abs(total_us / timer["average"] - NAPS) < 1, (timer, total_us)
    naps_us = sum(us for frames, us in stacks if "nap" in frames)
    assert abs(naps_us - truth["all"]) < 0.02 * truth["all"] + 3000, (naps_us, truth)
    samples = m.export(file, "script", "--idle", "-e", "off-cpu").split("\n\n")
    merged = [block for block in samples if "[wait: timer]" in block]
    assert len(merged) < NAPS / 2, merged
    assert "nap" in found["function"] and any(name.startswith("naps/") for name in found["thread"]), found
    assert futex["maximum"] > NAPS * 4000 and futex["average"] == futex["maximum"], futex
    assert abs(sum(row["share"] for row in found["cpu"].values()) - 100) < 0.5, found
    assert m.flametop("-i", file, "--view", "waits", "--idle")[1] == m.export(file, "waits", "--idle")


@m.seen_everywhere()
def in_json():
    """json has the rows of all tables of the text; the number of waits is the program's own"""
    recorded("json.data")
    file = m.path("json.data")
    for event in "off-cpu", "wakers":
        text = tables(m.export(file, "waits", "--idle", "-e", event))
        rows = json.loads(m.export(file, "json", "-e", event))["waits"]
        told = {}
        for row in rows:
            told.setdefault(row["by"].lower(), {})[row["name"]] = row
        assert [(by, list(names)) for by, names in told.items()] == [(by, list(names)) for by, names in
                                                                     text.items()], (told, text)
        for by, name in ((by, name) for by, names in text.items() for name in names):
            line, row = text[by][name], told[by][name]
            assert abs(line["share"] - row["share"]) < 0.06 and line["state"] == row["state"], (line, row)
            assert abs(line["wait"] - 100 * row["threads"]) < 0.11, (line, row)
            for us in "average", "p50", "p99", "maximum":
                ns = row.get(us.replace("imum", "") + "_ns")
                assert (line[us] is None) == (ns is None), (line, row)
                assert ns is None or abs(line[us] - ns / 1000) <= 0.01 * line[us] + 0.001, (line, row)
            if row["count"]:
                assert row["average_ns"] == row["sum_ns"] // row["count"], row
                second = row["threads"] * 1e9 * row["count"] / row["per_second"] if row["per_second"] else 0
                assert abs(second - row["time_ns"]) <= 0.02 * second + 1e6, row
        # on a busy machine, the timer of a nap may be earlier than the switch
        assert 0.9 * NAPS < told["reason"]["timer"]["count"] <= NAPS + 1, told["reason"]
    m.need_events()
    m.flametop("-e", "cpu-clock", "-o", m.path("none.data"), "--duration", "0.5")
    assert "waits" not in json.loads(m.export(m.path("none.data"), "json"))


def live():
    """5 shows the waits of a running program; b groups them, Enter opens the stacks of a row, i its wakers"""
    m.need_tracepoints()
    naps = m.start(load(), "forever", cwd=m.WORK)
    with Screen(["--off-cpu", "--idle", "-p", str(naps.pid)], size=(200, 60)) as s:
        s.send("5", shows=r"5 Waits .*by reason")
        s.wait(r"^ *\d.* S timer")
        s.send("/", "timer", "enter", shows=r"timer: [\d,]+ waits ended; p50 [5-9]\.?\d* ms")
        s.send("b", shows=r"by process")
        s.wait(r"naps/\d+")
        s.send("b", shows=r"by thread")
        s.wait(r" S timer +naps/\d+")
        s.send("b", shows=r"by function")
        s.wait(r"\bnap +naps")
        s.send("z", shows="frozen")  # else two rows of the same size may change places
        s.send("/", "nap", "enter", "enter", shows=r"function:nap")
        s.wait(r"\[wait: timer\]")
        s.send("esc", shows=r"by function")
        s.send("esc", "B", shows=r"Waits by")
        s.send("home", "enter", shows=r"by reason")
        s.send("/", "timer", "enter", "i", shows=r"wakers each")
        s.wait(r"by waker")
        s.wait(r"S timer +\[woken by a timer\]")
        s.send("enter", shows=r"function:\[woken by a timer\]")
        s.wait(r"callees")


def no_wakers():
    """i says why a row has no wakers: none of its waits has ended, or wakers were not sampled"""
    m.need_tracepoints()
    naps = m.start(load(), "forever", cwd=m.WORK)
    with Screen(["--off-cpu", "--idle", "-p", str(naps.pid), "--view", "waits"], size=(160, 40)) as s:
        s.wait(r" 0 +- .* S futex")
        s.send("/", "futex", "enter", "i", shows="none of these waits has ended")
        s.wait("off-cpu each")
    m.flametop("--off-cpu", "--idle", "--budget", "0.01", "-o", m.path("many.data"), "--",
               m.build("rounds", "-pthread"), "2", "150")
    with Screen(["-i", m.path("many.data"), "--idle", "--view", "waits"], size=(160, 40)) as s:
        s.wait("stack not taken")
        s.send("/", "stack not", "enter", "i", shows="there were too many switches")
        s.wait("record a smaller scope, or --budget")


def ascii_only():
    """in a locale without Unicode, trends and histograms are ASCII, as in other views"""
    m.need_tracepoints()
    naps = m.start(load(), "forever", cwd=m.WORK)
    for event, key, row in (("off-cpu", "5", r"^ *\d.* S timer$"),
                            ("latency:syscalls", "6", r"clock_nanosleep$")):
        with Screen(["-e", event, "--idle", "-p", str(naps.pid)], env={"LC_ALL": "C"}, size=(120, 40)) as s:
            s.send(key)
            s.wait(row)
            s.wait(r"^ *\d[^|]* to [^|]* \d[\d,]* [#*=.:+-]")
            s.wait(r"[#*=.:+-] +S timer$" if event == "off-cpu" else row)
            drawn = [line for line in s.text().split("\n") if re.search(row + "| to ", line)]
            assert not any("?" in line for line in drawn), drawn
    m.stop(naps)


def queue():
    """i shows who ran while the threads of a row waited for a CPU, live and as text"""
    m.need_tracepoints()
    rivals = m.start(m.build("rivals", "-pthread"), "3600", cwd=m.WORK)
    with Screen(["--off-cpu", "--idle"], size=(200, 60)) as s:
        s.send("5", shows=r"5 Waits .*by reason")
        s.wait(r"^ *\d.* R run queue")
        s.send("/", "run queue", "enter", "i", shows=r"wakers each")
        s.wait(r"R run queue +\[while rival-a ran\]")
        s.send("/", "while rival-a", "enter", "enter", shows=r"function:\[while rival-a ran\]")
        s.wait(r"\[runnable\]")
    found = tables(m.flametop("-e", "wakers", "-p", str(rivals.pid), "--duration", "2", "--view", "waits",
                              "--idle")[1])
    by = found["waker"]
    assert "[while rival-b ran]" in by and by["[while rival-a ran]"]["state"] == "R", found


def unsampled():
    """without time off the CPU the view says so, and Enter starts it"""
    m.need_tracepoints()
    m.start(load(), "forever", cwd=m.WORK)
    with Screen(["--idle"], size=(80, 24)) as s:
        s.wait("SELF%")
        s.send("5", shows=r"what threads wait for is not sampled: Enter")
        s.send("enter", shows=r"off-cpu each")
        s.wait(r"^ *\d.* S timer")


def ordered():
    """< and > choose the column that sorts"""
    m.need_tracepoints()
    recorded("ordered.data")
    with Screen(["-i", m.path("ordered.data"), "--idle", "--view", "waits"], size=(200, 60)) as s:
        s.wait(r"most time first")
        s.wait(r"S timer")
        s.send(">", ">", ">", ">", shows=r"sorted by maximum")
        s.wait(r" S futex\n.* S timer\n.* R run queue")
        s.send("f6", shows=r"Sort by")
        s.send("esc", "<", "<", "<", "<", shows=r"most time first")


def not_off_cpu():
    """an event on the CPU has no waits, and the text says what to do"""
    m.need_events()
    m.flametop("-e", "cpu-clock", "-o", m.path("cpu.data"), "--duration", "1")
    text = m.export(m.path("cpu.data"), "waits")
    assert "--off-cpu" in text, text


run(lengths, in_json, live, no_wakers, ascii_only, queue, unsampled, ordered, not_off_cpu)
