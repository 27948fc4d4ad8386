#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel settings that restrict sampling are reported. They are changed for the whole machine meanwhile: no
other test may run at the same time, which tests/run-tap ensures."""
import os
import re
import subprocess

import machine as m
from ptyscreen import PROGRAM, run


def unprivileged(script, **more):
    """Runs a command as the user nobody, who can only read the program."""
    m.need_root()
    return m.flametop(*script, check=False, user="nobody", group="nogroup", extra_groups=[],
                      env={"HOME": "/nonexistent", "XDG_CONFIG_HOME": ""}, **more)


PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def need_paranoid():
    """The setting; skips the test if it cannot be changed or an ordinary user cannot run the program."""
    m.need_events()
    m.need_root()
    if not os.access(PARANOID, os.W_OK) or not reachable():
        raise m.Skip("the setting cannot be changed, or an ordinary user cannot run the program")
    return open(PARANOID).read()


def ordinary_user():
    """an ordinary user gets what the kernel allows, and a hint how to get more"""
    before = need_paranoid()
    load = m.busy(m.build("shape"), "36000", user="nobody", group=65534, extra_groups=[])
    try:
        for level in ("2", "3", "4"):
            open(PARANOID, "w").write(level)
            for seconds in ("1", "4", "16", "64"):  # a busy machine gives the load little CPU time
                status, out, why = unprivileged(["-b", "-n", "1", "-d", seconds])
                if status or "hot_a" in out:
                    break
            assert status in (0, 1), (level, status, why)
            if status == 0:
                assert "DEGRADED" in out and "hot_a" in out, out
                assert re.search(r"CAP_PERFMON|perf_event_paranoid", out), out
            else:
                assert re.search(r"paranoid|CAP_PERFMON", why), why
    finally:
        open(PARANOID, "w").write(before)
        m.stop(load)


def short_children():
    """without rights for all CPUs, a note says that short-lived children are not sampled"""
    before = need_paranoid()
    # until they have used two seconds of user time: a note needs one
    load = "while [ $(awk '{ print $14 + $16 }' /proc/$$/stat) -lt %d ]; do (:); (:); (:); done" % (
        2 * os.sysconf("SC_CLK_TCK"))
    try:
        open(PARANOID, "w").write("2")
        status, out, why = unprivileged(["-b", "-n", "1", "-d", "36000", "--", "sh", "-c", load])
    finally:
        open(PARANOID, "w").write(before)
    if status:
        raise m.Skip(why.strip())
    assert re.search(r"DEGRADED (\d+ threads ended before their first sample|samples cover \d+% of ).*"
                     r"(CAP_PERFMON|perf_event_paranoid)", out), out


def reachable():
    """Whether an ordinary user can run the program from its build folder."""
    return subprocess.run([PROGRAM, "--version"], user="nobody", group="nogroup", extra_groups=[],
                          capture_output=True).returncode == 0 if os.path.exists(PROGRAM) else False


def hidden_kernel():
    """with kptr_restrict 1 and 2 kernel functions have no names, and the screen says why"""
    m.need_events()
    m.need_root()
    setting = "/proc/sys/kernel/kptr_restrict"
    before = open(setting).read()
    load = m.busy("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    try:
        for level in ("1", "2"):
            open(setting, "w").write(level)
            # names in the cache would still be used
            status, out, why = m.flametop("-b", "-n", "1", "-d", "1.5", "--no-cache", check=False)
            assert status == 0, why
            if level == "2":
                assert re.search(r"DEGRADED.*kernel.*kptr_restrict", out), out
                assert "vfs_read" not in out
    finally:
        open(setting, "w").write(before)
        m.stop(load)


run(ordinary_user, short_children, hidden_kernel)
