# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs flametop and perf at the same time on an endless program, until both have enough samples of it."""
import os
import random
import re
import select
import signal
import subprocess
import time

import machine as m
import zoo
from ptyscreen import PROGRAM, SLOW

# The outermost kernel function of a thread that entered the kernel.
KERNEL_ENTRY = re.compile("(asm_(sysvec|exc|common)|entry_(SYSCALL|SYSENTER|INT80)|ret_from_fork)")
# perf keeps copies of files in the home folder, and finds there files that exist only in the target's
# namespace
HOME = {"HOME": m.path("home")}
os.mkdir(HOME["HOME"])


class Target:
    """A program of the zoo: it has printed "ready", and runs until it is stopped."""

    def __init__(self, *argv, ready=150, **more):
        # node writes a log into its working folder
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        start_new_session=True, cwd=m.WORK, **more)
        m.adopt(self.process)
        readable, _, _ = select.select([self.process.stdout], [], [], ready * SLOW)
        line = self.process.stdout.readline() if readable else b""
        assert line == b"ready\n", "%s did not begin: %r, status %s" % (argv, line, self.process.poll())
        self.pid = self._who_works(self.process.pid)

    @staticmethod
    def _who_works(pid):
        """The last process of a chain of only children: the program below unshare or a shell."""
        while True:
            children = m.children(pid)
            if len(children) != 1:
                return pid
            pid = children[0]

    def threads(self):
        return len(os.listdir("/proc/%d/task" % self.pid))

    def stop(self):
        m.stop(self.process)
        self.process.stdout.close()


def _wait(what, condition, limit, pause=0.02):
    end = time.monotonic() + limit * SLOW
    while not condition():
        assert time.monotonic() < end, "waited %d s for %s" % (limit * SLOW, what)
        time.sleep(pause)


def waits_for_samples(pid):
    """Whether perf has opened its events and sleeps."""
    try:
        return m.stat(pid)[0] == "S" and m.has_events(pid)
    except OSError:
        return False


def _started(command):
    """Starts a profiler and returns it once it samples. perf, which opens its events one by one and then
    waits for their samples, fails if a thread of the target ends meanwhile, as happens with 48 short threads
    on a slow machine: it is started again."""
    for _ in range(20):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True, env=dict(os.environ, **HOME))
        m.adopt(process)
        samples = waits_for_samples if command[0] == "perf" else m.is_sampling
        _wait("%s to begin" % command[0], lambda p=process: p.poll() is not None or samples(p.pid), 60)
        if command[0] != "perf" or process.poll() is None:
            return process
        why = process.communicate()[1]
    raise AssertionError("%s ends at once: %s" % (command, why))


def use_cpu(target, seconds):
    begun = m.cpu_seconds(target.pid)
    _wait("%g s of CPU time" % seconds, lambda: m.cpu_seconds(target.pid) >= begun + seconds, 150)


def stop_often(target, stops):
    """Stops the target for a moment, wherever it is, again and again: about `stops` stops of threads. Returns
    the longest moment in seconds, of all threads together."""
    threads = target.threads()
    # after shorter stops of all the threads of a Java VM, auto does not always copy whole stacks
    pause = 0.001 if threads == 1 else 0.02
    longest = 0
    for _ in range(max(stops // 6, stops // threads)):
        begun = time.monotonic()
        os.kill(target.pid, signal.SIGSTOP)
        try:
            _wait("the target to stop", lambda: m.stat(target.pid)[0] == "T", 20, pause)
            stopped = target.threads()
            time.sleep(0.001)
        finally:
            os.kill(target.pid, signal.SIGCONT)
        longest = max(longest, (time.monotonic() - begun) * stopped)
        time.sleep(random.uniform(0.001, 0.003) * threads)
    return longest


def record(target, cpu_seconds, *commands):
    """Runs profilers until the target has used this CPU time under all of them. Returns their output."""
    return record_while(lambda: use_cpu(target, cpu_seconds), *commands)[0]


def record_while(work, *commands):
    """Runs profilers while work() runs. Returns their output, and the result of work()."""
    running = []
    try:
        for command in commands:
            running.append(_started(command))
        result = work()
    finally:
        said = []
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in running:
            try:
                said.append(process.communicate(timeout=60 * SLOW)[1])
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise
    for process, why in zip(running, said):
        # perf ends with the signal sent to it
        assert process.returncode in (0, -signal.SIGINT, 128 + signal.SIGINT), \
            "%s ended with %s: %s" % (process.args, process.returncode, why)
    return said, result


def stacks(target, options, folded, perf_data=None, perf_options=(), cpu_seconds=0.6, rate=999):
    """Profiles the target into a file of folded stacks, and at the same time with perf into another file."""
    commands = [[PROGRAM, "-F", str(rate), *options, "-p", str(target.pid), "--duration", "100", "--fold",
                 "raw", "-o", folded]]
    if perf_data:
        commands.append(["perf", *m.RECORD, "-F", str(rate), *perf_options, "-p", str(target.pid),
                         "-o", perf_data])
    record(target, cpu_seconds, *commands)
    return frames_of(m.folded(folded))


def stopped_stacks(target, options, folded, stops=300):
    """{comm: user stacks of the moments when a thread was stopped, weighted with microseconds}"""
    _, longest = record_while(lambda: stop_often(target, stops),
                              [PROGRAM, "--off-cpu", *options, "-p", str(target.pid), "--duration", "100",
                               "--fold", "raw", "-o", folded])
    found, unknown = {}, 0
    for (comm, *frames), count in m.folded(folded):
        if frames[-1] == "[wait: stopped]":
            kernel = [i for i, frame in enumerate(frames) if KERNEL_ENTRY.match(frame)]
            if kernel:
                found.setdefault(comm, []).append((frames[:kernel[0]], count))
            else:
                unknown += count
    # only of threads that were stopped when flametop began to sample
    assert unknown <= 1e6 * longest, "%d us of waits have no stack, one stop takes %g s" % (unknown, longest)
    return found


def frames_of(folded):
    """The frames without the comm, which each stack begins with."""
    return [(frames[1:], count) for frames, count in folded]


def as_perf_reads(perf_data, inlines=False, named=None):
    text, _ = m.perf("script", "-i", perf_data, "-F", "comm,tid,ip,sym,dso",
                     *([] if inlines else ["--no-inline"]), env=HOME)
    return zoo.perf_stacks(text, named)


def as_flametop_reads(perf_data):
    out = perf_data + ".folded"
    m.flametop("-i", perf_data, "--idle", "--fold", "raw", "-o", out, env=HOME)
    return frames_of(m.folded(out))
