#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A wrong input gives a message with what to do about it, or a reduced screen that says what is missing."""
import os
import random
import re
import resource

import machine as m
from ptyscreen import PROGRAM, Screen, run


def message(args, pattern, status=(1, 2), **more):
    got, out, why = m.flametop(*args, check=False, **more)
    # on a slow machine
    why = re.sub(r"flametop: names, source lines and unwind tables are still being read.*\n", "", why)
    assert got in status, (args, got, out, why)
    assert re.search(pattern, why), "%s says %r, nothing of %r" % (args, why, pattern)
    # the typed text, and a caret at the error
    one_line = why.count("\n") == 1 or re.fullmatch(r".*\n  .*\n  +\^\n", why)
    assert one_line, "more than one line: %r" % why
    assert "\x1b" not in why, why


def wrong_words():
    """wrong events, pids, users, cgroups, options, themes, views and sizes are named, with the nearest right
    one"""
    for args, pattern in (
        (["-e", "cycels", "-b"], r"cycels.*cycles"),
        (["-e", "sched:no_such", "-b"], r"no_such|tracefs"),
        (["-e", "cycles:z", "-b"], r"z"),
        (["-e", "", "-b"], r"event"),
        (["-p", "999999999", "-b"], r"999999999"),
        (["-p", "abc", "-b"], r"abc"),
        (["-u", "no-such-user", "-b"], r"no-such-user"),
        (["-G", "/no/such/cgroup", "-b"], r"no/such/cgroup"),
        (["-C", "99999", "-b"], r"99999"),
        (["-C", "3-1", "-b"], r"3-1"),
        (["--frequncy", "9"], r"frequncy"),
        (["--them=light"], r"them|terminal"),
        (["-F", "fast", "-b"], r"fast"),
        (["-F", "0", "-b"], r"--freq 0"),
        (["--history", "huge", "-b"], r"huge"),
        (["--history", "12", "-b"], r"1M"),
        (["-d", "-1", "-b"], r"-1"),
        (["--group-by", "colour", "-b"], r"colour"),
        (["--view", "flam", "-b"], r"flame"),
        (["--sort", "slef", "-b"], r"self"),
        (["--theme", "no-such-theme", "-b"], r"default"),
        (["--call-graph", "magic", "-b"], r"magic.*fp"),
        (["-K", "-U", "-b"], r"nothing"),
        (["stray"], r"stray.*--"),
        (["-o", "x.folded", "--export", "no-such", "--duration", "1"], r"no-such"),
        (["--", "/no/such/program"], r"terminal|no/such"),
        (["-o", m.path("x.folded"), "--", "/no/such/program"], r"/no/such/program"),
    ):
        message(args, pattern)


def bad_files():
    """a perf.data that is missing, empty, truncated, garbage, a folder or a FIFO gives a message"""
    m.need_events()
    good, bad = m.path("good.data"), m.path("bad.data")
    # of a program whose names are read at once, however slow the reader is
    m.flametop("-F", "999", "-o", good, "--", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
    data = open(good, "rb").read()
    os.mkfifo(m.path("fifo"))
    message(["-i", m.path("missing.data")], r"missing\.data")
    message(["-i", m.path("fifo")], r"fifo")
    message(["-i", m.WORK], re.escape(m.WORK))
    for content in (b"", b"x", b"PERFILE2", random.Random(0).randbytes(4096), b"\0" * 4096):
        open(bad, "wb").write(content)
        message(["-i", bad], r"bad\.data")
    for cut in range(1, len(data), max(1, len(data) // 20)):
        open(bad, "wb").write(data[:cut])
        status, _, why = m.flametop("-i", bad, check=False)
        assert status in (0, 1), (cut, status, why)
    for at in range(0, len(data), max(1, len(data) // 30)):
        open(bad, "wb").write(data[:at] + random.Random(at).randbytes(16) + data[at + 16:])
        status, _, why = m.flametop("-i", bad, check=False)
        assert status in (0, 1), (at, status, why)


def bad_output():
    """output to a link, a missing folder or a full disk gives a message and leaves nothing behind"""
    m.need_events()
    if not os.path.islink(m.path("link.data")):  # a second try finds the link
        os.symlink("/etc/passwd", m.path("link.data"))
    for out in (m.path("link.data"), m.path("no/such/folder/x.data"), "/proc/x.data", m.WORK):
        message(["--duration", "0.3", "-o", out], re.escape(out))
    assert not [f for f in os.listdir(m.WORK) if f.startswith(".")], os.listdir(m.WORK)

    recording = os.path.join(m.SOURCE, "tests", "data", "google__perf.data.callgraph-3.8")
    for form in ("tar.gz", "tar", "svg", "folded", "json", "data"):  # not even root can create files there
        message(["-i", recording, "-o", "/sys/x." + form], r"/sys/x\." + form)
        if not os.path.islink(m.path("link." + form)):
            os.symlink("/etc/passwd", m.path("link." + form))
        message(["-i", recording, "-o", m.path("link." + form)], r"symbolic link")
        os.makedirs(m.path("folder." + form), exist_ok=True)
        message(["-i", recording, "-o", m.path("folder." + form)], r"folder\." + form)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    message(["--duration", "0.5", "-o", m.path("full.data")], r"full\.data", preexec_fn=small)
    assert not os.path.exists(m.path("full.data"))
    assert not [f for f in os.listdir(m.WORK) if f.startswith(".")], os.listdir(m.WORK)


def bad_config():
    """a config with an unknown key, a bad value or write access for others is refused, with the line"""
    m.need_inih()
    config = m.path("config")
    for text, pattern in (("[options]\nfreqq = 9\n", r"config:2.*freqq.*freq"),
                          ("[options]\nfreq = x\n", r"config:2"),
                          ("[keys]\nno-such-action = z\n", r"no-such-action"),
                          ("[keys]\nfreeze = NoKey\n", r"NoKey"), ("[elsewhere]\na = b\n", r"elsewhere")):
        open(config, "w").write(text)
        message(["--config", config, "-b"], pattern)
    open(config, "w").write("[options]\nfreq = 9\n")
    os.chmod(config, 0o666)
    message(["--config", config, "-b"], r"config")
    message(["--config", m.path("no-config"), "-b"], r"no-config")


def small_limits():
    """RLIMIT_NOFILE 64 and RLIMIT_MEMLOCK 0 give a working screen or a message"""
    m.need_events()
    for limit, value in ((resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_MEMLOCK, 0)):
        status, out, why = m.flametop("-b", "-n", "1", "-d", "1", check=False,
                                      preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
        assert status == 0 and "samples" in out or why.strip(), (limit, status, why)


def escapes_never_reach():
    """escape sequences in comm, file and symbol names never reach a terminal or a pipe"""
    m.need_events()
    evil = "\x1b]0;x\x07\x1b[2J\u202e\r\n"
    name = m.path("ev\x1b[31mil\x07")
    if not os.path.exists(name): # at a second try it does
        os.link(m.build("shape"), name)
    load = m.start("python3", "-c",
                   "import os,sys\nopen('/proc/self/comm','wb').write(b'a\\x1b[2Jb')\nwhile 1: pass",
                   becomes="a\x1b[2Jb")
    other = m.start(name, "36000")
    _, out, _ = m.flametop("-b", "-n", "1", "-d", "1.5", "--group-by", "comm,symbol")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out), repr(out)
    with Screen(["--group-by", "comm,symbol", "-F", "199"], size=(150, 40)) as s:
        s.wait(r"hot_a")
        s.send("p", *str(load.pid), shows=r"│ +%d .*\[2Jb" % load.pid)
        assert b"\x1b[2Jb" not in s.raw and b"\x1b[31mil" not in s.raw and b"\x07" not in s.raw
    m.stop(load)
    m.stop(other)
    assert evil


def without_mounted_tracefs(*before):
    """Starts the program on a tracepoint where tracefs is not mounted, with a command in front."""
    m.need_root()
    script = "umount -l /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null; " \
        "exec %s %s -e sched:sched_switch -b -n 1 -d 1" % (" ".join(before), PROGRAM)
    done = m.ran("unshare", "-m", "sh", "-c", script)
    if "unshare" in done.stderr:
        raise m.Skip(done.stderr.strip())
    return done


def no_tracefs():
    """if tracefs is not mounted and cannot be, tracepoints are refused with the reason and how to mount it"""
    done = without_mounted_tracefs("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    assert done.returncode in (1, 2) and "mount -t tracefs nodev /sys/kernel/tracing" in done.stderr, done
    assert "could not mount it for itself: Operation not permitted" in done.stderr, done


def unmounted_tracefs():
    """if tracefs is not mounted, root samples tracepoints without mounting it for others"""
    m.need_events()
    done = without_mounted_tracefs()
    if "could not mount it for itself" in done.stderr:
        raise m.Skip(done.stderr.strip())
    assert done.returncode == 0 and "sched:sched_switch" in done.stdout, done


def tiny_terminal():
    """a terminal of 20x5 gets a message about the size it needs, and the program goes on"""
    m.need_events()
    with Screen([], size=(20, 5)) as s:
        s.wait(r"(?i)small|20x5")
        s.resize(80, 24)
        s.wait(r"^flametop ")
        assert s.quit() == 0


def no_terminal():
    """without a terminal, a message names the modes that work without one"""
    message([], r"-b")


run(wrong_words, bad_files, bad_output, bad_config, small_limits, escapes_never_reach,
    no_tracefs, unmounted_tracefs, tiny_terminal, no_terminal)
