#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flametop on arm64, where the emulator counts cycles and instructions: an instruction is 2^N cycles (-icount shift=N)."""
import functools
import re

import guest
from ptyscreen import run

ROUNDS = 3000  # of tests/vm/work.c: 180 million instructions

SCRIPT = """
flametop --version
echo "## perf"
perf stat -x, -e cycles:u,instructions:u work ROUNDS
echo "## sampled"
flametop -e cycles:u -c 100000 --duration 600 --call-graph none -o - --export report -- work ROUNDS
for stacks in dwarf fp; do
    echo "## $stacks"
    flametop -e cycles:u -c 200000 --duration 600 --call-graph $stacks -o - --export folded -- work ROUNDS
done
count() { # ARGUMENTS OF PERF: both count a process from before its work to its end
    work ROUNDS wait & p=$!
    flametop -b --view counters -p $p >/tmp/counters &
    perf stat -x, "$@" -p $p &
    # both have their counters open
    until [ "$(ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c perf_event)" -ge $NEEDED ]; do usleep 100000; done
    kill -USR1 $p
    wait
    cat /tmp/counters
}
echo "## counted"
NEEDED=6 count -e cycles,instructions
echo "## multiplexed"
NEEDED=12 count -e r8,r8,r8,r8,r8,r8,r8,r8
echo "## kprobe"
echo 'p:kprobes/opened do_sys_openat2' >/sys/kernel/tracing/kprobe_events
flametop -e kprobes:opened -c 1 --duration 600 -o - --export folded -- cat /no/1 /no/2 /no/3 2>/dev/null
true
"""


@functools.lru_cache(None)
def sections():
    """What a guest of two cycles per instruction said, by section."""
    g = guest.Guest("arm64", ["-smp", "1", "-icount", "shift=1"],
                    files={"/bin/work": guest.compile_for("arm64", "work")})
    text = g.run(SCRIPT.replace("ROUNDS", str(ROUNDS)))
    parts = re.split(r"^## (\w+)\n", text, flags=re.M)
    return dict(zip(["version"] + parts[1::2], parts[::2]))


def of_perf(text):
    return {name: int(value) for value, name in re.findall(r"^(\d+),,([\w-]+)", text, re.M)}


def of_counters(text):
    """Sums over all intervals, and the smallest share of the time that an event was counted while the work ran."""
    sums, least = {}, 100.0
    for name, count, share in re.findall(r"^([\w-]+) +(\d+) +[\d.]+(?: [KMGms]+)? +([\d.]+)", text, re.M):
        sums[name] = sums.get(name, 0) + int(count)
        if int(count):
            least = min(least, float(share))
    return sums, least


def near(value, truth, share):
    assert abs(value - truth) <= share * truth, "%d, and not %d" % (value, truth)


def starts():
    """the program for arm64 runs, and has all that it can have"""
    assert "+libdw" in sections()["version"], sections()["version"]


def counts_as_perf():
    """cycles and instructions that view 4 counts are those of perf stat within 0.1 %, and IPC is 1/2"""
    text = sections()["counted"]
    perf, (own, _) = of_perf(text), of_counters(text)
    near(own["cycles"], perf["cycles"], 0.001)
    near(own["instructions"], perf["instructions"], 0.001)
    near(2 * own["instructions"], own["cycles"], 0.001)
    assert re.search(r"^instructions .* 0\.50 IPC", text, re.M), text


def says_what_is_not_counted():
    """events that this CPU does not have are told apart"""
    assert re.search(r"^branch-misses +<not supported>", sections()["counted"], re.M), sections()["counted"]


def multiplexed():
    """twelve events on seven counters take turns, and are scaled within 5 %"""
    text = sections()["multiplexed"]
    own, least = of_counters(text)
    truth = of_perf(sections()["counted"])
    assert least < 80, "nothing took turns: " + text
    near(own["cycles"], truth["cycles"], 0.05)
    near(own["instructions"], truth["instructions"], 0.05)


def samples_by_cycles():
    """a sample per so many cycles comes to the cycles that perf stat counts, within 0.1 %"""
    found = re.search(r"^samples ([\d,]+) .*lost 0", sections()["sampled"], re.M)
    assert found, sections()["sampled"]
    near(int(found.group(1).replace(",", "")) * 100000, of_perf(sections()["perf"])["cycles"], 0.001)


def folded(name):
    lines = [line.rsplit(" ", 1) for line in sections()[name].strip().split("\n")]
    return {stack: int(count) for stack, count in lines}


def unwinds():
    """stacks by tables are whole, and each function has its share"""
    stacks = folded("dwarf")
    total, below = sum(stacks.values()), {}
    for stack, count in stacks.items():
        found = re.fullmatch(r"work;_start;.*;main;round_of_work;(heavy|light);spin", stack)
        if found:
            below[found.group(1)] = count
    assert total > 1000, stacks
    near(below["heavy"], 0.75 * total, 0.02)
    near(below["light"], 0.25 * total, 0.06)


def frame_pointers():
    """stacks by frame pointers reach from the root to the function; what called a leaf is not in them on arm64"""
    stacks = folded("fp")
    whole = sum(n for stack, n in stacks.items() if re.fullmatch(r"work;_start;.*;main;round_of_work;(.*;)?spin", stack))
    assert whole > 0.99 * sum(stacks.values()), stacks


def kprobes():
    """a kprobe is an event like any other, with the way to it"""
    lines = sections()["kprobe"].strip().split("\n")
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 3, lines
    assert all(re.search(r";el0_svc;.*;do_sys_openat2 \d+$", line) for line in lines), lines


def screen_of_counters():
    """with four cycles per instruction the screen says so: view 4 has IPC 0.25"""
    g = guest.Guest("arm64", ["-smp", "1", "-icount", "shift=2"],
                    files={"/bin/work": guest.compile_for("arm64", "work")})
    with g.screen("work 100000000 & exec flametop --view counters") as s:
        s.wait(r"^instructions .* 0\.25 IPC", guest.BOOT_LIMIT)
        s.send("1")
        s.wait(r"work +spin", guest.BOOT_LIMIT)
        s.send("q")
        assert s.wait_end(guest.BOOT_LIMIT) == 0


run(starts, counts_as_perf, says_what_is_not_counted, multiplexed, samples_by_cycles, unwinds, frame_pointers, kprobes,
    screen_of_counters)
