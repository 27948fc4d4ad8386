#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of programs (--latency programs): parents, compared with what the load and perf tell."""
import json
import re

import machine as m
from ptyscreen import PROGRAM, run

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


def seen_by_perf(file):
    """[(tid, time in ns, exec or exit, text)] of perf's records, oldest first"""
    script = m.perf("script", "-i", file, "--ns", "-F", "tid,time,event,trace")[0]
    lines = re.findall(r"^ *(\d+) +(\d+)\.(\d{9}): +sched:sched_process_(\w+): +(.*)$", script, re.M)
    assert lines, script[:400]
    return sorted(((tid, int(s) * 10**9 + int(ns), side, text) for tid, s, ns, side, text in lines),
                  key=lambda record: record[1])


def thousand():
    """1,000 programs of four shells are 1,000 operations, with the right parents, as long as between perf's
    records of their starts and exits; exits of other threads than the main one are none"""
    m.need_tracepoints("latencies")
    m.need_perf()
    out = m.path("load.txt")
    threads = m.compiled("threads", THREADS, "-pthread")
    file = m.perf_record("around.data", "-a", "-k", "mono", "-e", "sched:sched_process_exec", "-e",
                         "sched:sched_process_exit", "--", PROGRAM, "--latency", "programs", "-o",
                         m.path("programs.json"), "--", "sh", "-c", f"{{ {SHELLS} }} >{out}; {threads}")
    report = read(m.path("programs.json"))
    started, times = {}, []
    for tid, ns, side, text in seen_by_perf(file):
        if side == "exec" and text.startswith("filename=/bin/true "):
            started[tid] = ns
        elif side == "exit" and tid in started:
            times.append(ns - started.pop(tid))
    found = [r for name, r in runs(report).items() if name.split()[0] == "/bin/true"]
    assert sum(r["count"] for r in found) == len(times) == 1000, (len(found), len(times))
    total = sum(r["sum_ns"] for r in found)
    assert abs(total - sum(times)) <= 0.02 * sum(times), (total, sum(times))
    assert runs(report)[threads]["count"] == 1, report["latency"]
    with open(out) as f:
        shells = re.findall(r"^shell (\d+)$", f.read(), re.M)
    parents = runs(report, "parent")
    assert len(shells) == 4, shells
    for shell in shells:  # 250 and seq
        assert parents["sh/" + shell]["count"] == 251, (shell, parents)
    lost = next(r for r in report["latency_rows"] if r["row"] == "programs")
    assert not lost["lost"], lost


def parents_of_a_file():
    """a saved recording has the parents; they are columns of the log, and select rows"""
    m.need_tracepoints("latencies")
    data = m.path("programs.data")
    load = "for i in 1 2 3; do /bin/true; done; sh -c 'echo $$; /bin/true; /bin/false; :'"
    shell = m.flametop("--latency", "programs", "-o", data, "--", "sh", "-c", load)[1].split()[0]
    log = m.flametop("-i", data, "-b", "--view", "log")[1]
    assert len(re.findall(rf"\[programs: /bin/(?:true|false)\b.*\] from sh/{shell}$", log, re.M)) == 2, log
    assert len(re.findall(r"\[programs: /bin/true\b.*\] from sh/\d+$", log, re.M)) == 4, log
    report = m.export(data, "json")
    assert runs(json.loads(report), "parent")["sh/" + shell]["count"] == 2, report
    text = m.flametop("-i", data, "-b", "--view", "latency")[1]
    assert re.search(rf"^ +2 .* sh/{shell}$", text.split("PARENT")[1], re.M), text


run(thousand, parents_of_a_file)
