#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--threads: the stacks of gdb, and no process remains stopped."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import machine as m
import zoo
from ptyscreen import PROGRAM, Skip, run

STRANGER = 4321
FRAMES = 192  # of an interpreter, at most
ROW = re.compile(r"^(?:thread (\d+) (.*?)|(\d+) threads), (.*)$")
STOPPED = "Tt"


def rows_of(text):
    """[{threads, title, and the lines by label}]"""
    rows, label = [], None
    for line in text.split("\n"):
        if found := ROW.match(line):
            rows.append({"tid": found.group(1), "n": int(found.group(3) or 1), "title": found.group(4)})
        elif rows and line.startswith("  "):
            label = line[2:11].strip() or label
            rows[-1].setdefault(label, []).append(line[11:])
    return rows


def threads(pid, *args, **more):
    return m.flametop("--threads", "-p", str(pid), *args, **more)[1]


def names(row):
    return [line.split("  ")[0].strip() for line in row.get("user", [])
            if not line.startswith(("[the rest", "[of a later moment"))]


def path(row):
    """The stack from its root; zoo.Verdict counts the mark of one that does not reach it."""
    cut = any(line.startswith("[the rest") for line in row.get("user", []))
    return ["[truncated]"] * cut + names(row)[::-1]


def state(pid, tid=None):
    return m.stat(pid, tid)[0]


def nothing_is_stopped(pid):
    left = [tid for tid in os.listdir("/proc/%d/task" % pid) if state(pid, int(tid)) in STOPPED]
    assert not left, left
    with open("/proc/%d/status" % pid) as file:
        assert "TracerPid:\t0\n" in file.read()


def gdb_stacks(pid):
    """{tid: names, innermost first}: the functions with a frame of their own."""
    m.need_tools("gdb", package="gdb")
    text = m.ran("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "thread apply all bt",
                 "-p", str(pid)).stdout
    found, at = {}, None
    for line in text.split("\n"):
        if start := re.match(r"Thread \d+ \(.*LWP (\d+)\)", line):
            at = found.setdefault(start.group(1), [])
        elif frame := re.match(r"#\d+ +(?:0x([0-9a-f]+) in )?([^ (]+)", line):
            at.append((frame.group(1), frame.group(2)))
    return found


def alike(a, b):
    """libc has several names for one function: __pthread_x, ___pthread_x, __GI___x, x@@GLIBC."""
    return plain(a) == plain(b)


def plain(name):
    return re.sub(r"^_*(GI_+)?(libc_|_)*|@.*|\.constprop.*|64$", "", name)


def is_gdbs(stack, gdb):
    """Whether all functions of gdb that have a frame are in the stack, in order. gdb also lists inlined
    functions, which have no address of their own: line 0, or the one before it."""
    own = [name for _, name in gdb]
    at = 0
    for name in stack:
        nearest = [i for i in range(at, len(own)) if alike(own[i], name)]
        if nearest:
            at = nearest[0] + 1
    return at == len(own), own


def deadlock():
    """a deadlocked program has gdb's stacks: both threads, the locks, and since when"""
    process = m.load_threads("deadlock")
    started = time.monotonic()
    time.sleep(1)
    rows = rows_of(threads(process.pid))
    waited = time.monotonic() - started
    nothing_is_stopped(process.pid)
    assert len(rows) == 3, rows
    locks, tids = set(), {row["tid"] for row in rows} - {str(process.pid)}
    for row in rows:
        stack = names(row)
        if row["tid"] == str(process.pid):
            assert stack[-1] == "_start" and "main" in stack, row
            continue
        assert stack[-4] == "lock_other" and stack[-3] in ("first_then_second", "second_then_first"), row
        assert ": futex" in row["title"], row
        holder = re.fullmatch(r"futex\(0x[0-9a-f]+, held by (\d+)\)", row["call"][0]).group(1)
        assert holder in tids and holder != row["tid"], (holder, tids)
        locks.add(row["call"][0])
        since = float(re.search(r"for ([\d.]+) s", row["title"]).group(1))
        assert 0.9 <= since <= waited + 1.5, (since, waited)
    assert len(locks) == 2, locks
    if os.geteuid() == 0:
        assert any("futex" in name for name in rows[0]["kernel"]), rows[0]
    gdb = gdb_stacks(process.pid)
    for row in rows:
        same, wanted = is_gdbs(names(row) + ["start"], [f for f in gdb[row["tid"]] if f[1] in
                                                        ("main", "lock_other", "first_then_second", "clone3",
                                                         "second_then_first", "start_thread")])
        assert same, (row, wanted)
    m.stop(process)


def thousand_threads():
    """1,000 threads with equal stacks are one row; the stops are short"""
    process = m.load_threads("many", "1000")
    text = threads(process.pid)
    rows = rows_of(text)
    nothing_is_stopped(process.pid)
    assert [row["n"] for row in rows if "wait_for_work" in names(row)] == [1000], text
    found = re.search(r"1001 stopped, one at a time, for ([\d.]+) ms at most and ([\d.]+) ms in all", text)
    assert found and float(found.group(2)) < 3000, text
    assert max(map(len, text.split("\n"))) <= 110, text
    gdb = gdb_stacks(process.pid)
    assert len(gdb) == 1001 and sum("wait_for_work" in [name for _, name in stack]
                                    for stack in gdb.values()) == 1000
    m.stop(process)


def busy_cpus():
    """where all CPUs are busy, all threads are stopped, and each for a moment only"""
    m.need_root()
    rivals = [m.start("sh", "-c", "while :; do :; done") for _ in range(3 * os.cpu_count())]
    process = m.load_threads("many", "200")
    text = threads(process.pid)
    nothing_is_stopped(process.pid)
    found = re.search(r"201 stopped, one at a time, for ([\d.]+) ms at most and ([\d.]+) ms in all", text)
    assert found and float(found.group(1)) < 10 and float(found.group(2)) < 201, text
    for load in [process] + rivals:
        m.stop(load)


def killed_in_the_middle():
    """SIGKILL of flametop at any moment leaves the process running"""
    process = m.load_threads("count", "200")
    for step in range(12):
        flametop = subprocess.Popen((PROGRAM, "--threads", "-p", str(process.pid)),
                                    stdout=subprocess.DEVNULL)
        time.sleep(0.01 * step)
        flametop.send_signal(signal.SIGKILL)
        flametop.wait()
        m.until(lambda: "TracerPid:\t0\n" in open("/proc/%d/status" % process.pid).read(), "still traced")
        m.until(lambda: not any(state(process.pid, int(tid)) in STOPPED
                                for tid in os.listdir("/proc/%d/task" % process.pid)), "still stopped")
    before = process.stdout.readline()
    for _ in range(20):
        after = process.stdout.readline()
    assert int(after) == int(before) + 20
    m.stop(process)


def stopped_process():
    """a stopped process stays stopped, and its stacks are listed"""
    process = m.load_threads("many", "2")
    os.kill(process.pid, signal.SIGSTOP)
    m.until(lambda: state(process.pid) == "T", "not stopped")
    rows = rows_of(threads(process.pid))
    assert all("stopped" in row["title"] for row in rows) and any("main" in names(row) for row in rows), rows
    m.until(lambda: state(process.pid) == "T", "not stopped any more")
    busy = m.computing()
    os.kill(busy.pid, signal.SIGSTOP)
    m.until(lambda: state(busy.pid) == "T", "not stopped")
    row = rows_of(threads(busy.pid))[0]
    assert row["call"] == ["none: stopped in user space"], row
    m.stop(busy)
    os.kill(process.pid, signal.SIGCONT)
    m.until(lambda: state(process.pid) == "S", "not continued")
    m.stop(process)


def signal_handler():
    """the stack of a signal handler goes on through the interrupted function"""
    process = m.load_threads("signal")
    rows = m.until(lambda: [row for row in rows_of(threads(process.pid)) if "on_signal" in names(row)],
                   "no handler")
    stack = names(rows[0])
    assert stack.index("on_signal") < stack.index("main") < stack.index("_start"), stack
    assert not any("+0x" in name for name in stack), stack
    m.stop(process)


def blocked_thread():
    """a thread that is blocked in the kernel comes first, is not stopped, and gets a sentence"""
    process = m.load_threads("blocked")
    m.until(lambda: state(process.pid) == "D", "not blocked")
    text = threads(process.pid)
    rows = rows_of(text)
    assert "1 thread is blocked in the kernel and could not be stopped: no user stack." in text, text
    assert rows[0]["tid"] == str(process.pid) and rows[0]["title"].startswith("blocked for"), text
    assert "user" not in rows[0] and "wait_for_work" in names(rows[1]), text
    if os.geteuid() == 0:
        assert "child process" in rows[0]["title"], text
    m.stop(process)


def first_thread_has_ended():
    """a process whose first thread has ended shows the other threads"""
    process = m.load_threads("leaderless")
    m.until(lambda: state(process.pid) == "Z", "the first thread runs on")
    rows = rows_of(threads(process.pid))
    assert any("wait_for_work" in names(row) for row in rows), rows
    m.stop(process)


def zombie():
    """a zombie gets a sentence"""
    process = subprocess.Popen(("true",))
    m.until(lambda: state(process.pid) == "Z", "no zombie")
    assert "The process is a zombie" in threads(process.pid)
    process.wait()


def traced_process():
    """a process that is traced already gets a sentence and its kernel side"""
    m.need_tools("strace", package="strace")
    process = m.load_threads("many", "1")
    tracer = m.start("strace", "-p", str(process.pid), "-o", "/dev/null")
    m.until(lambda: "TracerPid:\t0\n" not in open("/proc/%d/status" % process.pid).read(), "not traced")
    text = threads(process.pid)
    assert re.search(r"Process \d+ \(strace\) traces it", text), text
    assert len(rows_of(text)) == 2, text
    m.stop(tracer)
    m.stop(process)


def other_user():
    """without the right to trace there is a sentence, and the states are listed"""
    m.need_root()
    process = m.load_threads("many", "1")
    text = m.ran(PROGRAM, "--threads", "-p", str(process.pid), user=STRANGER, group=STRANGER,
                 extra_groups=[]).stdout
    assert "Run as the process's user or as root" in text or "ptrace_scope" in text, text
    assert len(rows_of(text)) >= 1 and "sleeping" in text, text
    m.stop(process)


def strangers_process():
    """root sees the stacks of another user's process, and that user does, without any rights"""
    m.need_root()
    user = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
    process = m.load_threads("many", "1", **user)
    for how in {}, user:
        text = threads(process.pid, "--no-cache", **how)
        assert any("wait_for_work" in names(row) for row in rows_of(text)), text
    assert "Kernel stacks are readable by root only." in text, text
    assert [row for row in rows_of(text) if ": futex" in row["title"]], text
    m.stop(process)


def hostile_names():
    """names of a process cannot control the terminal"""
    process = m.start("sh", "-c", "printf '\\033[31m\\n' >/proc/self/comm; sleep 1000 & wait")
    m.until(lambda: m.comm(process.pid).startswith("\033"), "no such name")
    assert "\033" not in threads(process.pid)
    m.stop(process)


def hostile_table():
    """an unwind table that loops costs the stacks and some seconds, not the process"""
    process = m.endless()
    m.until(lambda: state(process.pid) == "S", "does not sleep")
    started = time.monotonic()
    text = threads(process.pid)
    assert time.monotonic() - started < 30
    nothing_is_stopped(process.pid)
    assert "User stacks are missing: unwinding was given up" in text, text
    assert len(rows_of(text)) == 1 and "sleeping" in text, text
    m.stop(process)


def sockets():
    """a call on a socket names its address"""
    server = m.start("python3", "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); "
                     "s.listen(); s.accept()")
    m.until(lambda: "accept4(" in threads(server.pid), "does not accept")
    assert re.search(r"accept4\(\d+ socket:\[\d+\] tcp 127\.0\.0\.1:\d+ listening\)", threads(server.pid))
    m.stop(server)


def reasons():
    """threads that wait for descriptors of several kinds have the reasons of these"""
    waits = {"poll or epoll": "os.eventfd_read(os.eventfd(0))", "child process": "os.waitpid(child, 0)",
             "accept": "unix.accept()", "socket": "pair[0].recv(1)", "pipe": "os.read(pipe, 1)",
             "signal": "signal.sigwait([signal.SIGUSR1])", "timer": "libc.read(timer, buffer, 8)"}
    process = m.start("/usr/bin/python3", "-c", """
import ctypes, os, signal, socket, threading
libc, buffer, pipe = ctypes.CDLL(None), ctypes.create_string_buffer(8), os.pipe()[0]
timer, pair = libc.timerfd_create(1, 0), socket.socketpair()
unix = socket.socket(socket.AF_UNIX)
unix.bind(""), unix.listen()
child = os.fork() or signal.pause()
def wait_for(code, name):
    libc.prctl(15, name.encode())
    eval(code)
for reason, code in %r.items():
    threading.Thread(target=wait_for, args=(code, reason), daemon=True).start()
threading.Event().wait()
""" % waits)

    def found():
        rows = json.loads(m.flametop("--threads=json", "-p", str(process.pid))[1])[0]["rows"]
        return {t["comm"]: row.get("reason") for row in rows for t in row["threads"]}
    m.until(lambda: all(found().get(reason) == reason for reason in waits), "the reasons are not %s" % waits)
    call = next(row["call"][0] for row in rows_of(threads(process.pid)) if "child process" in row["title"])
    child = int(re.fullmatch(r"wait4\(pid (\d+)\)", call).group(1))
    text = threads(child)
    assert rows_of(text)[0]["call"] == ["pause()"], text
    m.stop(process)


def running():
    """a thread that runs has no reason to wait"""
    process = m.computing()
    row = json.loads(m.flametop("--threads=json", "-p", str(process.pid))[1])[0]["rows"][0]
    assert row["state"] == "R" and "reason" not in row, row
    m.stop(process)


def frozen_cgroup():
    """a process of a frozen cgroup is stopped: it does not wait for a CPU"""
    with m.cgroups("flametop-frozen") as (folder,):
        if not os.path.exists(folder + "/cgroup.freeze"):
            raise Skip("no cgroup v2 is mounted here")
        process = m.load_threads("many", "1")
        with open(folder + "/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(process.pid))
        with open(folder + "/cgroup.freeze", "w", encoding="ascii") as file:
            file.write("1")
        m.until(lambda: "frozen 1" in open(folder + "/cgroup.events", encoding="ascii").read(), "not frozen")
        try:
            titles = [row["title"] for row in rows_of(threads(process.pid))]
            assert titles and all(title.endswith(": stopped") for title in titles), titles
            if not m.lacks_tracepoints():
                options = "--off-cpu", "-p", str(process.pid), "--duration", "1"
                waits = m.flametop(*options, "--view", "waits")[1]
                assert " stopped " in waits and " run queue " not in waits, waits
        finally:
            with open(folder + "/cgroup.freeze", "w", encoding="ascii") as file:
                file.write("0")
        m.stop(process)


def several_processes():
    """-p takes several processes; --threads needs one"""
    a, b = m.load_threads("many", "1"), m.load_threads("many", "1")
    text = threads("%d,%d" % (a.pid, b.pid))
    assert "process %d" % a.pid in text and "process %d" % b.pid in text, text
    status, _, said = m.flametop("--threads", check=False)
    assert status and "-p PID is needed" in said, said
    m.stop(a)
    m.stop(b)


def as_json():
    """--threads=json has all threads with their calls, stacks and addresses"""
    a, b = m.load_threads("many", "20"), m.load_threads("blocked")
    m.until(lambda: state(b.pid) == "D", "not blocked")
    status, text, _ = m.flametop("--threads=json", "-p", "%d,%d" % (a.pid, b.pid))
    nothing_is_stopped(a.pid)
    first, second = json.loads(text)
    assert first["pid"] == a.pid and first["comm"] == "threads" and first["stopped"]["threads"] == 21, first
    assert 0 < first["stopped"]["longest_ns"] <= first["stopped"]["total_ns"]
    row = first["rows"][0]
    assert row["state"] == "S" and row["reason"] == "futex" and len(row["threads"]) == 20, row
    assert {str(t["tid"]) for r in first["rows"] for t in r["threads"]} == set(
        os.listdir("/proc/%d/task" % a.pid))
    assert "wait_for_work" in [f["name"] for f in row["user"] if f["address"] and f["module"] == "threads"]
    calls = [t["call"] for t in row["threads"]]
    assert all(call["name"] == "futex" and call["arguments"][0] and len(call["arguments"]) == 6
               for call in calls), calls
    assert all(t["since_ns"] > 0 for t in row["threads"])
    assert second["rows"][0]["state"] == "D" and "user" not in second["rows"][0], second
    assert "1 thread is blocked in the kernel and could not be stopped: no user stack." in second["notes"]
    m.stop(a)
    m.stop(b)


def two_moments():
    """the user stack of a thread that has run since its kernel stack was read says so"""
    process = m.load_threads("restless", "20")

    def rows():
        text = m.flametop("--threads=json", "-p", str(process.pid))[1]
        return [row for row in json.loads(text)[0]["rows"]
                if row["state"] == "S" and row.get("user") and row["threads"][0].get("call")]

    def moved(row):
        leaf = row["user"][0]["name"]
        return row["threads"][0]["call"].get("name") != "pause" and "nanosleep" not in leaf

    def both():
        found = rows()
        for row in found:
            assert not moved(row) or row.get("user_is_later"), row
        return any(map(moved, found)) and any("user_is_later" not in row for row in found)

    m.until(both, "no thread runs between its two stacks")
    m.until(lambda: "[of a later moment: the thread has run since" in threads(process.pid), "no sentence")
    m.stop(process)


def java():
    """threads of a Java VM have gdb's stacks, up to generated code, which ends them with a sentence"""
    m.need_tools("javac", "java", package="openjdk-17-jdk-headless")
    m.write("Locked.java", """public class Locked {
    static synchronized void locked() throws Exception { Thread.sleep(1000000); }
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 2; i++)
            new Thread(() -> { try { locked(); } catch (Exception e) { } }, "lock-" + i).start();
        System.out.println("ready");
        Thread.sleep(1000000);
    }
}
""")
    m.tool("javac", "-d", m.path(""), m.path("Locked.java"))
    process = m.started("java", "-Xmx64m", "-cp", m.path(""), "Locked")
    text = threads(process.pid)
    nothing_is_stopped(process.pid)
    rows = rows_of(text)
    assert any("code that a JIT generated" in line for row in rows for line in row.get("user", [])), text
    assert sum(row["n"] for row in rows) == len(os.listdir("/proc/%d/task" % process.pid)), text
    gdb = gdb_stacks(process.pid)
    compared = 0
    for row in rows:
        if row["tid"] not in gdb or any("JIT" in line for line in row["user"]):
            continue
        depth = [name for _, name in gdb[row["tid"]]
                 if name in ("start_thread", "clone3", "main", "JLI_Launch")]
        assert is_gdbs(names(row), [(None, name) for name in depth])[0], (row, gdb[row["tid"]])
        compared += 1
    assert compared >= 5, text
    m.stop(process)


# prints the true stacks of its threads, once all but the one that reports wait
PYTHON = """
import json, os, sys, threading, time
held = threading.Lock()
held.acquire()
def take(): held.acquire()
def receive(fd): os.read(fd, 1)
def serve(fd): receive(fd)
def deep(n): return deep(n - 1) if n else take()
def pause(_): time.sleep(36000)
def work(): return sorted([1], key=pause)
def of(frame):
    while frame:
        code = frame.f_code
        yield "%s (%s:%d)" % (code.co_name, os.path.basename(code.co_filename), frame.f_lineno)
        frame = frame.f_back
def stacks():
    frames = sys._current_frames()
    return {t.native_id: list(of(frames[t.ident])) for t in threading.enumerate() if t.name != "reports"}
def report():
    before, now = None, stacks()
    while before != now or not now[os.getpid()][0].startswith("pause"):
        time.sleep(0.2)
        before, now = now, stacks()
    print("ready", flush=True)
    print(json.dumps(now), flush=True)
for function, argument in (take, ()), (serve, os.pipe()[:1]), (deep, (400,)):
    threading.Thread(target=function, args=argument).start()
threading.Thread(target=report, name="reports").start()
work()
"""


def check_python(version, program):
    process = m.started(program, m.write("waits.py", PYTHON))
    truth = json.loads(process.stdout.readline())
    m.until(lambda: len(os.listdir("/proc/%d/task" % process.pid)) == len(truth), "its last thread runs on")
    rows = {row["tid"]: names(row) for row in rows_of(threads(process.pid))}
    without = threads(process.pid, "--no-interpreted")
    in_json = json.loads(m.flametop("--threads=json", "-p", str(process.pid))[1])[0]["rows"]
    listed = {str(t["tid"]): [f["name"] for f in row["user"]] for row in in_json for t in row["threads"]}
    nothing_is_stopped(process.pid)
    m.stop(process)
    assert "_PyEval_EvalFrame" in without and "waits.py" not in without, (version, without)
    assert rows.keys() == truth.keys() and listed == rows, (version, rows, truth, listed)
    for tid, wanted in truth.items():
        found = [name for name in rows[tid] if name.endswith(")")]
        assert found == wanted[:FRAMES], (version, found, wanted)
        assert ("[Python frame not read]" in rows[tid]) == (len(wanted) > FRAMES), (version, rows[tid])
        assert not any("_PyEval_EvalFrame" in name for name in rows[tid]), (version, rows[tid])
    slept, (pause, work, *_) = rows[str(process.pid)], truth[str(process.pid)]
    assert slept.index(pause) + 1 < slept.index(work), slept  # sorted() is between them


def python():
    """threads of a Python program have its functions in place of the interpreter's"""
    for version, program in m.pythons():
        check_python(version, program)


def go():
    """threads of a Go program have all their functions, also the callers of functions without a frame"""
    m.need_tools("go", package="golang-go")
    source = os.path.abspath(os.path.join(m.SOURCE, "tests", "zoo", "gopher.go"))
    m.tool("go", "build", "-ldflags=-s -w", "-o", m.path("gopher"), source,
           env=dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS=""))
    process = m.started(m.path("gopher"))
    rows = [row for _ in range(20) for row in rows_of(threads(process.pid))]
    nothing_is_stopped(process.pid)
    m.stop(process)
    # on the stack of a signal, or of Go's runtime, a goroutine's is not reached
    verdict = zoo.Verdict(zoo.Truth(source), [(path(row), row["n"]) for row in rows])
    print("# %s%s" % (verdict, verdict.worst().replace("\n", "\n# ")))
    assert verdict.samples >= 60 and verdict.found["main.fourth"] >= 10, verdict
    assert verdict.share(verdict.rooted) >= 0.9 and verdict.true_frames >= 0.99 * verdict.frames, verdict
    assert verdict.share(verdict.rooted + verdict.marked) >= 0.99, verdict


def paths():
    """a thread that hangs while it opens a file shows the path, cleaned, and the folder that it begins at"""
    folder = m.path("hangs")
    os.mkdir(folder)
    os.mkfifo(folder + "/pi\x1bpe")
    program = "import os, sys\nat = os.open(sys.argv[1], os.O_RDONLY)\nos.open(%s)"
    for arguments, wanted in (("'pi\\x1bpe', os.O_RDONLY, dir_fd=at", r"openat\(\d+ FOLDER, pi\?pe\)"),
                              ("sys.argv[1] + '/pi\\x1bpe', os.O_RDONLY", r"open(at)?\(FOLDER/pi\?pe\)")):
        process = m.start(sys.executable, "-c", program % arguments, folder)
        m.until(lambda pid=process.pid: "pi?pe" in threads(pid), "it does not open the file")
        row, = rows_of(threads(process.pid))
        assert re.fullmatch(wanted.replace("FOLDER", re.escape(folder)), row["call"][0]), row
        report, = json.loads(m.flametop("--threads=json", "-p", str(process.pid))[1])
        call = report["rows"][0]["threads"][0]["call"]
        assert call["path"].endswith("pi?pe") and "file" in call or call["path"] == folder + "/pi?pe", call
        m.stop(process)


run(deadlock, thousand_threads, busy_cpus, killed_in_the_middle, stopped_process, signal_handler,
    blocked_thread, first_thread_has_ended, zombie, traced_process, other_user, strangers_process,
    hostile_names, hostile_table, sockets, reasons, running, frozen_cgroup, several_processes, as_json,
    two_moments, paths, java, go, python)
