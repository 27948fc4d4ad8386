#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of programs (--latency programs): arguments, parents and times, compared with what the load and perf
tell."""
import json
import os
import re
import signal
import subprocess

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

PROBES = "/sys/kernel/tracing/uprobe_events"
THREADS = """
#include <pthread.h>
static void *end(void *own)
{
    return own;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 20; i++)
        if (pthread_create(&thread, NULL, end, NULL) || pthread_join(thread, NULL))
            return 1;
    return 0;
}
"""
# each shell prints its number and the numbers of the programs that it starts
SHELLS = """
for s in 1 2 3 4; do
    sh -c 'echo shell $$; for i in $(seq 250); do /bin/true $1-$i & echo program $! $1-$i; wait; done' sh $s &
done
wait
"""


def runs(report, by=None):
    """{name: row} of the row programs"""
    rows = [r for r in report["latency_groups" if by else "latency"]
            if r["row"] == "programs" and r.get("by") == by]
    assert len({r["name"] for r in rows}) == len(rows), rows
    return {r["name"]: r for r in rows}


def read(path):
    with open(path) as f:
        return json.load(f)


def lost_of(report):
    return next(r for r in report["latency_rows"] if r["row"] == "programs")


def need_probes():
    m.need_tracepoints("latencies")
    if not os.access(PROBES, os.W_OK):
        raise Skip("no probes can be defined")


def seen_by_perf(file):
    """[(tid, time in ns, exec or exit, text)] of perf's records, oldest first"""
    script = m.perf("script", "-i", file, "--ns", "-F", "tid,time,event,trace")[0]
    lines = re.findall(r"^ *(\d+) +(\d+)\.(\d{9}): +sched:sched_process_(\w+): +(.*)$", script, re.M)
    assert lines, script[:400]
    return sorted(((tid, int(s) * 10**9 + int(ns), side, text) for tid, s, ns, side, text in lines),
                  key=lambda record: record[1])


def check_programs(data, text):
    """Each program in the log has the number and the argument that its shell has printed, and that parent."""
    log = m.flametop("-i", data, "-b", "--view", "log")[1]
    rows = re.findall(r"true/(\d+) .*\[programs: /bin/true (\S+)\] from sh/(\d+)$", log, re.M)
    assert len(rows) == 1000, log[:2000]
    told = dict(re.findall(r"^program (\d+) (\S+)$", text, re.M))
    assert {pid: word for pid, word, _ in rows} == told, (rows, told)
    parents = {(word.split("-")[0], parent) for _, word, parent in rows}
    shells = re.findall(r"^shell (\d+)$", text, re.M)
    assert len(parents) == 4 and sorted(parent for _, parent in parents) == sorted(shells), (parents, shells)
    return shells


def thousand():
    """1,000 programs of four shells are 1,000 operations, with the right arguments and parents, as long as
    between perf's records of their starts and exits; exits of other threads than the main one are none"""
    need_probes()
    m.need_perf()
    data, out = m.path("programs.data"), m.path("load.txt")
    threads = m.compiled("threads", THREADS, "-pthread")
    file = m.perf_record("around.data", "-a", "-k", "mono", "-e", "sched:sched_process_exec", "-e",
                         "sched:sched_process_exit", "--", PROGRAM, "--latency", "programs", "-o", data, "--",
                         "sh", "-c", f"{{ {SHELLS} }} >{out}; {threads}")
    report = json.loads(m.export(data, "json"))
    started, times = {}, []
    for tid, ns, side, text in seen_by_perf(file):
        if side == "exec" and text.startswith("filename=/bin/true "):
            started[tid] = ns
        elif side == "exit" and tid in started:
            times.append(ns - started.pop(tid))
    found = [r for name, r in runs(report).items() if name.split()[0] == "/bin/true"]
    assert len(found) == len(times) == 1000 and {r["count"] for r in found} == {1}, (len(found), len(times))
    total = sum(r["sum_ns"] for r in found)
    assert abs(total - sum(times)) <= 0.02 * sum(times), (total, sum(times))
    assert runs(report)[threads]["count"] == 1, report["latency"]
    whole = runs(report, "program")["/bin/true"]
    assert whole["count"] == 1000 and whole["sum_ns"] == total, whole
    with open(out) as f:
        shells = check_programs(data, f.read())
    others = [name for name in runs(report, "parent") if not name.startswith("sh/")]
    assert len(others) == 1 and others[0].startswith("flametop/"), others
    for shell in shells:  # 250 and seq
        assert runs(report, "parent")["sh/" + shell]["count"] == 251, (shell, report["latency_groups"])


def parents_of_a_file():
    """a saved recording has the parents, in the log and in the tables"""
    m.need_tracepoints("latencies")
    data = m.path("parents.data")
    load = "for i in 1 2 3; do /bin/true; done; sh -c 'echo $$; /bin/true; /bin/false; :'"
    shell = m.flametop("--latency", "programs", "-o", data, "--", "sh", "-c", load)[1].split()[0]
    log = m.flametop("-i", data, "-b", "--view", "log")[1]
    assert len(re.findall(rf"\[programs: /bin/(?:true|false)\] from sh/{shell}$", log, re.M)) == 2, log
    assert len(re.findall(r"\[programs: /bin/true\] from sh/\d+$", log, re.M)) == 4, log
    report = json.loads(m.export(data, "json"))
    assert runs(report, "parent")["sh/" + shell]["count"] == 2, report
    text = m.flametop("-i", data, "-b", "--view", "latency")[1]
    assert re.search(rf"^ +2 .* sh/{shell}$", text.split("PARENT")[1], re.M), text


def chain():
    """a process that ends without an exec lacks no begin; each program of a chain of execs is an operation,
    which ends at the next exec"""
    need_probes()
    load = ("for i in 1 2 3; do (exit 3); done; "
            "sh -c 'sleep 0.02; exec sh -c \"sleep 0.04; exec /bin/true end\"'; (:); :")
    m.flametop("--latency", "programs", "-o", m.path("chain.data"), "--", "sh", "-c", load)
    report = json.loads(m.export(m.path("chain.data"), "json"))
    log = m.flametop("-i", m.path("chain.data"), "-b", "--view", "log")[1]
    last = re.search(r"true/(\d+) .*\[programs: /bin/true end\]", log)
    assert last, log
    rows = re.findall(rf"(\w+)/{last[1]} .*\[programs: \S+/(.*)\] from", log)
    assert rows == [("sh", "sh -c 'sleep 0.02; exec sh -c \"sleep 0.04; exec /bin/true end\"'"),
                    ("sh", "sh -c 'sleep 0.04; exec /bin/true end'"), ("true", "true end")], log
    for name, row in runs(report).items():
        for words, least_ms in ("sh -c 'sleep 0.02", 20), ("sh -c 'sleep 0.04", 40):
            assert not re.match("\\S+/" + words, name) or row["sum_ns"] >= least_ms * 10**6, row
    m.flametop("--latency", "programs", "-o", m.path("chain.json"), "--", "sh", "-c", load)
    lost = lost_of(read(m.path("chain.json")))
    assert lost["replaced"] == lost["unbegun"] == lost["lost"] == lost["open"] == 0, lost
    assert lost["without_arguments"] == 0 and lost["no_arguments"] == "", lost


def screen():
    """on the screen, runs are grouped by program and by parent and listed with the parent, and the log is
    filtered by it"""
    need_probes()
    data = m.path("screen.data")
    load = "for i in 1 2 3; do /bin/true $i; done; sh -c 'echo $$; /bin/true 4; /bin/true 5; :'"
    shell = m.flametop("--latency", "programs", "-o", data, "--", "sh", "-c", load)[1].split()[0]
    for cols in 80, 120:
        with Screen(["-i", data], size=(cols, 40)) as s:
            s.send("6", shows=r"^ +7 .* all$")
            s.send("b", shows=r"SUM program")
            s.wait(r"^ +5 .* /bin/true$")
            s.send("b", shows=r"SUM process")
            s.send("b", shows=r"SUM parent")
            s.wait(rf"^ +2 .* sh/{shell}$")
            s.send("v", shows=r"^ *cell ")
            s.send("v", shows=r"TOOK +PID +PARENT +OPERATION")
            s.wait(rf" \d+ +sh/{shell} +/bin/true [45]$")
            s.send("6", shows=r"^7 samples")
            s.send("\\", shows="rows with")
            s.send(f"ppid={shell}", "enter", shows=rf"^2 of 7 samples: ppid={shell}")
            s.send("\\", shows="rows with")
            s.send("\x15", "parent=sh", "enter", shows=r"^6 of 7 samples: parent=sh")


HOSTILE = r"""
import os
def start(*words):
    if os.fork() == 0:
        os.execve("/bin/true", words, {"SECRET": "hidden"})
    os.wait()
for word in "x" * 100000, "\033[2J\033]0;own\007", "line\nline", "a b", "", "it's", "\u202e", "z":
    start("true", word)
start("true", *map(str, range(100)))
start("another name", "z")
start("true")
start("true")
"""


def hostile():
    """arguments are safe to print and bounded; the environment is never shown"""
    need_probes()
    data = m.path("hostile.data")
    m.flametop("--latency", "programs", "-o", data, "--", "/usr/bin/python3", m.write("hostile.py", HOSTILE))
    text = m.flametop("-i", data, "-b", "--view", "latency")[1]
    names = {name: r["count"] for name, r in runs(json.loads(m.export(data, "json"))).items()
             if name.startswith("/bin/true")}
    long = next(name for name in names if name.startswith("/bin/true xxxx"))
    assert long.endswith("x ...") and len(long) <= 256, long
    numbers = " ".join(map(str, range(19)))
    wanted = {long, "/bin/true '?[2J?]0;own?'", "/bin/true 'line?line'", "/bin/true 'a b'", "/bin/true ''",
              r"/bin/true 'it'\''s'", "/bin/true '?'", "/bin/true z", f"/bin/true {numbers} ...",
              "/bin/true as 'another name' z", "/bin/true"}
    assert set(names) == wanted, (set(names) - wanted, wanted - set(names))
    assert names["/bin/true"] == 2, names
    assert "SECRET" not in text and "hidden" not in text, text
    assert not re.search(r"[\0-\x09\x0b-\x1f\x7f\u202e]", text), text


def static_programs():
    """a static program has no known arguments, and the report says so"""
    need_probes()
    static = m.compiled("static", "int main(void) { return 0; }", "-static")
    load = f"{static} unknown; {static} unknown; /bin/true known; :"
    m.flametop("--latency", "programs", "-o", m.path("static.json"), "--", "sh", "-c", load)
    report = read(m.path("static.json"))
    assert runs(report)[static]["count"] == 2 and "/bin/true known" in runs(report), report["latency"]
    assert lost_of(report)["without_arguments"] == 2, report["latency_rows"]
    text = m.flametop("--latency", "programs", "--", "sh", "-c", load)[1]
    assert "\narguments of 2 are not known: " in text, text


def without_probes():
    """where no probe can be defined, programs are named by their files, and the report says why"""
    m.need_tracepoints("latencies")
    m.need_tools("unshare", "mount")
    mount = "mount -o bind,ro /sys/kernel/tracing /sys/kernel/tracing && exec \"$@\""
    if m.ran("unshare", "-m", "sh", "-c", mount, "sh", "true").returncode:
        raise Skip("nothing can be mounted here")
    load = "sh", "-c", "/bin/true unknown; :"
    text = m.tool("unshare", "-m", "sh", "-c", mount, "sh", PROGRAM, "--latency", "programs", "--", *load)
    assert re.search(r"^ +1 .* /bin/true$", text, re.M), text
    assert re.search(r"^arguments are not known: probes need ", text, re.M), text


def probes_of(pid):
    with open(PROBES) as f:
        return [line for line in f if f"flametop_{pid}_" in line]


def no_probe_stays():
    """the probe is removed at the end; after SIGKILL by the next start"""
    need_probes()
    for end in signal.SIGTERM, signal.SIGKILL:
        process = m.adopt(subprocess.Popen([PROGRAM, "--latency", "programs", "-o", m.path("ended.json")],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        m.until(lambda: m.is_sampling(process.pid), "flametop samples")
        assert probes_of(process.pid), "no probe"
        process.send_signal(end)
        process.wait()
        if end == signal.SIGKILL:
            m.flametop("--latency", "programs", "-o", m.path("next.json"), "--", "true")
        assert not probes_of(process.pid), probes_of(process.pid)


run(thousand, parents_of_a_file, chain, screen, hostile, static_programs, without_probes, no_probe_stays)
