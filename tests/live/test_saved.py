#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved files as perf reads them, and perf's recordings as flametop reads them."""
import collections
import os
import re
import signal
import subprocess
import sys
import time

import machine as m
from ptyscreen import LIMIT, PROGRAM, Screen, run

STALL_S = float(os.environ.get("FLAMETOP_STALL_SECS", "5"))
loads = []


def need():
    m.need_events()
    m.need_perf()
    if not loads:
        loads.append(m.shape())
        loads.append(m.busy("dd", "if=/dev/zero", "of=/dev/null", "bs=1"))


def perf_script(file, fields="comm,pid,tid,cpu,time,event,ip,sym"):
    out, why = m.perf("script", "-i", file, "-F", fields)
    assert not why.strip(), "perf script complains: " + why
    return out


def samples_of(text):
    """[(comm, pid, [(ip, symbol) from the leaf])] from perf script"""
    found = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        head = re.match(r"\s*(.+?)\s+(-?\d+)/(-?\d+)\s", lines[0])
        frames = [re.match(r"\s*([0-9a-f]+) (.*)$", line) for line in lines[1:]]
        found.append((head.group(1), int(head.group(2)),
                      [(int(f.group(1), 16), f.group(2)) for f in frames if f]))
    return found


def perf_reads_it():
    """perf report, script, evlist and header read a saved file without messages"""
    need()
    m.flametop("-F", "499", "--duration", "1", "-o", m.path("saved.data"))
    asked = (("report", "--stdio", "-g", "none"), ("report", "--stdio"), ("script",), ("evlist", "-v"),
             ("report", "--header-only"), ("buildid-list",))
    answers = m.at_once(lambda args: m.perf(args[0], "-i", m.path("saved.data"), *args[1:]), *asked)
    for args, (out, why) in zip(asked, answers):
        assert not why.strip(), "%s complains: %s" % (args, why)
        assert out.strip(), args
        assert args[0] != "evlist" or "sample_freq }: 499" in out, out


def unversioned(symbol):
    """read of read@@GLIBC_2.2.5; read@plt is another function"""
    return symbol if symbol.endswith("@plt") else symbol.split("@")[0]


def same_numbers():
    """sample counts, comms and the top 20 symbols with percentages equal perf's for the same file"""
    need()
    # only for these loads: other programs may be deleted when the file is read
    pids = ",".join(str(load.pid) for load in loads)
    m.flametop("-F", "1999", "-p", pids, "--duration", "1", "-o", m.path("same.data"))
    _, mine, _ = m.flametop("-i", m.path("same.data"), "--idle")
    theirs, _ = m.perf("report", "-i", m.path("same.data"), "--stdio", "--no-children", "-g", "none", "-n",
                       "--percent-limit", "0")
    total = int(re.search(r"^samples ([\d,]+)", mine, re.M).group(1).replace(",", ""))
    counted = sum(int(n) for n in re.findall(r"^\s+[\d.]+%\s+(\d+) ", theirs, re.M))
    assert total == counted, (total, counted)
    by_symbol = collections.Counter()
    for n, symbol in re.findall(r"^\s+[\d.]+%\s+(\d+)  .*\[[.k]\] (\S.*?)\s*$", theirs, re.M):
        by_symbol[symbol] += int(n)
    rows = m.rows(mine)
    for symbol, count in by_symbol.most_common(20):
        if symbol.startswith("0x"):
            continue
        near = [r for name, r in rows.items() if unversioned(name) == unversioned(symbol)]
        assert sum(r[2] for r in near) == count, (symbol, count, near)
        assert abs(sum(r[0] for r in near) - 100.0 * count / total) < 0.02, (symbol, count, total, near)
    _, comms, _ = m.flametop("-i", m.path("same.data"), "--idle", "--group-by", "comm")
    theirs, _ = m.perf("report", "-i", m.path("same.data"), "--stdio", "--no-children", "-g", "none", "-n",
                       "-s", "comm", "--percent-limit", "0")
    for n, comm in re.findall(r"^\s+[\d.]+%\s+(\d+)  (\S.*?)\s*$", theirs, re.M):
        shown = re.search(r"^\s*[\d.]+\s+[\d.]+\s+([\d,]+)  %s$" % re.escape(comm), comms, re.M)
        assert shown and int(shown.group(1).replace(",", "")) == int(n), (comm, n, comms)


def true_addresses():
    """callchains, pids and addresses in a saved file are those of the running process"""
    need()
    for seconds in (0.75, 4, 16):
        m.flametop("-F", "999", "--duration", str(seconds), "-p", str(loads[0].pid), "-o",
                   m.path("addr.data"))
        samples = samples_of(perf_script(m.path("addr.data")))
        if len(samples) > 200:
            break
    with open("/proc/%d/maps" % loads[0].pid) as maps:
        maps = [(int(a, 16), int(b, 16))
                for a, b in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r-xp .*shape", maps.read(), re.M)]
    assert len(samples) > 200 and {s[1] for s in samples} == {loads[0].pid}
    leaves = [s for s in samples if s[2] and s[2][0][1].startswith("hot_")]
    assert len(leaves) > 0.8 * len(samples), (len(leaves), len(samples))  # the others are in interrupts
    raw, _ = m.perf("report", "-D", "-i", m.path("addr.data"))  # perf script prints file offsets instead
    ips = [int(ip, 16) for ip in re.findall(r"PERF_RECORD_SAMPLE\(IP, 0x2\): \d+/\d+: (0x[0-9a-f]+)", raw)]
    inside = sum(any(a <= ip < b for a, b in maps) for ip in ips)
    assert inside > 0.95 * len(ips) and len(ips) > 0.8 * len(samples), \
        (inside, len(ips), len(samples), [hex(ip) for ip in ips[:3]], maps)
    through = [s for s in leaves
               if [name.split("+")[0] for _, name in s[2][1:3]] in
               (["path_one", "main"], ["path_two", "main"])]
    assert len(through) > 0.95 * len(leaves), (len(through), len(leaves))


def read_by_both(numbered):
    """(flametop's report, perf's) of a perf recording, with the same number of samples"""
    file = m.path("theirs%d.data" % numbered[0])
    m.perf(*m.RECORD, "-F", "499", *numbered[1], "-g", "-o", file, "--", "sleep", "1")
    _, mine, why = m.flametop("-i", file, "--idle")
    out, _ = m.perf("report", "-i", file, "--stdio", "--no-children", "-g", "none", "-n", "--percent-limit",
                    "0")
    counted = sum(int(n) for n in re.findall(r"^\s+[\d.]+%\s+(\d+) ", out, re.M))
    total = int(re.search(r"^samples ([\d,]+)", mine, re.M).group(1).replace(",", ""))
    assert total == counted, (total, counted, why)
    return mine, out


def reads_perf():
    """a recording of perf opens with the same samples, comms and symbols"""
    need()
    scopes = ("-a",), ("-p", ",".join(str(load.pid) for load in loads))
    # symbols of these loads only: other programs may be deleted when the file is read
    mine, out = m.at_once(read_by_both, *enumerate(scopes))[1]
    rows = m.rows(mine)
    counts = collections.Counter()
    for n, symbol in re.findall(r"^\s+[\d.]+%\s+(\d+)  .*\[[.k]\] (hot_\w|read|write|ksys_\w+)\s*$", out,
                                re.M):
        counts[symbol] += int(n)
    assert counts, out
    for symbol, n in counts.items():
        assert symbol in rows and rows[symbol][2] == n, (symbol, n, rows.get(symbol))


def several_events():
    """a file with several events shows each separately"""
    need()
    m.perf(*m.RECORD, "-e", "cpu-clock,page-faults", "-c", "100000", "-a", "-o", m.path("two.data"), "--",
           "sleep", "1")
    status, out, why = m.flametop("-i", m.path("two.data"), check=False)
    assert status == 0 and "cpu-clock" in out, (status, out, why)


def round_trip():
    """a saved file opened and saved again is the same for perf"""
    need()
    m.flametop("-F", "999", "--duration", "0.5", "-o", m.path("one.data"))
    m.flametop("-i", m.path("one.data"), "--idle", "-o", m.path("again.data"))
    first, again = m.at_once(perf_script, m.path("one.data"), m.path("again.data"))
    assert first == again, "they differ"


def tracepoint_saved():
    """a saved tracepoint keeps its payload: perf script prints its fields"""
    need()
    m.need_root()
    for _ in range(5):  # a busy machine may lose samples, which perf reports, too
        status, _, why = m.flametop("-e", "sched:sched_switch", "--duration", "0.5", "-o", m.path("tp.data"),
                                    check=False)
        if status:
            raise m.Skip(why.strip())
        if " 0 lost" in why:
            break
    out, why = m.perf("script", "-i", m.path("tp.data"))
    assert not why.strip(), why
    assert re.search(r"sched:sched_switch:.*prev_comm=.*next_comm=", out), out[:500]


def write_file(s, name):
    if os.path.exists(m.path(name)):  # from a first try: the program would ask to overwrite it
        os.remove(m.path(name))
    s.send("w", "enter", shows=r"write perf\.data to")
    s.send("\x15", m.path(name), "enter", shows=r"written to")
    assert s.quit() == 0


def times_of(name, comm=""):
    text = perf_script(m.path(name), "comm,pid,tid,time,ip")
    return sorted(float(t) for t in re.findall(r"^ *%s.*?\s(\d+\.\d+):" % comm, text, re.M))


def frozen_is_written():
    """w writes the frozen snapshot without later samples"""
    need()
    with Screen(["-F", "199"]) as s:
        s.wait(r"hot_a")
        s.pump(1)
        s.send("z", shows=r"FROZEN")
        moment = time.monotonic() - s.started
        s.pump(moment + 0.5)  # longer than the time before
        write_file(s, "frozen.data")
    assert os.stat(m.path("frozen.data")).st_mode & 0o777 == 0o600
    times = times_of("frozen.data")
    assert times and times[-1] - times[0] < moment, (times[0], times[-1], moment)
    assert not [f for f in os.listdir(m.WORK) if f.startswith(".")]


def stalled_terminal():
    """a terminal that stalls for a while loses no sample"""
    need()
    with Screen(["-F", "499", "-d", "0.2"]) as s:
        s.wait(r"hot_a")
        time.sleep(STALL_S)
        s.wait(r"lost 0")
        write_file(s, "stall.data")
    # no sample was lost, and no gap is half as long as the stall, more than a busy machine causes
    times = times_of("stall.data", "shape")
    assert times[-1] - times[0] > STALL_S, (times[0], times[-1])
    hole, at = max((b - a, a) for a, b in zip(times, times[1:]))
    assert hole < STALL_S / 2, "%.3f seconds without a sample at %.3f" % (hole, at)


NS = ("net", "uts", "ipc", "pid", "user", "mnt", "cgroup")


UNSHARES = """
import ctypes, signal
CLONE_NEWUTS = 0x04000000
libc = ctypes.CDLL(None)
signal.signal(signal.SIGUSR1, lambda *_: libc.unshare(CLONE_NEWUTS))
while True: pass
"""


def burn(pid):
    """Waits until a process has used more CPU time, for about 200 samples."""
    before = m.cpu_seconds(pid)
    m.until(lambda: m.cpu_seconds(pid) > before + 0.4, "it did not run")


def told_namespaces(saved):
    """{pid: {kind: "device/inode"}} of a saved file; the last record of each process"""
    shown, _ = m.perf("script", "--show-namespace-events", "-i", saved)
    return {int(pid): dict(re.findall(r"\d+/(\w+): (\w+/\w+)", links)) for pid, links in re.findall(
        r"PERF_RECORD_NAMESPACES (\d+)/\d+ - nr_namespaces: 7\s*\[((?:[^\]]|\n)*)\]", shown)}


def namespace(pid, kind):
    st = os.stat("/proc/%s/ns/%s" % (pid, kind))
    return "%d/%#x" % (st.st_dev, st.st_ino)


def namespaces_saved():
    """perf script shows the namespaces of processes that ran before, and of one that changed them"""
    m.need_root()
    need()
    own = m.start("unshare", "--uts", "--net", m.build("shape"), "36000", becomes="shape")
    saved = m.path("namespaces.data")
    for seconds in (0.5, 2, 8, 32):
        m.flametop("-p", "%d,%d" % (loads[0].pid, own.pid), "--duration", str(seconds), "-o", saved)
        told = told_namespaces(saved)
        if {loads[0].pid, own.pid} <= set(told):
            break
    for load in (loads[0], own):
        for kind in NS:
            assert told[load.pid][kind] == namespace(load.pid, kind), (kind, told)
    mine, other = told[own.pid], told[loads[0].pid]
    assert mine["uts"] != other["uts"] and mine["pid"] == other["pid"], told
    m.stop(own)


def namespaces_left():
    """namespaces are saved for a program started in new ones while sampling, and for one that changes its
    own"""
    m.need_root()
    need()
    saved = m.path("left.data")
    for seconds in (0.5, 2, 8, 32):
        m.flametop("-F", "499", "--duration", str(seconds), "-o", saved, "--", "unshare", "--uts",
                   m.build("shape"), "36000")
        told = list(told_namespaces(saved).values())
        if told and told[-1]["uts"] != namespace("self", "uts"):
            break
    assert told[-1]["uts"] != namespace("self", "uts") and told[-1]["net"] == namespace("self", "net"), told
    load = m.start("python3", "-c", UNSHARES)
    top = m.adopt(subprocess.Popen([PROGRAM, "-F", "499", "-p", str(load.pid), "-o", saved,
                                    "--duration", "36000"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    m.until(lambda: m.is_sampling(top.pid), "nothing was sampled")
    burn(load.pid)
    os.kill(load.pid, signal.SIGUSR1)
    m.until(lambda: namespace(load.pid, "uts") != namespace("self", "uts"), "it did not leave")
    burn(load.pid)
    top.send_signal(signal.SIGINT)
    top.wait(LIMIT)
    told = told_namespaces(saved)
    for kind in NS:
        assert told[load.pid][kind] == namespace(load.pid, kind), (kind, told)
    m.stop(load)


def plugin_host():
    """A program that keeps loading and unloading two plugins, with its arguments."""
    files = []
    for name, padding in (("alpha", 64), ("beta", 1024)):
        files.append(m.path(name + ".so"))
        os.rename(m.build("swap", "-shared", "-fPIC", "-DPLUGIN=" + name, '-DPADDING="%d"' % padding),
                  files[-1])
    return m.build("swap"), *files


def plugins_change_places():
    """two plugins that swap addresses keep their names in a saved file, in flametop and perf"""
    need()
    load = m.start(*plugin_host())
    m.flametop("-F", "997", "-p", str(load.pid), "--duration", "3", "-o", m.path("swap.data"))
    fields = "comm,pid,tid,cpu,time,event,ip,sym"
    for what, text in (("flametop", m.export(m.path("swap.data"), "script", "--fields", fields)),
                       ("perf", perf_script(m.path("swap.data"), fields))):
        stacks = [[symbol.split("+0x")[0] for _, symbol in reversed(chain)]
                  for _, _, chain in samples_of(text)]
        called = [(at, caller, callee) for at, stack in enumerate(stacks)
                  for caller, callee in zip(stack, stack[1:])
                  if caller in ("use_alpha", "use_beta") and "dl" not in callee and
                  not callee.startswith("asm_")]
        wrong = [call for call in called
                 if call[1:] not in (("use_alpha", "alpha_hot"), ("use_beta", "beta_hot"))]
        # mappings made between the first sample and the scan of /proc/PID/maps are unknown: some 30 ms
        assert len(called) > 50 and all(at < 30 for at, *_ in wrong), (what, len(called), wrong)


def program_in_memory():
    """a program without a file (memfd) keeps its names in a saved file"""
    need()
    start = ("import os, sys; fd = os.memfd_create('program'); os.write(fd, open(sys.argv[1], 'rb').read()); "
             "os.execv('/proc/self/fd/%d' % fd, ['program'] + sys.argv[2:])")
    load = m.start(sys.executable, "-c", start, *plugin_host())
    m.until(lambda: "program" in os.readlink("/proc/%d/exe" % load.pid),
            "the program in memory did not begin")
    m.flametop("-F", "997", "-p", str(load.pid), "--duration", "2", "-o", m.path("memory.data"))
    m.stop(load)
    folded = m.export(m.path("memory.data"), "folded")
    own = sum(n for stack, n in m.stacks_of(folded) if "use_alpha" in stack or "use_beta" in stack)
    lost = re.findall(r".*(?:memfd:|\[program|//anon).*", folded)
    assert own > 100 and not lost, (own, lost, folded[:1000])


def stacks_are_told():
    """a file records its stack mode, also when it is saved again, and in a bundle"""
    need()

    def saved(case):
        how, shown = case
        files = first, again, bundle = [m.path("told-" + how + end) for end in (".data", ".again", ".tar.gz")]
        m.flametop("--call-graph", how, "--duration", "1", "-o", first, "--", "sh", "-c",
                   "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
        for file in again, bundle:
            m.flametop("-i", first, "-o", file)
        for file in files:
            head = m.export(file, "report").splitlines()[0]
            assert "stacks: %s  " % shown in head, (how, file, head)
    m.at_once(saved, ("auto", "auto"), ("fp", "fp"), ("dwarf,8192", "dwarf 8K"), ("none", "none"))


run(perf_reads_it, same_numbers, true_addresses, reads_perf, several_events, round_trip, tracepoint_saved,
    frozen_is_written, namespaces_saved, namespaces_left, plugins_change_places, program_in_memory,
    stacks_are_told, stalled_terminal)
