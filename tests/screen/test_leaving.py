#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way out restores the terminal, closes the events and takes no longer than a second."""
import os
import signal
import termios
import time

import machine as m
from ptyscreen import PROGRAM, SLOW, Screen, run


def opened(args=(), **more):
    m.need_events()
    s = Screen(args, **more)
    s.before = termios.tcgetattr(s.fd)
    s.wait(r"^flametop ", 15)
    s.pump(0.3)
    return s


def restored(s, seconds=1.5):
    began = time.monotonic()
    status = s.wait_end(seconds)
    assert time.monotonic() - began < seconds * SLOW
    tail = s.raw[-400:]
    assert b"\x1b[?1049l" in tail, "the alternate screen was not left: %r" % tail
    assert b"\x1b[?25h" in tail or b"\x1b[34h\x1b[?25h" in tail or b"\x1b[?12l\x1b[?25h" in tail, "the cursor stays hidden: %r" % tail
    flags = termios.tcgetattr(s.fd)[3]
    assert flags & termios.ECHO and flags & termios.ICANON, "the terminal does not echo"
    return status


def by_key():
    """q, F10 and ^C leave at once"""
    for key, wanted in (("q", (0,)), ("f10", (0,)), ("\x03", (0, 130))):
        with opened() as s:
            s.send(key)
            assert restored(s) in wanted, (key, s.ended())


def by_signal():
    """SIGTERM, SIGINT, SIGHUP and SIGQUIT leave, with 128 and the signal's number"""
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        with opened() as s:
            os.kill(s.pid, sig)
            assert restored(s) in (128 + sig, 0), (sig, s.ended())


def by_crash():
    """a crash restores the terminal and still dies of its signal"""
    if os.environ.get("SANITIZER_FLAGS"):
        raise m.Skip("the sanitizer catches crashes itself, before the program could")
    for sig in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
        with opened() as s:
            os.kill(s.pid, sig)
            assert restored(s, 5) == -sig, (sig, s.ended())


def terminal_vanishes():
    """when the terminal vanishes no orphan is left"""
    with opened() as s:
        os.close(s.fd)
        end = time.monotonic() + 3 * SLOW
        while s.ended() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert s.ended() is not None, "it spins on"


def while_stalled():
    """while the terminal is stopped SIGTERM still ends it within a second or so"""
    with opened(["-d", "0.1"]) as s:
        time.sleep(4 * SLOW)  # nobody reads: the pseudo-terminal is full
        os.kill(s.pid, signal.SIGTERM)
        began = time.monotonic()
        while s.ended() is None and time.monotonic() - began < 3 * SLOW:
            time.sleep(0.02)
        assert s.ended() is not None, "it hangs"
        assert time.monotonic() - began < 1.5 * SLOW


def stop_and_go_on():
    """^Z gives the shell its terminal back, fg draws the screen anew"""
    m.need_events()
    with Screen(["--norc", "--noprofile", "-i"], program="bash") as s:
        s.wait(r"\$ *$|# *$")
        s.send(PROGRAM + "\r")
        s.wait(r"^flametop ", 15)
        s.send("\x1a")
        s.wait(r"Stopped")
        s.send("echo so" + "far\r")
        s.wait(r"^sofar")
        s.send("fg\r")
        s.wait(r"^flametop ")
        s.send("q")
        s.pump(1 * SLOW)
        s.send("exit\r")
        s.wait_end()


def events_are_closed():
    """nothing stays behind: no worker process, no open event"""
    with opened() as s:
        s.pump(1)
        children = open("/proc/%d/task/%d/children" % (s.pid, s.pid)).read().split()
        s.send("q")
        assert restored(s) == 0
        time.sleep(0.3)
        alive = [c for c in children if os.path.exists("/proc/%s/exe" % c) and
                 "symbol-worker" in open("/proc/%s/cmdline" % c).read()]
        assert not alive, alive


def command_is_ended():
    """the command that was started ends with the profiler"""
    with opened(["--", "sleep", "4321.25"]) as s:
        s.wait(r"^flametop ")
        s.send("q")
        assert restored(s) == 0
    time.sleep(0.3)
    left = os.popen("pgrep -f '^sleep 4321.25$'").read().split()
    assert not left, left


run(by_key, by_signal, by_crash, terminal_vanishes, while_stalled, stop_and_go_on, events_are_closed, command_is_ended)
