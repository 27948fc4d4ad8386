#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every exit restores the terminal, closes the events and does not wait for a redraw."""
import fcntl
import os
import re
import signal
import struct
import termios
import time

import machine as m
from ptyscreen import LIMIT, PROGRAM, Screen, run


def opened(args=("-d", str(10 * LIMIT)), **more):
    """Starts flametop with a long redraw delay, so that an exit that waits for a redraw is too late."""
    m.need_events()
    s = Screen(args, **more)
    s.before = termios.tcgetattr(s.fd)
    s.wait(r"^flametop ")
    s.wait(r"F10Quit")
    return s


def restored(s, crash=False):
    status = s.wait_end(crash=crash)
    tail = s.raw[-400:]
    assert b"\x1b[?1049l" in tail, "the alternate screen was not left: %r" % tail
    assert b"\x1b[?25h" in tail or b"\x1b[34h\x1b[?25h" in tail or b"\x1b[?12l\x1b[?25h" in tail, \
        "the cursor stays hidden: %r" % tail
    flags = termios.tcgetattr(s.fd)[3]
    assert flags & termios.ECHO and flags & termios.ICANON, "the terminal does not echo"
    return status


def by_key():
    """q, F10 and ^C exit at once"""
    for key, wanted in (("q", (0,)), ("f10", (0,)), ("\x03", (0, 130))):
        with opened() as s:
            s.send(key)
            assert restored(s) in wanted, (key, s.ended())


def by_signal():
    """SIGTERM, SIGINT, SIGHUP and SIGQUIT exit with status 128 plus the signal's number"""
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        with opened() as s:
            os.kill(s.pid, sig)
            assert restored(s) in (128 + sig, 0), (sig, s.ended())


def by_crash():
    """a crash restores the terminal and still ends with its signal"""
    if os.environ.get("SANITIZER_FLAGS"):
        raise m.Skip("the sanitizer handles crashes before the program can")
    for sig in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
        with opened() as s:
            os.kill(s.pid, sig)
            assert restored(s, crash=True) == -sig, (sig, s.ended())


def terminal_vanishes():
    """when the terminal vanishes, no process is left"""
    with opened() as s:
        os.close(s.fd)
        m.until(lambda: s.ended() is not None, "it did not end")


def waiting(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]


def while_stalled():
    """SIGTERM ends the program while the terminal is stopped"""
    with opened(["-d", "0.1"]) as s:
        before = [0]

        def full():
            """True if the pseudo-terminal's unread output has stopped growing: its buffer is full."""
            grown, before[0] = waiting(s.fd) - before[0], waiting(s.fd)
            time.sleep(1)
            return before[0] and not grown
        m.until(full, "the terminal takes more and more", 4 * LIMIT)
        os.kill(s.pid, signal.SIGTERM)
        m.until(lambda: s.ended() is not None, "it did not end")


def stop_and_go_on():
    """^Z returns the terminal to the shell, fg redraws the screen"""
    m.need_events()
    with Screen(["--norc", "--noprofile", "-i"], program="bash") as s:
        s.wait(r"\$ *$|# *$")
        s.send(PROGRAM + "\r", shows=r"^flametop ")
        s.send("\x1a", shows=r"Stopped")
        s.send("echo so" + "far\r", shows=r"^sofar")
        s.send("fg\r", shows=r"^flametop ")
        s.send("q")

        def left():
            """Leaves with ^Z; keys typed before the shell has its terminal back may be lost."""
            if s.ended() is None:
                s.send("\r", "exit\r")
                s.pump(1)
            return s.ended() is not None
        m.until(left, "the shell did not end")


def runs(pid, word):
    try:
        with open("/proc/%s/cmdline" % pid) as f:
            return word in f.read()
    except OSError:
        return False


def worker_is_ended():
    """the symbol worker ends with the profiler"""
    m.need_events()
    with Screen() as s:
        worker = s.until(lambda: m.child_called(s.pid, m.WORKER), "no worker was started")
        assert s.quit() == 0
        m.until(lambda: m.comm(worker) != m.WORKER, "the worker did not end")


def command_is_ended():
    """the started command ends with the profiler"""
    seconds = "4321%d" % os.getpid()
    with opened(["--", "sleep", seconds]) as s:
        pids = lambda: [pid for pid in os.listdir("/proc") if pid.isdigit() and runs(pid, "sleep\0" + seconds)
                        and m.comm(int(pid)) == "sleep"]
        m.until(pids, "the command did not start")
        s.send("q")
        assert restored(s) == 0
    m.until(lambda: not pids(), "the command did not end")


def command_has_its_say():
    """the command's output is on the terminal after the screen, and its exit status is passed on"""
    m.need_events()
    with Screen(["--", "sh", "-c", "echo first-words; sleep 0.5; echo last-words >&2; exit 7"]) as s:
        s.wait(r"status 7")
        assert s.quit() == 7
        assert re.search(r"first-words(.*\n)+.*last-words", s.text()), s.text()


def recording():
    """a recording without a time limit says on the terminal how it ends, and ^C prints its report"""
    m.need_events()
    with Screen(["-e", "cpu-clock", "--export", "report", "-o", "-"]) as s:
        s.wait(r"recording until \^C")
        s.send("\x03")
        s.wait_end()
        # its heading, or the end of a long one
        assert re.search(r"SELF%  TOTAL%|^ +\d+\.\d\d +\d+\.\d\d +\d+  \S", s.text(), re.M), s.text()


run(by_key, by_signal, by_crash, terminal_vanishes, while_stalled, stop_and_go_on, worker_is_ended,
    command_is_ended, command_has_its_say, recording)
