#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The scope is covered completely: short and earlier threads and children, programs in step with sampling."""
import json
import os
import subprocess

import machine as m
from ptyscreen import LIMIT, PROGRAM, Skip, run

# On a quiet machine samples and /proc differ by less than 3 %. Here other processes compete: the timer may be
# late, and a share of the CPUs is as uncertain as its number of samples says.
OFF = 0.10


def need_all_cpus():
    m.need_events()
    if os.geteuid() and int(open("/proc/sys/kernel/perf_event_paranoid").read()) > 0:
        raise Skip("sampling all CPUs is not permitted")


def churn(*args):
    """The load, once it uses CPU time."""
    return m.started(m.build("churn", "-pthread"), *args)


def sampled(*args):
    """The machine-readable export."""
    file = m.path("sampled.data")
    m.flametop(*args, "-o", file, "--export", "json")
    return json.load(open(file))


def is_covered(what, *args):
    """Checks that samples × period agrees with the kernel's CPU time, also for an outside observer."""
    need_all_cpus()
    load = churn(*args)
    for seconds in 2, 6, 18:
        before = m.cpu_seconds(load.pid, children=True)
        found = sampled("-p", str(load.pid), "-F", "999", "--duration", str(seconds))
        outside = m.cpu_seconds(load.pid, children=True) - before
        if found["samples"] > 1000:
            break
    m.stop(load)
    coverage = found["coverage"]
    took = sum(event["period"] for event in found["events"])
    assert abs(coverage["sampled_ns"] / coverage["cpu_ns"] - 1) < OFF, (what, coverage)
    assert coverage["cpu_ns"] < outside * 1e9 * (1 + OFF), (what, coverage, outside)
    # sampling starts and ends in between
    assert outside * 1e9 * 0.5 < took < outside * 1e9 * (1 + OFF), (what, took, outside)


def short_threads():
    """threads of 0.2 ms, much shorter than the sampling interval, are covered"""
    is_covered("0.2 ms", "threads", "200")


def threads_of_some_milliseconds():
    """threads of 6 ms are covered"""
    is_covered("6 ms", "threads", "6000")


def short_forks():
    """children of 2 ms are covered"""
    is_covered("forks", "forks", "2000")


def burning(found):
    return {row["name"]: row["total"] for row in found["symbols"]}.get("burn_for_ever", 0)


def children_from_before():
    """-p includes earlier children of a process and their threads; --no-inherit excludes them"""
    m.need_events()
    load = churn("family", "1000")
    for seconds in 2, 8, 32:
        found = sampled("-p", str(load.pid), "-F", "499", "--duration", str(seconds))
        if found["samples"] >= 100:
            break
    assert burning(found) >= 0.9 * found["samples"] > 0, found["symbols"]
    assert {row["pid"] for row in found["pids"]} != {load.pid}, found["pids"]
    assert len([row for row in found["threads"] if row["samples"] > 10]) == 2, found["threads"]
    assert abs(found["coverage"]["sampled_ns"] / found["coverage"]["cpu_ns"] - 1) < OFF, found["coverage"]
    without = sampled("-p", str(load.pid), "--no-inherit", "-F", "499", "--duration", "1")
    assert not burning(without), without["symbols"]
    m.stop(load)


def known_share(*args, how):
    """What flametop prints, once the CPU time is long enough for a share."""
    for seconds in "0.5", "2", "8", "32":  # a busy machine leaves the load too little CPU time
        out = m.flametop("-F", "499", *args, "--duration", seconds, *how)[1]
        if "too little" not in out:
            break
    return out


def doctor_says_what_is_covered():
    """doctor and report show the covered share of CPU time for each scope, or why it is unknown"""
    need_all_cpus()
    load = churn("threads", "5000")
    pid = str(load.pid)
    known = r"samples cover \d+\.\d% of \d+\.\d "
    wanted_of = {(): known + "CPU seconds", ("-p", pid): known + "CPU seconds",
                 ("-p", pid, "-K"): known + "user CPU seconds",
                 ("-u", str(os.getuid())): known + "CPU seconds",
                 ("-C", "0"): known + "CPU seconds", ("-t", pid): "unknown: threads have ended",
                 ("-p", pid, "-C", "0"): "unknown: .* of tasks per CPU",
                 ("-p", pid, "--off-cpu"): "unknown: only time off the CPU is sampled",
                 ("-p", pid, "-e", "page-faults"): "unknown: the event does not count time"}
    cases = [(args, how) for args in wanted_of
             for how in (("--export", "doctor", "-o", "-"), ("-b", "-n", "1", "-d", "600"))]
    for i in range(0, len(cases), 4):  # more of them would take the load's CPU time
        some = cases[i:i + 4]
        for (args, how), out in zip(some, m.at_once(lambda case: known_share(*case[0], how=case[1]), *some)):
            assert m.re.search(wanted_of[args], out), (args, how, out)
    m.flametop("-p", pid, "--duration", "1", "-o", m.path("cover.data"))
    out = m.export(m.path("cover.data"), "doctor")
    assert "unknown: a file does not contain it" in out, out
    m.stop(load)


def command_is_covered_to_its_end():
    """a command's CPU time is known to its end, with that of its waited-for children"""
    need_all_cpus()
    count = "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done"
    shell = count % (300, "sh -c '" + count % (3000, ":") + "'")
    found = m.path("command.json")
    before = os.times()
    m.flametop("-F", "999", "-o", found, "--export", "json", "--", "sh", "-c", shell)
    after = os.times()
    coverage = json.load(open(found))["coverage"]
    took = after.children_user + after.children_system - before.children_user - before.children_system
    assert abs(coverage["sampled_ns"] / coverage["cpu_ns"] - 1) < OFF, coverage
    # the rest is flametop's overhead
    assert 0.3 * took * 1e9 < coverage["cpu_ns"] < took * 1e9, (coverage, took)


def halves(scopes, cpu):
    """For each scope, sampled at once: the samples of both halves of a load in step with 99 samples
    a second, and the first one's true share."""
    load = m.started(m.build("lockstep"), str(10 ** 9 // 99))
    os.sched_setaffinity(load.pid, {cpu})
    running = [m.adopt(subprocess.Popen([PROGRAM, *(arg % load.pid if "%" in arg else arg for arg in args),
                                         "--duration", "3", "-o", m.path("halves%d" % i), "--export", "json"],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
               for i, args in enumerate(scopes)]
    for process in running:
        assert process.wait(LIMIT) == 0, process.args
    load.terminate()
    truth = [int(number) for number in load.stdout.read().split()]
    for i in range(len(scopes)):
        names = {row["name"]: row["total"] for row in json.load(open(m.path("halves%d" % i)))["symbols"]}
        yield names.get("first_half", 0), names.get("second_half", 0), truth[0] / sum(truth)


def program_in_step_with_the_sampling():
    """a program that repeats itself in each sampling interval is sampled in all its phases"""
    need_all_cpus()
    cpu = min(os.sched_getaffinity(0))
    scopes = ("-C", str(cpu)), ("-p", "%d"), ("-p", "%d", "--no-inherit")
    n, firsts, expected = [0] * 3, [0] * 3, [0.0] * 3
    runs = 0
    while runs < 3 or (min(n) < 60 and runs < 20):
        runs += 1
        for i, (first, second, truth) in enumerate(halves(scopes, cpu)):
            n[i] += first + second
            firsts[i] += first
            expected[i] += truth * (first + second)
    for i, args in enumerate(scopes):
        m.near("the first half of %s" % (args,), firsts[i] / n[i], expected[i] / n[i], n[i], margin=0.05)


def saved_periods_are_those_of_the_samples():
    """perf reads the sampled periods from a recording, for CPUs and tasks"""
    m.need_events()
    m.need_perf()
    load = churn("threads", "5000")
    spin = str(m.start("sh", "-c", "while :; do :; done").pid)
    scopes = ("-p", str(load.pid)), ("-t", spin), ("-p", spin, "--no-inherit"), ()
    files = [m.path("periods%d.data" % i) for i in range(len(scopes))]
    m.at_once(lambda case: m.flametop(*case[0], "-F", "499", "--duration", "1", "-o", case[1]),
              *zip(scopes, files))
    for args, file in zip(scopes, files):
        text, _ = m.perf("script", "-i", file, "-F", "period")
        found = json.loads(m.export(file, "json", "--idle"))
        periods = [int(line) for line in text.split()]
        assert sum(periods) == found["events"][0]["period"], (args, sum(periods), found["events"])
        assert all(abs(period * 499 / 1e9 - 1) < 0.07 for period in periods), (args, set(periods))
    m.stop(load)


def short_forks_and_their_waits():
    """with time off the CPU, short children have no samples; a lower frequency would not change that"""
    need_all_cpus()
    m.need_tracepoints()
    load = churn("forks", "500")
    cases = ("--wall",), ("-F", "20000")
    texts = m.at_once(lambda more: m.flametop("-p", str(load.pid), *more, "--duration", "4", "--export",
                                              "doctor", "-o", "-")[1], *cases)
    for more, wanted, text in zip(cases, ("sample everything (S)", "sample at a lower frequency"), texts):
        assert "short threads have none" in text, text
        fix = text.split("short threads have none")[1].strip().split("\n")[0]
        assert fix.lstrip("(").startswith(wanted), (more, fix)
    m.stop(load)


run(short_threads, threads_of_some_milliseconds, short_forks, children_from_before,
    doctor_says_what_is_covered, command_is_covered_to_its_end, program_in_step_with_the_sampling,
    saved_periods_are_those_of_the_samples, short_forks_and_their_waits)
