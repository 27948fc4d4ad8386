#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every event that perf lists, counts compared with perf's, and wrong events."""
import ctypes
import os
import platform
import re
import resource
import signal
import subprocess

import machine as m
from ptyscreen import LIMIT, Skip, run

TRACEFS = "/sys/kernel/tracing"
BATCH = 400  # events per run of perf
N = 3000     # rounds of the work


class Attr(ctypes.Structure):
    """The first fields of struct perf_event_attr, in the size of its first version."""
    _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64),
                ("period", ctypes.c_uint64), ("sample_type", ctypes.c_uint64),
                ("read_format", ctypes.c_uint64), ("flags", ctypes.c_uint64), ("wakeup", ctypes.c_uint32),
                ("bp_type", ctypes.c_uint32), ("bp_addr", ctypes.c_uint64), ("bp_len", ctypes.c_uint64)]


def open_event(type, config=0, pid=0, cpu=-1, **fields):
    """A disabled counter owned by this test; -1 if the kernel refuses it."""
    attr = Attr(type=type, size=72 if fields else 64, config=config, flags=1, **fields)
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if not number:
        raise Skip("the number of perf_event_open is not known on " + platform.machine())
    return ctypes.CDLL(None, use_errno=True).syscall(number, ctypes.byref(attr), pid, cpu, -1, 8)


def need_tracefs():
    m.need_root()
    if not os.path.isdir(TRACEFS + "/events/sched"):
        raise Skip("tracefs is not mounted at " + TRACEFS)


def listed():
    """The events of perf list, without templates, metrics and probes of files."""
    text = m.tool("perf", "list", "--no-desc", env=dict(os.environ, PAGER="cat"))
    kinds = "Hardware|Hardware cache|Software|Tool|Kernel PMU|Tracepoint"
    found = re.findall(r"^  (\S.*?) +\[(%s) event\]$" % kinds, text, re.M)
    names = []
    for name, _ in found:
        for word in name.split(" OR "):
            word = word.strip()
            if word not in names and re.fullmatch(r"[\w:/.,=-]+", word) and not re.search(r"=\?", word):
                names.append(word)
    assert len(names) > 10, text[:2000]
    return names


def counted_by_perf(names):
    """The events that perf stat counts. If one does not open, perf refuses all: then the list is halved."""
    file = m.path("perf.csv")
    if os.path.exists(file):
        os.unlink(file)
    done = m.ran("perf", "stat", "-x;", "-o", file, "-e", ",".join(names), "true")
    rows = [line.split(";") for line in open(file)] if os.path.exists(file) else []
    rows = [row for row in rows if len(row) > 3]
    if done.returncode or not rows:
        if len(names) == 1:
            return set()
        half = len(names) // 2
        return counted_by_perf(names[:half]) | counted_by_perf(names[half:])
    supported = [row[2] for row in rows if row[0] != "<not supported>"]
    return {name for name in names
            if any(name == row or row.startswith(name + ":") or name in row.split("/") for row in supported)}


def stat(*args):
    """flametop's counts: name → (value, or why there is none)."""
    file = m.path("ours.csv")
    done = m.ran(m.PROGRAM, "--stat=csv", "-o", file, *args, timeout=10 * LIMIT)
    assert done.returncode == 0, (done.returncode, done.stderr[:1000])
    rows = [line.rstrip("\n").split(",") for line in open(file)]
    return {row[2]: row[0] for row in rows}


def all_that_perf_counts():
    """every event that perf stat counts is counted, and a reason is given for each of the others"""
    m.need_events()
    m.need_perf()
    names = listed()
    held, alone = [], []
    tracepoints = [name for name in names if re.fullmatch(r"[\w-]+:[\w-]+", name)]
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if tracepoints:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    try:
        # the kernel needs tens of milliseconds to release a tracepoint: wait once here, not per counter
        for name in tracepoints:
            try:
                with open("%s/events/%s/id" % (TRACEFS, name.replace(":", "/"))) as f:
                    held.append(open_event(2, int(f.read())))
                alone += [[name]] if held[-1] < 0 else []  # among others, perf would refuse them all
            except OSError:
                pass
        rest, theirs = [name for name in names if [name] not in alone], set()
        for some in alone + [rest[i:i + BATCH] for i in range(0, len(rest), BATCH)]:
            theirs |= counted_by_perf(some)
        ours = {}
        for i in range(0, len(names), BATCH):
            ours.update(stat("-e", ",".join(names[i:i + BATCH]), "--", "true"))
    finally:
        for fd in held:
            if fd >= 0:
                os.close(fd)
    missing = [name for name in names if name not in ours]
    assert not missing, "not reported: %s" % missing
    refused = [name for name in names if ours[name] == "<not supported>"]
    wrong = sorted(theirs & set(refused))
    assert not wrong, "perf counts these, flametop does not: %s" % wrong
    assert len(theirs) >= 10, theirs
    for name in refused[:40]:
        status, _, text = m.flametop("--stat", "-e", name, "--", "true")
        assert re.search(r"<not supported> +%s +\w+" % re.escape(name), text), text
    print("# %d events: perf counts %d, flametop %d" % (len(names), len(theirs), len(names) - len(refused)))


def set_probe(text):
    """Writes a line to uprobe_events, which open("a") does not open."""
    fd = os.open(TRACEFS + "/uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode() + b"\n")
    finally:
        os.close(fd)


def segment_offset(program, symbol):
    """(address, offset in the file) of a symbol of a non-PIE program."""
    address = int(re.search(r"^(\w+) \w %s$" % symbol, m.tool("nm", program), re.M).group(1), 16)
    loads = m.tool("readelf", "-lW", program)
    for offset, start, size in re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", loads):
        if int(start, 16) <= address < int(start, 16) + int(size, 16):
            return address, address - int(start, 16) + int(offset, 16)
    return address, None


def counts_already(process, n):
    """Whether the counting process has everything open, and waits for the end."""
    try:
        folder = "/proc/%d/fd" % process.pid
        fds = sum("[perf_event]" in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder))
        with open("/proc/%d/wchan" % process.pid) as f:
            return fds >= n and re.search("nanosleep|poll|select", f.read())
    except OSError:
        return False


def same_as_perf():
    """software events, tracepoints and uprobes have the counts of perf stat for the same run"""
    m.need_events()
    m.need_perf()
    need_tracefs()
    if not os.path.exists(TRACEFS + "/uprobe_events"):
        raise Skip("this kernel has no uprobes")
    program = m.build("work", "-no-pie")
    _, probed = segment_offset(program, "probed")
    group = "flametop%d" % os.getpid()
    set_probe("p:%s/hit %s:0x%x" % (group, program, probed))
    try:
        compare(program, ["page-faults", "minor-faults", "context-switches", "task-clock", "cpu-migrations",
                          "sched:sched_switch", "syscalls:sys_enter_getppid", "raw_syscalls:sys_enter",
                          group + ":hit"],
                {"syscalls:sys_enter_getppid": N, group + ":hit": N})
        listing = m.flametop("--list-events", group + ":*")[1]
        assert re.search(r"\+ %s:hit +uprobe %s" % (group, re.escape(program)), listing), listing
    finally:
        set_probe("-:%s/hit" % group)


def breakpoints_as_perf():
    """breakpoints have the counts of perf stat for the same run"""
    m.need_events()
    m.need_perf()
    program = m.build("work", "-no-pie")
    event = "mem:0x%x/4:w" % segment_offset(program, "watched")[0]
    if not any(compare(program, [event, "task-clock"], {})[:1]):
        raise Skip("breakpoints count nothing here, in perf neither: this virtual CPU has no debug registers")
    compare(program, [event, "task-clock"], {event: N})


def compare(program, events, exactly):
    """Compares the counts of one run, and returns perf's."""
    work = m.adopt(subprocess.Popen([program, str(N)], stdin=subprocess.PIPE, start_new_session=True))
    theirs, ours = m.path("theirs"), m.path("ours")
    names = ",".join(events)
    both = [m.adopt(subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)) for argv in (
        ["perf", "stat", "-x;", "-o", theirs, "-e", names, "-p", str(work.pid)],
        [m.PROGRAM, "--stat=csv", "-o", ours, "-e", names, "-p", str(work.pid)])]
    for process in both:
        m.until(lambda: counts_already(process, len(events)), "%s did not begin to count" % process.args[0])
    work.stdin.write(b"g")
    work.stdin.close()
    assert work.wait(LIMIT) == 0
    for process in both:
        assert process.wait(LIMIT) == 0, process.args
    # perf omits a breakpoint's length
    perf = [row for row in (line.split(";") for line in open(theirs)) if len(row) > 3]
    rows = [line.split(",") for line in open(ours)]
    assert len(rows) == len(perf) == len(events), (rows, perf)
    for row, theirs in zip(rows, perf):
        name, value, other = row[2], float(row[0]), float(theirs[0])
        assert abs(value - other) <= 0.01 * max(value, other), "%s: %s, perf %s" % (name, value, other)
        assert name not in exactly or value == exactly[name], "%s: %s of %d" % (name, value, exactly[name])
    return [float(row[0]) for row in perf]


def what_is_wrong_has_its_place():
    """a wrong event is marked by a caret, and the nearest valid name is suggested"""
    for text, at, says in (("cs,page-fualts:u", 3, "'page-faults'"),
                           ("cs,sdt_nosuch:mark", 3, "perf probe 'sdt_nosuch:"),
                           ("{cs,faults}:q", 12, "'q' is unknown"), ("mem:0x10/3:w", 9, "length"),
                           ("cs, fualts", 4, "'faults'"), ("faults/perod=1/", 7, "'period='")):
        for mode in (("--stat", "-e", text, "--", "true"), ("-e", text, "-b", "-n", "1")):
            status, _, why = m.flametop(*mode, check=False)
            lines = why.split("\n")
            assert status == 2 and says in lines[0], why
            assert lines[1:3] == ["  " + text, "  " + " " * at + "^"], why


def filters_say_what_the_kernel_says():
    """a filter works; for a wrong one the kernel's message is shown at its position"""
    m.need_events()
    need_tracefs()
    program = m.build("work", "-no-pie")
    for which, n in (("common_pid < 0", 0), ("common_pid >= 0", N)):
        got = stat_of_work(program, "-e", "syscalls:sys_enter_getppid", "--filter", which)
        assert got == n, (which, got)
    for args in (("--stat",), ("-b", "-n", "1")):
        status, _, why = m.flametop(*args, "-e", "sched:sched_switch", "--filter",
                                    "next_pid > 1 && prev_prioo == 3", "--", "true", check=False)
        lines = why.split("\n")
        assert status == 1 and "'prev_prio'" in lines[0] and lines[2] == "  " + " " * 16 + "^", why
        # for these the kernel returns errors like a missing task or permission
        for text in ('next_comm == "ba', "&& 1"):
            status, _, why = m.flametop(*args, "-e", "sched:sched_switch", "--filter", text, "--", "true",
                                        check=False)
            assert status == 1 and "the filter of sched:sched_switch" in why and "prev_comm" in why, \
                (args, text, why)
    assert not [name for name in os.listdir(TRACEFS + "/instances") if name.startswith("flametop-")]
    got = stat_of_work(program, "-e", "syscalls:sys_enter_getppid,syscalls:sys_exit_getppid", "--filter",
                       "common_pid < 0")
    assert got == N, got  # it applies to the last event
    status, _, why = m.flametop("-e", "cs", "--filter", "x == 1", "-b", "-n", "1", check=False)
    assert status == 2 and "not a tracepoint" in why, why


def several_cgroups():
    """several cgroups are counted separately, without anything outside them"""
    m.need_events()
    need_tracefs()
    root = next((p for p in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
                 if os.path.exists(p + "/cgroup.procs")), None)
    if not root:
        raise Skip("no cgroups are mounted here")
    names = ["flametop-events-%d-%d" % (os.getpid(), i) for i in range(2)]
    program, file = m.build("work", "-no-pie"), m.path("cgroups")
    made, works = [], []
    try:
        for name in names:
            try:
                os.mkdir(os.path.join(root, name))
            except OSError as error:
                raise Skip("cannot create a cgroup: %s" % error)
            made.append(os.path.join(root, name))
        for folder in made + [None]:
            work = m.adopt(subprocess.Popen([program, str(N)], stdin=subprocess.PIPE, start_new_session=True))
            works.append(work)
            if folder:
                with open(folder + "/cgroup.procs", "w") as f:
                    f.write(str(work.pid))
        stat = m.adopt(subprocess.Popen([m.PROGRAM, "--stat=csv", "-o", file, "-e",
                                         "syscalls:sys_enter_getppid", "-G",
                                         ",".join("/" + name for name in names)], stdin=subprocess.DEVNULL))
        m.until(lambda: counts_already(stat, 2), "--stat did not begin to count")
        for work in works:
            work.stdin.write(b"g")
            work.stdin.close()
        for work in works:
            assert work.wait(LIMIT) == 0
        stat.send_signal(signal.SIGINT)
        stat.wait(LIMIT)
        with open(file) as f:
            rows = [line.split(",") for line in f]
        assert [(row[0], row[3]) for row in rows] == [(str(N), "/" + name) for name in names], rows
    finally:
        for work in works:
            work.kill()
            work.wait()
        for folder in made:
            m.until(lambda: not open(folder + "/cgroup.procs").read(), "the cgroup did not become empty")
            os.rmdir(folder)


def stat_of_work(program, *args):
    file = m.path("filtered")
    subprocess.run([m.PROGRAM, "--stat=csv", "-o", file, *args, "--", program, str(N)], input=b"g",
                   check=True, timeout=2 * LIMIT)
    return float(open(file).read().split(",")[0])


def limits_are_explained():
    """with few open files or breakpoints, the rest is counted, and a reason given for each event left out"""
    m.need_events()
    cs = ",".join(["cs/name=n%d/" % i for i in range(60)])

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    status, _, why = m.flametop("--stat", "-e", cs, "--", "true", preexec_fn=few)
    assert re.search(r"^ +\d+ +n0 ", why, re.M) and re.search(r"<not supported> +n59 .*open files", why), why
    held = []
    try:
        for slot in range(64):  # until the CPU has none left: 4 on x86, up to 16 elsewhere
            held.append(open_event(5, bp_type=2,
                                   bp_addr=ctypes.addressof(ctypes.create_string_buffer(8)) & ~7, bp_len=4,
                                   cpu=0, pid=-1))
            if held[-1] < 0:
                break
        if len(held) < 2 or held[-1] >= 0:
            raise Skip("breakpoints for all tasks are not available, or not limited")
        status, _, why = m.flametop("-e", "mem:0x1000:w", "-C", "0", "-b", "-n", "1", check=False)
        assert status == 1 and "breakpoints are all in use" in why, why
    finally:
        for fd in held:
            if fd >= 0:
                os.close(fd)


def the_list_tells_what_opens():
    """--list-events marks and describes each event; no match is an error"""
    m.need_events()
    text = m.flametop("--list-events", "*c*")[1]
    for name in ("cpu-clock", "context-switches"):
        assert re.search(r"^  \+ %s +\S+" % name, text, re.M), text
    rows = re.findall(r"^  ([+-]) (\S+)", m.flametop("--list-events", "*cache*")[1], re.M)
    counts = stat("-e", ",".join(name for _, name in rows), "--", "true")
    for mark, name in rows:
        assert (mark == "+") == (counts[name] != "<not supported>"), (mark, name, counts[name])
    for asked, group, has, lacks in (("sw", "Software", "page-faults", "cycles"),
                                     ("cache", "Cache", "LLC-loads", "cache-misses"),
                                     ("itch", "Software", "context-switches", "page-faults"),
                                     ("cs", "Software", "(cs)", "cycles")):
        text = m.flametop("--list-events", asked)[1]
        assert text.startswith(group + "\n") and has in text and lacks not in text, (asked, text)
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run([m.PROGRAM, "--list-events", "sw"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert "pipe" not in gone.stderr, gone.stderr  # a reader that stops early causes no error
    status, _, why = m.flametop("--list-events", "no-such-*", check=False)
    assert status == 1 and "no event matches no-such-*" in why


run(all_that_perf_counts, same_as_perf, breakpoints_as_perf, what_is_wrong_has_its_place,
    filters_say_what_the_kernel_says, several_cgroups, limits_are_explained, the_list_tells_what_opens)
