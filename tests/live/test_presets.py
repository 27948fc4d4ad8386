#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Presets for one kind of activity find the process that causes it, next to one that does something else."""
import json
import os
import re
import sys

import machine as m
from ptyscreen import Skip, run

# 20 MB each half of a second in one burst, then a pause: the rate of page faults changes all the time
LEAK = """
import mmap, time
held = []
while True:
    held.append(mmap.mmap(-1, 20 << 20))
    for at in range(0, 20 << 20, 4096):
        held[-1][at] = 1
    if len(held) > 10:
        held.pop(0).close()
    time.sleep(0.45)
"""
SPIN = "x = 0\nwhile True: x = (x * 3 + 1) % 1000003"
WAIT = "import time\nwhile True: time.sleep(0.005)"


def python(text):
    return m.start(sys.executable, "-c", text)


def samples_of(preset, seconds, *more):
    _, text, _ = m.flametop("--preset", preset, "--duration", str(seconds), "--export", "json",
                            "-o", "-", *more)
    found = json.loads(text)
    return {row["pid"]: (row["samples"], row["period"]) for row in found["pids"]}, found


def memory():
    """--preset memory: a leaking program next to a computing one has nearly all samples, and they count its
    faults"""
    m.need_events()
    leak, spin = python(LEAK), python(SPIN)
    rows, found = samples_of("memory", 4, "-p", "%d,%d" % (leak.pid, spin.pid))
    samples, period = rows[leak.pid]
    assert samples > 100 and period > 0.9 * sum(p for _, p in rows.values()), (rows, leak.pid)
    # the faults of eight bursts, give or take one: 5120 pages each
    assert 6 * 5120 < period < 10 * 5120, (rows, found["events"])


def blocking():
    """--preset blocking: preempted programs do not block, a sleeping one does"""
    m.need_events()
    if not os.path.isdir("/sys/kernel/tracing/events/sched") or os.geteuid():
        raise Skip("without tracepoints preempted threads count, too: "
                   "mount -t tracefs tracefs /sys/kernel/tracing")
    spins, wait = [python(SPIN) for _ in range(2 * (os.cpu_count() or 1))], python(WAIT)
    pids = ",".join(str(p.pid) for p in [*spins, wait])
    rows, _ = samples_of("blocking", 3, "-p", pids)
    assert rows[wait.pid][0] > 50, rows
    others = sum(rows.get(spin.pid, (0, 0))[0] for spin in spins)
    assert others < 0.1 * rows[wait.pid][0], (rows, wait.pid)


def operations(preset, *command):
    """{(row, name): (count, ns, bytes)} of the operations of a command, and what it printed. The text shows
    them as a table of latencies."""
    m.need_tracepoints("latencies")
    _, shown, _ = m.flametop("--preset", preset, "--call-graph", "fp", "-o", m.path("preset.json"),
                             "--export", "json", "--", *command)
    with open(m.path("preset.json")) as f:
        rows = json.load(f)["latency"]
    text = m.flametop("--preset", preset, "-b", "-d", "1", "-n", "1", "--", *command)[1]
    assert re.search(r"^ +COUNT +SUM +AVERAGE ", text, re.M), text
    return {(r["row"], r["name"]): (r["count"], r["sum_ns"], r.get("bytes", 0)) for r in rows}, shown


def faults():
    """--preset faults: faults by process, as many as the kernel counts for the program"""
    m.need_events()
    out = m.path("faults.json")
    text = ("import mmap, resource; m = mmap.mmap(-1, 20 << 20); b = resource.getrusage(0).ru_minflt\n"
            "for at in range(0, 20 << 20, 4096): m[at] = 1\nprint(resource.getrusage(0).ru_minflt - b)")
    _, shown, _ = m.flametop("--preset", "faults", "--export", "json", "-o", out, "--", sys.executable, "-c",
                             text)
    with open(out) as f:
        events = {e["name"]: e["period"] for e in json.load(f)["events"]}
    assert int(shown) >= 20, shown
    # and those of its start
    assert int(shown) <= events["minor-faults"] <= int(shown) + 5000, (shown, events)


@m.seen_everywhere()
def disk():
    """--preset disk: a program's writes, their number and bytes"""
    name = m.path("direct")
    if m.ran("dd", "if=/dev/zero", "of=" + name, "bs=4k", "count=1", "oflag=direct").returncode:
        raise Skip("this file system cannot write past the cache")
    found, _ = operations("disk", "dd", "if=/dev/zero", "of=" + name, "bs=64k", "count=30", "oflag=direct",
                          "conv=notrunc")
    writes = [times for (row, io), times in found.items() if row == "block-total" and io.endswith(" write")]
    assert len(writes) == 1 and writes[0][0] >= 30 and writes[0][2] >= 30 << 16, found
    assert writes[0][2] < 2 * 30 << 16, found  # and little more than that


def files():
    """--preset files: a call that waits 50 ms for a file's lock, with its path"""
    name = m.path("locked")
    open(name, "w").close()
    text = ("import fcntl, os, time; a, b = open(%r), open(%r); fcntl.flock(a, fcntl.LOCK_EX)\n"
            "if not os.fork(): time.sleep(0.05); os._exit(0)\n"
            "a.close(); t = time.monotonic(); fcntl.flock(b, fcntl.LOCK_EX); print(time.monotonic() - t)\n"
            "time.sleep(1)"  # the path is read while the file is open
            % (name, name))
    found, shown = operations("files", sys.executable, "-c", text)
    count, ns, _ = found["files", "flock " + name]
    assert count == 1 and abs(ns - 1e9 * float(shown)) < 0.02e9, (found, shown)


def dns():
    """--preset dns: the look-ups of a program, by name"""
    text = "import socket\nfor i in range(5): socket.getaddrinfo('127.0.0.%d' % (1 + i // 4), 80)"
    found, _ = operations("dns", sys.executable, "-c", text)
    counts = {name: count for (_, name), (count, _, _) in found.items()}
    assert counts == {"127.0.0.1": 4, "127.0.0.2": 1}, found


def tcp():
    """--preset tcp: the sessions of a program, how long connecting took, and the connections that failed"""
    text = ("import socket\nserver = socket.create_server(('127.0.0.1', 0)); port = server.getsockname()[1]\n"
            "for i in range(5):\n client = socket.create_connection(('127.0.0.1', port))\n"
            " peer = server.accept()[0]; client.close(); peer.close()\n"
            "server.close()\n"
            "for i in range(2):\n try: socket.create_connection(('127.0.0.1', port))\n except OSError: pass\n"
            "print(port)")
    found, shown = operations("tcp", sys.executable, "-c", text)
    name = "127.0.0.1 to 127.0.0.1:%s" % shown.strip()
    wanted = {("tcp", name): 5, ("tcp-connect", name): 5, ("tcp-failed", name + ", refused"): 2}
    assert {key: found[key][0] for key in wanted} == wanted, (found, name)


def exec_and_fork():
    """--preset exec counts the programs that are started; fork the processes, by their creator"""
    shell = "for i in 1 2 3 4 5 6 7; do /bin/true; done; /bin/sleep 0.1; exit 0"
    found, _ = operations("exec", "sh", "-c", shell)
    counts = {name.split()[0].rsplit("/", 1)[-1]: times for (_, name), times in found.items()}
    assert counts["true"][0] == 7 and counts["sleep"][0] == 1, found
    assert 0.1e9 <= counts["sleep"][1] <= 0.2e9, found
    _, text, _ = m.flametop("--preset", "fork", "--export", "json", "-o", "-", "--", "sh", "-c", shell)
    rows = json.loads(text)["comms"]
    assert [(r["name"], r["samples"]) for r in rows] == [("sh", 8)], rows


def syscalls():
    """--preset syscalls: the calls of a program, by name"""
    found, _ = operations("syscalls", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000")
    assert 1000 <= found["syscalls", "read"][0] <= 1010, found
    assert 1000 <= found["syscalls", "write"][0] <= 1010, found


def locks():
    """--preset locks: threads that wait for a lock, as long as they say"""
    text = ("import threading, time; lock, waited = threading.Lock(), []\n"
            "def work():\n for i in range(5):\n  t = time.monotonic()\n"
            "  with lock: waited.append(time.monotonic() - t); time.sleep(0.02)\n  time.sleep(0.001)\n"
            "threads = [threading.Thread(target=work) for _ in range(2)]\n"
            "for t in threads: t.start()\nfor t in threads: t.join()\nprint(sum(waited))")
    found, shown = operations("locks", sys.executable, "-c", text)
    most = max(times for (row, name), times in found.items() if row == "futex" and name.startswith("wait"))
    assert most[0] >= 5 and abs(most[1] - 1e9 * float(shown)) < 0.1e9 * float(shown) + 0.01e9, (found, shown)


def interrupts():
    """--preset interrupts: interrupts of devices, and soft interrupts, not more than the kernel counts"""
    def counted():
        with open("/proc/softirqs") as f:
            return {words[0].rstrip(":"): sum(map(int, words[1:])) for words in map(str.split, list(f)[1:])}
    m.need_tracepoints("latencies")
    before = counted()
    _, text, _ = m.flametop("--preset", "interrupts", "--duration", "2", "--export", "json", "-o", "-")
    after, rows = counted(), json.loads(text)["latency"]
    soft = {r["name"]: r["count"] for r in rows if r["row"] == "softirqs"}
    assert soft["TIMER"] > 2, rows
    assert all(count <= after[name] - before[name] for name, count in soft.items()), (soft, before, after)
    handlers = {r["name"] for r in rows if r["row"] == "interrupts"}
    with open("/proc/interrupts") as f:
        known = f.read()
    assert all(name in known for name in handlers), (handlers, known)


def runqueue():
    """--preset runqueue: two programs on one CPU wait for it as long as the kernel counts for them"""
    text = ("import os, time\nos.sched_setaffinity(0, {%d})\nchild = os.fork()\nend = time.monotonic() + 1\n"
            "while time.monotonic() < end: pass\nos.write(1, open('/proc/self/schedstat','rb').read())\n"
            "if child: os.wait()" % min(os.sched_getaffinity(0)))
    found, shown = operations("runqueue", sys.executable, "-c", text)
    delays = [int(line.split()[1]) for line in shown.splitlines()]
    waited = sum(ns for (_, name), (_, ns, _) in found.items() if name.startswith("python"))
    assert len(delays) == 2 and sum(delays) > 0.5e9, shown
    assert abs(waited - sum(delays)) < 0.03 * sum(delays) + 0.01e9, (found, delays)


def by_frequency_if_asked():
    """a frequency or period given by the user overrides the preset's"""
    m.need_events()
    leak = python(LEAK)
    _, text, _ = m.flametop("-e", "page-faults", "-c", "50", "-p", str(leak.pid), "--duration", "3",
                            "--export", "json", "-o", "-")
    event = json.loads(text)["events"][0]
    assert event["samples"] and event["period"] == 50 * event["samples"], event


run(memory, blocking, faults, disk, files, dns, tcp, exec_and_fork, syscalls, locks, interrupts, runqueue,
    by_frequency_if_asked)
