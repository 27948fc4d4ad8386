#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The log: single samples with their fields, as perf script prints them, and each of them once."""
import collections
import json
import re
import shutil
import signal

import machine as m
from ptyscreen import Screen, Skip, run, shared

EVENTS = ("sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_process_exec,"
          "sched:sched_process_fork,sched:sched_process_exit,raw_syscalls:sys_enter,raw_syscalls:sys_exit,"
          "timer:hrtimer_start,syscalls:sys_enter_openat")
LOAD = "for i in 1 2 3 4 5; do ls /nowhere; /bin/true; sleep 0.01; done 2>&1"
ROW = re.compile(r"^ *(\d+\.\d+) +(\d+)  (\S.*?)/(\d+) +(\w+:\w+)(?:  *(.*))?$", re.M)


def need():
    m.need_tracepoints("tracepoints")
    m.need_perf()


@shared
def recorded():
    return m.perf_record("log.data", "-e", EVENTS, "-g", "--", "sh", "-c", LOAD)


def rows_of(text):
    """[(seconds, (cpu, comm, tid, event, text))]"""
    return [(float(t), (int(cpu), comm, int(tid), event, " ".join(what.split())))
            for t, cpu, comm, tid, event, what in ROW.findall(text)]


def perf_rows(path):
    out, _ = m.perf("script", "-i", path, "-F", "comm,tid,cpu,time,event,trace")
    found = re.findall(r"^ *(\S.*?) +(-?\d+) \[(\d+)\] +(\d+\.\d+): +(\w+:\w+): ?(.*)$", out, re.M)
    return [(float(t), (int(cpu), comm, int(tid), event, " ".join(what.split())))
            for comm, tid, cpu, t, event, what in found]


def undecorated(row):
    """Without the names that the log adds to numbers of system calls and to errors."""
    cpu, comm, tid, event, what = row
    if event.startswith("raw_syscalls:"):
        what = re.sub(r"^\w+ (NR )", r"\1", what)
        what = re.sub(r"(= -\d+) E\w+$", r"\1", what)
    return cpu, comm, tid, event, what


def as_perf():
    """the log of a recording of ten tracepoints has the rows of perf script"""
    need()
    path = recorded()
    mine, theirs = rows_of(m.export(path, "log")), perf_rows(path)
    kinds = {row[3] for _, row in theirs}
    assert len(kinds) >= 9, kinds
    got, wanted = (collections.Counter(rows) for rows in
                   ([undecorated(row) for _, row in mine], [row for _, row in theirs]))
    assert got == wanted, (list((got - wanted).items())[:3], list((wanted - got).items())[:3])
    offset = theirs[0][0] - mine[0][0]
    times = zip(sorted(t for t, _ in mine), sorted(t for t, _ in theirs))
    assert all(abs(theirs - mine - offset) < 3e-6 for mine, theirs in times)


def calls():
    """system calls have their names, and errors too"""
    need()
    rows = [row for _, row in rows_of(m.export(recorded(), "log"))]
    assert any(r[3] == "raw_syscalls:sys_enter" and r[4].startswith("execve NR ") for r in rows)
    failed = [r[4] for r in rows if r[3] == "raw_syscalls:sys_exit" and re.search(r"= -2\b", r[4])]
    assert failed and all(text.endswith(" ENOENT") for text in failed), failed[:3]


def in_json():
    """JSON has the same samples and texts as the log, with the fields that perf script prints, and groups"""
    need()
    path = recorded()
    mine, theirs = json.loads(m.export(path, "json")), perf_rows(path)
    texts = collections.Counter(row for _, row in rows_of(m.export(path, "log")))
    rows = mine["log"]
    assert len(rows) == min(20000, len(theirs)) and mine["log_older"] == (len(rows) < len(theirs)), len(rows)
    found = collections.Counter((r["cpu"], r["comm"], r["tid"], r["event"], " ".join(r["text"].split()))
                                for r in rows if r["tid"] is not None)
    assert found <= texts and (mine["log_older"] or found == texts), list((found - texts).items())[:3]
    switches = [r for r in rows if r["event"] == "sched:sched_switch"]
    assert switches
    for r in switches:
        for name in "prev_pid", "prev_prio", "next_pid", "next_prio", "prev_comm":
            assert "%s=%s " % (name, r["fields"][name]) in r["text"] + " ", r
    groups = json.loads(m.export(path, "json", "--log-by", "prev_state,event:prev_prio"))
    assert "log" not in groups and groups["log_groups"]["by"] == ["prev_state", "event"], groups["log_groups"]
    wanted = collections.defaultdict(list)
    for _, row in theirs:
        at = re.match(STATES, row[4]) if row[3] == "sched:sched_switch" else None
        wanted[at.group(4) if at else None, row[3]].append(int(at.group(3)) if at else None)
    found = {tuple(g["values"]): (g["count"], g.get("sum"), g.get("max"))
             for g in groups["log_groups"]["groups"]}
    assert found == {key: (len(n), sum(n) if key[0] else None, max(n) if key[0] else None)
                     for key, n in wanted.items()}, (found, wanted)
    for g in groups["log_groups"]["groups"]:
        assert sum(b["count"] for b in g.get("buckets", [])) == g["numbers"], g


def partitions():
    """{"254,0": "vda", …}"""
    with open("/proc/partitions") as f:
        found = re.findall(r"^ *(\d+) +(\d+) +\d+ (\S+)$", f.read(), re.M)
    return {"%s,%s" % (major, minor): name for major, minor, name in found}


def in_the_log(s, filter, total):
    """the number of rows that pass a filter on the screen"""
    s.send("\\", shows="rows with")
    s.send("\x15", filter, "enter", shows=r"^[\d,]+ of %s samples: %s$" % (total, re.escape(filter)))
    return re.search(r"^([\d,]+) of ", s.text(), re.M).group(1)


def devices():
    """block devices have their names, in rows, groups and filters; those of another machine have numbers"""
    need()
    path = m.perf_record("block.data", "-e", "block:block_rq_issue", "-a", "--", "dd", "if=/dev/zero",
                         "of=" + m.path("written"), "bs=64k", "count=20", "oflag=dsync")
    names, wanted = partitions(), [row[4] for _, row in perf_rows(path)]
    numbers = collections.Counter(text.split()[0] for text in wanted)
    if not numbers or not set(numbers) <= set(names):
        raise Skip("no request for a block device: %s" % numbers)
    rows = [row[4] for _, row in rows_of(m.export(path, "log"))]
    assert rows == ["%s %s" % (names[text.split()[0]], text) for text in wanted], (rows[:3], wanted[:3])

    def groups(*before):
        out = m.tool(*before, m.PROGRAM, "-i", path, "--log-by", "dev")
        return {dev: int(count) for count, dev in re.findall(r"^ +(\d+) .*%.*  (\w\S*)$", out, re.M)}

    assert groups() == {names[dev]: count for dev, count in numbers.items()}
    dev, count = numbers.most_common(1)[0]
    others = format(len(wanted) - count, ",")
    with Screen(["-i", path], size=(140, 40)) as s:
        s.send("6", shows=r"^[\d,]+ samples")
        for value in dev, names[dev]:
            assert in_the_log(s, "dev=" + value, len(wanted)) == format(count, ","), s.text()
            assert in_the_log(s, "dev!=" + value, len(wanted)) == others, s.text()
        assert s.quit() == 0
    m.need_root()
    m.need_tools("unshare", "hostname")
    other = "unshare", "-u", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"
    assert groups(*other) == numbers, (groups(*other), numbers)


def streamed():
    """-b --view log prints each sample once, as they arrive: 200 started programs are 200 rows"""
    need()
    n = 200
    script = "i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done" % n
    _, out, err = m.flametop("-e", "sched:sched_process_exec", "-b", "--view", "log", "-d", "0.1", "--", "sh",
                             "-c", script)
    if "[lost:" in out:
        raise Skip("the machine was too busy: samples were lost")
    started = [row for _, row in rows_of(out) if row[1] == "true"]
    assert len(started) == n and len({row[2] for row in started}) == n, (len(started), out[-500:], err)
    assert all("filename=/bin/true" in row[4] for row in started), started[:2]
    times = [t for t, _ in rows_of(out)]
    assert times == sorted(times)


# without the writes of perf itself, which it would record for ever
GROUPED = ["-e", "sched:sched_switch,block:block_rq_issue", "-e", "raw_syscalls:sys_enter", "--filter",
           "id != 1"]
STATES = r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> "


@shared
def recorded_groups():
    return m.perf_record("groups.data", *GROUPED, "-a", "--", "sh", "-c",
                         LOAD + "; dd if=/dev/zero of=blocks bs=16k count=50 oflag=dsync; rm blocks")


def groups_of(path, by, *options):
    """{values: (count, sum, maximum)} of the table, and {values: {(from, to): count}} of the histograms"""
    _, out, _ = m.flametop("-i", path, "--log-by", by, *options)
    fields = by.split(":")[0].split(",")
    head = re.search(r"^ +COUNT.*$", out, re.M).group(0)
    first = head.index("  " + fields[0]) + 2
    rows, histograms = {}, {}
    for line in out[out.index(head) + len(head) + 1:].split("\n"):
        if not line:
            break
        values = tuple(re.split(r"  +", line[first:].rstrip(), maxsplit=len(fields) - 1))
        numbers = [line[a:b].strip() for a, b in ((30, 51), (83, 100))] if ":" in by else ["-", "-"]
        rows[values] = (int(line[:13].replace(",", "")), *(None if n == "-" else int(n) for n in numbers))
    for what, body in re.findall(r"^\w+ of (.*)\n +FROM.*\n((?: .*\n?)+)", out, re.M):
        lines = re.findall(r"^ *(\d+) +(\d+) +([\d,]+)  \|", body, re.M)
        histograms[tuple(what.split(", "))] = {(int(a), int(b)): int(n.replace(",", "")) for a, b, n in lines
                                               if n != "0"}
    return rows, histograms


def bucket(n):
    return (1 << n.bit_length() - 1, (1 << n.bit_length()) - 1) if n else (0, 0)


def expected(keys, numbers):
    """what groups_of returns, from a list of keys and the number of each (or None)"""
    rows, histograms = {}, {}
    for key, number in list(zip(keys, numbers)) + [(("(all)",), number) for number in numbers]:
        count, total, most = rows.get(key, (0, None, None))
        if number is not None:
            total, most = (total or 0) + number, number if most is None else max(most, number)
            of = histograms.setdefault(key, collections.Counter())
            of[bucket(number)] += 1
        rows[key] = (count + 1, total, most)
    return rows, histograms


def groups():
    """groups of the log have the counts, sums and histograms of perf script of the same file"""
    need()
    path = recorded_groups()
    theirs = [(row[1], row[3], row[4]) for _, row in perf_rows(path)]
    nothing = [None] * len(theirs)
    kinds = collections.Counter(event for _, event, _ in theirs)
    assert len(kinds) == 3, kinds
    rows, _ = groups_of(path, "event", "--idle")
    wanted, _ = expected([(event,) for _, event, _ in theirs], nothing)
    assert rows == wanted, (rows, wanted)
    switches = [re.match(STATES, what) for _, event, what in theirs]
    absent = "(no such field)"
    rows, _ = groups_of(path, "event,prev_state", "--idle")
    assert rows == expected([(event, s.group(4) if s else absent)
                             for (_, event, _), s in zip(theirs, switches)], nothing)[0], rows
    rows, histograms = groups_of(path, "prev_state:prev_prio", "--idle")
    wanted = expected([(s.group(4) if s else absent,) for s in switches],
                      [int(s.group(3)) if s else None for s in switches])
    assert (rows, histograms) == wanted, (rows, histograms, wanted)
    blocks = [re.match(r"(\d+,\d+) (\w+) (\d+) ", what) if event.startswith("block:") else None
              for _, event, what in theirs]
    rows, histograms = groups_of(path, "dev,rwbs:bytes", "--idle")
    names = partitions()
    wanted, all_of_them = expected([(names.get(b.group(1), b.group(1)), b.group(2)) if b else (absent, absent)
                                    for b in blocks],
                                   [int(b.group(3)) if b else None for b in blocks])
    assert rows == wanted, (rows, wanted)
    assert len(histograms) == min(11, len(all_of_them)), histograms
    assert histograms.items() <= all_of_them.items(), histograms
    calls_of = collections.Counter(int(re.match(r"NR (-?\d+)", what).group(1)) for _, event, what in theirs
                                   if event.startswith("raw_syscalls:"))
    rows, _ = groups_of(path, "syscall", "--idle")
    assert sorted(n for key, (n, _, _) in rows.items() if key[0] not in ("(all)", absent)) == \
        sorted(calls_of.values()), rows


def refused():
    """groups that cannot be are refused with the fields that there are"""
    need()
    path = recorded_groups()
    for by, wanted in (("prev_stat", r"no event here has a field prev_stat; did you mean prev_state\? "
                                     r"There are comm, .*prev_state"),
                       ("event:rwbs", r"the field rwbs is text.* a number is needed; there are .*bytes"),
                       ("event:none", "no event here has a field none"),
                       ("a,b,c", "one or two fields"), ("", "is needed"), ("a,", "is needed"),
                       ("a:", "is needed")):
        status, out, err = m.flametop("-i", path, "--log-by", by, check=False)
        assert status and not out and re.search(wanted, err), (by, status, out, err)


def first_row(s):
    """The seconds of the top row of the list."""
    return next(line.split()[0] for line in s.text().split("\n") if re.match(r" *\d+\.\d{6} ", line))


def keys():
    """the view lists the newest rows; the filter, the search, v, Enter and Esc do what they say"""
    need()
    path = recorded()
    rows = [row for _, row in rows_of(m.export(path, "log"))]
    failed = sum(row[3] == "raw_syscalls:sys_exit" and "= -2 ENOENT" in row[4] for row in rows)
    with Screen(["-i", path], size=(140, 40)) as s:
        s.send("6", shows=r"%s samples" % format(len(rows), ","))
        s.wait(r"FIELDS, OR FUNCTION")
        s.send("\\", shows="rows with")
        s.send("ret = -2", "enter", shows=r"^%d of [\d,]+ samples: ret = -2" % failed)
        s.send("]")  # of an event of the log
        s.until(lambda: "raw_syscalls:sys_exit each" in s.text() or not s.send("]"), "there is no sys_exit")
        assert all("ENOENT" in line for line in s.text().split("\n") if " NR " in line), s.text()
        s.send("enter", shows=r"CALLEES")
        s.wait(r"range ")
        s.wait(r"syscall_exit|do_syscall_64|trace_sys_exit|\[no stack\]|SELF%")
        s.send("esc", shows=r"of 1 samples?: ret = -2")
        s.send("esc", shows=r"^%d of [\d,]+ samples: ret = -2" % failed)
        s.send("esc", shows=r"^%s samples" % format(len(rows), ","))
        s.send("\\", shows="rows with")
        s.send("no_such_field=1", "enter", shows="no event here has a field no_such_field")
        s.send("\\", shows="rows with")
        s.send("\x15", "comm=neverseen", "enter", shows="no row passes the filter comm=neverseen")
        s.send("\\", shows="rows with")
        s.send("\x15", "ret<x", "enter", shows="needs a number")
        s.send("\x15", "openat", "enter", shows=r"[\d,]+ of [\d,]+ samples: openat")
        s.send("esc", shows="neverseen")
        s.send("esc", shows="no_such_field")
        s.send("esc", shows=r"^%s samples" % format(len(rows), ","))
        before = first_row(s)
        s.send("g")
        s.until(lambda: first_row(s) != before, "g does not go to the oldest row")
        s.send("/", shows="search")
        s.send("sched_process_fork", "enter", shows=r"sched_process_fork +sh")
        exits = sum(row[3] == "raw_syscalls:sys_exit" for row in rows)
        s.send("v", shows=r"^%s samples" % format(exits, ","))


def grouped_keys():
    """b asks for fields and groups by them; u, F6, Enter, Esc and the filter do what they say"""
    need()
    path = recorded_groups()
    theirs = [(row[3], row[4]) for _, row in perf_rows(path)]
    waits = [re.match(STATES, what) for event, what in theirs if event == "sched:sched_switch"]
    sums = collections.Counter()
    for wait in waits:
        sums[wait.group(4)] += int(wait.group(3))
    state = sums.most_common(1)[0][0]
    priorities = [int(wait.group(3)) for wait in waits if wait.group(4) == state]
    count = format(len(priorities), ",")
    shown = "%s samples" % format(len(theirs), ",")
    with Screen(["-i", path, "--idle"], size=(140, 40)) as s:
        s.send("6", shows="FIELDS, OR FUNCTION")
        s.send("u", shows="group the log first")
        s.send("b", shows="Group the log by")
        s.wait(r"prev_state +number +sched_switch")
        s.wait(r"comm +text +all events")
        s.send("no_such_field", "enter", shows="no event here has a field no_such_field")
        s.send("\x15", "prev_state", "enter", shows=r"^%s in \d+ groups by prev_state$" % shown)
        s.wait(r"^ +%s +[\d.]+ +[\d.]+( [KM])? \(all\)$" % format(len(theirs), ","))
        s.wait(r"^ +%s .* %s$" % (count, re.escape(state)))
        s.send("u", shows="Field with numbers to sum")
        s.wait_not("prev_comm")
        s.send("prev_prio", "enter", shows=r"groups by prev_state:prev_prio$")
        s.wait(r"^ prev_prio of \(all\): %s numbers$" % format(len(waits), ","))
        s.send("f6", shows="Sort by")
        s.send("sum", "enter", shows="sorted by sum")
        s.send("j", shows=r"^ prev_prio of %s: %s numbers" % (re.escape(state), count))
        top = max(bucket(n) for n in priorities)
        most = format(sum(bucket(n) == top for n in priorities), ",")
        s.wait(r"^ +%d to +%d +%s " % (top[0], top[1] + 1, most))
        s.send("enter", shows=r"^%s of %s: prev_state=%s$" % (count, shown, re.escape(state)))
        s.wait("prev_state=%s " % re.escape(state))
        s.wait("raw_syscalls:sys_enter each")
        s.send("enter", shows="^event sched:sched_switch")
        s.wait("CALLEES")
        s.send("esc", shows="F1Help")
        s.send("esc", shows=r"^(\d) of \1 samples?: prev_state=%s$" % re.escape(state))
        s.send("esc", shows=r"^%s of %s: prev_state=%s$" % (count, shown, re.escape(state)))
        s.send("esc", shows=r"^ prev_prio of %s: " % re.escape(state))
        s.send("esc", shows=r"groups by prev_state$")
        s.send("b", shows="FIELDS, OR FUNCTION")
        s.send("b", shows=r"groups by prev_state$")
        s.send("\\", shows="rows with")
        s.send("prev_prio>=0", "enter",
               shows=r"^%s samples in \d+ groups by prev_state, only prev_prio>=0" % format(len(waits), ","))
        s.wait_not("no such field")
        s.send("B", shows="Group the log by")
        s.send("event, prev_state:prev_pid", "enter", shows=r"groups by event,prev_state:prev_pid, only")
        s.wait(r"HISTOGRAM +event +prev_state")
        s.send("v", shows=r"^%s samples in \d+ groups by event,.*, only sched:sched_switch, prev_prio>=0" %
               format(len(waits), ","))
        s.send("/", shows="search")
        s.send("switch", "enter", shows=r"^ prev_pid of sched:sched_switch, \S+: ")


MANY = """
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
    for (long i = 0; i < 12000; i++)
        syscall(SYS_getppid, i);
    return 0;
}
"""


def special_groups():
    """Enter on a group without the field shows those samples; other values have no filter, and it says so"""
    need()
    path = recorded_groups()
    blocks = sum(row[3].startswith("block:") for _, row in perf_rows(path))
    total = format(len(perf_rows(path)), ",")
    with Screen(["-i", path, "--idle"], size=(140, 40)) as s:
        s.send("6", shows="FIELDS, OR FUNCTION")
        assert in_the_log(s, "event~block: && !dev", total) == "0", s.text()
        assert in_the_log(s, "event~block:", total) == format(blocks, ","), s.text()
        s.send("b", shows="Group the log by")
        s.send("prev_state,dev", "enter", shows=r"groups? by prev_state,dev, only event~block:$")
        s.send("/", shows="search")
        s.send("no such field", "enter", "enter")
        s.wait(r"^%s of %s samples: event~block: && !prev_state && dev=\S+$" % (format(blocks, ","), total))
    path = m.perf_record("values.data", "-m", "1024", "-e", "raw_syscalls:sys_enter", "--",
                         m.compiled("many", MANY))
    with Screen(["-i", path], size=(140, 40)) as s:
        s.send("6", shows="FIELDS, OR FUNCTION")
        s.send("b", shows="Group the log by")
        s.send("args", "enter", shows=r"10,001 groups by args$")
        s.send("G", shows=r"\(other values\)$")
        s.send("enter", shows="these samples have values without a row: no filter has only them")


def searched():
    """a filter searches all samples; names with quotes and escapes are safe"""
    need()
    hostile = 'x && b="y\\\x1b1'
    shutil.copy("/bin/true", m.path(hostile))
    script = 'for i in 1 2 3; do "$0"; done; dd if=/dev/zero of=/dev/null bs=1 count=15000'
    path = m.perf_record("many.data", "-e", "raw_syscalls:sys_enter", "--", "sh", "-c", script,
                         m.path(hostile))
    rows = perf_rows(path)
    assert len(rows) > 20000, len(rows)  # perf loses some on a busy machine
    mine = [row[4] for _, row in rows_of(m.export(path, "log"))]
    started = sum(what.startswith("execve NR ") for what in mine)
    assert len(mine) == len(rows)
    of_it = sum(row[1] == hostile for _, row in rows)
    assert started >= 4 and of_it, (started, of_it)
    total = format(len(rows), ",")
    with Screen(["-i", path], size=(140, 40)) as s:
        s.send("6", shows="^the newest 20,000 samples")
        s.send("\\", shows="rows with")
        s.send("id=execve", "enter", shows=r"^%d of %s samples: id=execve$" % (started, total))
        s.send("\\", shows="rows with")
        s.send("\x15", "execve nr", "enter", shows=r"^%d of %s samples: execve nr$" % (started, total))
        s.send("esc", "esc", shows="^the newest 20,000 samples")
        s.send("B", shows="Group the log by")
        s.send("comm", "enter", shows=r"^%s samples in \d+ groups by comm$" % total)
        s.send("/", shows="search")
        s.send("x &&", "enter", shows="search:x &&")
        s.wait(r'^ +%s .* x && b="y\\\?1$' % format(of_it, ","))
        s.send("enter", shows=r'^%s of %s samples: comm="x && b=\\"y\\\\\?1"$' % (format(of_it, ","), total))


def searched_live():
    """a search for a text finds the samples that arrive later, each once"""
    need()
    load = m.start("sh", "-c", "trap /bin/echo USR1; while :; do /bin/true; sleep 0.02; done")
    with Screen(["-e", "sched:sched_process_exec", "-p", str(load.pid)], size=(120, 30)) as s:
        s.send("6", shows="no samples yet|FIELDS, OR FUNCTION")
        s.send("\\", shows="rows with")
        s.send("BIN/ECHO", "enter", shows="of .*BIN/ECHO|no row passes|no samples yet")
        for n in 1, 2, 3:
            load.send_signal(signal.SIGUSR1)
            s.wait(r"^%d of \d+ samples: BIN/ECHO" % n)
            assert len(re.findall(r"filename=/bin/echo", s.text())) >= n, s.text()
    m.stop(load)


def follows():
    """live, the cursor follows the newest row until it is moved up, and again from the end on"""
    need()
    ticks = m.start("sh", "-c", "while :; do /bin/true; sleep 0.05; done")
    with Screen(["-e", "sched:sched_process_exec", "-p", str(ticks.pid)], size=(120, 30)) as s:
        s.send("6", shows=r"filename=/bin/true")
        s.wait(r"\b([3-9]\d|\d\d\d) samples")
        before = first_row(s)
        s.until(lambda: first_row(s) != before, "the rows do not go on")
        s.send("k", "k", shows="G follows the newest")
        at = re.search(r"\d+ samples; G follows", s.text()).group(0)
        top = first_row(s)
        s.wait_not(at)
        assert first_row(s) == top, s.text()
        s.send("G")
        s.wait_not("G follows the newest")
        s.until(lambda: first_row(s) != top, "it does not follow again")
    m.stop(ticks)


ENDS = """
#include <pthread.h>
#include <unistd.h>
static void *nap(void *own)
{
    usleep(1000);
    return own;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 200; i++) {
        if (pthread_create(&threads[i % 4], 0, nap, 0))
            return 1;
        if (i % 4 == 3)
            for (int k = 0; k < 4; k++)
                pthread_join(threads[k], 0);
    }
    return 0;
}
"""


def ended():
    """threads that have ended, which perf script prints as -1, have no number in logs and exports"""
    need()
    path = m.perf_record("ended.data", "-e", "sched:sched_switch", "-a", "--",
                         m.compiled("ends", ENDS, "-pthread"))
    truth = sum(row[2] == -1 and row[4].startswith("prev_comm=ends ") for _, row in perf_rows(path))
    assert truth > 100, truth
    text = m.export(path, "log")
    assert len(re.findall(r"^ *[\d.]+ +\d+  ends/\[ended\] +sched:sched_switch ", text, re.M)) == truth
    only = "-e", "sched:sched_switch"
    for name in "pid", "process", "tid", "thread":  # the process runs on
        found = m.flametop("-i", path, *only, "--log-by", name)[1]
        assert ("[ended]" in found) == (name[0] == "t") and "4294967295" not in found, found
    found = m.flametop("-i", path, *only, "--log-by", "thread")[1]
    assert re.search(r"^ +%d +[\d.]+%% .* ends/\[ended\]$" % truth, found, re.M), (truth, found)
    report = json.loads(m.export(path, "json", *only))
    assert [t["samples"] >= truth for t in report["threads"] if t["tid"] is None] == [True], report["threads"]
    for format in "folded", "speedscope", "json", "waits", "callgraph", "report":
        for options in ((), only):
            assert "4294967295" not in m.export(path, format, *options), format
    for by in "process", "thread":
        found = m.flametop("-i", path, "-b", *only, "--group-by", by)[1]
        assert "4294967295" not in found, found
    assert re.search(r" ends/\[ended\]$", found, re.M), found
    with Screen(["-i", path, *only], size=(140, 40)) as s:
        s.send("6", shows=r"^[\d,]+ samples")
        s.send("\\", shows="rows with")
        s.send("tid=[ended]", "enter", shows=r"^[\d,]+ of .* samples: tid=\[ended\]$")
        s.wait(r"process \d+  thread \[ended\]")
        assert s.quit() == 0

run(as_perf, calls, in_json, ended, devices, streamed, groups, refused, keys, grouped_keys, special_groups,
    searched, searched_live, follows)
