# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests on real rings need: workloads, the program without a screen, perf beside it."""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ptyscreen import PROGRAM, SLOW, Skip  # noqa: F401

SOURCE = os.environ.get("FLAMETOP_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
WORK = tempfile.mkdtemp(prefix="flametop-test.")
os.chmod(WORK, 0o755)  # loads run as other users too
_started = []


def _clean():
    for process in _started:
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    shutil.rmtree(WORK, ignore_errors=True)


atexit.register(_clean)


def adopt(process):
    """Ends a process of ours with the test at the latest, with its group if it leads one."""
    _started.append(process)
    return process


def path(name):
    return os.path.join(WORK, name)


def build(name, *flags):
    """Compiles tests/live/NAME.c; without optimisation even leaf functions have a frame pointer."""
    out = path(name)
    subprocess.run(["cc", "-O0", "-g", *flags, "-o", out, os.path.join(SOURCE, "tests", "live", name + ".c")],
                   check=True)
    return out


def start(*argv, **more):
    """A workload in a process group of its own, ended with the test at the latest."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, **more)
    _started.append(process)
    time.sleep(0.2)
    return process


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def flametop(*args, check=True, timeout=60, env=None, **more):
    """Runs the program without a screen; (status, stdout, stderr)."""
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=timeout * SLOW,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **(env or {})), errors="replace", **more)
    if check and done.returncode:
        raise AssertionError("%s ended with %d: %s" % (args, done.returncode, done.stderr))
    return done.returncode, done.stdout, done.stderr


def need_perf():
    if not shutil.which("perf"):
        raise Skip("perf is not installed (apt-get install linux-perf)")


def need_root():
    if os.geteuid():
        raise Skip("needs root")


def need_events():
    """Skips when the kernel lets us sample nothing but ourselves."""
    status, _, why = flametop("--duration", "0.3", "-o", path("probe.folded"), check=False)
    if status and "no samples" not in why:
        raise Skip("the kernel refuses: " + why.strip())


def perf(*args):
    """perf's output; anything on its stderr is in the second string."""
    done = subprocess.run(["perf", *args], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr


def folded(file):
    """[(frames from root to leaf with the comm first, count)]"""
    out = []
    with open(file, errors="replace") as f:
        for line in f:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            out.append((stack.split(";"), int(count)))
    return out


def shares(stacks, comm=None):
    """Self and total share per function, of the stacks of a comm."""
    own, total, n = {}, {}, 0
    for frames, count in stacks:
        if comm and frames[0] != comm:
            continue
        n += count
        own[frames[-1]] = own.get(frames[-1], 0) + count
        for name in set(frames[1:]):
            total[name] = total.get(name, 0) + count
    return {k: v / n for k, v in own.items()}, {k: v / n for k, v in total.items()}, n


def rows(text):
    """Rows of a report: {function: [self, total, samples]}, summed over modules that have a function of that name."""
    found = {}
    for line in text.split("\n"):
        m = re.match(r"\s*([\d.]+)\s+([\d.]+)\s+([\d,]+)  (\S+)\s+(.+)$", line)
        if m:
            sums = found.setdefault(m.group(5), [0, 0, 0])
            for i, number in enumerate(m.groups()[:3]):
                sums[i] += float(number.replace(",", ""))
    return found


def near(what, got, wanted, tolerance):
    assert abs(got - wanted) <= tolerance, "%s is %.3f, not within %.3f of %.3f" % (what, got, tolerance, wanted)
