#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A perf.data file that is opened and written again is the same for perf, whatever was recorded."""
import os
import re
import sys

import machine as m
from ptyscreen import Skip, run

ASKED = (
    ("report", "--stdio", "--no-inline", "--no-children", "-g", "caller,0", "-n", "-F",
     "overhead,sample,comm,pid,dso,sym"),
    ("script", "--no-inline"),
    ("evlist", "-v"),
    ("evlist", "-g"),
    ("report", "--header-only"),
    ("buildid-list",),
)
# time and path of the file, facts that change when it is rewritten, and perf's tip of the day
NOT_ASKED = re.compile(r"^# (captured on|header version|data offset|data size|feat offset|compressed|"
                       r"missing features|\(Tip).*\n", re.M)


def said(file, *args):
    """perf's output for a file, and its messages."""
    out, why = m.perf(args[0], "-i", file, *args[1:])
    return re.sub(r"perf-vdso\.so-\w+", "perf-vdso.so", NOT_ASKED.sub("", out)), why.replace(file, "FILE")


def same(name, *record, load=("sleep", "0.5")):
    m.need_events()
    m.need_perf()
    m.perf(*m.RECORD, *record, "-o", m.path(name), "--", *load)
    again = m.path("again-" + name)
    m.flametop("-i", m.path(name), "-o", again)
    asked = [(file, *args) for args in ASKED for file in (again, m.path(name))]
    answers = dict(zip(asked, m.at_once(lambda case: said(*case), *asked)))
    for args in ASKED:
        mine, theirs = answers[again, *args], answers[m.path(name), *args]
        if mine != theirs:
            pairs = zip(mine[0].split("\n"), theirs[0].split("\n"))
            raise AssertionError("%s: %s, %s" %
                                 (args, mine[1], next((p for p in pairs if p[0] != p[1]), "other lengths")))
    assert answers[again, "script", "--no-inline"][0].strip(), "there are no samples"
    twice = m.path("twice-" + name)
    m.flametop("-i", m.path(name), "-o", twice)
    assert open(again, "rb").read() == open(twice, "rb").read(), "written twice it differs"
    for group in ("module", "comm", "thread", "cgroup", "cgroup,symbol"):
        shown = m.at_once(lambda f, by=group: m.flametop("-i", f, "--idle", "--group-by", by)[1],
                          m.path(name), again)
        lines = [text.split("\n") for text in shown]
        assert lines[0] == lines[1], (group, next((p for p in zip(*lines) if p[0] != p[1]), "other lengths"))


def frame_pointers():
    """a recording with frame pointers is the same for perf when written again"""
    same("fp.data", "--bpf-event", "-F", "499", "-a", "-g")


def stack_dumps():
    """a recording with stack dumps is the same for perf when written again"""
    same("dwarf.data", "-F", "199", "--call-graph", "dwarf,4096",
         load=("timeout", "1", m.build("shape"), "36000"))


def several_events():
    """a recording of several events is the same for perf when written again"""
    same("events.data", "-e", "cpu-clock/period=500000/,page-faults/period=5/,context-switches/period=1/",
         "-a")


def groups():
    """a recording of groups read with each sample is the same for perf when written again"""
    same("group.data", "-e", "{cpu-clock,page-faults}:S", "-F", "499", "-a")


def tracepoints():
    """a recording of tracepoints with payload is the same for perf when written again"""
    m.need_root()
    if not os.path.exists("/sys/kernel/tracing/events/sched/sched_switch") and \
            not os.path.exists("/sys/kernel/debug/tracing/events/sched/sched_switch"):
        raise Skip("no tracefs")
    same("tp.data", "-e", "sched:sched_switch,sched:sched_wakeup", "-a")


def cgroups():
    """a recording with cgroups is the same for perf when written again"""
    m.need_root()
    same("cgroup.data", "-F", "299", "-a", "-g", "--all-cgroups")


def namespaces():
    """a recording with namespaces is the same for perf when written again"""
    m.need_root()
    same("ns.data", "-F", "299", "-a", "--namespaces", load=("unshare", "-n", "sleep", "0.5"))


def compressed():
    """a compressed recording is the same for perf when written again"""
    same("z.data", "-F", "499", "-a", "-g", "-z")


def addresses():
    """addresses, weights and physical addresses are the same for perf when written again"""
    m.need_root()
    same("mem.data", "-F", "199", "-a", "-d", "-W", "--phys-data")


def part_of_groups():
    """in a partial file, samples of counter groups keep their counts"""
    m.need_events()
    m.need_perf()
    m.shape()  # on a quiet machine, too, something runs
    m.perf(*m.RECORD, "-e", "{cpu-clock,page-faults}:S", "-F", "499", "-a", "-o", m.path("counted.data"),
           "--", "sleep", "1")
    m.flametop("-i", m.path("counted.data"), "--window", "0.5", "-o", m.path("counted-part.data"))
    whole, part = (said(m.path(f), "script", "--no-inline", "-F",
                        "comm,tid,time,period,event,ip,sym")[0].split("\n")
                   for f in ("counted.data", "counted-part.data"))
    assert 1 < len(part) < len(whole)
    assert part == whole[-len(part):]


def packed_anew():
    """records are compressed on request: the file is smaller, and the same for perf"""
    m.need_events()
    m.need_perf()
    m.shape()  # on a quiet machine, too, something runs
    m.perf(*m.RECORD, "-F", "999", "-a", "-g", "-o", m.path("loose.data"), "--", "sleep", "1")
    m.flametop("-i", m.path("loose.data"), "--compress", "-o", m.path("packed.data"))
    assert os.stat(m.path("packed.data")).st_size < 0.7 * os.stat(m.path("loose.data")).st_size
    loose, packed = (m.at_once(lambda args, f=f: said(m.path(f), *args), *ASKED)
                     for f in ("loose.data", "packed.data"))
    for args, theirs, ours in zip(ASKED, loose, packed):
        assert theirs == ours, args
    assert "compressed : Zstd" in m.perf("report", "--header-only", "-i", m.path("packed.data"))[0]
    m.flametop("-i", m.path("packed.data"), "-o", m.path("unpacked.data"))
    assert said(m.path("loose.data"), "script") == said(m.path("unpacked.data"), "script")


BPF_PROGRAMS = """
import ctypes, os, struct, time
end = time.monotonic() + 1
code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))
licence = ctypes.create_string_buffer(b"GPL")
load = struct.pack("<IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(licence)).ljust(128, b"\\0")
while time.monotonic() < end:
    fd = ctypes.CDLL(None, use_errno=True).syscall(321, 5, ctypes.create_string_buffer(load, 128), 128)
    if fd < 0:
        raise SystemExit("bpf: " + os.strerror(ctypes.get_errno()))
    os.close(fd)
"""


def bpf_records():
    """a recording damaged by the kernel, as two listened to BPF programs, is read completely and repaired"""
    m.need_root()
    m.need_perf()
    m.need_x86_64()  # the number of bpf(2)
    record = "perf", "record", "-q", "-F", "499", "-a", "-o"
    files = m.path("first.data"), m.path("second.data")
    done = m.ran(*record, files[0], "--", *record, files[1], "--", sys.executable, "-c", BPF_PROGRAMS)
    if "bpf: " in done.stderr:
        raise Skip(done.stderr.strip().split("\n")[-1])
    damaged = 0
    for file in files:
        m.flametop("-i", file, "-o", m.path("repaired.data"))
        repaired, complaint = said(m.path("repaired.data"), "script", "-F", "time")
        counted = m.perf("report", "--stats", "-i", m.path("repaired.data"))[0]
        assert "failed to process" not in complaint, complaint
        assert int(re.search(r"SAMPLE events: +(\d+)", counted)[1]) == repaired.count(":") > 100, counted
        damaged += said(file, "script", "-F", "time")[0] != repaired
    print("# perf cannot read %d of 2 recordings" % damaged)


def own_header():
    """a live recording describes the machine as completely as perf does"""
    m.need_events()
    m.need_perf()
    m.flametop("-F", "99", "--duration", "0.5", "-o", m.path("own.data"))
    m.perf("record", "-q", "-a", "-F", "99", "-o", m.path("ref.data"), "--", "sleep", "0.5")

    def facts(file):
        lines = m.perf("report", "--header-only", "-i", m.path(file))[0].split("\n")
        wanted = (r"#  ?(hostname|os release|arch|nrcpus|cpudesc|cpuid|total memory|sibling|CPU |node|"
                  r"pmu mappings|L\d|memory nodes|  \s*\d+ \[)")
        found = [re.sub(r", free = .*", "", line) for line in lines if re.match(wanted, line)]
        return [", ".join(sorted(re.findall(r"\w+ = \d+", line))) if "pmu mappings" in line else line
                for line in found]

    assert facts("own.data") == facts("ref.data"), (facts("own.data"), facts("ref.data"))
    assert len(facts("own.data")) > 8


def a_part():
    """a partial file has only its own samples, and nothing of other processes"""
    m.need_events()
    m.need_perf()
    m.shape()  # on a quiet machine, too, something runs
    m.perf(*m.RECORD, "-F", "499", "-a", "-g", "-o", m.path("whole.data"), "--", "sleep", "1.5")
    m.flametop("-i", m.path("whole.data"), "--window", "0.5", "-o", m.path("part.data"))
    whole, part = (said(m.path(f), "script", "--no-inline", "-F",
                        "comm,pid,tid,time,event,ip,sym")[0].split("\n\n")
                   for f in ("whole.data", "part.data"))
    assert 0 < len(part) < len(whole)
    assert part == whole[-len(part):]
    raw, _ = m.perf("script", "-i", m.path("part.data"), "--show-task-events", "--show-mmap-events", "-F",
                    "comm,pid,tid,time,event")
    sampled = {int(pid) for pid in re.findall(r"^.{16}\s+(\d+)/\d+ +[\d.]+: +cpu-clock", raw, re.M)}
    mapped = {int(pid) for pid in re.findall(r"PERF_RECORD_MMAP2? (\d+)/", raw)}
    assert sampled and mapped, raw[:500]
    whole_raw, _ = m.perf("script", "-i", m.path("whole.data"), "--show-task-events", "--show-mmap-events",
                          "-F", "comm,pid,tid,time,event")
    parents = {int(pid): int(parent)
               for pid, parent in re.findall(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):", whole_raw)
               if pid != parent}
    allowed = set(sampled)
    for pid in sampled:
        for _ in range(64):
            pid = parents.get(pid, pid)
            allowed.add(pid)
    assert mapped <= allowed, mapped - allowed
    assert mapped < {int(pid) for pid in re.findall(r"PERF_RECORD_MMAP2? (\d+)/", whole_raw)}


run(frame_pointers, stack_dumps, several_events, groups, tracepoints, cgroups, namespaces,
    compressed, addresses, part_of_groups, packed_anew, bpf_records, own_header, a_part)
