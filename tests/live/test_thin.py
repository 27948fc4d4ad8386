#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Beyond the budget off-cpu takes the stacks of only some waits: this is announced, the times stay exact, and
no function is preferred. It takes all stacks again when the rate falls."""
import functools
import os
import re
import signal

import machine as m
from ptyscreen import PROGRAM, Screen, run

SECONDS = 5
NOTE = r"one wait in \d+ has its stack|waits have times only, without stacks"


@functools.lru_cache(None)
def load():
    return m.build("rounds", "-pthread")


def budget(switches):
    """So many switches per second use three quarters of this budget without any stacks (src/perf/rate.c)."""
    return "%.4f" % max(0.01, 100 * switches * 2 * 700e-9 / 0.75 / os.cpu_count())


def sums(name):
    """{"ask": {"all": µs, "[stack not taken]": µs, …}}, by thread and leaf."""
    found = {}
    for frames, us in m.folded(m.path(name)):
        by = found.setdefault(frames[0], {"all": 0})
        by["all"] += us
        by[frames[-1]] = by.get(frames[-1], 0) + us
    return found


def check_sums(found, out):
    truth = {name: int(us) for name, us in re.findall(r"^(ask|answer|sleeper) (\d+)$", out, re.M)}
    assert len(truth) == 3, "no truth: %s" % out
    for name, us in truth.items():
        got = found[name]
        assert abs(got["all"] - us) <= 0.02 * us + 3000, (name, got, truth)
        assert got["[stack not taken]"] > 0.3 * us, (name, got, truth)


def exact():
    """each thread's waits are as long as it measures itself, although most have no stack: of a command, whose
    events are opened again, and of all CPUs, whose periods change"""
    m.need_tracepoints()
    few = budget(2000)
    _, out, err = m.flametop("--off-cpu", "--idle", "--budget", few, "-o", m.path("own.folded"), "--", load(),
                             str(SECONDS), "2000")
    check_sums(sums("own.folded"), out + err)
    top = m.start(PROGRAM, "--off-cpu", "--idle", "--budget", few, "--duration", "600", "-o",
                  m.path("all.folded"))
    m.until(lambda: m.has_events(top.pid), "it samples nothing")
    out = m.ran(load(), str(SECONDS), "2000").stdout
    top.send_signal(signal.SIGINT)
    assert top.wait(timeout=m.LIMIT) in (0, 128 + signal.SIGINT)
    check_sums(sums("all.folded"), out)


def fair():
    """two functions in which a thread waits by turns have as many stacks each"""
    m.need_tracepoints()
    m.flametop("--off-cpu", "--idle", "--budget", budget(12000), "-o", m.path("fair.data"), "--", load(),
               str(SECONDS), "150")
    text = m.export(m.path("fair.data"), "waits", "--idle")
    n = {name: float(rate) * SECONDS * (1000 if k else 1) for rate, k, name in
         re.findall(r"^ *[\d.]+ +[\d.]+ +([\d.]+)( K)? .* (first|second)$", text, re.M)}
    taken = sum(n.values())
    rounds = re.search(r"^ *[\d.]+ +[\d.]+ +([\d.]+)( K)? .* stack not taken$", text, re.M)
    assert taken >= 50 and rounds and float(rounds.group(1)) * (1000 if rounds.group(2) else 1) > 500, text
    # the first column of numbers has three digits
    assert abs(n["first"] - n["second"]) <= 5 * taken ** 0.5 + 0.01 * taken, (n, text)


def whole_again(screen):
    """Whether waits that end from now on have stacks; other programs may wake many threads meanwhile."""
    screen.wait_not(NOTE)
    screen.send("x", shows="discarded")
    screen.wait(r"\[wait: pipe\]")
    return "[stack not taken]" not in screen.text()


def said():
    """the screen and the text output say that stacks are left out; when the rate falls, they come back"""
    m.need_tracepoints()
    rounds = m.start(load(), "36000", "150")
    few = budget(12000)
    scope = ["--off-cpu", "--idle", "--budget", few, "-p", str(rounds.pid)]
    out = m.flametop(*scope, "-b", "-n", "3", "-d", "1")[1]
    assert re.search(NOTE, out) and "[stack not taken]" in out, out
    with Screen(scope, size=(160, 40)) as s:
        s.wait(NOTE)
        s.wait(r"\[stack not taken\]")
        s.send("f1", shows="--budget")
        s.send("f1")
        rounds.send_signal(signal.SIGUSR1)
        m.until(lambda: whole_again(s), "stacks are not taken again")


run(exact, fair, said)
