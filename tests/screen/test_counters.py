#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters view on the screen."""
import os
import time

import machine as m
from ptyscreen import PROGRAM, Screen, run


def started(*args, size=(120, 40), **more):
    m.need_events()
    s = Screen(["--view", "counters", *args], size=size, **more)
    s.wait(r"^(cpu|task)-clock +[\d.]+ ms")
    return s


def rows(s):
    """The lines of both tables."""
    found = s.find(r"(?s)^EVENT .*")
    return found and tuple(found.group().split("\n")[1:-1])


def narrow():
    """at 40 columns and 12 rows each event shows its number"""
    m.need_events()
    with Screen(["--view", "counters"], size=(40, 12)) as s:
        s.wait(r"^ +COUNT/s EVENT")
        s.wait(r"^ +[\d.]+ ms (cpu|task)-clock")
        s.wait(r"^ +[\d.,]+( [KM])? context-switches")


def splits():
    """b divides the sum by CPU, core and socket; u hides the second table and shows it again"""
    m.need_root()
    with started() as s:
        s.wait(r"^ +CPU +BUSY")
        s.wait(r"^ +0 .*\d%")
        s.send("b", shows=r"^CORE +BUSY")
        s.wait(r"^0/\d+ \(CPU ")
        s.send("b", shows=r"^ SOCKET BUSY|^SOCKET +BUSY")
        s.send("u")
        s.wait_not(r"^ *SOCKET +BUSY")
        s.send("u", shows=r"^ *SOCKET +BUSY")


def processes():
    """several chosen processes are counted separately, with their names"""
    binary = m.build("shape")
    one, two = m.start(binary, "36000"), m.start(binary, "36000")
    with started("-p", "%d,%d" % (one.pid, two.pid)) as s:
        s.wait(r"^PROCESS +BUSY")
        for process in (one, two):
            s.wait(r"^ *%d shape .*\d%%" % process.pid)
        s.send("b", shows=r"^THREAD +BUSY")
        s.wait(r"^ *%d shape " % two.pid)
    for process in (one, two):
        m.stop(process)


def cpus_add_up():
    """the clock of all CPUs adds up to the number of CPUs"""
    m.need_root()
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    with started() as s:
        s.until(lambda: abs((s.number(r"^cpu-clock .* ([\d.]+) CPUs utilized") or 0) - cpus) < 0.05 * cpus,
                "never were %d CPUs utilized" % cpus)


def details():
    """+ shows more events and names them, - removes them, and both say at the last step"""
    with started() as s:
        s.send("+", shows=r"perf stat -d -d")
        s.wait(r"iTLB-load-misses|14 hardware events")
        s.send("+", shows=r"prefetch-misses|16 hardware events")
        s.send("+", shows=r"no more events than")
        s.send("-", "-")
        s.wait_not(r"iTLB|prefetch|1[46] hardware events")
        s.send("-", shows=r"no fewer events than")


def explanations():
    """the row at the cursor explains how reliable its number is; without a PMU one line says what is
    missing"""
    with started() as s:
        s.wait(r"^(cpu|task)-clock: .*counted all of the time")
        s.send("down", shows=r"^context-switches: .*switches from one task to another")
        if s.find(r"<not supported> +\d+ hardware events"):
            s.wait(r"hypervisor has to give the guest a virtual PMU")


def frozen():
    """z freezes both tables, also from other views, and thaws them"""
    with started() as s:
        s.wait(r"^ *\d+ .*\d%")
        s.send("z", shows=r"FROZEN")
        before = s.still(lambda: rows(s))
        s.send("+", shows=r"nothing is counted now")
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.send("4", shows=r"^EVENT ")
        time.sleep(1)
        assert s.still(lambda: rows(s)) == before, (before, rows(s))
        s.send("z")
        s.until(lambda: rows(s) and rows(s) != before, "the numbers still stand")


def trend(s, name):
    """The columns that the row of load or pressure with this name draws as its trend, blanks included."""
    found = s.find(r"^%s .{%d} ([.:=+*#-][ .:=+*#-]*)$" % (name, 74 - len(name)))
    return found.group(1) if found else ""


def pressure():
    """rows of load and pressure follow the events, with trends that rise with the load; the row at the cursor
    is explained; z keeps them"""
    if not os.path.exists("/proc/pressure/cpu"):
        raise m.Skip("this kernel provides no pressure")
    burner = m.compiled("burner", "int main(void) { for (;;) ; }\n")
    with started("--no-unicode", "-d", "0.3") as s:
        s.wait(r"^system +NOW +10 s +60 s +300 s +TREND")
        s.wait(r"^load average +[\d.]+ +5 min [\d.]+, 15 min [\d.]+ ")
        s.wait(r"^blocked +\d+")
        s.wait(r"^steal +[\d.]+%")
        burners = [m.start(burner) for _ in range(2 * os.sysconf("SC_NPROCESSORS_ONLN"))]
        s.until(lambda: (s.number(r"^cpu pressure some +([\d.]+)%") or 0) >= 90, "the CPUs had no pressure")
        s.wait(r"^io pressure some +[\d.]+%  +[\d.]+  +[\d.]+  +[\d.]+ ")
        s.wait(r"^memory pressure full +[\d.]+%")
        s.until(lambda: (s.number(r"^run queue +(\d+) ") or 0) >= len(burners), "the run queue was short")
        s.until(lambda: "#" in trend(s, "cpu pressure some"), "the trend did not rise")
        assert not s.find(r"^load [\d.]+ [\d.]+|^pressure:"), "the numbers are shown twice"
        lines = [line.split("  ")[0] for line in s.screen.display]
        s.send(*["down"] * (lines.index("cpu pressure some") - lines.index("EVENT") - 1))
        s.wait(r"^cpu pressure some: share of the time in which at least one")
        s.send("z", shows=r"FROZEN")
        before = s.still(lambda: trend(s, "cpu pressure some"))
        for process in burners:
            m.stop(process)
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.send("4", shows=r"^cpu pressure some")
        assert s.still(lambda: trend(s, "cpu pressure some")) == before
        s.resize(80, 24)
        s.wait(r"^load [\d.]+ [\d.]+ [\d.]+  run queue \d+ of \d+ threads  blocked \d+  steal [\d.]+%")
        s.wait(r"^pressure:  cpu some [\d.]+%  io some [\d.]+% full [\d.]+%  memory some")
        if s.find(r"^EVENT "):
            s.send(*["down"] * 4)
        s.wait(r"^system +NOW +10 s (.*\n)+memory pressure full ")
        s.wait_not(r"^EVENT ")


def without_pressure():
    """on a kernel without pressure, and with a file that ends in the middle, a sentence is in its place, and
    the other rows are there"""
    m.need_root()
    for what, why in (("mount -t tmpfs none /proc/pressure",
                       r"^pressure: no pressure \(/proc/pressure/cpu: No such file or directory\): "),
                      ("mount --bind %s /proc/pressure/io" % m.write("odd", "some avg10=0.00 avg60="),
                       r"^io pressure: /proc/pressure/io has no line \"some avg10=")):
        if m.ran("unshare", "-m", "sh", "-c", what).returncode:
            raise m.Skip("cannot mount over /proc/pressure")
        command = what + '; exec "$0" --view counters'
        with Screen(["-m", "sh", "-c", command, PROGRAM], program="unshare") as s:
            s.wait(why)
            s.wait(r"^steal +[\d.]+%")
            s.wait(r"^context-switches +[\d.]+")


def small():
    """at 80x24 and 60x16 both tables fit, and the cursor moves through both"""
    m.need_root()
    for size in ((80, 24), (60, 16)):
        with started("--no-unicode", size=size, env={"NO_COLOR": "1"}) as s:
            s.wait(r"^context-switches")
            s.wait(r"^ +CPU +BUSY")
            s.wait(r"^ +0 ")
            s.send("G")
            last = os.sysconf("SC_NPROCESSORS_ONLN") - 1
            s.wait(r"^ +%d " % last)


run(narrow, splits, processes, cpus_add_up, details, explanations, frozen, pressure, without_pressure, small)
