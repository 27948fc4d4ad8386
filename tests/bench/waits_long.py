#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and keys of the live screen with off-cpu, under many switches for a long time.

    tests/bench/waits_long.py PROGRAM [SECONDS] [SWITCHES_PER_SECOND]

Prints a line per part of the run: resident memory of flametop and of all its processes, its CPU time in per
cent of one CPU, switches per second of the system, records lost, and the time from a key to its effect on the
screen: the median, the 99th percentile and the longest; then how long flametop's main thread and this script
waited for a CPU during the longest. The keys move the cursor and switch between views.
"""
import fcntl
import itertools
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

from beside_perf import cpu_ns, rss_mb, tree

ROWS, COLS = 40, 120
PARTS = 10
KEYS = ((b"5", lambda s: "WAITS/S" in s.text()), (b"j", None), (b"k", None),
        (b"1", lambda s: "SELF%" in s.text() and "WAITS/S" not in s.text()), (b"j", None), (b"k", None))


class Terminal:
    def __init__(self, argv):
        self.screen = pyte.Screen(COLS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
            os.execvp(argv[0], argv)

    def text(self):
        return "\n".join(self.screen.display)

    def cursor(self):
        """The rows with the background of the selected row."""
        return tuple(y for y in range(ROWS)
                     if self.screen.buffer[y][4].reverse or self.screen.buffer[y][4].bg != "default")

    def read(self, seconds):
        """Reads what comes within this time. Returns when it came; None: nothing."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return None
        data, came = os.read(self.fd, 65536), time.monotonic()
        self.stream.feed(data)
        return came

    def delays(self):
        """Milliseconds that flametop's main thread, and this script, have waited for a CPU."""
        return [int(open("/proc/%d/task/%d/schedstat" % (pid, pid)).read().split()[1]) / 1e6
                for pid in (self.pid, os.getpid())]

    def press(self, key, shows):
        """Milliseconds until the screen shows it, the key, the delays; None: it does not within 5 s."""
        while self.read(0):
            pass
        before, delays = self.cursor(), self.delays()
        sent = time.monotonic()
        os.write(self.fd, key)
        while time.monotonic() < sent + 5:
            came = self.read(0.1)
            if came and (shows(self) if shows else self.cursor() != before):
                return (1000 * (came - sent), key.decode(),
                        *(now - then for now, then in zip(self.delays(), delays)))
        return None


def switches():
    return int(re.search(r"^ctxt (\d+)", open("/proc/stat").read(), re.M).group(1))


def own_rss_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open("/proc/%d/status" % pid).read()).group(1)) / 1024


def part(terminal, keys, seconds):
    began, cpu, count, times, missed = time.monotonic(), cpu_ns(terminal.pid), switches(), [], 0
    while time.monotonic() < began + seconds:
        took = terminal.press(*next(keys))
        if took is None:
            missed += 1
        else:
            times.append(took)
        pause = time.monotonic() + 0.37
        while time.monotonic() < pause:
            terminal.read(0.05)
    past = time.monotonic() - began
    times.sort()
    lost = re.search(r"lost ([\d,.]+ ?[KM]?)", terminal.text())
    print("%5.0f s  rss %6.1f MB (all %6.1f)  cpu %5.1f%%  %7.0f switches/s  lost %s  keys %d: "
          "%.1f / %.1f / %.1f ms (%s; waited %.0f and %.0f ms), %d not seen" %
          (past, own_rss_mb(terminal.pid), rss_mb(terminal.pid),
           (cpu_ns(terminal.pid) - cpu) / past / 1e7, (switches() - count) / past,
           lost.group(1) if lost else "?", len(times), times[len(times) // 2][0],
           times[int(len(times) * 0.99)][0], *times[-1], missed), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600
    rate = float(sys.argv[3]) if len(sys.argv) > 3 else 50000
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        load = os.path.join(folder, "pairs")
        subprocess.run(["cc", "-O1", "-o", load, os.path.join(here, "pairs.c")], check=True)
        running = subprocess.Popen([load, str(rate / 4), str(seconds + 60), "2"], stdout=subprocess.DEVNULL)
        terminal = Terminal([program, "--off-cpu", "--idle", "--history", "16M"])
        try:
            warm = time.monotonic() + 5
            while time.monotonic() < warm or "SELF%" not in terminal.text():
                terminal.read(0.1)
            keys = itertools.cycle(KEYS)
            for _ in range(PARTS):
                part(terminal, keys, seconds / PARTS)
            print("\n".join(line for line in terminal.text().splitlines()[:4]))
        finally:
            processes = tree(running.pid)
            os.kill(terminal.pid, signal.SIGKILL)
            os.waitpid(terminal.pid, 0)
            for pid in processes:
                os.kill(pid, signal.SIGKILL)
            running.wait()


if __name__ == "__main__":
    main()
