#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The latency view: table, histogram, heat map and slowest operations of a load that counts its own sleeps.
They have two modes: 1.2 ms, and 40 ms on another path. A rectangle of the heat map limits all views and
files."""
import functools
import json
import math
import os
import re

import machine as m
from ptyscreen import Screen, Skip, run

ROUNDS = 50
QUICK, SLOW = 20 * ROUNDS, ROUNDS
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
CUT = 24  # powers of two from here on are slow sleeps


def load():
    return m.build("modes")


def told(name):
    """{exponent: count} of the load's sleeps, as it wrote them"""
    with open(m.path(name)) as f:
        counts = {int(a): int(b) for a, b in (line.split() for line in f)}
    assert sum(counts.values()) == QUICK + SLOW, counts
    return counts


def at_least(counts, exponent):
    return sum(n for e, n in counts.items() if e >= exponent)


def agree(found, counts):
    """True if the buckets are as the load counted. Between the end of a sleep and its look at the
    clock the load may be interrupted, so that it measures more; a sleep never takes less than it should."""
    least = {20: QUICK, 25: SLOW}
    return sum(found.values()) == QUICK + SLOW and all(
        at_least(least, e) <= at_least(found, e) <= at_least(counts, e) for e in range(64))


@functools.lru_cache(None)
def recorded():
    m.need_tracepoints("latencies")
    file = m.path("modes.data")
    m.flametop("-e", "latency:syscalls", "-o", file, "--", load(), m.path("counts"), str(ROUNDS))
    return file


def opened(*args, size=(120, 40), **more):
    s = Screen(["-i", recorded(), "--view", "latency", *args], size=size, **more)
    s.wait(r"^ +[\d,]+ .* clock_nanosleep$")
    return s


def buckets(s):
    """{exponent: count} of the histogram on the screen"""
    rows = re.findall(r"^ +([\d.]+) ([mun]?s) to +([\d.]+) ([mun]?s) +([\d,]+)", s.text(), re.M)
    found = {}
    for low, unit, high, high_unit, count in rows:
        exponent = round(math.log2(float(low) * UNITS[unit]))
        assert round(math.log2(float(high) * UNITS[high_unit])) == exponent + 1, s.text()
        found[exponent] = int(count.replace(",", ""))
    return {exponent: count for exponent, count in found.items() if count}


def histogram():
    """the histogram of the sleeps is what the program counted, and the table has their number"""
    with opened() as s:
        s.send("/", "nanosleep", "enter", shows=r"^ clock_nanosleep: ([\d,]+) operations; p50 1\.\d+ ms")
        s.until(lambda: agree(buckets(s), told("counts")), "the histogram is not %s" % told("counts"))
        assert s.number(r"^ clock_nanosleep: ([\d,]+) operations") == QUICK + SLOW, s.text()
        assert s.number(r"^ +([\d,]+) .* clock_nanosleep$") == QUICK + SLOW, s.text()
        everything = s.number(r"^ +([\d,]+) .* all$")
        s.send("g", shows=r"^ all: ")
        assert s.number(r"^ all: ([\d,]+) operations") == everything > QUICK + SLOW, s.text()


def order():
    """< and > sort the table: each order has its largest first, below the row of all operations"""
    with opened() as s:
        counts = r"^ +([\d,]+) +[\d.]+(?: [KM])?(?: +[\d.]+ [mun]?s){5} (\w+)$"
        s.wait(r"sorted by sum")
        s.send(">", shows=r"sorted by count")
        rows = [(int(n.replace(",", "")), name) for n, name in re.findall(counts, s.text(), re.M)]
        assert rows[0][1] == "all" and len(rows) > 3, s.text()
        assert rows == sorted(rows, key=lambda row: -row[0]), rows
        s.send("<", "<", shows=r"sorted by name")
        names = [name for _, name in re.findall(counts, s.text(), re.M)]
        assert names[0] == "all" and names[1:] == sorted(names[1:]), names


def groups():
    """by process, thread, CPU and cgroup, the numbers of the rows are all operations"""
    with opened() as s:
        everything = s.number(r"^ all: ([\d,]+) operations")
        for by in "process", "thread", "CPU", "cgroup":
            s.send("B", by, "enter", shows=r"by %s, sorted" % by)
            rows = s.until(lambda: re.findall(r"^ +([\d,]+) +[\d.]+(?: [KM])?(?: +[\d.]+ [mun]?s){5} (.+)$",
                                              s.text(), re.M)[1:], "no rows")
            assert sum(int(n.replace(",", "")) for n, _ in rows) == everything, (by, rows)
            assert by not in ("process", "thread") or re.match(r"modes/\d+$", rows[0][1]), rows


def devices():
    """by device, the kinds of block I/O are one row, with bytes; Enter zooms into the device"""
    m.need_tracepoints("latencies")
    device = os.stat(m.WORK).st_dev
    link = "/sys/dev/block/%d:%d" % (os.major(device), os.minor(device))
    if not os.path.exists(link):
        raise Skip("no block device is below " + m.WORK)
    name, file = os.path.basename(os.readlink(link)), m.path("io.data")
    copy = ["dd", "bs=64k", "count=20", "if=/dev/zero", "of=" + m.path("io"), "oflag=direct"]
    m.flametop("-e", "latency:block", "-o", file, "--", *copy)
    with Screen(["-i", file, "--view", "latency"], size=(120, 40)) as s:
        s.wait(r" SUM BYTES/S name$")
        s.wait(r" %s write$" % name)
        everything = s.number(r"^ all: ([\d,]+) operation")
        s.send("b", shows=r" SUM BYTES/S device$")
        rows = r"^ +([\d,]+) +[\d.]+(?: [KM])?(?: +[\d.]+ [mun]?s){5} +[\d.]+[KMG] %s$" % name
        assert s.number(rows) == everything, s.text()
        s.send("/", name, "enter", shows=r"^ %s: " % name)
        s.send("enter", shows=r"device:%s" % name)
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.wait(r"\[block: %s write\]" % name)


def select_upper(s):
    """Selects the rectangle of all times, from the longest duration down to 2^CUT ns."""
    s.send("v", shows=r"^cell ")
    s.send("home", " ", shows=r"^rectangle ")
    all_cells = s.wait(r"^ \S+: ([\d,]+) operations").group(1)
    s.send("end")
    s.wait(r"^rectangle (?!16\.8 ms).*  %s operations" % all_cells)
    for _ in range(40):
        low = s.wait(r"^rectangle (\S+ \S+?)–").group(1)
        if low == "16.8 ms":
            break
        s.send("up")
        s.until(lambda: s.wait(r"^rectangle (\S+ \S+?)–").group(1) != low, "the cursor stays at " + low)
    s.send(" ", shows=r"took 16\.8 ms–")


def slow_shown(s, name, file):
    """Waits until only slow sleeps are left; returns their number."""
    slow = int(s.wait(r"^ %s: (\d+) operations; p50 4\d\S* ms" % name).group(1))
    assert SLOW <= slow <= at_least(told(file), CUT), (slow, told(file))
    return slow


def rectangle():
    """live: the upper rectangle of the heat map leaves only the slow path, in flame graph, call graph,
    functions and log, in what is exported and saved; R shows everything again"""
    m.need_tracepoints("latencies")
    live = ["-e", "latency:syscalls", "--view", "latency", "--window", "0",
            "--", load(), m.path("live"), str(ROUNDS)]
    folded, logged, saved = m.path("live.folded"), m.path("live.log"), m.path("live.data")
    with Screen(live, size=(120, 40)) as s:
        s.wait(r"ENDED", 2 * m.LIMIT)
        everything = s.until(lambda: s.number(r"^ all: ([\d,]+) operations"), "no operations")
        select_upper(s)
        slow = slow_shown(s, "all", "live")
        s.send("3", shows=r"slow_path 100")
        assert not s.find(r"quick"), s.text()
        s.send("2", shows=r"CALLEES")
        s.wait(r"clock_nanosleep")
        s.send("/", "slow_path", shows=r"search:slow_path")
        s.wait_not(r"nothing matches")
        s.send("enter", "/", "quick", shows=r"nothing matches \"quick\"")
        s.send("esc")
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.wait(r"clock_nanosleep")
        assert s.number(r"^ *100\.0 +100\.0 +([\d,]+) ") == slow, s.text()
        s.send("6", "6", shows=r"^%d samples" % slow)
        assert not s.find(r"^ +\d+\.\d+ .* 1\.\d+ ms \["), s.text()
        s.send("E", "folded", "enter", shows=r"write folded to")
        s.send("\x15", folded, "enter", shows=r"written to")
        s.send("E", "log", "enter", shows=r"write log to")
        s.send("\x15", logged, "enter", shows=r"written to")
        s.send("w", "enter", shows=r"write perf.data to")
        s.send("\x15", saved, "enter", shows=r"%d samples .* written to" % slow)
        s.send("R")
        s.wait_not(r"took ")
        s.send("6", shows=r"^ all: %s operations" % format(int(everything), ","))
        assert s.quit() == 0
    with open(folded) as f:
        stacks = m.stacks_of(f.read())
    assert stacks and all("slow_path" in frames and "quick" not in frames for frames, _ in stacks), stacks
    with open(logged) as f:
        lengths = re.findall(r"([\d.]+) ([mun]?s) \[syscalls: (\w+)\]", f.read())
    assert len(lengths) == slow and all(float(n) * UNITS[unit] > 39e6 for n, unit, _ in lengths), lengths
    report = json.loads(m.export(saved, "json"))
    rows = [(r["name"], r["count"]) for r in report["latency"]]
    assert rows == [("clock_nanosleep", slow)], rows
    assert [e["samples"] for e in report["events"] if e["samples"]] == [slow], report["events"]


def undone():
    """Esc undoes a rectangle, and Esc before its end drops the mark; an empty one is not selected"""
    with opened() as s:
        everything = s.number(r"^ all: ([\d,]+) operations")
        s.send("v", shows=r"^cell ")
        s.send(" ", shows=r"^rectangle ")
        s.send("esc", shows=r"^cell ")
        s.send("home", shows=r"^cell .* 0\.00s–\S+  0 operations")
        s.send("enter", shows=r"no operation ended there")
        assert not s.find(r"took "), s.text()
        s.send("v", "v")
        select_upper(s)
        slow_shown(s, "all", "counts")
        s.send("esc", "esc")  # the message, and the rectangle
        s.wait_not(r"took ")
        s.wait(r"^ all: %s operations" % format(int(everything), ","))


def mouse():
    """dragging the mouse over cells selects a rectangle, and + zooms in to its time"""
    with opened("--mouse") as s:
        s.send("v", shows=r"^cell ")
        columns = s.wait(r"heat map: columns of (\S+)").group(1)
        lines = s.screen.display
        top = next(y for y, line in enumerate(lines) if line.startswith(" all: ")) + 2
        bottom = next(y for y, line in enumerate(lines) if line.startswith(" 16.8 ms ")) + 1
        s.send("\x1b[<0;10;%dM" % top, "\x1b[<0;60;%dm" % bottom, shows=r"took 16\.8 ms–")
        some = int(s.wait(r"^ all: (\d+) operations; p50 4\d\S* ms").group(1))
        assert 0 < some < SLOW, s.text()
        s.send("+", shows=r"heat map: columns of (?!%s)" % re.escape(columns))
        s.send("-", shows=r"heat map: columns of %s" % re.escape(columns))


def one_name():
    """a rectangle in the heat map of a name selects operations of that name"""
    with opened() as s:
        s.send("v", shows=r"^cell ")
        s.send(".", shows=r"^ clock_nanosleep: ")
        s.send("v", "v")
        select_upper(s)
        s.wait(r"function:\[syscalls: clock_nanosleep\]|function:.*nanosleep")
        slow_shown(s, "clock_nanosleep", "counts")


def slowest():
    """the slowest operations come first, > shows the newest first, Enter shows the stack, and o sets a
    limit"""
    took = r"^ +(\d+\.\d+) +([\d.]+) ([mun]?s)  modes/\d+ +(\w+)$"
    rows = lambda s: [(float(t), float(n) * UNITS[unit], name)
                      for t, n, unit, name in re.findall(took, s.text(), re.M)]
    with opened() as s:
        s.send("V", shows=r"the longest first")
        found = s.until(lambda: rows(s), "no rows")
        lengths = [ns for _, ns, _ in found]
        assert len(found) > 20 and lengths == sorted(lengths, reverse=True) and lengths[0] > 39e6, found
        assert all(name == "clock_nanosleep" for _, _, name in found), found
        s.send(">", shows=r"the newest first")
        newest = s.until(lambda: [row[0] for row in rows(s)], "no rows")
        assert newest == sorted(newest, reverse=True) and newest[0] > found[0][0], newest
        s.send("<", shows=r"the longest first")
        s.send("down", "enter", shows=r"CALLEES")
        s.send("/", "slow_path", shows=r"search:slow_path")
        s.wait_not(r"nothing matches")
        s.send("enter", "/", "quick", shows=r"nothing matches \"quick\"")
        s.send("enter", "esc", "esc", shows=r"^all: 1 of 1 operations, the longest first")
        s.send("esc", shows=r"^all: 1,000 of [\d,]+ operations")
        s.send("o", "20ms", "enter", shows=r"took >=20 ms")  # more than 1 << CUT ns
        slow = int(s.wait(r"^all: (\d+) of \1 operations").group(1))
        assert SLOW <= slow <= at_least(told("counts"), CUT), (slow, told("counts"))
        s.send("o", "1ms-10ms", "enter", shows=r"took 1 ms–10 ms")
        s.wait_not(r" 40(\.\d+)? ms  modes")
        s.send("o", "nonsense", "enter", shows=r"\"nonsense\" is no range of durations")
        s.send("esc")
        s.send("o", "enter")
        s.wait_not(r"took 1 ms")


def pages():
    """6 shows the log while the event has no latencies, and again the latency view, which says what to do;
    a row that it offers measures the process, another one says why it cannot; then 6 shows its latencies,
    and again the log"""
    m.need_tracepoints("latencies")
    process = m.start(load(), m.path("endless"), "1000000")
    config = m.path("config")
    os.makedirs(config + "/flametop")
    with open(config + "/flametop/latency", "w") as f:
        f.write("mine no:begin no:end thread - - begin nothing\n")
    with Screen(["-e", "cpu-clock", "-p", str(process.pid)], env={"XDG_CONFIG_HOME": config}) as s:
        s.wait(r" 6 Log ")
        s.send("6", shows=r"SECONDS +CPU +THREAD")
        s.send("6", shows=r"how long operations take is not measured: Enter \(or e\) lists")
        assert s.find(r" 6 Latency "), s.text()
        s.send("tab", shows=r"6 Log 7 Code ")
        s.send("s-tab", shows=r"SECONDS +CPU +THREAD")
        s.send("6", "enter", shows=r"^.*Event to sample")
        s.wait(r"latency:syscalls +system calls")
        s.send("mine", shows=r"latency:mine +<not supported> nothing")
        s.send("enter", shows=r"latency row 'mine': no event or tracepoint system 'no'")
        for _ in "mine":
            s.send("backspace")
        s.wait(r"latency:syscalls +system calls")
        s.send("enter", shows=r"^ +[\d,]+ .* clock_nanosleep$")
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.send("6", shows=r"^ +[\d,]+ .* clock_nanosleep$")
        s.send("6", shows=r"ms \[syscalls: clock_nanosleep\]")
        assert s.quit() == 0
    m.stop(process)


def another_event():
    """a recording whose shown event has no latencies: Enter shows the event that has them; one without any
    says so"""
    m.need_tracepoints("latencies")
    both, none = m.path("both.data"), m.path("none.data")
    for events, file in ("cpu-clock,latency:syscalls", both), ("cpu-clock", none):
        m.flametop("-e", events, "-F", "5000", "-o", file, "--", load(), file + ".counts", "5")
    with Screen(["-i", both, "--view", "latency"], size=(120, 40)) as s:
        s.wait(r"^ +105 .* clock_nanosleep$")
        s.send("]", shows=r"cpu-clock does not say how long operations take: Enter shows an event latency")
        s.send("enter", shows=r"^ +105 .* clock_nanosleep$")
    with Screen(["-i", none, "--view", "latency"], size=(120, 40)) as s:
        s.wait(r"the recording does not say how long operations take: flametop -e latency:ROW records it")


def plain():
    """without colours and Unicode, the heat map has a ramp of characters"""
    with opened("--no-color", "--no-unicode", size=(80, 24), env={"LC_ALL": "C"}) as s:
        s.send("v", shows=r"^cell ")
        s.wait(r"^ *1\.05 ms +[#o]{20,}")
        s.wait(r"^ *33\.6 ms +[.:o]+")
        assert all(c < "\x7f" for c in s.text()), s.text()


if __name__ == "__main__":
    run(histogram, order, groups, devices, rectangle, undone, mouse, one_name, slowest, pages, another_event,
        plain)
