#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live screen costs, beside perf top in the same run: ratios hold when the machine's speed drifts.

    tests/bench/beside_perf.py PROGRAM [ROUNDS] [HZ]

Two busy programs with deep call chains run meanwhile; each program under test has a pseudo-terminal of 120x40
for 13 s. CPU: of the whole process tree, per cent of one CPU, after 4 s. RSS: of the tree after 10 s. First
data: from exec until a row of the load stands on the screen. Bytes: to the terminal per second, from 4 s to
10 s. Key: the longest time from a cursor key to the next output, from 10 s on.
"""
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

WARM_S, KEYS_S, END_S = 4, 10, 13


def tree(pid):
    found, todo = [], [pid]
    while todo:
        p = todo.pop()
        found.append(p)
        try:
            for task in os.listdir("/proc/%d/task" % p):
                todo += [int(c) for c in open("/proc/%d/task/%s/children" % (p, task)).read().split()]
        except OSError:
            pass
    return found


def cpu_ns(pid):
    total = 0
    for p in tree(pid):
        try:
            for task in os.listdir("/proc/%d/task" % p):
                total += int(open("/proc/%d/task/%s/schedstat" % (p, task)).read().split()[0])
        except (OSError, IndexError):
            pass
    return total


def rss_mb(pid):
    total = 0
    for p in tree(pid):
        try:
            total += int(re.search(r"VmRSS:\s+(\d+)", open("/proc/%d/status" % p).read()).group(1))
        except (OSError, AttributeError):
            pass
    return total / 1024


def measure(argv):
    began = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execvp(argv[0], argv)
    out = {"first_data_s": None, "key_ms": 0}
    seen, late_bytes, warm, asked = b"", 0, None, None
    next_key = began + KEYS_S
    while True:
        now = time.monotonic() - began
        if now >= END_S:
            break
        if warm is None and now >= WARM_S:
            warm = (cpu_ns(pid), now)
        if "rss_mb" not in out and now >= KEYS_S:
            out["rss_mb"] = rss_mb(pid)
        if time.monotonic() >= next_key and not asked:
            asked, next_key = time.monotonic(), next_key + 0.37
            os.write(fd, b"\x1b[B")
        if not select.select([fd], [], [], 0.02)[0]:
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if asked:
            out["key_ms"] = max(out["key_ms"], 1000 * (time.monotonic() - asked))
            asked = None
        late_bytes += len(data) if WARM_S <= now < KEYS_S else 0
        if out["first_data_s"] is None:
            seen += data
            if b"chains" in seen or b"step_" in seen:
                out["first_data_s"] = time.monotonic() - began
    end = time.monotonic() - began
    out["cpu_percent"] = (cpu_ns(pid) - warm[0]) / (end - warm[1]) / 1e7
    out["bytes_per_s"] = late_bytes / (KEYS_S - WARM_S)
    os.kill(pid, signal.SIGINT)
    stopped = time.monotonic()
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() - stopped > 5:
            os.kill(pid, signal.SIGKILL)
        if select.select([fd], [], [], 0.02)[0]:
            try:
                os.read(fd, 65536)
            except OSError:
                pass
    os.close(fd)
    return out


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    hz = sys.argv[3] if len(sys.argv) > 3 else "99"
    commands = {"flametop": [program, "-F", hz], "perf top": ["perf", "top", "-F", hz],
                "perf top -g": ["perf", "top", "-F", hz, "-g"]}
    here = os.path.dirname(os.path.abspath(__file__))
    results = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        load = os.path.join(folder, "chains")
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", load,
                        os.path.join(here, "chains.c")], check=True)
        loads = [subprocess.Popen([load]) for _ in range(2)]
        try:
            for _ in range(rounds):
                for name, argv in commands.items():
                    results[name].append(measure(argv))
        finally:
            for process in loads:
                process.kill()
                process.wait()
    figures = ["cpu_percent", "rss_mb", "first_data_s", "bytes_per_s", "key_ms"]
    print("%-14s" % ("%s Hz" % hz), *("%13s" % f for f in figures))
    for name, rows in results.items():
        print("%-14s" % name, *("%13.2f" % statistics.median(r[f] or 0 for r in rows) for f in figures))
    for name in ("perf top", "perf top -g"):
        ratios = [a["cpu_percent"] / b["cpu_percent"] for a, b in zip(results["flametop"], results[name])]
        print("CPU, flametop / %s: %.2f (%.2f to %.2f)" %
              (name, statistics.median(ratios), min(ratios), max(ratios)))


if __name__ == "__main__":
    main()
