#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flametop on arm64, where the emulator counts cycles and instructions: 2^N cycles each (-icount shift=N)."""
import functools
import re

import guest
from ptyscreen import run

ROUNDS = 3000  # rounds of tests/vm/work.c: 180 million instructions
KINDS = ("add", "divide", "store")  # the functions of tests/vm/kinds.c

FUNCTIONS = """
echo "## functions"
report="--duration 600 --call-graph none -o - --export report"
flametop -e '{cycles:u,instructions:u}:S' -c 100000 $report -- kinds 2000
"""

SCRIPT = FUNCTIONS + """
echo "## version"
flametop --version
echo "## perf"
perf stat -x, -e cycles:u,instructions:u work ROUNDS
echo "## sampled"
flametop -e cycles:u -c 100000 $report -- work ROUNDS
for stacks in dwarf fp; do
    echo "## $stacks"
    flametop -e cycles:u -c 200000 --duration 600 --call-graph $stacks -o - --export folded -- work ROUNDS
done
count() { # ARGUMENTS OF PERF: flametop and perf count a process from before its work to its end
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
echo "## shared"
work LONG wait & p=$!
perf stat -x, -e r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u -p $p 2>/dev/null &
flametop -e '{cycles:u,r8:u}:S' -F 1000 --no-inherit $report -p $p &
until [ "$(ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c perf_event)" -ge 10 ]; do usleep 100000; done
kill -USR1 $p
wait
echo "## together"
flametop -e cycles:u,instructions:u,r8:u -c 100000 --duration 600 --call-graph none -o /tmp/three.data -- \\
    work ROUNDS
perf script -i /tmp/three.data -F event 2>/dev/null | sort | uniq -c
echo "## unsupported"
flametop -e cycles:u,instructions:u,branch-misses:u -c 100000 $report -- work 100 2>&1
echo "## kprobe"
echo 'p:kprobes/opened do_sys_openat2' >/sys/kernel/tracing/kprobe_events
flametop -e kprobes:opened -c 1 --duration 600 -o - --export folded -- cat /no/1 /no/2 /no/3 2>/dev/null
true
"""


def guest_of(shift):
    """A machine where an instruction takes 2^shift cycles."""
    return guest.Guest("arm64", ["-smp", "1", "-icount", "shift=%d" % shift],
                       files={"/bin/" + name: guest.compile_for("arm64", name) for name in ("work", "kinds")})


@functools.lru_cache(None)
def said(shift):
    """The output of such a guest, by section."""
    text = guest_of(shift).run(SCRIPT.replace("ROUNDS", str(ROUNDS)).replace("LONG", str(6 * ROUNDS))
                               if shift == 1 else FUNCTIONS)
    parts = re.split(r"^## (\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def sections(shift=1):
    return said(shift)


def of_perf(text):
    return {name: int(value) for value, name in re.findall(r"^(\d+),,([\w-]+)", text, re.M)}


def of_counters(text):
    """Sums over all intervals, and the smallest share of time that the event was counted during the work."""
    sums, least = {}, 100.0
    for name, count, share in re.findall(r"^([\w-]+) +(\d+) +[\d.]+(?: [KMGms]+)? +([\d.]+)", text, re.M):
        sums[name] = sums.get(name, 0) + int(count)
        if int(count):
            least = min(least, float(share))
    return sums, least


def near(what, value, truth, share):
    print("# %s: %d beside %d: %+.3f %%" % (what, value, truth, 100 * (value - truth) / truth))
    assert abs(value - truth) <= share * truth, what


def starts():
    """the program for arm64 runs, with all its optional parts"""
    assert "+libdw" in sections()["version"], sections()["version"]


def counts_as_perf():
    """cycles and instructions in view 4 equal those of perf stat within 0.1 %, and IPC is 1/2"""
    text = sections()["counted"]
    perf, (own, _) = of_perf(text), of_counters(text)
    near("cycles of view 4", own["cycles"], perf["cycles"], 0.001)
    near("instructions of view 4", own["instructions"], perf["instructions"], 0.001)
    assert abs(2 * own["instructions"] / own["cycles"] - 1) <= 0.001, own
    assert re.search(r"^instructions .* 0\.50 IPC", text, re.M), text


def says_what_is_not_counted():
    """events that this CPU lacks are reported"""
    assert re.search(r"^branch-misses +<not supported>", sections()["counted"], re.M), sections()["counted"]


def multiplexed():
    """twelve events on seven counters are multiplexed, and scaled within 5 %"""
    text = sections()["multiplexed"]
    own, least = of_counters(text)
    truth = of_perf(sections()["counted"])
    assert least < 80, "nothing took turns: " + text
    near("cycles, of twelve events that take turns", own["cycles"], truth["cycles"], 0.05)
    near("instructions, of twelve", own["instructions"], truth["instructions"], 0.05)


def samples_by_cycles():
    """the samples of a period in cycles add up to perf stat's count within 0.1 %"""
    found = re.search(r"^samples ([\d,]+) .*lost 0", sections()["sampled"], re.M)
    assert found, sections()["sampled"]
    near("cycles by samples", int(found.group(1).replace(",", "")) * 100000,
         of_perf(sections()["perf"])["cycles"], 0.001)


def folded(name):
    lines = [line.rsplit(" ", 1) for line in sections()[name].strip().split("\n")]
    return {stack: int(count) for stack, count in lines}


def has_shares(name):
    """Checks that stacks are complete and each function has its share."""
    stacks = folded(name)
    total, below = sum(stacks.values()), {}
    for stack, count in stacks.items():
        found = re.fullmatch(r"work;_start;.*;main;round_of_work;(heavy|light);spin", stack)
        if found:
            below[found.group(1)] = count
    assert total > 1000, stacks
    near("samples below heavy()", below["heavy"], 0.75 * total, 0.02)
    near("samples below light()", below["light"], 0.25 * total, 0.06)


def unwinds():
    """stacks by unwind tables are complete, and each function has its share"""
    has_shares("dwarf")


def frame_pointers():
    """stacks by frame pointers are complete, though arm64 keeps a leaf's caller only in the link register"""
    has_shares("fp")


def kprobes():
    """a kprobe works as any other event, with its stack"""
    lines = sections()["kprobe"].strip().split("\n")
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 3, lines
    assert all(re.search(r";el0_svc;.*;do_sys_openat2 \d+$", line) for line in lines), lines


def per_function():
    """each function has the IPC set for the machine, 1/2 and 1/4"""
    for shift in (1, 2):
        text = sections(shift)["functions"]
        assert re.search(r"^ *SELF% +TOTAL% +SELF SAMPLES +IPC +MODULE", text, re.M), text
        rows = dict((name, (int(samples.replace(",", "")), float(ipc))) for samples, ipc, name in
                    re.findall(r"^ *[\d.]+ +[\d.]+ +([\d,]+) +([\d.]+) +kinds +(\w+)$", text, re.M))
        for name in KINDS:
            samples, ipc = rows[name]
            assert samples > 1000, text
            assert abs(ipc * 2 ** shift - 1) < 0.03, text
        print("# IPC with %d cycles per instruction: %s" %
              (2 ** shift, {name: rows[name][1] for name in KINDS}))


def shared():
    """a group multiplexed with eight other events has the counts it would have alone, and says that it was
    multiplexed"""
    text = sections()["shared"]
    row = re.search(r"^ *[\d.]+ +[\d.]+ +[\d,]+ +([\d.]+) ([MG])~ +work +spin$", text, re.M)
    assert row, text
    near("instructions of spin() in a group that takes turns",
         float(row.group(1)) * {"M": 1e6, "G": 1e9}[row.group(2)],
         6 * of_perf(sections()["perf"])["instructions"], 0.05)


def together():
    """events without braces are sampled together, each at its own rate, and a recording has them all"""
    truth = of_perf(sections()["perf"])
    found = {name: int(n) for n, name in re.findall(r"^ *(\d+) +([\w-]+):u:", sections()["together"], re.M)}
    near("cycles, of three events at once", found["cycles"] * 100000, truth["cycles"], 0.002)
    for name in ("instructions", "r8"):
        near(name + ", of three events at once", found[name] * 100000, truth["instructions"], 0.002)


def unsupported():
    """an event that this CPU lacks is reported, and the others are sampled"""
    text = sections()["unsupported"]
    assert re.search(r"branch-misses.*", text) and re.search(r"^samples [1-9]", text, re.M), text


def switches():
    """each of several events shows its samples as soon as it is selected"""
    script = "kinds 100000000 & exec flametop -e cycles,instructions,r8 --call-graph none"
    with guest_of(1).screen(script) as s:
        for key, number, name in (("", 1, "cycles"), ("]", 2, "instructions"), ("]", 3, "r8"),
                                  ("[", 2, "instructions")):
            s.send(*key)
            s.wait(r"^flametop .*  %s .*\[%d/3\]" % (name, number))
            s.until(lambda: (s.number(r" samples ([\d,]+)") or 0) > 100, name + " has no samples")
            for kind in KINDS:
                s.wait(r"kinds +%s" % kind)
        assert s.quit() == 0


def colour_of(screen, name):
    """The background colour of a flame graph box."""
    for y, line in enumerate(screen.screen.display):
        x = line.find("|" + name)
        if x >= 0:
            return screen.screen.buffer[y][x + 1].bg
    return None


def screens():
    """with four cycles per instruction all views show 0.25 IPC: system, functions, flame graph colours"""
    script = "kinds 100000000 & exec flametop --view counters -e '{cycles,instructions}:S'"
    with guest_of(2).screen(script) as s:
        s.wait(r"^instructions .* 0\.25 IPC")
        s.send("1")
        for name in KINDS:
            s.wait(r" 0\.25 .*kinds +%s" % name)
        s.send("3")
        s.wait(r"selected: all .*IPC 0\.")
        for by in ("module", "IPC"):
            s.send("c")
            s.wait(r"icicle, by " + by)
        s.until(lambda: colour_of(s, "store") == "blue", "few instructions per cycle are not blue")
        assert s.quit() == 0


run(starts, counts_as_perf, says_what_is_not_counted, multiplexed, samples_by_cycles, unwinds,
    frame_pointers, kprobes, per_function, shared, together, unsupported, screens, switches)
