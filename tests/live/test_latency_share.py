#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""LATENCY% and PARALLELISM: foo runs for 9 parts of the time in one thread, then bar for 1 part in two
threads. Of the CPU time foo has 82 %, of the time that a user waits 90 %: live, for unprivileged users, and
in files."""
import functools
import json
import os
import re

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run, shared

STRANGER = 65534
POINTS = 2
RATE = ("-F", "2499", "--latency", "-K")  # interrupts are in the kernel, not in foo
# the report's rows: SELF% TOTAL% SAMPLES LATENCY% PARALLELISM MODULE FUNCTION
ROW = r"^ *([\d.]+) +[\d.]+ +[\d,]+ +([\d.]+) +([\d.]+|-) +latency +(foo|bar)$"


@functools.lru_cache(None)
def load():
    m.need_events()
    if (os.cpu_count() or 1) < 2:
        raise Skip("two threads run at the same time on two CPUs only")
    return m.build("latency", "-pthread")


def undisturbed(*argv):
    """The command of a load; other programs do not take its CPUs, where that is permitted."""
    return ["chrt", "-f", "1", *argv] if not os.geteuid() else [*argv]


def command():
    """Four rounds of the load."""
    return undisturbed(load(), "2")


def numbers(report):
    """{function: (self share, latency share, parallelism)}"""
    found = {f: (float(own), float(latency), parallelism)
             for own, latency, parallelism, f in re.findall(ROW, report, re.M)}
    assert "foo" in found or "bar" in found, report[:2000]
    return found


def check(report):
    found = numbers(report)
    for function, own, latency, parallelism in ("foo", 82, 90, 1), ("bar", 18, 10, 2):
        assert abs(found[function][0] - own) <= POINTS, (function, own, found)
        assert abs(found[function][1] - latency) <= POINTS, (function, latency, found)
        assert abs(float(found[function][2]) - parallelism) <= 0.2, (function, parallelism, found)


@shared
def recorded():
    m.flametop(*RATE, "-o", m.path("latency.data"), "--", *command())
    return m.path("latency.data")


def shares_of_a_command():
    """foo has 82 % of the CPU time and 90 % of the latency, and runs alone"""
    check(m.flametop(*RATE, "--duration", "600", "--export", "report", "-o", "-", "--", *command())[1])


def without_privileges():
    """the same for a user's own process, without privileges"""
    m.need_root()
    m.need_tools("chrt", "setpriv", package="util-linux")
    as_stranger = ["setpriv", "--reuid=%d" % STRANGER, "--regid=%d" % STRANGER, "--clear-groups"]
    process = m.start(*undisturbed(*as_stranger, load(), "3600"), becomes="latency")
    four_rounds = "2.2"
    done = m.ran(PROGRAM, *RATE, "-p", str(process.pid), "--duration", four_rounds, "--export", "report",
                 "-o", "-", user=STRANGER, group=STRANGER, extra_groups=[], cwd="/")
    m.stop(process)
    assert not done.returncode, done.stderr
    check(done.stdout)


def saved():
    """a saved perf.data has the same shares, and --parallelism keeps the moments of so many threads"""
    report = m.export(recorded(), "report", "--latency")
    check(report)
    assert "LATENCY" not in m.export(recorded(), "report")
    alone = numbers(m.export(recorded(), "report", "--parallelism", "1"))
    both = numbers(m.export(recorded(), "report", "--parallelism", "2"))
    assert alone["foo"][0] > 97 and alone["foo"][2] == "1.00", alone
    assert both["bar"][0] > 97 and both["bar"][2] == "2.00", both
    check(m.export(recorded(), "report", "--parallelism", "1-2"))
    symbols = {s["name"]: s for s in json.loads(m.export(recorded(), "json", "--latency"))["symbols"]}
    for function, (_, latency, parallelism) in numbers(report).items():
        assert abs(symbols[function]["latency"] - latency) < 0.1, (symbols[function], latency)
        assert symbols[function]["parallelism"] == float(parallelism), (symbols[function], parallelism)


def of_perf():
    """a file of perf record --switch-events has the same shares; without switches, a sentence says so"""
    m.need_perf()
    options = "--switch-events", "-e", "cpu-clock:u", "-F", "2499", "-g"
    for name, *more in ("process",), ("cpus", "--sample-cpu"):
        check(m.export(m.perf_record(name, *options, *more, "--", *command()), "report", "--latency"))
    file = m.perf_record("none", "-F", "99", "-g", "--", load(), "0.5")
    for option in ("--latency",), ("--parallelism", "1"):
        status, out, err = m.flametop("-i", file, *option, check=False)
        assert status and not out and re.search("no context switches.*perf record --switch-events", err), err


def off_costs_nothing():
    """switches are recorded with --latency only"""
    for options, wanted in ((), False), (("--latency",), True):
        text = m.flametop(*options, "--duration", "600", "--export", "json", "-o", "-", "--", load(), "1")[1]
        records = json.loads(text)["records"]
        assert any(record.startswith("SWITCH") for record in records) == wanted, records


def screen():
    """L shows the columns and a flame colour, keeps moments when one thread runs, and takes them away"""
    process = m.start(load(), "3600")
    with Screen(["-p", str(process.pid), "-F", "999"]) as s:
        s.wait(r"SELF% +TOTAL%.*\n.* foo\b")
        s.send("L", shows="LATENCY% and PARALLELISM")
        s.send("down", "enter", shows=r"SELF% LATENCY% +TOTAL% PARALLELISM")
        s.wait(r" \d+\.\d +\d+\.\d +\d+\.\d +1\.\d\d +[\d,]+ .* foo\b")
        s.send(">", shows="by symbol, latency first")
        s.send("3", shows="selected: all .*LATENCY% 100.0, PARALLELISM 1")
        s.send("c", "c", shows="colours: by LATENCY%: red runs more alone than the average, blue less")
        s.send("1", "L", "down", "enter", shows="parallelism:1")
        s.wait(r" \d+\.\d +\d+\.\d +\d+\.\d +1\.00 +[\d,]+ .* foo\b")
        s.send("L", "home", "enter", shows=r"SELF% +TOTAL%")
        s.wait_not("parallelism:1")


run(shares_of_a_command, without_privileges, saved, of_perf, off_costs_nothing, screen)
