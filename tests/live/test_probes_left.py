#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes that stay behind: alone, because any flametop that starts removes those of one that was killed."""
import os
import re
import signal

import machine as m
from probes import TRACEFS, background, defined, need_probes, probe, probed
from ptyscreen import LIMIT, PROGRAM, run


def nothing_left():
    """no probe is left behind: at the end, after signals, and after SIGKILL at the next start"""
    need_probes()
    event = probe("work")
    m.flametop("--stat", "-e", event, "--", "true")
    assert not defined(probed()), defined()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        for mode in ("--stat",), ("-b",), ("-o", m.path("killed.data")):
            process = background(*mode, "-e", event, "-p", str(m.start("sleep", "1000").pid))
            assert defined(probed()), mode
            process.send_signal(number)
            process.communicate(timeout=LIMIT)
            assert not defined(probed()), (number, mode, defined())
    for mode in ("--stat",), ("-b",), ("-o", m.path("killed.data")):  # the signal comes before the handlers
        process = m.start(PROGRAM, *mode, "-e", event, "-p", str(m.start("sleep", "1000").pid))
        m.until(lambda: defined(probed()), "no probe")
        process.terminate()
        process.wait(LIMIT)
        assert not defined(probed()), (mode, defined())
    dead = background("-b", "-e", event, "-p", str(m.start("sleep", "1000").pid))
    alive = background("-b", "-e", event, "-p", str(m.start("sleep", "1000").pid))
    dead.kill()
    dead.communicate(timeout=LIMIT)
    assert len(defined(probed())) == 2, defined()
    listed = m.flametop("--list-probes")[1]
    line = r"^flametop %d" + r" +p:\S+ %s:0x" % re.escape(probed())
    assert re.search(line.replace("%d", r"%d \(ended\)") % dead.pid, listed, re.M), listed
    assert re.search(line % alive.pid, listed, re.M), listed
    assert m.flametop("--remove-probes")[1].startswith("removed 1 probe of"), defined()
    assert len(defined(probed())) == 1, defined()
    alive.kill()
    alive.communicate(timeout=LIMIT)
    m.flametop("--stat", "-e", "page-faults", "--", "true")
    assert not defined(probed()), defined()


def others_stay():
    """probes of other programs are listed and kept"""
    need_probes()
    group = "flametoptest%d" % os.getpid()
    fd = os.open(TRACEFS + "/uprobe_events", os.O_WRONLY | os.O_APPEND)
    offset = re.search(r":(0x\w+)", m.flametop("--probe-definition", probe("work"))[1]).group(1)
    os.write(fd, b"p:%s/hit %s:%s\n" % (group.encode(), probed().encode(), offset.encode()))
    try:
        assert re.search(r"^other +p:%s/hit " % group, m.flametop("--list-probes")[1], re.M)
        m.flametop("--remove-probes")
        assert defined(group), defined("")
    finally:
        os.write(fd, b"-:%s/hit\n" % group.encode())
        os.close(fd)


run(nothing_left, others_stay)
