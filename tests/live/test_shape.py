#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads with a known result, sampled on the real rings and compared with perf."""
import collections
import os
import re
import signal
import subprocess
import time

import machine as m
from ptyscreen import LIMIT, PROGRAM, Screen, run

TRUTH = {"hot_a": 0.5, "hot_b": 0.3, "hot_c": 0.2}


CALLERS = {"hot_a": "path_one", "hot_b": "path_one", "hot_c": "path_two"}


def hot_shares(stacks):
    """({function: its share of the samples in hot functions}, their number, their share of all)"""
    own, _, n = m.shares(stacks, "shape")
    hot = sum(own.get(name, 0) for name in TRUTH)
    return {name: own.get(name, 0) / hot for name in TRUTH}, round(hot * n), hot


def known_shape():
    """functions and stacks of a known load have their known shares"""
    m.need_events()
    load = m.start(m.build("shape"), "36000")
    stacks = m.record("shape.folded", "-F", "999", "-p", str(load.pid), comm="shape", samples=1000)
    m.stop(load)
    # interrupts add to the load's work, more of them on a busy machine
    own, n, hot = hot_shares(stacks)
    assert hot > 0.8, "only %.3f of the samples are in hot functions" % hot
    for name, share in TRUTH.items():
        m.near("self of " + name, own[name], share, n)
    _, total, n = m.shares(stacks, "shape")
    m.near("total of path_one", total["path_one"], 0.8, n, margin=0.05)
    m.near("total of path_two", total["path_two"], 0.2, n, margin=0.05)
    assert total["main"] > 0.95, total
    # a sample in a function's first or last instruction has no frame of its own yet: its caller is skipped
    hot = [(frames, count) for frames, count in stacks if frames[-1] in CALLERS]
    right = sum(count for frames, count in hot if frames[-2] == CALLERS[frames[-1]] and "main" in frames)
    assert right / sum(count for _, count in hot) > 0.95, \
        "of the hot functions' stacks %d have their true callers" % right


def same_as_perf():
    """shares agree with perf record and perf report of the same time"""
    m.need_events()
    m.need_perf()
    load = m.start(m.build("shape"), "36000")
    perf = m.start("perf", *m.RECORD, "-F", "999", "-g", "-p", str(load.pid), "-o", m.path("beside.data"))
    mine, n, _ = hot_shares(m.record("beside.folded", "-F", "999", "-p", str(load.pid), comm="shape",
                                     samples=1000))
    perf.send_signal(signal.SIGINT)
    perf.wait(LIMIT)
    m.stop(load)
    text, _ = m.perf("report", "-i", m.path("beside.data"), "--stdio", "--no-children", "-g", "none", "-n")
    counts = collections.Counter()
    for count, name in re.findall(r"^\s+[\d.]+%\s+(\d+)\s.*\[\.\] (hot_\w)", text, re.M):
        counts[name] += int(count)
    theirs = sum(counts.values())
    for name in TRUTH:
        m.near("self of %s beside perf's" % name, mine[name], counts[name] / theirs, n, theirs)


def kernel_names():
    """kernel functions of dd bs=1 are named, below its system calls"""
    m.need_events()
    m.need_root()
    load = m.start("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    stacks = m.record("dd.folded", "-F", "999", "-p", str(load.pid), comm="dd", samples=1000)
    m.stop(load)
    _, total, _ = m.shares(stacks, "dd")
    for name in ("ksys_read", "ksys_write", "vfs_read", "vfs_write"):
        assert total.get(name, 0) > 0.02, "%s has %.3f of dd" % (name, total.get(name, 0))
    nameless = sum(v for k, v in total.items() if "0x" in k and k.startswith("[kernel]"))
    assert nameless < 0.02, "kernel addresses without a name: %.3f" % nameless


def fork_storm():
    """a fork storm shows the kernel's fork, exec and exit by name, and short-lived processes by comm"""
    m.need_events()
    m.need_root()
    load = m.start("sh", "-c", "while :; do /bin/true; done")
    stacks = m.record("storm.folded", "-F", "999", comm="true", samples=200)
    m.stop(load)
    _, total, _ = m.shares(stacks)
    seen = [name for name in total
            if re.search(r"^(__x64_sys_execve|do_exit|kernel_clone|.*_execve.*|do_group_exit)", name)]
    assert len(seen) >= 2, sorted(total, key=total.get)[-40:]


def short_children():
    """children of a target or command are sampled, however short-lived"""
    m.need_events()
    m.need_root()
    load = m.start("sh", "-c", "while :; do /bin/true; done")
    m.record("short.folded", "-F", "199", "-p", str(load.pid), comm="true", samples=20)
    m.stop(load)
    m.flametop("-F", "199", "-o", m.path("short.folded"), "--", "sh", "-c",
               "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done")
    stacks = m.folded(m.path("short.folded"))
    assert {frames[0] for frames, _ in stacks} <= {"sh", "true"}, stacks
    assert sum(count for frames, count in stacks if frames[0] == "true") > 5, stacks


def another_rate():
    """children of a command stay sampled when the frequency changes"""
    m.need_events()
    with Screen(["--", "sh", "-c", "sh -c 'while :; do :; done' & wait"]) as s:
        s.wait(r"samples +[1-9]\d+")
        s.send("f", "200", "enter", shows=r"200Hz")
        before = s.number(r"samples +([\d,]+)")
        s.until(lambda: s.number(r"samples +([\d,]+)") > before + 20, "samples come")
        s.quit()


def command():
    """a command after -- is sampled, and its exit status is returned"""
    m.need_events()
    status, _, _ = m.flametop("-o", m.path("cmd.folded"), "--", "sh", "-c",
                              "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7", check=False)
    assert status == 7, status
    comms = {frames[0] for frames, _ in m.folded(m.path("cmd.folded"))}
    assert comms == {"sh"}, comms


def scopes():
    """-p, -t, -u and -C sample only their targets"""
    m.need_events()
    m.need_root()
    program = m.build("shape")
    one = m.start(program, "36000")
    two = m.start("taskset", "-c", "0", program, "36000", user="daemon", becomes="shape")
    for args in (("-p", str(one.pid)), ("-t", str(one.pid)), ("-u", "daemon")):
        stacks = m.record("scope.folded", "-F", "499", *args, "--group-by", "comm", comm="shape", samples=20)
        assert {frames[0] for frames, _ in stacks} == {"shape"}, (args, stacks)
    _, text, _ = m.flametop("-b", "-n", "1", "-d", "3", "-C", "0", "--group-by", "cpu")
    assert "cpu 0" in text and "cpu 1" not in text, text
    m.stop(one)
    m.stop(two)


def cgroup():
    """-G samples one cgroup, and cgroups are distinguished by path"""
    m.need_events()
    m.need_root()
    mounts = [line.split() for line in open("/proc/mounts")]
    root = next((f[1] for f in mounts if f[2] == "cgroup2"), None)
    if not root:
        raise m.Skip("no cgroup2 is mounted")
    folder = os.path.join(root, "flametop-test.%d" % os.getpid())
    try:
        os.mkdir(folder)
    except OSError as error:
        raise m.Skip("cannot make a cgroup: %s" % error)
    program = m.build("shape")
    inside, outside = m.start(program, "36000"), m.start(program, "36000")
    try:
        with open(folder + "/cgroup.procs", "w") as f:
            f.write(str(inside.pid))
        _, text, _ = m.flametop("-b", "-n", "1", "-d", "3", "-G", "/" + os.path.basename(folder),
                                "--group-by", "process")
        assert "/%d" % inside.pid in text and "/%d" % outside.pid not in text, text
        _, text, _ = m.flametop("-b", "-n", "1", "-d", "3", "--group-by", "cgroup")
        assert "/" + os.path.basename(folder) in text, text
    finally:
        m.stop(inside)
        m.stop(outside)
        m.until(lambda: not open(folder + "/cgroup.procs").read(), "the cgroup did not become empty")
        os.rmdir(folder)


def target_exits():
    """the end of the target is noticed: sampling stops, and the screen says so and stays"""
    m.need_events()
    program = m.build("shape")
    load = m.start(program, "36000")
    recording = subprocess.Popen([PROGRAM, "-p", str(load.pid), "--duration", "36000", "-o",
                                  m.path("gone.folded")],
                                 stderr=subprocess.DEVNULL)
    try:
        m.until(lambda: m.is_sampling(recording.pid), "nothing is sampled")
        time.sleep(1)
        m.stop(load)
        assert recording.wait(LIMIT) == 0
    finally:
        recording.kill()
    assert any("main" in frames for frames, _ in m.folded(m.path("gone.folded")))
    load = m.start(program, "36000")
    with Screen(["-p", str(load.pid)]) as s:
        s.wait(r"hot_a")
        m.stop(load)
        s.wait(r"(?i)ended|gone|exited")
        assert s.quit() == 0


def tracepoints():
    """a tracepoint counts every occurrence, with its kernel stack"""
    m.need_events()
    m.need_root()
    status, _, why = m.flametop("-e", "sched:sched_switch", "--duration", "1", "-o", m.path("tp.folded"),
                                check=False)
    if status:
        raise m.Skip(why.strip())
    _, total, n = m.shares(m.folded(m.path("tp.folded")))
    assert n > 10 and any("schedule" in name for name in total), (n, total)


run(known_shape, same_as_perf, kernel_names, fork_storm, short_children, another_rate, command, scopes,
    cgroup, target_exits, tracepoints)
