# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for tests on real rings: test loads, the program without a screen, and perf."""
import atexit
import concurrent.futures
import contextlib
import functools
import glob
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from ptyscreen import LIMIT, PROGRAM, Crash, Skip

SOURCE = os.environ.get("FLAMETOP_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
WORKER = "flametop-worker"  # the comm of the symbol worker, which runs while there are names to resolve
WORK = tempfile.mkdtemp(prefix="flametop-test.")
os.chmod(WORK, 0o755)  # loads also run as other users
_started = []


def _clean():
    for process in _started:
        if process.poll() is None:
            stop(process)
    shutil.rmtree(WORK, ignore_errors=True)


atexit.register(_clean)


def adopt(process):
    """Ends a child process with the test at the latest, with its group if it leads one."""
    _started.append(process)
    return process


def path(name):
    return os.path.join(WORK, name)


def write(name, content):
    """Writes text or bytes to a file of the work folder; returns its path."""
    with open(path(name), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path(name)


def ran(*argv, **more):
    """Runs a program to its end; returns its status, stdout and stderr as text."""
    return subprocess.run(argv, stdin=None if "input" in more else subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False, **more)


def tool(*argv, **more):
    """Runs a program that must not fail; returns what it prints."""
    done = ran(*argv, **more)
    assert not done.returncode, "%s ended with %d: %s" % (argv, done.returncode, done.stdout + done.stderr)
    return done.stdout


def build(name, *flags):
    """Compiles tests/live/NAME.c; without optimisation even leaf functions have a frame pointer."""
    tool("cc", "-O0", "-g", *flags, "-o", path(name), os.path.join(SOURCE, "tests", "live", name + ".c"))
    return path(name)


@functools.lru_cache(None)
def shape():
    """The load tests/live/shape.c, which runs as long as the test program and leaves CPU time to others."""
    return busy(build("shape"), "36000")


def compiled(name, text, *flags):
    """Compiles C text, written to NAME.c; returns the program's path."""
    tool("cc", *flags, "-o", path(name), write(name + ".c", text))
    return path(name)


def until(condition, what, seconds=LIMIT):
    """Waits until the condition holds and returns its value; fails after the time limit."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, "%s within %d seconds" % (what, seconds)
        time.sleep(0.05)


def comm(pid):
    try:
        with open("/proc/%d/comm" % pid, errors="replace") as f:
            return f.read().rstrip("\n")
    except OSError:
        return ""


def start(*argv, becomes=None, **more):
    """Starts a load in its own process group; it ends with the test at the latest. It runs when this returns;
    a load that executes another program is waited for until it has that comm."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True, **more)
    _started.append(process)
    if becomes:
        until(lambda: comm(process.pid) == becomes, "%s did not become %s" % (argv, becomes))
    return process


def started(*argv, stdin=subprocess.DEVNULL, **more):
    """A load in its own process group, once it has printed "ready"."""
    process = adopt(subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE, text=True,
                                     start_new_session=True, **more))
    assert process.stdout.readline() == "ready\n", "%s does not run" % (argv,)
    return process


def low_priority(process, nice=10):
    """A load in its own session (start, started) gets a tenth of the CPU time that others get who want it;
    with 19, a sixtieth."""
    os.setpriority(os.PRIO_PGRP, process.pid, nice)
    with contextlib.suppress(OSError):  # of kernels that share CPUs between sessions first
        write("/proc/%d/autogroup" % process.pid, str(nice))
    return process


def busy(*argv, **more):
    """Starts a load that computes all the time, and leaves CPU time to others."""
    return low_priority(start(*argv, **more))


def pythons():
    """("3.MINOR", path) of the interpreters whose frames are read: /usr/bin/python3 and FLAMETOP_PYTHONS."""
    for python in ["/usr/bin/python3"] + os.environ.get("FLAMETOP_PYTHONS", "").split(":"):
        if python and os.path.exists(python):
            version = ran(python, "-c", "import sys; print(sys.version_info[1])").stdout.strip()
            if version.isdigit() and 8 <= int(version) <= 13:
                yield "3." + version, python


def load_threads(*args, **more):
    """tests/live/threads.c, once all its threads wait."""
    return started(build("threads", "-pthread"), *args, **more)


def stat(pid, tid=None):
    """The fields of /proc/PID/stat, or of a thread's, from the state on."""
    with open("/proc/%d/task/%d/stat" % (pid, tid) if tid else "/proc/%d/stat" % pid, errors="replace") as f:
        return f.read().rsplit(")", 1)[1].split()


def cpu_seconds(pid, children=False):
    """The CPU time of a process; children: and of its children that have ended."""
    return sum(map(int, stat(pid)[11:15 if children else 13])) / os.sysconf("SC_CLK_TCK")


def computing():
    """A load that computes and makes no system calls, once it is past its start."""
    process = start(compiled("computing", "int main(void) { for (volatile long i = 0;; i++); }\n", "-O0"))
    until(lambda: cpu_seconds(process.pid) >= 0.05, "it does not compute")
    return process


def endless():
    """A program whose unwind table has an expression that jumps to itself (DW_OP_skip -3): reading its stack
    takes seconds."""
    return start(compiled("endless", """
#include <unistd.h>
int main(void)
{
    asm(".cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff");
    for (;;)
        pause();
}
""", "-O0"), becomes="endless")


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def flametop(*args, check=True, timeout=2 * LIMIT, env=None, **more):
    """Runs the program without a screen; returns (status, stdout, stderr)."""
    done = ran(PROGRAM, *args, timeout=timeout, env=dict(os.environ, **(env or {})), **more)
    if done.returncode < 0:
        raise Crash("%s died of signal %d: %s" % (args, -done.returncode, done.stderr))
    if check and done.returncode:
        raise AssertionError("%s ended with %d: %s" % (args, done.returncode, done.stderr))
    return done.returncode, done.stdout, done.stderr


def at_once(work, *cases):
    """The results of work(case), all at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        return list(pool.map(work, cases))


def children(pid):
    """The pids of the children of a process; of threads that end at this moment there may be none."""
    found = []
    with contextlib.suppress(OSError):
        for tid in os.listdir("/proc/%d/task" % pid):
            with contextlib.suppress(OSError), open("/proc/%d/task/%s/children" % (pid, tid)) as file:
                found += map(int, file.read().split())
    return found


def child_called(parent, name):
    """The pid of the child of a process that has this comm, or None."""
    return next((pid for pid in children(parent) if comm(pid) == name), None)


def watched(load, command, *others, **more):
    """Runs a load once several flametops sample it, so that all have the same to report: one with these
    options as its command, others with theirs as a process. Returns what is printed."""
    def run(stdin, *argv):
        return adopt(subprocess.Popen((PROGRAM, *argv), stdin=stdin, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, start_new_session=True, **more))
    tops = [run(subprocess.PIPE, *command, "--", "sh", "-c", 'read -r go; exec "$@"', "sh", *load)]
    pid = until(lambda: child_called(tops[0].pid, "sh"), "the load did not start")
    tops += [run(subprocess.DEVNULL, *options, "-p", str(pid)) for options in others]
    for top in tops:
        until(lambda pid=top.pid: is_sampling(pid), "flametop did not open its events")
    said = [top.communicate("go\n" if top is tops[0] else None, timeout=2 * LIMIT)[0] for top in tops]
    for top, text in zip(tops, said):
        assert not top.returncode, (top.args, text)
    return "".join(said)


def export(file, form, *more, **how):
    """What the program writes of a file in this format."""
    return flametop("-i", file, "--export", form, "-o", "-", *more, **how)[1]


def sampled(pid, form, *options, seconds=2, rate=499):
    """What the program writes of a running process in this format."""
    return flametop("-p", str(pid), "-F", str(rate), "--duration", str(seconds), "--export", form, "-o", "-",
                    *options)[1]


def has_open(pid, name):
    """Whether a process has a file open whose name contains this."""
    try:
        folder = "/proc/%d/fd" % pid
        return any(name in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder))
    except OSError:
        return False


def has_events(pid):
    return has_open(pid, "[perf_event]")


def is_sampling(pid):
    """Whether the events of a flametop run: before, it counts with other events, and has one thread."""
    return has_events(pid) and len(glob.glob("/proc/%d/task/*" % pid)) > 1


def record(file, *args, comm, samples):
    """Samples until a comm has this many samples: a busy machine may give it few. Stacks as from folded()."""
    for seconds in (1.5, 4, 16, 64):
        flametop(*args, "--duration", str(seconds), "-o", path(file))
        stacks = folded(path(file))
        n = sum(count for frames, count in stacks if frames[0] == comm)
        if n >= samples:
            return stacks
    raise AssertionError("%s had only %d samples in %d seconds" % (comm, n, seconds))


@functools.lru_cache(None)
def has(library):
    """Whether this build of the program has the optional library."""
    return re.search(r"^ *\+%s\b" % re.escape(library), flametop("--version")[1], re.M) is not None


def need_inih():
    if not has("inih"):
        raise Skip("built without inih: no config files")


def need_tools(*names, package=""):
    for name in names:
        if not shutil.which(name):
            raise Skip("%s is not installed%s" % (name, " (apt-get install %s)" % package if package else ""))


def need_perf():
    need_tools("perf", package="linux-perf")


def need_x86_64():
    if os.uname().machine != "x86_64":
        raise Skip("the test program is for x86-64")


def need_32_bits():
    """gcc -m32 makes programs, and the kernel runs them."""
    if ran("gcc", "-m32", "-static", "-o", path("bits32"), "-xc", "-",
           input="int main(void) { return 0; }").returncode:
        raise Skip("gcc cannot make 32-bit programs (apt-get install gcc-multilib)")
    try:
        subprocess.run([path("bits32")], check=True)
    except OSError as why:
        raise Skip("the kernel runs no 32-bit programs: %s" % why)


def need_root():
    if os.geteuid():
        raise Skip("needs root")


@functools.lru_cache(None)
def refusal():
    """The kernel's message if it only permits sampling our own processes."""
    status, _, why = flametop("--duration", "0.1", "--call-graph", "none", "-o", path("probe.folded"),
                              check=False)
    return why.strip() if status and "no samples" not in why else ""


def need_events():
    if refusal():
        raise Skip("the kernel refuses: " + refusal())


def lacks_tracepoints():
    return bool(refusal()) or os.geteuid() != 0


@contextlib.contextmanager
def cgroups(*names):
    """Creates these cgroups below the root, and yields their folders. Their processes must have ended at the
    end."""
    root = next((p for p in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
                 if os.path.exists(p + "/cgroup.procs")), None)
    if not root:
        raise Skip("no cgroups are mounted here")
    folders = []
    try:
        for name in names:
            try:
                os.mkdir("%s/%s" % (root, name))
            except OSError as error:
                raise Skip("cannot create a cgroup: %s" % error) from error
            folders.append("%s/%s" % (root, name))
        yield folders
    finally:
        for folder in reversed(folders):
            until(lambda f=folder: not open(f + "/cgroup.procs").read(), "the cgroup did not become empty")
            os.rmdir(folder)


def need_tracepoints(what="stacks of waits"):
    need_events()
    if lacks_tracepoints():
        raise Skip(what + " need root: the tracepoint sched:sched_switch")


def perf(*args, env=None, **more):
    """perf's output, and its stderr as the second string."""
    done = ran("perf", *args, env=dict(os.environ, **(env or {})), **more)
    return done.stdout, done.stderr


# without records of BPF programs: perf ends with the thread that reads them, which sleeps for up to a second
RECORD = ("record", "-q", "--no-bpf-event")


def perf_record(name, *args, **more):
    """Records with perf into a file, and returns its path; skips the test if perf cannot do that here."""
    done = ran("perf", *RECORD, "-o", path(name), *args, **more)
    if done.returncode:
        raise Skip("perf cannot record: " + done.stderr.strip().split("\n")[-1])
    return path(name)


@contextlib.contextmanager
def seen_everywhere():
    """Keeps all CPUs busy, for tests that count what interrupts tell: on a VM with Linux 6.18, ftrace saw all
    wakeups by timers that interrupted the idle CPUs 0 and 1, perf only those of CPU 0. Which CPUs these are
    is not seen while other programs keep them busy."""
    need_tools("taskset")
    spin = "sh", "-c", "while :; do :; done"
    busy = [low_priority(start("taskset", "-c", str(cpu), *spin, becomes="sh"), 19)
            for cpu in sorted(os.sched_getaffinity(0))]
    try:
        yield
    finally:
        for process in busy:
            stop(process)


def stacks_of(text):
    """[(frames from root to leaf with the comm first, count)] of folded stacks"""
    return [(stack.split(";"), int(count))
            for stack, count in (line.rsplit(" ", 1) for line in text.splitlines())]


def folded(file):
    """Those of a file."""
    with open(file, errors="replace") as f:
        return stacks_of(f.read())


def by_function(stacks):
    """Of tests/live/waits.c: the sum of each function f1 to f5, and the reasons on top of it."""
    sums, reasons = {}, {}
    for frames, us in stacks:
        for frame in {f for f in frames if re.fullmatch(r"f\d", f)}:
            sums[frame] = sums.get(frame, 0) + us
            reasons.setdefault(frame, set()).add(frames[-1])
    return sums, reasons


def shares(stacks, comm=None):
    """Self and total share per function, in the stacks of a comm."""
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
    """Rows of a report: {function: [self, total, samples]}, summed over modules with this function."""
    found = {}
    for line in text.split("\n"):
        m = re.match(r"\s*([\d.]+)\s+([\d.]+)\s+([\d,]+)  (\S+)\s+(.+)$", line)
        if m:
            sums = found.setdefault(m.group(5), [0, 0, 0])
            for i, number in enumerate(m.groups()[:3]):
                sums[i] += float(number.replace(",", ""))
    return found


def tolerance(share, *samples, margin=0.02):
    """How far a share of this many samples may be off by chance; with two numbers of samples, how far two
    shares may differ. Functions found more than once in a sample have a share above one, which is as certain
    as one."""
    share = min(share, 1)
    return 5 * math.sqrt(sum(share * (1 - share) / n for n in samples)) + margin


def near(what, got, wanted, *samples, margin=0.02):
    """Checks that a share of this many samples is the expected one; with two numbers of samples, that two
    shares agree. Allows five standard deviations, and a margin for systematic effects: interrupts, frames
    that are not set up yet."""
    assert samples and min(samples) > 1, "%s is out of %s samples" % (what, samples)
    off = tolerance(wanted, *samples, margin=margin)
    assert abs(got - wanted) <= off, "%s is %.3f, not within %.3f of %.3f" % (what, got, off, wanted)
