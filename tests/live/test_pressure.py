#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pressure in the text and JSON of the counters, compared with the kernel's files under a known load."""
import json
import os
import re
import time

import machine as m
from ptyscreen import run

CPUS = os.sysconf("SC_NPROCESSORS_ONLN")
SYSTEM = "/proc/pressure/cpu"


def burners(n, cpu=None):
    program = m.compiled("burner", "int main(void) { for (;;) ; }\n")
    pin = ["taskset", "-c", str(cpu)] if cpu is not None else []
    return [m.start(*pin, program, becomes="burner") for _ in range(n)]


def total_us(path, kind):
    with open(path) as f:
        return int(re.search(r"^%s .*total=(\d+)$" % kind, f.read(), re.M).group(1))


def intervals(*args, n=3, seconds=1):
    """The JSON objects of the counters, one per interval."""
    _, out, _ = m.flametop("-b", "--view", "counters", "--export", "json", "-n", str(n), "-d", str(seconds),
                           *args)
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == n, out
    return found


def need_pressure():
    m.need_events()
    if not os.path.exists(SYSTEM):
        raise m.Skip("this kernel provides no pressure")


def agrees(found, lines, before, after):
    """The lines of the intervals show what the kernel's file counted between two readings of it."""
    totals = [line["total_us"] for line in lines]
    assert before <= totals[0] <= totals[-1] <= after, (before, totals, after)
    for interval, earlier, line in zip(found[1:], lines, lines[1:]):
        share = (line["total_us"] - earlier["total_us"]) / (1e4 * interval["seconds"])
        assert abs(line["percent"] - min(share, 100)) < 2, (earlier, line, interval["seconds"])


def measured(paths, *args):
    """The intervals of the counters, and for each file its total before and after them, and the seconds."""
    totals = [[total_us(path, kind)] for path, kind in paths]
    start = time.monotonic()
    found = intervals(*args)
    seconds = time.monotonic() - start
    for (path, kind), both in zip(paths, totals):
        both.append(total_us(path, kind))
    return found, totals, seconds


def of_the_system():
    """with two busy threads per CPU, threads wait for a CPU nearly all the time, as the file counts"""
    need_pressure()
    loads = burners(2 * CPUS)
    found, ((before, after),), seconds = measured([(SYSTEM, "some")])
    for process in loads:
        m.stop(process)
    lines = [interval["pressure"]["cpu"]["some"] for interval in found]
    assert all(line["percent"] > 90 for line in lines), lines
    agrees(found, lines, before, after)
    script = 100 * (after - before) / (1e6 * seconds)  # over a little more time
    mean = sum(line["percent"] for line in lines) / len(lines)
    assert abs(mean - script) < 5, (lines, script)
    for interval in found:
        assert interval["run_queue"] >= 2 * CPUS and interval["blocked"] >= 0, interval
        assert 0 <= interval["steal"] <= 100, interval
        assert interval["load"]["average"][0] > 0, interval
        assert interval["load"]["threads"] > interval["load"]["running"] > 0, interval
        assert interval["pressure"].keys() >= {"cpu", "io", "memory"}, interval
        assert interval["cgroups"] == []


def of_cgroups():
    """two busy threads of a cgroup on one CPU wait for each other; its idle sibling has no pressure"""
    need_pressure()
    m.need_root()
    mounts = [line.split() for line in open("/proc/mounts")]
    root = next((f[1] for f in mounts if f[2] == "cgroup2"), None)
    if not root or any(f[2] == "cgroup" and "perf_event" in f[3].split(",") for f in mounts):
        raise m.Skip("no cgroup2 is mounted that perf uses")
    names = ["flametop-%s.%d" % (kind, os.getpid()) for kind in ("busy", "idle")]
    folders = [os.path.join(root, name) for name in names]
    try:
        for folder in folders:
            os.mkdir(folder)
    except OSError as error:
        raise m.Skip("cannot make a cgroup: %s" % error)
    loads = burners(2, cpu=min(os.sched_getaffinity(0)))
    try:
        for process in loads:
            with open(folders[0] + "/cgroup.procs", "w") as f:
                f.write(str(process.pid))
        cpu = folders[0] + "/cpu.pressure"
        scope = ("-G", "/%s,/%s" % tuple(names))
        found, totals, _ = measured([(cpu, "some"), (cpu, "full")], *scope)
        for interval in found:
            assert [cgroup["path"] for cgroup in interval["cgroups"]] == ["/" + name for name in names]
            idle = interval["cgroups"][1]["pressure"]
            assert all(line["percent"] == 0 for lines in idle.values() for line in lines.values()), idle
        busy = [interval["cgroups"][0]["pressure"]["cpu"] for interval in found]
        assert all(lines["some"]["percent"] > 90 for lines in busy), busy
        for kind, (before, after) in zip(("some", "full"), totals):
            agrees(found, [lines[kind] for lines in busy], before, after)
        _, text, _ = m.flametop("-b", "--view", "counters", "-n", "1", "-d", "0.5", *scope)
        rows = r"\ncgroup /%s +NOW +10 s +60 s +300 s\n(?:.+\n)*?cpu pressure some +([\d.]+)%%( +[\d.]+){3}\n"
        assert float(re.search(rows % re.escape(names[0]), text).group(1)) > 90, text
        assert float(re.search(rows % re.escape(names[1]), text).group(1)) == 0, text
    finally:
        for process in loads:
            m.stop(process)
        for folder in folders:
            m.until(lambda: not open(folder + "/cgroup.procs").read(), "the cgroup did not become empty")
            os.rmdir(folder)


def formats():
    """another format than JSON is refused with a sentence"""
    status, _, why = m.flametop("-b", "--view", "counters", "--export", "svg", check=False)
    assert status and "--export svg: counters are printed as text or as JSON" in why, why
    status, _, why = m.flametop("-b", "--export", "json", check=False)
    assert status and "--export needs -o" in why, why


run(of_the_system, of_cgroups, formats)
