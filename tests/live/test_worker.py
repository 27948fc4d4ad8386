#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbol worker is killed again and again while it reads names and unwind tables: nothing is lost, and
names equal those of an undisturbed run."""
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import machine as m
from ptyscreen import LIMIT, PROGRAM, Screen, Skip, run

PROGRAMS = 20
MOST_KILLS = 100  # per run: no kills afterwards
KILLS, RUNS = 5, 60  # for a file: required kills, and runs at most
LOOK = 0.001  # seconds between searches for a worker
# seconds between kills, on average: longer than any request takes; and for a file, which is read quickly
PAUSE, SHORT_PAUSE = 0.05, 0.005

SOURCE = """
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static char zeros[65536];
static int zero_fd;
__attribute__((noinline)) uint64_t leaf_%(n)d(uint64_t x)
{
    for (int i = 0; i < 20000; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    x += (uint64_t)read(zero_fd, zeros, sizeof zeros);
    return x + %(n)d; /* a build-id is made of the code, not of the names */
}
__attribute__((noinline)) uint64_t middle_%(n)d(uint64_t x) { return leaf_%(n)d(x) + 1; }
int main(void)
{
    uint64_t x = 42;
    zero_fd = open("/dev/zero", O_RDONLY);
    while (clock() < CLOCKS_PER_SEC / 5)
        x = middle_%(n)d(x);
    printf("%%llu", (unsigned long long)x);
    return 0;
}
"""


def programs():
    """Programs with their own names and build-ids, without frame pointers: each has its own tables."""
    for n in range(PROGRAMS):
        m.compiled("p%d" % n, SOURCE % {"n": n}, "-O1", "-fno-optimize-sibling-calls", "-fomit-frame-pointer")
    return "sh", m.write("all.sh", "".join("'%s'\n" % m.path("p%d" % n) for n in range(PROGRAMS)))


def killed(pause, *args):
    """Runs the program and kills its worker at random times; returns the number of kills and the output."""
    process = m.adopt(subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True))
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    chance, kills, end = random.Random(1), 0, time.monotonic() + 2 * LIMIT
    while process.poll() is None and time.monotonic() < end:
        time.sleep(LOOK)
        if kills == MOST_KILLS or not m.child_called(process.pid, m.WORKER):
            continue
        time.sleep(chance.expovariate(1 / pause))
        worker = m.child_called(process.pid, m.WORKER)
        if worker:
            try:
                os.kill(worker, signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    assert process.poll() == 0, "ended with %s" % process.poll()
    reader.join()
    return kills, said[0]


def wrong(stacks):
    """The samples of our programs, and those that are neither main → middle → leaf nor main → clock, each
    with its number."""
    ours, bad = 0, []
    for frames, count in stacks:
        n = re.fullmatch(r"p(\d+)", frames[0])
        if not n:
            continue
        ours += count
        # frames after them belong to the leaf's system call, or to clock's
        if not re.search("main;(middle_{0};leaf_{0}|clock)(;|$)".format(n.group(1)), ";".join(frames)):
            bad.append((count, ";".join(frames)))
    return ours, bad


def kernel_names():
    """The names of the kernel's functions; none if kernel addresses are hidden."""
    try:
        with open("/proc/kallsyms") as f:
            return {line.split()[2] for line in f if int(line.split()[0], 16)}
    except OSError:
        return set()


def profile_is_whole_while_the_worker_dies():
    """a live profile has all samples and names, though the worker is killed all the time"""
    m.need_events()
    command = programs()
    kills, said = killed(PAUSE, "--no-cache", "-e", "cpu-clock", "-F", "499", "--call-graph", "auto", "-o",
                         m.path("k.folded"), "--fold", "raw", "--", *command)
    taken, lost = map(int, re.search(r"(\d+) samples, (\d+) lost", said).groups())
    stacks = m.folded(m.path("k.folded"))
    ours, bad = wrong(stacks)
    print("# %d kills, %d samples of %d, %d without their true end" %
          (kills, ours, taken, sum(c for c, _ in bad)))
    assert kills, "the worker was never found"
    assert not lost and sum(count for _, count in stacks) == taken, said
    assert len({frames[0] for frames, _ in stacks if re.fullmatch(r"p\d+", frames[0])}) == PROGRAMS
    # the first and last instructions of a program are in the dynamic loader and in exit
    assert sum(c for c, _ in bad) <= 0.05 * ours, bad[:20]
    assert not [b for b in bad if re.search(r"p\d+\+0x|not read yet", b[1])], bad[:20]
    names = kernel_names()
    if not names or os.geteuid():
        raise m.Skip("all but kernel names is checked: kernel addresses are hidden")
    kernels = [frames for frames, _ in stacks if names & set(frames)]
    nameless = [frames for frames, _ in stacks if any(f.startswith("[kernel]") for f in frames)]
    assert kernels and not nameless, "%d of %d: %s" % (len(nameless), len(kernels), nameless[:8])


def file_has_the_same_names():
    """a file gives the same text, however often the worker is killed"""
    m.need_events()
    m.flametop("-e", "cpu-clock", "-F", "499", "--call-graph", "auto", "-o", m.path("w.data"), "--", "sh",
               m.path("all.sh"))
    read = ["--no-cache", "-i", m.path("w.data"), "--no-inline", "--export", "folded", "-o"]
    m.flametop(*read, m.path("whole.folded"))
    with open(m.path("whole.folded")) as f:
        whole = f.read()
    # on a fast machine many runs end before their worker is found
    kills = runs = 0
    while kills < KILLS and runs < RUNS:
        runs += 1
        kills += killed(SHORT_PAUSE, *read, m.path("cut.folded"))[0]
        with open(m.path("cut.folded")) as f:
            others = sorted(set(f.read().split("\n")) ^ set(whole.split("\n")))
        assert not others, "after %d kills the names are others: %s" % (kills, others[:8])
    print("# %d kills in %d runs" % (kills, runs))
    assert kills


def without_devices():
    """names are read in a root without /dev/null"""
    m.need_events()
    m.need_root()
    hide = 'mount -t tmpfs nodev /dev && exec "$@"'
    load = m.start("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    got = m.ran("unshare", "-m", "--propagation", "private", "sh", "-c", hide, "sh", PROGRAM, "--no-cache",
                "-b", "-n", "1", "-d", "1", "-p", str(load.pid), timeout=2 * LIMIT)
    m.stop(load)
    if "mount:" in got.stderr or "unshare:" in got.stderr:
        raise Skip(got.stderr)
    assert re.search(r"\[kernel\] +[a-z_]", got.stdout) and not re.search(r"\[kernel\] 0x", got.stdout), got


HOSTILE = 6
STRANGER = 61234  # the owner of the files

SPIN = """
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static unsigned long %(name)s(unsigned long x)
{
    for (int i = 0; i < 2000000; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    return x + %(n)d;
}
int main(void)
{
    volatile unsigned long x = 42;
    for (;;) { x = %(name)s(x); if (%(rest)d) usleep(%(rest)d); }
}
"""


def spinner(name, n, rest, *flags):
    return m.compiled(name, SPIN % {"name": name, "n": n, "rest": rest}, "-O1", *flags)


def hostile_programs():
    """Programs with a 40 GB debug file each, to be identified by checksum: two minutes of work for the
    worker."""
    stripped = spinner("hostile", 0, 200000, "-Wl,--build-id=none")
    m.tool("objcopy", "--only-keep-debug", stripped, stripped + ".debug")
    m.tool("strip", stripped)
    for n in range(HOSTILE):
        program = m.path("hostile%d" % n)
        debug = shutil.copy(stripped + ".debug", program + ".debug")
        m.tool("objcopy", "--add-gnu-debuglink=" + debug, stripped, program)
        os.truncate(debug, 40 << 30)
        for file in (program, debug):
            os.chown(file, STRANGER, STRANGER)
        yield program


def files_of_one_user_keep_nobody_waiting():
    """one user's 6 slow files do not delay other names, and the doctor lists files given up and their
    owner"""
    m.need_events()
    m.need_root()
    m.need_tools("objcopy", package="binutils")
    os.chmod(m.path("."), 0o755)
    loads = [m.start(program, user=STRANGER, group=STRANGER, extra_groups=[])
             for program in hostile_programs()]
    other = spinner("victim_function", 0, 1000)
    with Screen(["--no-cache", "-e", "cpu-clock", "-F", "199"], size=(240, 50)) as s:
        s.wait(r"hostile\d+")
        began = time.monotonic()
        victim = m.start(other)
        s.wait(r"victim_function +victim|victim_f\S* .*victim_function")
        print("# the other program's name is there after %.1f s" % (time.monotonic() - began))
        m.stop(victim)  # it would take its CPU time from the worker
        s.send("8")
        s.wait(r"given up: reading it took more than .* of CPU time; the file is of user %d" % STRANGER,
               2 * LIMIT)
        print("# a file was given up after %.1f s" % (time.monotonic() - began))
        s.quit()
    for load in loads:
        m.stop(load)


run(profile_is_whole_while_the_worker_dies, file_has_the_same_names, without_devices,
    files_of_one_user_keep_nobody_waiting)
