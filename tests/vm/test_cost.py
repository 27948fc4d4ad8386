#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a sample in instructions, on 64 CPUs and on three.
On these machines time is the number of instructions run, one per nanosecond, and waiting takes no time:
results do not depend on the speed of the emulation, and little on chance. flametop has one CPU to itself,
where its instructions are counted; on each other CPU a process causes page faults, all of which are
sampled."""
import functools

import guest
from ptyscreen import run

FEW, MANY = 2, 63
WINDOW_S, WINDOWS, WARM_S = 10, 2, 8
PAUSE_US, PER_SECOND = 250000, 4  # the load's pauses, and rounds per second
FAULTS = 25  # per round: 100 samples a second on each CPU, about the default rate


def up(shell):
    return float(shell.run("cat /proc/uptime").split()[0])


def spent(shell):
    """Instructions a second on the first CPU, over the next seconds."""
    before, since = guest.instructions_of(0), up(shell)
    shell.run("sleep %d" % WINDOW_S)
    after, until = guest.instructions_of(0), up(shell)
    return (after - before) / (until - since)


def cost(shell, cpus, faults):
    """flametop's instructions per sample at this number of page faults, and the samples a second.
    The instructions of that CPU under the same load without flametop are subtracted."""
    shell.run("taskset %x spread %d 0 %d %d </dev/null >/dev/null 2>&1 & sleep 2" %
              ((1 << cpus + 1) - 2, cpus, PAUSE_US, faults))
    idle = spent(shell)
    screen = shell.start("taskset 1 flametop -e page-faults -c 1 --call-graph fp")
    screen.wait(r" samples [1-9]")

    def samples():
        return screen.until(lambda: screen.number(r"^.* samples ([\d,]+)"), "no samples")
    shell.run("sleep %d" % WARM_S)  # one-time work: names, tables
    own, begun, since = 0, samples(), up(shell)
    for _ in range(WINDOWS):
        own += (spent(shell) - idle) / WINDOWS
    rate = (samples() - begun) / (up(shell) - since)
    screen.wait(r" lost 0 ")
    screen.send("q")
    assert shell.ended() == 0
    shell.run("killall spread; sleep 1")
    load = PER_SECOND * cpus * faults
    assert load * 0.9 < rate < load * 1.1 + 200, (rate, load)  # some are flametop's own
    print("# %d CPUs, %.0f samples a second: %.2f M instructions a second, %.0f a sample" %
          (cpus, rate, own / 1e6, own / rate), flush=True)
    return own / rate


@functools.lru_cache(None)
def costs(cpus, *faults):
    machine = guest.Guest("arm64", ["-icount", "shift=0,sleep=off", "-smp", str(cpus + 1),
                                    *guest.instructions_plugin()],
                          kernel="nowatchdog", memory="2G",
                          files={"/bin/spread": guest.compile_for("arm64", "spread")})
    shell = machine.seat()
    found = [cost(shell, cpus, n) for n in faults]
    shell.screen.close()
    return found


def few():
    """On two CPUs: with as many samples a second from each CPU as on all, and with as many in total."""
    return costs(FEW, FAULTS, FAULTS * MANY // FEW)


def many():
    return costs(MANY, FAULTS)[0]


def ratio(on_all, on_two):
    print("# on %d CPUs beside %d: %.2f" % (MANY, FEW, on_all / on_two))
    return on_all / on_two


def as_many_of_each():
    """at the same rate per CPU, a sample costs at most half as much again on 64 CPUs as on two"""
    assert ratio(many(), few()[0]) <= 1.5


def as_many_in_all():
    """at the same total rate, a sample costs at most half as much again on 64 CPUs as on two"""
    assert ratio(many(), few()[1]) <= 1.5


run(as_many_of_each, as_many_in_all)
