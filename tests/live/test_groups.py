#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of events: counts per function, compared with perf and with known work."""
import re

import machine as m
from ptyscreen import Screen, Skip, run, shared

GROUP = "{cpu-clock,page-faults}:S"
ROUNDS = 6
PAGES = ROUNDS * 20 * 4000


def sums(file):
    """{event: (samples, sum of periods)} from perf script"""
    m.need_perf()
    out, why = m.perf("script", "-i", file, "-F", "event,period")
    assert not why.strip(), "perf script complains: " + why
    found = {}
    for line in out.split("\n"):
        fields = re.match(r"\s*(\d+)\s+(\S+?):?\s*$", line)
        if fields:
            n, periods = found.get(fields.group(2), (0, 0))
            found[fields.group(2)] = n + 1, periods + int(fields.group(1))
    return found


def own_faults(report):
    """{function: self page faults} from the report of a group, and the self share of each"""
    report = re.split(r"^flametop - ", report, flags=re.M)[1]  # the first event's section
    title = re.search(r"^ *SELF% .*PAGE-FAULTS", report, re.M)
    assert title, report[:600]
    faults, shares = {}, {}
    for line in report.split("\n"):
        row = re.match(r" *([\d.]+) +[\d.]+ +[\d,]+ +([\d.]+)(?: ([KMG]))?  +(\S+) +(.+)$", line)
        if row:
            unit = {None: 1, "K": 1e3, "M": 1e6, "G": 1e9}[row.group(3)]
            name = row.group(5).strip()
            faults[name] = faults.get(name, 0) + float(row.group(2)) * unit
            shares[name] = shares.get(name, 0) + float(row.group(1))
    return faults, shares


def check_functions(report):
    faults, shares = own_faults(report)
    everything = sum(faults.values())
    assert abs(everything - PAGES) < PAGES * 0.1, (everything, PAGES)
    assert shares["compute"] > 5, shares
    # its first sample may include earlier faults; it causes none itself
    assert faults["compute"] < everything * 0.35, faults
    others = (everything - faults["compute"]) / (100 - shares["compute"])
    assert faults["compute"] / shares["compute"] < others, faults


LACKING = "{cpu-clock,instructions,page-faults}:S"


@shared
def recorded():
    """(report, file, report of LACKING) of the same work, sampled at the same time."""
    m.need_events()
    report, file, lacking = m.path("group.report"), m.path("group.data"), m.path("lacking.report")
    how = "-F", "999", "-o"
    m.watched((m.build("faults"), str(ROUNDS)), ["-e", GROUP, "--export", "report", *how, report],
              ["-e", GROUP, *how, file], ["-e", LACKING, "--export", "report", *how, lacking])
    return report, file, lacking


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def known_work():
    """page faults read with the clock equal those made, in the functions that made them"""
    check_functions(read(recorded()[0]))


def saved_and_read_by_perf():
    """a saved file has the page faults made, by the sums of perf script"""
    file = recorded()[1]
    found = sums(file)
    assert set(found) == {"cpu-clock", "page-faults"}, found
    assert abs(found["page-faults"][1] - PAGES) < PAGES * 0.1, found
    assert found["cpu-clock"][0] >= found["page-faults"][0], found
    groups, why = m.perf("evlist", "-g", "-i", file)
    assert groups.strip() == "{cpu-clock,page-faults}" and not why.strip(), groups + why
    table, why = m.perf("report", "-i", file, "--stdio", "--group", "-g", "none", "--sort", "symbol")
    assert not why.strip(), why
    assert re.search(r"anon group . cpu-clock, page-faults", table), table[:600]
    report = m.export(file, "report")
    check_functions(report)


def recorded_by_perf():
    """a recording of perf with the same group has the same columns"""
    m.need_events()
    m.need_perf()
    program, file = m.build("faults"), m.path("perf-group.data")
    m.perf(*m.RECORD, "-g", "-F", "999", "-e", GROUP, "-o", file, program, str(ROUNDS))
    report = m.export(file, "report")
    check_functions(report)


def left_out():
    """a member that this machine cannot count is named, and the others are counted"""
    m.need_events()
    counted, _, _ = m.flametop("-e", "instructions", "--duration", "0.1", "-o", m.path("i.folded"),
                               check=False)
    if counted == 0:
        raise Skip("this machine counts instructions: no member is missing")
    report = read(recorded()[2])
    assert re.search(r"DEGRADED the group of cpu-clock continues without instructions", report), report
    check_functions(report)


def on_the_screen():
    """the table has a column for the other event, ] shows it without new samples, c colours the flame graph
    by it"""
    m.need_events()
    load = m.start(m.build("faults"), "0")
    with Screen(["-e", GROUP, "-F", "999", "-p", str(load.pid)]) as s:
        s.wait(r"SELF%.*PAGE-FAULTS.*FUNCTION")
        s.wait(r"^flametop .*cpu-clock 999Hz \[1/2\]")
        s.wait(r" compute *$")
        s.send("]", shows=r"^flametop .*page-faults 999Hz \[2/2\]")
        s.wait(r"SELF%.*CPU-CLOCK.*FUNCTION")
        s.wait(r" touch_pages *$")
        s.send("[", shows=r"SELF%.*PAGE-FAULTS.*FUNCTION")
        s.send("\x1b[17~", shows=r"PAGE-FAULTS *counts of the other events")
        s.send("\x1b")
        s.wait_not(r"counts of the other events")
        s.send("3", shows=r"selected: all .*PAGE-FAULTS [\d.]+")
        s.send("c", shows=r"colours: by module")
        s.send("c", shows=r"colours: by PAGE-FAULTS: red above average, blue below")
        s.wait(r"icicle, by PAGE-FAULTS")
        s.send("c", shows=r"colours: by type")


run(known_work, saved_and_read_by_perf, recorded_by_perf, left_out, on_the_screen)
