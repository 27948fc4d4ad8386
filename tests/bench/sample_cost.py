#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs, by how stacks are taken: the figures of src/perf/rate.c.

    tests/bench/sample_cost.py PROGRAM

dd reads bytes one by one; one in PERIOD of its system calls is sampled. Task: what each sample took from dd.
Own: CPU time of the program by sample, of those that were not lost.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

MODES = ("auto", "fp", "none")
PERIOD = 200


def cpu_s(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def calls(pid):
    text = open("/proc/%d/io" % pid).read()
    return sum(int(re.search(r"%s: (\d+)" % name, text).group(1)) for name in ("syscr", "syscw"))


def seconds_per_call(pid):
    a, c = calls(pid), cpu_s(pid)
    time.sleep(3)
    return (cpu_s(pid) - c) / (calls(pid) - a)


def own_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(program):
    load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
    try:
        for mode in MODES:
            alone, before = seconds_per_call(load.pid), own_s()
            with tempfile.NamedTemporaryFile() as out:
                top = subprocess.Popen([program, "-e", "raw_syscalls:sys_enter", "-c", str(PERIOD),
                                        "--call-graph", mode, "-p", str(load.pid), "--duration", "6",
                                        "-o", out.name],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                time.sleep(1.5)
                sampled = seconds_per_call(load.pid)
                said = top.communicate()[0]
            taken, *lost = [int(n) for n in re.findall(r"(\d+)(?: samples| lost)", said.replace(",", ""))]
            print("%-5s task %6.1f us  own %6.1f us  (%d samples, %d lost)" %
                  (mode, (sampled - alone) * PERIOD * 1e6, (own_s() - before) / max(taken, 1) * 1e6,
                   taken, sum(lost)),
                  flush=True)
    finally:
        load.kill()
        load.wait()


main(sys.argv[1])
