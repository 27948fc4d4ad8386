#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that root's flametop opens for another user: none that the user cannot read, whatever names it; and a
hung file system of the user delays nothing."""
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import time

import machine as m
from hungfs import HungFileSystem
from ptyscreen import LIMIT, PROGRAM, Screen, run

STRANGER = 4321
FAN_CLOEXEC, FAN_NONBLOCK, FAN_CLASS_CONTENT = 1, 2, 4
FAN_OPEN_PERM, FAN_MARK_ADD, FAN_ALLOW, AT_FDCWD = 0x10000, 1, 1, -100
LIBC = ctypes.CDLL(None, use_errno=True)

BURN = """
volatile unsigned long n;
static inline __attribute__((always_inline)) void inner(void)
{
    for (int i = 0; i < 1000; i++)
        n += (unsigned long)i;
}
__attribute__((noinline)) void outer_function(void) { for (int i = 0; i < 1000; i++) inner(); }
int main(void) { for (;;) outer_function(); }
"""
# x86-64 and arm64: a jump to itself
JIT = """
#include <string.h>
#include <sys/mman.h>
int main(void)
{
#ifdef __x86_64__
    static const unsigned char code[] = { 0xeb, 0xfe };
#else
    static const unsigned char code[] = { 0, 0, 0, 0x14 };
#endif
    void *p = mmap((void *)0x7e0000000000, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(p, code, sizeof code);
    __builtin___clear_cache((char *)p, (char *)p + 64);
    ((void (*)(void))p)();
}
"""


class Watch:
    """Counts how often a file is opened by a process or its children, and by no other. Each open waits until
    the opener's parent is looked up."""

    def __init__(self, path, pid):
        self.pid, self.opened = pid, 0
        self.fd = LIBC.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK,
                                     os.O_RDONLY | os.O_CLOEXEC)
        if self.fd < 0 or LIBC.fanotify_mark(self.fd, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_PERM), AT_FDCWD,
                                             path.encode()):
            raise m.Skip("the kernel gives no permission events for opens: %s" %
                         os.strerror(ctypes.get_errno()))

    def look(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return
        events = os.read(self.fd, 65536)
        for at in range(0, len(events), 24):
            fd, pid = struct.unpack_from("ii", events, at + 16)
            self.opened += self.pid in (pid, parent(pid))
            os.write(self.fd, struct.pack("iI", fd, FAN_ALLOW))
            os.close(fd)

    def close(self):
        os.close(self.fd)


def parent(pid):
    try:
        return int(m.stat(pid)[1])
    except OSError:
        return 0


def opened_by(path, *args, env=None):
    """How often flametop opens the path, and its output. It is stopped until the watch is set."""
    with open(m.path("said"), "w+") as said, open(m.path("wrong"), "w+") as wrong:
        process = m.adopt(subprocess.Popen(["sh", "-c", 'kill -STOP $$; exec "$@"', "sh", PROGRAM, *args],
                                           stdin=subprocess.DEVNULL, stdout=said, stderr=wrong,
                                           start_new_session=True, env=dict(os.environ, **(env or {}))))
        os.waitpid(process.pid, os.WUNTRACED)
        watch = Watch(path, process.pid)
        os.kill(process.pid, signal.SIGCONT)
        while process.poll() is None:
            watch.look(0.02)
        watch.close()
        for f in said, wrong:
            f.seek(0)
        out, err = said.read(), wrong.read()
    assert process.returncode == 0, err
    return watch.opened, out


def become_stranger():
    os.setgroups([])
    os.setresgid(STRANGER, STRANGER, STRANGER)
    os.setresuid(STRANGER, STRANGER, STRANGER)


def secret(name, text="secret\n"):
    """A file that only root can read, in a folder open to everyone."""
    m.write(name, text)
    os.chmod(m.path(name), 0o600)
    return m.path(name)


def opened_while(path, process, *args):
    """How often flametop opens the path while it profiles the process, and its output."""
    return opened_by(path, "--no-cache", "-e", "cpu-clock", "-p", str(process.pid), "--duration", "2", *args)


def refused_then_read(path, process, *args):
    """The path is not opened while only root can read it; when everyone can, it is: the test sees opens."""
    opened, out = opened_while(path, process, *args)
    assert opened == 0, "%s was opened %d times" % (path, opened)
    os.chmod(path, 0o644)
    opened, _ = opened_while(path, process, *args)
    assert opened, "%s is never opened: the test checks nothing" % path
    return out


def split_debug_file():
    """the .dwo file named by another user's program is opened with that user's rights"""
    m.need_events()
    m.need_root()
    path = secret("split.secret")
    asm, obj, program = m.path("split.s"), m.path("split.o"), m.path("split")
    m.tool("cc", "-O1", "-g", "-gsplit-dwarf", "-S", "-o", asm, m.write("split.c", BURN))
    with open(asm) as f:
        text, n = re.subn(r'"[^"\n]*\.dwo"', '"%s"' % path, f.read())
    if not n:
        raise m.Skip("this compiler writes no split debug information")
    m.tool("cc", "-c", "-o", obj, m.write("split.s", text))
    m.tool("objcopy", "--strip-dwo", obj)
    m.tool("cc", "-o", program, obj)
    load = m.start(program, preexec_fn=become_stranger)
    assert "outer_function" in refused_then_read(path, load)
    m.stop(load)


def debug_link():
    """the target of a debug link is opened with that user's rights"""
    m.need_events()
    m.need_root()
    program = m.compiled("linked", BURN, "-O1")
    debug = m.path("linked.debug")
    m.tool("objcopy", "--only-keep-debug", program, debug)
    m.tool("objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, program)
    os.rename(debug, secret("link.secret"))
    os.chmod(m.path("link.secret"), 0o600)
    os.symlink(m.path("link.secret"), debug)
    load = m.start(program, preexec_fn=become_stranger)
    refused_then_read(m.path("link.secret"), load)
    m.stop(load)


def source_file():
    """a source file, whose name its program chooses freely, is opened with that user's rights"""
    m.need_events()
    m.need_root()
    path = secret("source.secret", "top secret line\n" * 9)
    os.utime(path, (0, 0))
    load = m.start(m.compiled("named", '#line 1 "%s"\n%s' % (path, BURN), "-O0", "-g"),
                   preexec_fn=become_stranger)
    out = refused_then_read(path, load, "--export", "annotate", "-o", "-")
    assert "top secret" not in out
    m.stop(load)


def mount_over_perf_map():
    """a perf map covered by another user's mount is opened with that user's rights"""
    m.need_events()
    m.need_root()
    program = m.compiled("jit", JIT, "-O1")
    path = secret("map.secret", "7e0000000000 1000 name_in_the_secret\n")

    def hide():
        if LIBC.unshare(0x20000) or LIBC.mount(b"none", b"/", None, 0x4000 | 0x40000, None):
            os._exit(1)
        mine = "/tmp/perf-%d.map" % os.getpid()
        with open(mine, "w") as f:
            os.fchown(f.fileno(), STRANGER, STRANGER)
        if LIBC.mount(path.encode(), mine.encode(), None, 0x1000, None):
            os._exit(1)
        become_stranger()

    load = m.start(program, preexec_fn=hide)
    try:
        assert "name_in_the_secret" not in refused_then_read(path, load)
        # a readable map provides names
        assert "name_in_the_secret" in opened_while(path, load)[1]
    finally:
        m.stop(load)
        os.unlink("/tmp/perf-%d.map" % load.pid)


def recording():
    """files named by a recording are opened with the rights of the user who started flametop"""
    m.need_events()
    m.need_root()
    program = m.compiled("recorded", BURN, "-O1")
    load = m.start(program)
    m.flametop("-e", "cpu-clock", "-p", str(load.pid), "--duration", "1", "-o", m.path("r.data"))
    m.stop(load)
    os.rename(program, m.path("recorded.secret"))
    os.chmod(m.path("recorded.secret"), 0o600)
    os.symlink(m.path("recorded.secret"), program)
    read = ("--no-cache", "-i", m.path("r.data"), "--export", "report", "-o", "-")
    path = m.path("recorded.secret")
    opened, out = opened_by(path, *read, env={"SUDO_UID": str(STRANGER), "SUDO_GID": str(STRANGER)})
    assert opened == 0 and "outer_function" not in out, out
    opened, out = opened_by(path, *read)
    assert opened and "outer_function" in out, out


def hung_file_system():
    """a hung file system leaves all other names; q and SIGTERM end flametop at once, and no process is
    left"""
    m.need_events()
    m.need_root()
    hung = m.compiled("hung", BURN, "-O1")
    other = m.compiled("other", BURN.replace("outer_function", "names_come_still"), "-O1")
    with HungFileSystem(m.path("mnt"), hung) as fs:
        loads = [m.start(fs.file("hung%d" % i), preexec_fn=become_stranger) for i in range(3)]
        loads.append(m.start(other))
        fs.hang()
        # not the whole machine: the names of its programs would take longer than these
        args = ["--no-cache", "-e", "cpu-clock", "-p", ",".join(str(load.pid) for load in loads)]
        doctor = m.adopt(subprocess.Popen([PROGRAM, *args, "--duration", "1", "--export", "doctor", "-o",
                                           m.path("doctor")], stdin=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL))
        with Screen(args) as first, Screen(args) as second:
            for screen in first, second:
                screen.wait("names_come_still")
            for screen, ending in (first, "q"), (second, signal.SIGTERM):
                began = time.monotonic()
                if ending == "q":
                    screen.send(ending)
                else:
                    os.kill(screen.pid, ending)
                screen.wait_end()
                took = time.monotonic() - began
                print("# %s: ended after %.2f s" % (ending, took))
                assert not os.path.exists("/proc/%d" % screen.pid)
        assert doctor.wait(LIMIT) == 0
        with open(m.path("doctor")) as f:
            out = f.read()
        assert "did not respond" in out, out
        for load in loads:
            m.stop(load) if load is loads[-1] else os.killpg(load.pid, signal.SIGKILL)


run(split_debug_file, debug_link, source_file, mount_over_perf_map, recording, hung_file_system)
