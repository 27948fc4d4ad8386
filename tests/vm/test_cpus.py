#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flametop on 64 CPUs (two offline): two sockets, two NUMA nodes, two threads a core; Debian's kernel 6.1."""
import functools
import re

import guest
from ptyscreen import run

CPUS = 64
OFFLINE = [5, 62]
ONLINE = CPUS - len(OFFLINE)
LAYOUT = ["-smp", "64,sockets=2,cores=16,threads=2"]
for node, cpus in ((0, "0-31"), (1, "32-63")):
    LAYOUT += ["-object", "memory-backend-ram,id=m%d,size=1G" % node, "-numa",
               "node,nodeid=%d,cpus=%s,memdev=m%d" % (node, cpus, node)]
# For 64 timers and without stack dumps, with which a ring holds half a second: a rate that busy cores emulate
# without loss.
RATE = "-F 9 --call-graph fp"


# The kernel patches its code for the first event of a kind and again after the last one; counting these
# prevents that.
EVENTS = "cpu-clock,task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults"
HOLDER = "perf stat -e %s sleep 100000000 </dev/null >/dev/null 2>&1 &" % EVENTS


@functools.lru_cache(None)
def seat():
    """The guest with 64 CPUs, two of them offline; in the cgroup "load" a process on each CPU causes page
    faults. The emulator's threads may execute code that the guest's kernel has since patched (qemu 7.2: a
    block that is being translated when its page is written): CPUs then hit an endless breakpoint that memory
    no longer has. So patching is avoided as far as possible while they are busy; see alive()."""
    files = {"/bin/spread": guest.compile_for("amd64", "spread")}
    # their clocks are known to agree: checking takes too long with this many emulated ones
    s = guest.Guest("amd64", ["-accel", "tcg,thread=multi", *LAYOUT], files, "nowatchdog tsc=reliable",
                    "2G").seat()
    s.run(HOLDER + " until ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q perf_event; do usleep 100000; done")
    for cpu in OFFLINE:
        s.run("echo 0 >/sys/devices/system/cpu/cpu%d/online" % cpu)
    s.run("mkdir /sys/fs/cgroup/load; "
          "sh -c 'echo $$ >/sys/fs/cgroup/load/cgroup.procs; exec spread %d 0 200000 4' "
          "</dev/null >/dev/null 2>&1 & until [ $(pidof spread | wc -w) -gt %d ]; do usleep 100000; done" %
          (CPUS, ONLINE))
    return s


def flametop(*args):
    """Starts flametop on the guest's screen, and waits for its first samples."""
    s = seat().start("flametop " + " ".join(args))
    s.wait(r"^flametop .*LIVE")
    s.wait(r" samples [1-9]")
    return s


def alive(test):
    """A test for which another guest boots if the previous one hangs."""
    @functools.wraps(test)
    def run_alive():
        if seat.cache_info().currsize and not seat().answers():
            print("# the emulated machine hangs: another one boots", flush=True)
            seat().screen.close()
            seat.cache_clear()
        test()
    return run_alive


def samples(s):
    """The number of samples in the header; None while it is drawn."""
    return s.number(r"^.* samples ([\d,]+)")


def ends(s):
    s.send("q")
    assert seat().ended() == 0


def pid_of():
    """The pid of flametop's main process: its worker started later."""
    return min(int(pid) for pid in seat().run("pidof flametop").split())


def events_open():
    """The number of its open files that are events."""
    return int(seat().run("ls -l /proc/%d/fd 2>/dev/null | grep -c perf_event" % pid_of()))


def numbers(pattern, text):
    found = re.search(pattern, text, re.M)
    assert found, text
    return [int(group.replace(",", "")) for group in found.groups()]


def starts():
    """it starts at its usual rate, on the online CPUs, and names functions"""
    s = flametop()
    s.wait(r"^flametop .*6\.1\.0\S*  %d cpus  cpu-clock 99Hz  scope: all" % ONLINE)
    s.wait(r"^ *\d+\.\d+ .*spread +(spin|fault|rounds)")
    ends(s)


def views():
    """all views open"""
    s = flametop(RATE)
    s.wait(r"^ *\d+\.\d+ .*spread +(spin|fault|rounds|main)")
    for key, shown in (("2", r"^ *\d+\.\d.*\[[-+]\] spread"), ("3", r"\|all 100\.0%"), ("4", r"^ +63 .*%"),
                       ("7", r"percent of the function"), ("8", r"stacks reach the root"), ("9", r"9 Time  "),
                       ("1", r"^ *SELF%")):
        s.send(key)
        if key == "4":
            s.wait(r"^ +CPU BUSY")
            s.send("end")
        s.wait(shown)
    ends(s)


def switches_of_event():
    """events change live, and the samples of each stay"""
    s = flametop(RATE, "-e cpu-clock,page-faults")
    s.wait(r"^flametop .*  cpu-clock 9Hz \[1/2\]")
    before = s.until(lambda: samples(s), "no samples")
    s.send("]", shows=r"^flametop .*  page-faults 9Hz \[2/2\]")
    s.wait(r"^ *\d+\.\d+ .*spread +fault")
    s.send("[", shows=r"^flametop .*  cpu-clock 9Hz \[1/2\]")
    s.until(lambda: (samples(s) or 0) > before, "samples of the first event are gone")
    s.wait(r" lost 0 ")
    ends(s)


def scope(s, answer, cpus):
    s.send("S", shows=r"Scope to sample")
    s.send(*"CPUs", shows=r"filter: CPUs")
    s.send("enter", shows=r"^CPUs \(0-3")
    s.send(*("\x15" + answer))
    s.send("enter", shows=r"^flametop .*scope: all on %d cpus .*LIVE" % cpus)
    assert events_open() == cpus, (answer, events_open())


def switches_of_scope():
    """a core, a node, a cgroup and a process are sampled in turn without losing earlier samples"""
    s = flametop(RATE)
    before = s.until(lambda: samples(s), "no samples")
    scope(s, "core:2", 3)  # on both sockets; 5 is offline
    scope(s, "core:1.2", 2)
    scope(s, "node:1", CPUS // 2 - 1)
    s.send("c", shows=r" load  .* \d+ ")
    s.send(*"load", shows=r"filter: load")
    s.send("enter", shows=r"^flametop .*scope: cgroup /load on %d cpus .*LIVE" % (CPUS // 2 - 1))
    assert events_open() == CPUS // 2 - 1, events_open()
    s.send("p", shows=r"[│|] +\d+ \S+ .* spread ")
    s.send(*"spread", shows=r"filter: spread")
    s.send("enter", shows=r"^flametop .*scope: pid \d+ on %d cpus .*LIVE" % (CPUS // 2 - 1))
    s.until(lambda: (samples(s) or 0) > before, "samples of before are gone")
    s.wait(r" lost 0 ")
    ends(s)


def freezes():
    """a frozen snapshot stays and can be written; flametop and perf read the same number of samples from the
    file"""
    seat().run("rm -f /tmp/frozen.data")
    s = flametop(RATE)
    s.wait(r"^ *\d+\.\d+ .*spread +(spin|fault|rounds|main)")
    s.send("z", shows=r"^flametop .*FROZEN")
    s.send("w", "enter", shows=r"write perf.data to:")
    s.send(*"\x15/tmp/frozen.data")
    s.send("enter")
    written = s.wait(r"([\d,]+) samples \(.*\) written").group(1)
    s.wait(r"^flametop .*FROZEN")
    s.send("z", shows=r"^flametop .*LIVE")
    ends(s)
    text = seat().run("flametop -i /tmp/frozen.data -o - --export report </dev/null")
    written = int(written.replace(",", ""))
    assert sum(numbers(r"^samples ([\d,]+)  idle ([\d,]+)", text)) == written, (written, text)
    lines = seat().run("perf script -i /tmp/frozen.data -F comm 2>/dev/null | grep -c .")
    assert int(lines) == written, (written, lines)


GROUP = "'{%s,dummy}:S'" % EVENTS


def files():
    """it has one event open on each CPU, and few other files"""
    s = flametop(RATE)
    count = int(seat().run("ls /proc/%d/fd 2>/dev/null | wc -l" % pid_of()))
    assert events_open() == ONLINE and count < ONLINE + 64, (events_open(), count)
    print("# %d CPUs: %d files are open, %d of them events" % (ONLINE, count, events_open()))
    ends(s)


def files_of_a_group():
    """a group of eight events is open on each CPU, within the usual limit of 1024 files"""
    s = seat().start("(ulimit -n 1024; exec flametop %s -e %s)" % (RATE, GROUP))
    s.wait(r"^flametop .*\[1/8\] .*LIVE")
    s.wait(r" samples [1-9]")
    assert events_open() == 8 * ONLINE, events_open()
    ends(s)


def comes_and_goes():
    """CPUs that go offline and come back are followed"""
    s = flametop(RATE)
    seat().run("echo 0 >/sys/devices/system/cpu/cpu20/online")
    s.until(lambda: events_open() == ONLINE - 1, "the event of a CPU that went stays")
    seat().run("echo 1 >/sys/devices/system/cpu/cpu20/online")
    s.until(lambda: events_open() == ONLINE, "a CPU that came has no event")
    before = s.until(lambda: samples(s), "no samples")
    s.until(lambda: (samples(s) or 0) > before, "it does not go on")
    ends(s)


def layout_of_counters():
    """counters are divided by the actual cores and sockets"""
    text = seat().run("flametop -b -n 1 --view counters --split socket")
    assert re.search(r"^0 +\d+\.\d .*\n1 +\d+\.\d ", text, re.M), text
    text = seat().run("flametop -b -n 1 --view counters --split core")
    # 5 and 62 are offline
    for row in (r"^0/0 \(CPU 0,1\) +\d", r"^0/2 \(CPU 4\) +\d", r"^1/15 \(CPU 63\) +\d"):
        assert re.search(row, text, re.M), text


run(*map(alive, (starts, views, switches_of_event, switches_of_scope, freezes, files, files_of_a_group,
                 comes_and_goes, layout_of_counters)))
