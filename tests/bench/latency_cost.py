#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What each row of latencies costs a load of such operations, next to perf in the same run.

    tests/bench/latency_cost.py PROGRAM [ROUNDS] [ROW ...]

The throughput of a load (latency_load.c): alone, next to perf record -g of the row's events on all CPUs, for
system calls also next to perf trace -s, and next to flametop --latency ROW. The order changes from round to
round. Ratios are of the same round. Own CPU: per cent of one CPU.
"""
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile

from waits_cost import HERE, Profiler, lost

CALLS = "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"
FUTEX = "syscalls:sys_enter_futex", "syscalls:sys_exit_futex"
SWITCHES = "sched:sched_switch", "sched:sched_waking"
TCP = "sock:inet_sock_set_state", "tcp:tcp_retransmit_skb"
LOOK_UPS = "probe_libc:flametop_bench", "probe_libc:flametop_bench_end__return"  # of perf probe
ROWS = {
    "syscalls": ("call", CALLS),
    "files": ("direct", CALLS),
    "runqueue": ("nap", SWITCHES),
    "timers": ("nap", ("timer:timer_expire_entry", "timer:timer_expire_exit")),
    "block": ("direct", ("block:block_rq_issue", "block:block_rq_complete")),
    "block-total": ("direct", ("block:block_io_start", "block:block_rq_complete")),
    "fsync": ("sync", ("ext4:ext4_sync_file_enter", "ext4:ext4_sync_file_exit")),
    "journal": ("sync", ("jbd2:jbd2_start_commit", "jbd2:jbd2_end_commit")),
    "work": ("sync", ("workqueue:workqueue_execute_start", "workqueue:workqueue_execute_end")),
    "softirqs": ("datagram", ("irq:softirq_entry", "irq:softirq_exit")),
    "futex": ("lock", FUTEX),
    "locks": ("inode", ("lock:contention_begin", "lock:contention_end")),
    "mmap-lock": ("map", ("mmap_lock:mmap_lock_start_locking", "mmap_lock:mmap_lock_acquire_returned")),
    "dns": ("look-up", LOOK_UPS),
    "tcp": ("connect", TCP),
    "tcp-connect": ("connect", TCP),
    "tcp-failed": ("refuse", (*TCP, "sock:inet_sk_error_report")),
    "programs": ("run", ("sched:sched_process_exec", "sched:sched_process_exit")),
}
SECONDS = "2"


@contextlib.contextmanager
def probes(load):
    """those of LOOK_UPS, while they are needed"""
    libraries = subprocess.run(["ldd", load], stdout=subprocess.PIPE, text=True, check=True).stdout
    libc = os.path.realpath(re.search(r"libc\.so\.6 => (\S+)", libraries)[1])
    for function in "flametop_bench=getaddrinfo", "flametop_bench_end=getaddrinfo%return":
        subprocess.run(["perf", "probe", "-q", "-x", libc, "--add", function], check=True)
    try:
        yield
    finally:
        subprocess.run(["perf", "probe", "-q", "--del", "probe_libc:flametop_bench*"], check=True)


def ways_of(program, row, events):
    ways = {"alone": None, "flametop": [program, "--latency", row, "--duration", "600", "-o", os.devnull,
                                        "--export", "json"]}
    if events:
        chosen = [word for event in events for word in ("-e", event)]
        ways["perf"] = ["perf", "record", *chosen, "-g", "-a", "-o", os.devnull]
    if events == CALLS:
        ways["trace"] = ["perf", "trace", "-s", "-a", "-o", os.devnull]
    return ways


def measure(program, row, argv, rounds):
    ways = ways_of(program, row, ROWS[row][1])
    rates, own, losses = ({name: [] for name in ways} for _ in range(3))
    for number in range(rounds):
        names = list(ways)
        for name in names[number % len(names):] + names[:number % len(names)]:
            top = Profiler(ways[name])
            done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
            rates[name].append(float(done.stdout))
            own[name].append(top.own_percent() if ways[name] else 0)
            losses[name].append(lost(top.stop()))
    print("%s: %.0f per second alone" % (row, statistics.median(rates["alone"])))
    for name in ways:
        if name == "alone":
            continue
        print("    %-8s own CPU %5.1f%%, lost %d, throughput / alone %.2f" %
              (name, statistics.median(own[name]), max(losses[name]),
               statistics.median(a / b for a, b in zip(rates[name], rates["alone"]))))
    for name in ways.keys() & {"perf", "trace"}:
        ratios = [a / b for a, b in zip(rates["flametop"], rates[name])]
        print("    throughput, flametop / %s: %.2f (%s)" %
              (name, statistics.median(ratios), " ".join("%.2f" % r for r in ratios)), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        load = os.path.join(folder, "latency_load")
        source = os.path.join(HERE, "latency_load.c")
        subprocess.run(["cc", "-O1", "-pthread", "-o", load, source], check=True)
        for row in sys.argv[3:] or ROWS:
            with probes(load) if ROWS[row][1] == LOOK_UPS else contextlib.nullcontext():
                measure(program, row, [load, ROWS[row][0], SECONDS, folder], rounds)


if __name__ == "__main__":
    main()
