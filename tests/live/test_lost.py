#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened while records were lost: programs that were started, libraries that were opened and new names
are found afterwards."""
import os
import re
import shutil
import signal
import subprocess
import time

import machine as m
from ptyscreen import PROGRAM, run

LIBRARY = "volatile unsigned long n; void opened(void) { for (;;) n++; }"


def maps(pid, file):
    with open("/proc/%d/maps" % pid, encoding="utf-8") as f:
        return file in f.read()


def names():
    """a program executed, a library opened and a name changed while records were lost are shown as they
    are"""
    m.need_tracepoints()
    load = m.build("changed", "-ldl")
    other = shutil.copy(load, m.path("other"))
    library = m.path("libopened.so")
    m.tool("cc", "-O0", "-g", "-shared", "-fPIC", "-o", library, m.write("opened.c", LIBRARY))
    execs, opens = m.start(load, "exec", other), m.start(load, "open", library)
    renames = m.start(load, "rename")
    storm = m.start(load, "switch")
    file = m.path("lost.folded")
    top = m.adopt(subprocess.Popen([PROGRAM, "--no-cache", "--wall", "--duration", "7", "-o", file],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    m.until(lambda: m.is_sampling(top.pid), "flametop did not open its events")
    time.sleep(2)
    os.kill(top.pid, signal.SIGSTOP)
    time.sleep(1)  # the rings become full
    for process in (execs, opens, renames):
        os.kill(process.pid, signal.SIGUSR1)
    m.until(lambda: m.comm(execs.pid) == "other" and maps(execs.pid, "libc"), "there was no exec")
    m.until(lambda: maps(opens.pid, library), "the library was not opened")
    m.until(lambda: m.comm(renames.pid) == "renamed", "there was no new name")
    os.kill(top.pid, signal.SIGCONT)
    said = top.communicate(timeout=60)[0]
    for process in (execs, opens, renames, storm):
        m.stop(process)
    assert not top.returncode and int(re.search(r"([\d,]+) lost", said).group(1).replace(",", "")), said
    stacks = list(m.folded(file))
    for comm, function in (("changed", "before"), ("other", "executed"), ("renamed", "renamed"),
                           ("changed", "opened")):
        n = sum(count for frames, count in stacks if frames[0] == comm and function in frames)
        assert n, (comm, function, [s for s in stacks if s[0][0] == comm][:10], said)
    unknown = [s for s in stacks if s[0][0] in ("changed", "other", "renamed") and "[unknown]" in s[0]]
    assert not unknown, unknown


run(names)
