#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Latencies of operations from a file of perf record that has their begins and ends."""
import collections
import json
import re

import machine as m
from ptyscreen import run

CALLS = "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"


def recorded(name, *args):
    m.need_tracepoints("latencies")
    m.need_perf()
    return m.perf_record(name, *args, "--", m.build("calls"))


def events(names):
    return [word for name in names for word in ("-e", name)]


def report_of(file, *args):
    m.flametop("-i", file, *args, "-o", m.path("report.json"))
    with open(m.path("report.json")) as f:
        return json.load(f)


def pairs_of(file):
    """{number of the system call: [ns]} by perf script"""
    script = m.perf("script", "-i", file, "--ns", "-F", "tid,time,event,trace")[0]
    entered, found = {}, collections.defaultdict(list)
    line = r"^ *(\d+) +(\d+)\.(\d{9}): +raw_syscalls:sys_(\w+): +NR (-?\d+)"
    for tid, s, ns, side, number in re.findall(line, script, re.M):
        now = int(s) * 10**9 + int(ns)
        if side == "enter":
            entered[tid] = now, number
        elif tid in entered:
            begun, number = entered.pop(tid)
            found[number].append(now - begun)
    return found


def system_calls():
    """the system calls of a file of perf: counts and sums are those of perf script, to the nanosecond"""
    file = recorded("calls.data", *events(CALLS))
    wanted = pairs_of(file)
    report = report_of(file, "--latency", "syscalls")
    rows = {r["name"]: r for r in report["latency"]}
    assert rows["clock_nanosleep"]["count"] == 60 and rows["ppoll"]["count"] == 40, rows
    assert sorted((r["count"], r["sum_ns"]) for r in rows.values()) == sorted(
        (len(times), sum(times)) for times in wanted.values()), (rows, wanted)
    assert not report["latency_rows"][0]["lost"], report["latency_rows"]
    shown = m.flametop("-i", file, "--latency", "syscalls")[1]
    assert re.search(r"^ +60 .*  clock_nanosleep$", shown, re.M), shown


def stacks_and_parts():
    """operations have the stacks of the file; a saved part has them, alone and with other events"""
    file = recorded("stacks.data", "--call-graph", "fp", *events(CALLS))
    before = report_of(file, "--latency", "syscalls")["latency"]
    for names in "latency:syscalls", "raw_syscalls:sys_enter,latency:syscalls":
        part = m.path("part.data")
        m.flametop("-i", file, "-e", names, "-o", part)
        assert report_of(part)["latency"] == before, names
        stacks = [frames for frames, _ in m.stacks_of(m.export(part, "folded", "-e", "latency:syscalls"))
                  if frames[-1] == "[syscalls: clock_nanosleep]"]
        assert stacks and all(frames[0] == "calls" and "main" in frames for frames in stacks), stacks
    m.flametop("-i", file, "-o", m.path("whole.data"))  # without the operations, which follow from it
    assert report_of(m.path("whole.data"), "--latency", "syscalls")["latency"] == before


def what_files_lack():
    """each reason gets a sentence"""
    half = recorded("half.data", "-e", CALLS[0])
    some = recorded("some.data", "-c", "3", *events(CALLS))
    cases = ((half, "syscalls", "has no operations of latency row syscalls: they follow from all events "
                                "raw_syscalls:sys_enter and raw_syscalls:sys_exit"),
             (some, "syscalls", "they follow from all events"),
             (half, "files", "has no operations of latency row files, and they do not follow from"),
             (half, "dns", "and they do not follow from other events"),
             (half, "runqueue", "and they do not follow from other events"),
             (half, "syscals", "there is no latency row 'syscals'; did you mean 'syscalls'?"))
    for file, row, words in cases:
        code, _, said = m.flametop("-i", file, "--latency", row, check=False)
        assert code and words in said, (row, said)


run(system_calls, stacks_and_parts, what_files_lack)
