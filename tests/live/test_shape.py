#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads whose right answer is known, on the real rings, and perf beside it."""
import collections
import re
import subprocess
import time

import machine as m
from ptyscreen import PROGRAM, Screen, run

TRUTH = {"hot_a": 0.5, "hot_b": 0.3, "hot_c": 0.2}


def known_shape():
    """functions and stacks of a known load have their known shares"""
    m.need_events()
    load = m.start(m.build("shape"), "60")
    m.flametop("-F", "999", "-p", str(load.pid), "--duration", "4", "-o", m.path("shape.folded"))
    own, total, n = m.shares(m.folded(m.path("shape.folded")), "shape")
    assert n > 500, "only %d samples" % n
    for name, share in TRUTH.items():
        m.near("self of " + name, own.get(name, 0), share, 0.05)
    m.near("total of path_one", total["path_one"], 0.8, 0.05)
    m.near("total of path_two", total["path_two"], 0.2, 0.05)
    m.near("total of main", total["main"], 1, 0.02)
    # a sample in a function's first or last instruction has no frame of its own yet: its caller is skipped
    callers = {"hot_a": "path_one", "hot_b": "path_one", "hot_c": "path_two"}
    hot = [(frames, count) for frames, count in m.folded(m.path("shape.folded")) if frames[-1] in callers]
    right = sum(count for frames, count in hot if frames[-2] == callers[frames[-1]] and "main" in frames)
    m.near("stacks of hot functions through their true callers", right / sum(count for _, count in hot), 1, 0.02)
    m.stop(load)


def same_as_perf():
    """shares agree with perf record and perf report of the same time"""
    m.need_events()
    m.need_perf()
    load = m.start(m.build("shape"), "60")
    perf = subprocess.Popen(["perf", "record", "-F", "999", "-g", "-p", str(load.pid), "-o", m.path("beside.data"), "--",
                             "sleep", "4"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    m.flametop("-F", "999", "-p", str(load.pid), "--duration", "4", "-o", m.path("beside.folded"))
    perf.wait()
    m.stop(load)
    own, _, _ = m.shares(m.folded(m.path("beside.folded")), "shape")
    text, _ = m.perf("report", "-i", m.path("beside.data"), "--stdio", "--no-children", "-g", "none")
    theirs = {name: float(share) / 100 for share, name in re.findall(r"^\s+([\d.]+)%\s.*\[\.\] (hot_\w)", text, re.M)}
    for name in TRUTH:
        m.near("self of %s beside perf's" % name, own[name], theirs[name], 0.04)


def kernel_names():
    """kernel functions of dd bs=1 show by name below its system calls"""
    m.need_events()
    m.need_root()
    load = m.start("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    m.flametop("-F", "999", "-p", str(load.pid), "--duration", "3", "-o", m.path("dd.folded"))
    m.stop(load)
    _, total, n = m.shares(m.folded(m.path("dd.folded")), "dd")
    assert n > 300, n
    for name in ("ksys_read", "ksys_write", "vfs_read", "vfs_write"):
        assert total.get(name, 0) > 0.02, "%s has %.3f of dd" % (name, total.get(name, 0))
    nameless = sum(v for k, v in total.items() if "0x" in k and k.startswith("[kernel]"))
    assert nameless < 0.02, "kernel addresses without a name: %.3f" % nameless


def fork_storm():
    """a fork storm shows the kernel's fork, exec and exit by name, and its short-lived processes by comm"""
    m.need_events()
    m.need_root()
    load = m.start("sh", "-c", "while :; do /bin/true; done")
    m.flametop("-F", "999", "--duration", "4", "-o", m.path("storm.folded"))
    m.stop(load)
    stacks = m.folded(m.path("storm.folded"))
    comms = collections.Counter()
    for frames, count in stacks:
        comms[frames[0]] += count
    assert comms["true"] > 50, comms
    _, total, _ = m.shares(stacks)
    seen = [name for name in total if re.search(r"^(__x64_sys_execve|do_exit|kernel_clone|.*_execve.*|do_group_exit)", name)]
    assert len(seen) >= 2, sorted(total, key=total.get)[-40:]


def command():
    """a command after -- is what is measured, and its exit status comes back"""
    m.need_events()
    status, _, _ = m.flametop("-o", m.path("cmd.folded"), "--", "sh", "-c",
                              "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7", check=False)
    assert status == 7, status
    comms = {frames[0] for frames, _ in m.folded(m.path("cmd.folded"))}
    assert comms == {"sh"}, comms


def scopes():
    """-p, -t, -u and -C measure only whom they name"""
    m.need_events()
    m.need_root()
    program = m.build("shape")
    one, two = m.start(program, "60"), m.start("taskset", "-c", "0", program, "60", user="daemon")
    for args, ok in ((("-p", str(one.pid)), {"shape"}), (("-t", str(one.pid)), {"shape"}), (("-u", "daemon"), {"shape"})):
        m.flametop("-F", "499", *args, "--group-by", "comm", "--duration", "1", "-o", m.path("scope.folded"))
        comms = {frames[0] for frames, _ in m.folded(m.path("scope.folded"))}
        assert comms == ok, (args, comms)
    _, text, _ = m.flametop("-b", "-n", "1", "-d", "1.5", "-C", "0", "--group-by", "cpu")
    assert "cpu 0" in text and "cpu 1" not in text, text
    m.stop(one)
    m.stop(two)


def cgroup():
    """-G measures one cgroup, and cgroups are told apart by path"""
    import os
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
    inside, outside = m.start(program, "60"), m.start(program, "60")
    try:
        with open(folder + "/cgroup.procs", "w") as f:
            f.write(str(inside.pid))
        _, text, _ = m.flametop("-b", "-n", "1", "-d", "1.5", "-G", "/" + os.path.basename(folder), "--group-by", "process")
        assert "/%d" % inside.pid in text and "/%d" % outside.pid not in text, text
        _, text, _ = m.flametop("-b", "-n", "1", "-d", "1.5", "--group-by", "cgroup")
        assert "/" + os.path.basename(folder) in text, text
    finally:
        m.stop(inside)
        m.stop(outside)
        time.sleep(0.1)
        os.rmdir(folder)


def target_exits():
    """a target that ends is noticed: recording stops, the screen says so and stays"""
    m.need_events()
    program = m.build("shape")
    load = m.start(program, "1.5")
    began = time.monotonic()
    m.flametop("-p", str(load.pid), "--duration", "30", "-o", m.path("gone.folded"))
    assert time.monotonic() - began < 10 * m.SLOW
    assert any("main" in frames for frames, _ in m.folded(m.path("gone.folded")))
    load = m.start(program, "1")
    with Screen(["-p", str(load.pid)]) as s:
        s.wait(r"hot_a")
        s.wait(r"(?i)ended|gone|exited", 10)
        s.send("q")
        assert s.wait_end() == 0


def tracepoints():
    """a tracepoint counts every occurrence, with the kernel's path to it"""
    m.need_events()
    m.need_root()
    status, _, why = m.flametop("-e", "sched:sched_switch", "--duration", "1", "-o", m.path("tp.folded"), check=False)
    if status:
        raise m.Skip(why.strip())
    _, total, n = m.shares(m.folded(m.path("tp.folded")))
    assert n > 10 and any("schedule" in name for name in total), (n, total)


run(known_shape, same_as_perf, kernel_names, fork_storm, command, scopes, cgroup, target_exits, tracepoints)
