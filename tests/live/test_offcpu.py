#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Time off the CPU is as long as the waiting program itself measures it, with the stack and the reason of
each wait, on the screen and in files."""
import contextlib
import functools
import glob
import json
import os
import re
import signal
import subprocess
import time

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run, shared

REASONS = {"f1": "timer", "f2": "futex", "f3": "pipe"}


@functools.lru_cache(None)
def load():
    return m.build("waits", "-pthread")


def truth_of(out):
    truth = {f: int(us) for f, us in re.findall(r"^(f\d|queue) (\d+)$", out, re.M)}
    assert len(truth) >= 5, out
    return truth


@shared
def recorded():
    """The load's own waits by function, in microseconds, while it is sampled into known.folded, saved.data,
    wakers.folded and work.txt, all at the same time."""
    m.need_tracepoints()
    files = ((["--off-cpu", "--idle"], "known.folded"), (["--off-cpu", "--idle"], "saved.data"),
             (["-e", "wakers", "--idle"], "wakers.folded"), (["-e", "wakers"], "work.txt"))
    return truth_of(m.watched((load(), "4"), *[[*options, "-o", m.path(name)] for options, name in files],
                              cwd=m.WORK))


def saved():
    """A perf.data of the load, and its own waits."""
    return m.path("saved.data"), recorded()


def close(got, wanted, preempted):
    """Within 2 %, and the time for which threads were preempted, whose stack is not sampled."""
    return wanted - preempted - 0.02 * wanted - 3000 <= got <= 1.02 * wanted + 3000


def check_sums(stacks, truth):
    sums, reasons = m.by_function(stacks)
    preempted = sum(us for frames, us in stacks if frames[-1] == "[runnable]")
    for function, reason in REASONS.items():
        assert close(sums.get(function, 0), truth[function], preempted), (function, sums, truth, preempted)
        assert "[wait: %s]" % reason in reasons[function], (function, reasons)
    assert close(sums.get("f4", 0), truth["f4"], preempted), (sums, truth)
    assert "f5" not in sums, sums  # it never waits by itself


def known_waits():
    """the waits of a program are as long as it measures them, each with its stack and reason"""
    truth = recorded()
    stacks = m.folded(m.path("known.folded"))
    check_sums(stacks, truth)
    threads = [us for frames, us in stacks if "writer" in frames or "holder" in frames]
    assert sum(threads) > 6e6, stacks  # two threads that sleep nearly all of 4 s


def competition():
    """a thread that is preempted is runnable, not waiting, for as long as it measures"""
    m.need_tracepoints()
    burners = [m.start("sh", "-c", "while :; do :; done") for _ in range(2 * (os.cpu_count() or 1))]
    truth = truth_of(m.flametop("--off-cpu", "--idle", "-o", m.path("busy.folded"), "--", load(), "4",
                                cwd=m.WORK)[1])
    for burner in burners:
        m.stop(burner)
    stacks = m.folded(m.path("busy.folded"))
    runnable = sum(us for frames, us in stacks if frames[-1] == "[runnable]")
    sums, _ = m.by_function(stacks)
    assert truth["f5"] > 200000 and runnable > 0.9 * truth["f5"], (truth, runnable)
    if "queue" not in truth:
        raise Skip("this kernel does not count the time that a thread waits for a CPU")
    queue = sum(us for frames, us in stacks if frames[0] == "waits" and frames[-1] == "[runnable]")
    assert abs(queue - truth["queue"]) <= 0.02 * truth["queue"] + 3000, (queue, truth)


def queued_us(name, comm=""):
    """How long each thread waited for CPUs; with a comm, only a thread that has it at last."""
    queued, wanted = {}, set()
    for frames, us in m.folded(m.path(name)):
        process, tid = re.fullmatch(r"(.*)-\d+/(\d+)", frames[0]).groups()
        if comm in process:
            wanted.add(int(tid))
        if frames[-1] == "[runnable]":
            queued[int(tid)] = queued.get(int(tid), 0) + us
    return {tid: us for tid, us in queued.items() if tid in wanted}


def lost(err):
    return int(re.search(r"(\d+) lost\)", err).group(1))


def at_once(seconds, fold, *scopes):
    """[(file, messages)] of these scopes, at the same time: they cannot disturb a thread that hardly runs."""
    def record(numbered):
        name = "at-once%d.folded" % numbered[0]
        return name, m.flametop("--off-cpu", *numbered[1], "--duration", seconds, "--fold", fold, "-o",
                                m.path(name))[2]
    return m.at_once(record, *enumerate(scopes))


@shared
def queues():
    """What flametop prints of a thread that waits for a CPU for 3 s, sampled into starved.folded. At the same
    time all threads of the system into all.folded: its messages, and the waits by the kernel just before and
    after."""
    m.need_tracepoints()
    load = m.build("starved", "-pthread")

    def of_a_command():
        return m.flametop("--off-cpu", "--fold", "tid", "-o", m.path("starved.folded"), "--", load, "3")

    def of_all():
        before = threads_of_all()
        err = m.flametop("--off-cpu", "--duration", "4", "--idle", "--fold", "tid", "-o",
                         m.path("all.folded"))[2]
        return err, before, threads_of_all()
    return m.at_once(lambda work: work(), of_a_command, of_all)


def starved():
    """a thread that waits for a CPU for seconds has all of it, while it waits and if it began before"""
    _, out, err = queues()[0]
    truth = re.search(r"^queue (\d+)$", out + err, re.M)
    if not truth:
        raise Skip("this kernel does not count the time that a thread waits for a CPU")
    truth = int(truth.group(1))
    got = sum(queued_us("starved.folded", "starves").values())
    assert truth > 2e6 and got <= 1.02 * truth, (got, truth, err)
    assert got >= 0.98 * truth or lost(err), (got, truth, err)
    process = m.start(m.build("starved", "-pthread"), "3600")
    try:
        tid = m.until(lambda: tid_of(process.pid, "starves"), "the thread did not start")
        m.until(lambda: waits_for_cpu(tid), "it never waited for a CPU")
        scopes = ["-p", str(process.pid)], []
        for (name, err), scope in zip(at_once("4", "tid", *scopes), scopes):
            got = queued_us(name).get(tid, 0)
            assert got < 4.5e6 and (got > 3.5e6 or lost(err)), (scope, got, err)
    finally:
        m.stop(process)  # it takes a CPU from all tests after this one


def tid_of(pid, comm):
    for tid in os.listdir("/proc/%d/task" % pid):
        if m.comm(int(tid)) == comm:
            return int(tid)
    return None


def state_of(tid):
    try:
        return m.stat(tid)[0]
    except OSError:
        return "X"


def waits_for_cpu(tid):
    """It is ready to run, and does not run for a while."""
    before = queue_ns(tid)
    time.sleep(0.2)  # a duration is what is asked
    return state_of(tid) == "R" and before == queue_ns(tid)


def queue_ns(tid):
    """How long a thread has waited for CPUs, by the kernel; None: it ended, or the kernel does not count."""
    try:
        with open("/proc/%d/schedstat" % tid) as f:
            return int(f.read().split()[1])
    except OSError:
        return None


def threads_of_all():
    found = {}
    for task in glob.glob("/proc/[0-9]*/task/[0-9]*"):
        tid = int(task.rsplit("/", 1)[1])
        found[tid] = queue_ns(tid)
    return {tid: ns for tid, ns in found.items() if ns is not None}


def no_queue_without_end():
    """no thread of the system waits for a CPU longer than the kernel says, also those with hidden switches"""
    err, before, after = queues()[1]
    if not before:
        raise Skip("this kernel does not count the time that a thread waits for a CPU")
    got = queued_us("all.folded")
    # the kernel counts a wait at its end
    both = [tid for tid in got if tid in before and tid in after and state_of(tid) != "R"]
    assert both, got
    for tid in both:
        truth = (after[tid] - before[tid]) / 1000
        assert got[tid] <= 1.02 * truth + 200000, (tid, m.comm(tid), got[tid], truth, err)


def wakers():
    """each wait leads to who ended it: a named thread with its stack, a timer, a disk interrupt"""
    recorded()
    wakers = {}
    with open(m.path("work.txt")) as report:
        assert "[wait: timer]" not in report.read(), "waits for work are not hidden"
    for frames, us in m.folded(m.path("wakers.folded")):
        if "[runnable]" in frames:
            continue
        by = [i for i, frame in enumerate(frames) if frame.startswith("[woken by ")]
        assert len(by) == 1 and frames[by[0] - 1].startswith("[wait"), frames
        for function in {f for f in frames[:by[0]] if re.fullmatch(r"f\d", f)}:
            wakers.setdefault(function, {}).setdefault(frames[by[0]], [0, set()])
            wakers[function][frames[by[0]]][0] += us
            wakers[function][frames[by[0]]][1].update(frames[by[0]:])
    most = {f: max(by, key=lambda k: by[k][0]) for f, by in wakers.items()}
    assert most["f1"] == "[woken by a timer]", wakers
    assert most["f2"] == "[woken by holder]" and "futex_wake" in wakers["f2"][most["f2"]][1], wakers
    assert most["f3"] == "[woken by writer]" and "anon_pipe_write" in wakers["f3"][most["f3"]][1] or \
        "pipe_write" in wakers["f3"][most["f3"]][1], wakers
    if "f4" in most and m.ran("findmnt", "-no", "SOURCE", "-T", m.WORK).stdout.startswith("/dev/vd"):
        assert "[woken by a disk interrupt]" in wakers["f4"], wakers


def meanwhile():
    """a wait for a CPU leads to the threads that ran meanwhile, for as long as they say, nothing is missing;
    with a scope of processes, others are not seen"""
    m.need_tracepoints()
    load = m.build("rivals", "-pthread")
    # auto may reopen the events, and what happens meanwhile is not seen
    fixed = ["-e", "wakers", "--call-graph", "none", "-o"]
    process = m.adopt(subprocess.Popen([PROGRAM, *fixed, m.path("of-all.folded"), "--duration", "600"],
                                       stderr=subprocess.PIPE, text=True))
    m.until(lambda: m.is_sampling(process.pid), "flametop did not open its events")
    _, out, of_load = m.flametop(*fixed, m.path("of-load.folded"), "--", load, "4")
    process.send_signal(signal.SIGINT)
    of_all = process.communicate()[1]
    truth = {name: (int(ran), int(queue))
             for name, ran, queue in re.findall(r"^(rival-.) (\d+) (-?\d+)$", out + of_load, re.M)}
    assert len(truth) == 3 and min(ran for ran, _ in truth.values()) > 50000, (out, of_load)
    if lost(of_load) or lost(of_all):
        raise Skip("records were lost")
    for scope in "of-all", "of-load":
        found = {name: {} for name in truth}
        for frames, us in m.folded(m.path(scope + ".folded")):
            if frames[0] in truth and "[runnable]" in frames:
                assert frames[-2] == "[runnable]", frames
                found[frames[0]][frames[-1]] = found[frames[0]].get(frames[-1], 0) + us
        for name, by in found.items():
            for other, (ran, _) in truth.items():
                got = by.pop("[while %s ran]" % other, 0)
                right = abs(got - ran) <= 0.02 * ran + 3000 if other != name else not got
                assert right, (name, other, got, by, truth)
            rest, queue = sum(by.values()), truth[name][1]
            others = sum(ran for other, (ran, _) in truth.items() if other != name)
            assert queue < 0 or abs(others + rest - queue) <= 0.02 * queue + 3000, (name, by, truth)
            assert by.get("[not seen]", 0) < 0.01 * queue or scope == "of-load", (name, by, truth)
            assert scope == "of-all" or set(by) <= {"[not seen]", "[while rivals ran]"}, (name, by)


def idle():
    """waiting for work is hidden as idle time is, and --idle includes it"""
    hidden = m.export(saved()[0], "report")
    shown = m.export(saved()[0], "report", "--idle")
    assert "[wait: timer]" not in hidden and "[wait: futex]" in hidden, hidden
    assert "[wait: timer]" in shown and "[wait: futex]" in shown, shown


def file_opens_everywhere():
    """a saved perf.data has the same waits in flametop and in perf script"""
    m.need_perf()
    file, truth = saved()
    stacks = m.stacks_of(m.export(file, "folded", "--idle"))
    check_sums(stacks, truth)
    ours, _ = m.by_function(stacks)
    theirs = {}
    for sample in m.perf("script", "-i", file, "-F", "event,period,ip,sym")[0].split("\n\n"):
        period = re.match(r"\s*(\d+) +off-cpu:", sample)
        for function in set(re.findall(r" (f\d)(?:\+|\s|$)", sample if period else "")):
            theirs[function] = theirs.get(function, 0) + int(period.group(1)) / 1000
    assert ours.keys() == theirs.keys(), (ours, theirs)
    for function, us in ours.items():
        assert abs(us - theirs[function]) < 100, (function, ours, theirs)


def screen():
    """O switches a live screen to time off the CPU"""
    m.need_tracepoints()
    m.start(load(), "3600", cwd=m.WORK)
    with Screen(["--idle"]) as s:
        s.wait("SELF%")
        s.send("O", shows=r"\[wait: timer\]")
        s.wait("off-cpu each")
        s.send("]", shows="wakers each")
        s.wait(r"\[woken by ")


@functools.lru_cache(None)
def hung():
    """A program that waits for a pipe forever."""
    return m.compiled("hung", "#include <unistd.h>\nint main(void) { int p[2]; char c; alarm(300); return "
                      "pipe(p) || read(p[0], &c, 1); }\n")


def hung_before():
    """a thread that hung before flametop started has its reason, and counts for all the time"""
    m.need_tracepoints()
    load = m.start(hung(), becomes="hung")
    m.until(lambda: m.ran("cat", "/proc/%d/wchan" % load.pid).stdout.endswith("pipe_read"), "it never read")
    check_hung(load, ["-p", str(load.pid)], ["-t", str(load.pid)], [])


def check_hung(load, *scopes):
    stack = ["hung-%d" % load.pid, "[wait: pipe]"]
    for (name, _), scope in zip(at_once("2", "pid", *scopes), scopes):
        us = sum(us for frames, us in m.folded(m.path(name)) if frames == stack)
        assert 1.5e6 < us < 2.5e6, (scope, us)


def hung_in_a_cgroup():
    """the same in a cgroup below the chosen one"""
    m.need_tracepoints()
    load = m.start(hung(), becomes="hung")
    with m.cgroups("hung-%d" % os.getpid(), "hung-%d/below" % os.getpid()) as (upper, lower):
        try:
            m.write(lower + "/cgroup.procs", str(load.pid))
            check_hung(load, ["-G", "/" + os.path.basename(upper)])
        finally:
            m.stop(load)


def hang():
    """a thread that hangs is seen while it hangs, also when all samples are discarded, and after the events
    were reopened for another way to unwind"""
    m.need_tracepoints()
    with Screen(["--off-cpu", "--", hung()]) as s:
        s.wait(r"\[wait: pipe\]")
        s.send("x", shows="discarded")
        s.wait(r"\[wait: pipe\]")
        s.send("m", shows="Stacks")
        s.send("end", "enter", shows="stacks: none")
        s.send("x", shows="discarded")
        s.wait(r"\[wait: pipe\]")


def refused():
    """what off-cpu cannot do is said: some CPUs only, counting"""
    m.need_tracepoints()
    status, _, err = m.flametop("--off-cpu", "-C", "0", "--duration", "1", "-o", m.path("x.data"),
                                check=False)
    assert status and "all CPUs" in err, err
    status, _, err = m.flametop("--off-cpu", "--stat", "--", "true", check=False)
    assert status and "context-switches" in err, err


def direct_io():
    """writes past the cache are disk writes, and reads are disk reads"""
    m.need_tracepoints()
    file = os.path.join("/var/tmp", "flametop-direct-%d" % os.getpid())
    try:
        for kind, other, *where in (("disk write", "disk read", "if=/dev/zero", "of=" + file, "oflag=direct"),
                                    ("disk read", "disk write", "if=" + file, "of=/dev/null",
                                     "iflag=direct")):
            status, _, err = m.flametop("--off-cpu", "-o", m.path("direct.json"), "--", "dd", *where, "bs=1M",
                                        "count=64", check=False)
            if status:
                raise Skip("the file system has no direct I/O: %s" % err)
            with open(m.path("direct.json"), encoding="utf-8") as report:
                waits = json.load(report)["waits"]
            rows = {row["name"]: row["time_ns"] for row in waits if row["by"] == "reason"}
            assert rows.get(kind, 0) > 20 * rows.get(other, 0), rows
    finally:
        if os.path.exists(file):
            os.unlink(file)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


@contextlib.contextmanager
def cgroup_of(process):
    """A cgroup with this process, and the name of the file with its CPU limit."""
    roots = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"
    folder = "%s/flametop-limited" % next((r for r in roots if os.path.exists(r + "/cgroup.procs")), None)
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Skip("cannot create a cgroup: %s" % error) from error
    try:
        name = next((n for n in ("cpu.cfs_quota_us", "cpu.max") if os.path.exists(folder + "/" + n)), None)
        if not name:
            raise Skip("no cgroup has the cpu controller here")
        write(folder + "/cgroup.procs", process.pid)
        yield folder, name
    finally:
        m.stop(process)
        m.until(lambda: not read(folder + "/cgroup.procs"), "the cgroup is not empty")
        os.rmdir(folder)


def limited_cgroup():
    """a cgroup that uses up its CPU limit is named, with periods as the kernel counts them; without a limit
    nothing is said"""
    m.need_tracepoints()

    def counts():
        found = dict(line.split() for line in read(folder + "/cpu.stat").splitlines())
        return int(found["nr_periods"]), int(found["nr_throttled"])
    said = r"cgroup \S*flametop-limited used up its CPU limit of 0\.02 CPUs in (\d+) of (\d+) periods"
    process = m.start("/usr/bin/python3", "-c", "while True: pass")
    with cgroup_of(process) as (folder, name):
        def reports(seconds):
            """What is printed, the periods that the kernel counted meanwhile, and the periods it stopped."""
            def of(options):
                before = counts()
                text = m.flametop(*options, "--duration", seconds)[1]
                return text, *(b - a for a, b in zip(before, counts()))
            own = "-p", str(process.pid)
            return m.at_once(of, ("--off-cpu", *own), ("--off-cpu",), own)

        write(folder + "/" + name, 2000)
        for _ in range(5):  # on a busy machine it may not get as much as its limit
            told = reports("3")
            if all(re.search(said, text) for text, *_ in told):
                break
        for text, periods, stopped in told:
            found = re.search(said, text)
            assert found and 0 < int(found[1]) <= int(found[2]), text
            assert int(found[1]) <= stopped and int(found[2]) <= periods, (found[0], stopped, periods)
        write(folder + "/" + name, -1 if name == "cpu.cfs_quota_us" else "max")
        for text, *_ in reports("2"):
            assert "CPU limit" not in text, text


run(known_waits, competition, starved, no_queue_without_end, wakers, meanwhile, idle, file_opens_everywhere,
    screen, hang, hung_before, hung_in_a_cgroup, refused,
    direct_io, limited_cgroup)
