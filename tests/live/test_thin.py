#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Beyond the budget off-cpu samples the stacks of only some waits: this is announced, times stay exact, and
no function is preferred. Stacks come back when the rate falls. Lost records make no wait longer."""
import functools
import os
import re
import signal
import subprocess
import time

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

SECONDS = 5
NOTE = r"one wait in \d+ has its stack|waits have times only, without stacks"


@functools.lru_cache(None)
def load():
    return m.build("rounds", "-pthread")


def budget(switches):
    """So many switches per second use three quarters of this budget without any stacks (src/perf/rate.c)."""
    return "%.4f" % max(0.01, 100 * switches * 2 * 1000e-9 / 0.75 / os.cpu_count())


def sums(name):
    """{"rounds-ask": {"all": µs, "[stack not taken]": µs, …}}, by thread and leaf."""
    found = {}
    for frames, us in m.folded(m.path(name)):
        by = found.setdefault(frames[0], {"all": 0})
        by["all"] += us
        by[frames[-1]] = by.get(frames[-1], 0) + us
    return found


def truth_of(out):
    """{"rounds-ask": (µs off the CPU, the longest wait), …}"""
    truth = {name: (int(us), int(longest)) for name, us, longest in
             re.findall(r"^(rounds-\w+) (\d+) (\d+)$", out, re.M)}
    assert len(truth) == 3, "no truth: %s" % out
    return truth


def check_sums(found, out):
    for name, (us, _) in truth_of(out).items():
        got = found[name]
        assert abs(got["all"] - us) <= 0.02 * us + 3000, (name, got, out)
        assert got["[stack not taken]"] > 0.3 * us, (name, got, out)


def exact():
    """each thread's waits are as long as it measures itself, although most have no stack: of a command, whose
    events are opened again, and of all CPUs, whose periods change"""
    m.need_tracepoints()
    few = budget(2000)
    top = m.start(PROGRAM, "--off-cpu", "--idle", "--budget", few, "--duration", "600", "-o",
                  m.path("all.folded"))
    m.until(lambda: m.is_sampling(top.pid), "it samples nothing")
    out = m.flametop("--off-cpu", "--idle", "--budget", few, "-o", m.path("own.folded"), "--", load(),
                     str(SECONDS), "2000")[1]
    top.send_signal(signal.SIGINT)
    assert top.wait(timeout=m.LIMIT) in (0, 128 + signal.SIGINT)
    check_sums(sums("own.folded"), out)
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
    screen.send("esc")
    screen.wait_not("discarded")
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
        s.send("f1", shows=r"^│")
        s.wait("--budget")
        s.send("f1")
        rounds.send_signal(signal.SIGUSR1)
        m.until(lambda: whole_again(s), "stacks do not come back")
        s.wait_not("auto->fp")
    m.stop(rounds)


def switches_of_all():
    with open("/proc/stat") as file:
        return int(re.search(r"^ctxt (\d+)$", file.read(), re.M).group(1))


def wakers_first():
    """where other programs wake many threads, stack dumps of wakers are given up, which is announced, before
    those of waits; they come back"""
    m.need_tracepoints()
    flood = m.start(load(), "36000", "500")
    rounds = m.start(m.build("rounds", "-pthread", "-fomit-frame-pointer"), "36000", "20000")
    scope = ["--off-cpu", "--idle", "-p", str(rounds.pid)]
    text = m.flametop(*scope, "-b", "-n", "1", "-d", "4", "--view", "doctor")[1].split(" wakers period")[1]
    assert "many wakeups" in text and "code without frame pointers" in text, text
    fix = text.split("code without frame pointers")[1].split("\n")[1]
    assert "m, dwarf to force dumps of wakers' stacks" in fix, text
    with Screen(scope, size=(160, 40)) as s:
        s.wait("NOTE many wakeups: stacks of wakers by frame pointers")
        assert "auto->fp" not in s.text() and not re.search(NOTE, s.text()), s.text()
        s.send("x", shows="discarded")
        s.wait(r"first|second")
        m.stop(flood)
        before = switches_of_all()
        time.sleep(1)
        if switches_of_all() - before > 1000:
            raise Skip("other programs wake many threads")
        s.wait_not("many wakeups")
    m.stop(rounds)


def smaller_again():
    """when a burst is over, smaller stack dumps come back, although the rate does not allow full ones"""
    m.need_tracepoints()
    plain = m.build("rounds", "-pthread", "-fomit-frame-pointer")
    floods = [m.start(load(), "36000", "0") for _ in range(os.cpu_count())]
    # 1,500 waits a second and CPU: dumps of 16 KB would exceed the budget of src/perf/dumps.c
    rounds = m.start(plain, "36000", "%d" % (1e6 / (750 * os.cpu_count())))
    pids = ",".join(str(process.pid) for process in (rounds, *floods))
    with Screen(["--off-cpu", "--idle", "-p", pids], size=(160, 40)) as s:
        s.wait("auto->fp")
        for flood in floods:
            m.stop(flood)
        s.wait_not("auto->fp")
        s.send("x", shows="discarded")
        s.wait(r"\b(first|second)\b")
    m.stop(rounds)


def hangs():
    """a wait of seconds is named, although its stack was not sampled: by what /proc says while it is open"""
    m.need_tracepoints()
    rounds = m.start(load(), "36000", "150")
    top = m.start(PROGRAM, "--off-cpu", "--idle", "--budget", budget(2000), "--duration", "600", "--fold",
                  "pid", "-o", m.path("hangs.folded"))
    m.until(lambda: m.is_sampling(top.pid), "it samples nothing")
    time.sleep(2)  # the first waits have stacks
    here, there = os.pipe()
    began = time.monotonic()
    hung = m.adopt(subprocess.Popen(["head", "-c", "1"], stdin=here, stdout=subprocess.DEVNULL))
    m.until(lambda: switches(hung.pid) and time.monotonic() - began > 5, "it does not wait")
    os.write(there, b"x")
    hung.wait()
    seconds = time.monotonic() - began
    time.sleep(1)
    top.send_signal(signal.SIGINT)
    assert top.wait(timeout=m.LIMIT) in (0, 128 + signal.SIGINT)
    m.stop(rounds)
    head = sums("hangs.folded")["head-%d" % hung.pid]
    assert abs(head["all"] / 1e6 - seconds) < 0.5, (head, seconds)
    # it is named after a second, by a look in each second
    assert head["[stack not taken]"] < 2.5e6 < head["[wait: pipe]"], (head, seconds)


def switches(pid):
    """Of all threads of the process."""
    total = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as file:
            total += sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", file.read()))
    return total


def reach(rounds, flood, more):
    """Waits for this many more switches of the flood, and some of rounds."""
    wanted = switches(rounds.pid) + 100, switches(flood.pid) + more
    m.until(lambda: switches(rounds.pid) > wanted[0] and switches(flood.pid) > wanted[1],
            "the loads do not switch")


def longest(text, tids):
    """Microseconds of the column MAXIMUM in the table of threads, of these, by the name of the thread."""
    units = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6, "min": 60e6}
    table = re.search(r"^SHARE%[^\n]* THREAD\n(.*?)(?:\n\n|\Z)", text, re.M | re.S).group(1)
    rows = re.findall(r" ([\d.]+) (\w+)  [A-Z?]  .* ([\w-]+)/(\d+)$", table, re.M)
    return {name: float(n) * units[unit] for n, unit, name, tid in rows if tid in tids}


def move(pid, cpu):
    """Moves all threads of a process to a CPU."""
    for tid in os.listdir("/proc/%d/task" % pid):
        os.sched_setaffinity(int(tid), {cpu})


def lossy():
    """with the records of one CPU lost, no wait is longer than the longest of the program, though its threads
    come back on another CPU, whose records tell so earlier; and no thread waits for longer than it does"""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("threads cannot move on a single CPU")
    m.need_tracepoints()
    top = m.adopt(subprocess.Popen(
        [PROGRAM, "--off-cpu", "--idle", "--duration", "600", "-o", m.path("lossy.data")],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True))
    m.until(lambda: m.is_sampling(top.pid), "it samples nothing")
    flood = m.start(load(), "36000", "0")
    m.until(lambda: switches(flood.pid) > 1000, "the load does not switch")
    move(flood.pid, cpus[0])
    rounds = m.adopt(subprocess.Popen([load(), "36000", "2000"], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, text=True, start_new_session=True))
    reach(rounds, flood, 100)
    tids = os.listdir("/proc/%d/task" % rounds.pid)
    for _ in range(2):
        move(rounds.pid, cpus[0])
        reach(rounds, flood, 100)
        top.send_signal(signal.SIGSTOP)
        reach(rounds, flood, 400000)  # 96 bytes each at least: more than a ring holds
        move(rounds.pid, cpus[1])
        reach(rounds, flood, 100)
        top.send_signal(signal.SIGCONT)
        reach(rounds, flood, 100)
    m.stop(flood)
    rounds.send_signal(signal.SIGTERM)
    truth = truth_of(rounds.communicate(timeout=m.LIMIT)[0])
    top.send_signal(signal.SIGINT)
    said = top.communicate(timeout=m.LIMIT)[1]
    assert int(re.search(r"(\d+) lost", said).group(1)) > 0, said
    stacks = m.stacks_of(m.export(m.path("lossy.data"), "folded", "--idle", "--fold", "pid"))
    text = m.export(m.path("lossy.data"), "waits", "--idle")
    maxima = longest(text, tids)
    assert maxima, text
    for name, (us, most) in truth.items():
        got = sum(n for frames, n in stacks if frames[0] == "%s-%d" % (name, rounds.pid))
        assert got <= 1.02 * us + 3000, (name, got, truth)
        assert maxima.get(name, 0) <= 1.02 * most + 1000, (name, maxima, truth, text)


run(exact, fair, said, smaller_again, hangs, wakers_first, lossy)
