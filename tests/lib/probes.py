# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for tests of probes, whose load is tests/live/probed.c."""
import functools
import os
import re
import signal
import subprocess

import machine as m
from ptyscreen import LIMIT, PROGRAM, Skip

TRACEFS = "/sys/kernel/tracing"
LOG = ("-b", "--view", "log", "-d", "30")  # what it prints before the end is little


def need_probes():
    m.need_tracepoints("probes")
    if not os.path.exists(TRACEFS + "/uprobe_events"):
        raise Skip("this kernel has no uprobes, or tracefs is not mounted at " + TRACEFS)


@functools.lru_cache(None)
def probed(*flags):
    return m.build("probed", *flags)


def defined(part="flametop_"):
    """the lines of uprobe_events that contain this"""
    with open(TRACEFS + "/uprobe_events") as f:
        return [line for line in f.read().splitlines() if part in line]


def load(word, program=None):
    """the load, which waits for a byte"""
    process = m.adopt(subprocess.Popen([program or probed(), word], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, start_new_session=True))
    m.until(lambda: mapped(process.pid, "libc"), "the load has no C library")
    return process


def mapped(pid, name):
    with open("/proc/%d/maps" % pid) as f:
        return name in f.read()


def probe(rest, file=None):
    return "probe:%s:%s" % (file or probed(), rest)


def interrupted(log):
    """what flametop prints until ^C"""
    log.send_signal(signal.SIGINT)
    return log.communicate(timeout=LIMIT)[0]


def finish(process, byte="g"):
    """what the load prints, which ends"""
    output = process.communicate(byte, timeout=LIMIT)[0]
    assert process.returncode == 0, output
    return output


def samples_already(pid, counts):
    """Whether a program has everything open, and waits. It has rings, unless it only counts: flametop may
    count the rate of an event before it samples it."""
    try:
        with open("/proc/%d/wchan" % pid) as f:
            waits = re.search("nanosleep|poll|select|futex", f.read())
        return waits and (m.has_events(pid) if counts else mapped(pid, "[perf_event]"))
    except OSError:
        return False


def background(*args, **more):
    counts = args[0].startswith("--stat")
    process = m.adopt(subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True, **more))
    m.until(lambda: samples_already(process.pid, counts) or process.poll() is not None, "no events")
    return process


def watched(word, *args, program=None):
    """(what the load printed, what flametop printed) while flametop watched the load to its end"""
    process = load(word, program)
    ours = background(*args, "-p", str(process.pid))
    output = finish(process)
    printed, said = ours.communicate(timeout=LIMIT)
    assert ours.returncode == 0, said
    return output, printed
