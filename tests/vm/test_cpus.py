#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flametop on 64 CPUs: two sockets, two NUMA nodes, cores of two threads, two CPUs offline; and Debian's kernel (6.1)."""
import functools

import guest
from guest import BOOT_LIMIT
from ptyscreen import run

CPUS = 64
OFFLINE = [5, 62]
ONLINE = CPUS - len(OFFLINE)
LAYOUT = ["-accel", "tcg,thread=multi", "-smp", "64,sockets=2,cores=16,threads=2"]
for node, cpus in ((0, "0-31"), (1, "32-63")):
    LAYOUT += ["-object", "memory-backend-ram,id=m%d,size=1G" % node, "-numa",
               "node,nodeid=%d,cpus=%s,memdev=m%d" % (node, cpus, node)]
# Of 64 timers, and without dumps of stacks, with which a ring holds half a second: what busy cores emulate without a loss.
RATE = "-F 9 --call-graph fp"


@functools.lru_cache(None)
def seat():
    """The guest with 64 CPUs, two of them offline, and in the cgroup "load" a process on each that takes page faults."""
    s = guest.Guest("amd64", LAYOUT, files={"/bin/spread": guest.compile_for("amd64", "spread")}, kernel="nowatchdog",
                    memory="2G").seat()
    for cpu in OFFLINE:
        s.run("echo 0 >/sys/devices/system/cpu/cpu%d/online" % cpu)
    s.run("mkdir /sys/fs/cgroup/load; sh -c 'echo $$ >/sys/fs/cgroup/load/cgroup.procs; exec spread %d 0 200000 4' "
          "</dev/null >/dev/null 2>&1 & until [ $(pidof spread | wc -w) -gt %d ]; do usleep 100000; done" % (CPUS, ONLINE))
    return s


def flametop(*args):
    """Starts flametop on the guest's screen; its first samples are there."""
    s = Patient(seat().start("flametop " + " ".join(args)))
    s.wait(r"^flametop .*LIVE")
    s.wait(r" samples [1-9]")
    return s


class Patient:
    """A screen that is waited for as long as an emulated machine may need."""

    def __init__(self, screen):
        self.screen = screen

    def __getattr__(self, name):
        return getattr(self.screen, name)

    def wait(self, pattern):
        return self.screen.wait(pattern, BOOT_LIMIT)

    def typed(self, text):
        for letter in text:
            self.screen.send(letter)

    def until(self, condition, what):
        return self.screen.until(condition, what, BOOT_LIMIT)

    def samples(self):
        """How many the header tells of; None while it is being drawn."""
        return self.number(r"^.* samples ([\d,]+)")

    def ends(self):
        self.screen.send("q")
        assert seat().ended() == 0


def starts():
    """it starts at its usual rate, on the CPUs that are online, and names functions"""
    s = flametop()
    s.wait(r"^flametop .*6\.1\.0\S*  %d cpus  cpu-clock 99Hz  scope: all" % ONLINE)
    s.wait(r"^ *\d+\.\d+ .*spread +(spin|fault|rounds)")
    s.ends()


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
    s.ends()


def switches_of_event():
    """events change live, and what was sampled by each stays"""
    s = flametop(RATE, "-e cpu-clock,page-faults")
    s.wait(r"^flametop .*  cpu-clock 9Hz \[1/2\]")
    before = s.until(s.samples, "no samples")
    s.send("]")
    s.wait(r"^flametop .*  page-faults 9Hz \[2/2\]")
    s.wait(r"^ *\d+\.\d+ .*spread +fault")
    s.send("[")
    s.wait(r"^flametop .*  cpu-clock 9Hz \[1/2\]")
    s.until(lambda: (s.samples() or 0) > before, "samples of the first event are gone")
    s.wait(r" lost 0 ")
    s.ends()


run(starts, views, switches_of_event)
