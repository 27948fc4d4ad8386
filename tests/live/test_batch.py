#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs without a screen: frames, recordings that end with their command, files."""
import os
import re
import signal

import machine as m
from ptyscreen import LIMIT, PROGRAM, run

BURN = ("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo printed; exit 5")


def samples(frame):
    return int(re.search(r"^samples ([\d,]+)", frame, re.M).group(1).replace(",", ""))


def frames(text):
    return re.findall(r"^flametop - .*", text, re.M)


def last_frame_has_all():
    """the last frame of a short command has all its samples, and the command prints as usual"""
    m.need_events()
    status, out, why = m.flametop("-F", "997", "-b", "-d", "600", "--", *BURN, check=False)
    assert samples(out) > 0 and len(frames(out)) == 1 and status == 5, (status, out)
    assert "printed" in out and not why, (out, why)


def frames_are_counted():
    """-n ends after this many frames, --duration after this time, whatever the delay"""
    m.need_events()
    _, out, _ = m.flametop("-b", "-n", "3", "-d", "0.2")
    assert len(frames(out)) == 3, out
    _, out, _ = m.flametop("-b", "-d", str(10 * LIMIT), "--duration", "1")
    assert len(frames(out)) == 1, out


def events_that_are_named_together():
    """several events are sampled together, each by its own rule, and the recording has them all"""
    m.need_events()
    m.need_perf()
    forks = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i + 1)); done"
    status, _, why = m.flametop("-e",
                                "{cpu-clock,page-faults},context-switches/period=1/,page-faults/period=3/",
                                "-o", m.path("set.data"), "--", "sh", "-c", forks)
    assert status == 0 and "wrote" in why, (status, why)
    named, _ = m.perf("evlist", "-i", m.path("set.data"))
    assert [line for line in named.splitlines() if line[:1] not in ("#", "")] == [
        "cpu-clock", "page-faults", "context-switches/period=1/", "page-faults/period=3/"], named
    text, _ = m.perf("script", "-i", m.path("set.data"), "-F", "event,period")
    periods = {}
    for line in text.splitlines():
        period, event = line.split()
        periods.setdefault(event.rstrip(":"), set()).add(int(period))
    assert periods["context-switches/period=1/"] == {1}, periods
    assert 3 in periods["page-faults/period=3/"], periods


# work runs on its own stack, and the other one stays in memory
CUT = """
static char room[65536];
char *other = room + 32768, *kept;
void work(void);
asm(".globl work; .type work,@function; work: mov %rsp, kept(%rip); mov other(%rip), %rsp;"
    "mov $100000, %ecx; 1: dec %ecx; jnz 1b; mov kept(%rip), %rsp; ret; .size work, .-work");
int main(void) { for (;;) work(); }
"""


def what_is_missing_is_said():
    """a report says what most samples lack and how to fix it, and --view doctor says all of it"""
    m.need_events()
    m.need_x86_64()
    pid = str(m.start(m.compiled("cut", CUT, "-O2", "-fno-pie", "-no-pie")).pid)
    cut = r"%% of stacks are truncated in cut \(cut/%s\)" % pid
    why = "code without unwind table, and no call instruction proves its caller"
    mend = "build it with -fasynchronous-unwind-tables.*; assembly needs .cfi lines"
    _, out, _ = m.flametop("-p", pid, "--duration", "1")
    assert re.search("^DEGRADED .*" + cut + ": " + why + ".*" + mend, out, re.M), out
    for how in (["--view", "doctor"], ["--export", "doctor", "-o", "-"],
                ["-b", "-n", "1", "--view", "doctor"]):
        _, out, _ = m.flametop("-p", pid, "--duration", "1", *how)
        assert re.search(cut + r"\n    " + why + r"\n    " + mend, out), out
        assert "SELF%" not in out, out


def file_is_one_frame():
    """a file is printed as one frame, whatever -n says; a pipe gets its report"""
    m.need_events()
    m.flametop("-F", "499", "--duration", "1", "-o", m.path("b.data"))
    _, out, _ = m.flametop("-i", m.path("b.data"), "-b", "-n", "3")
    assert len(frames(out)) == 1, out
    _, report, _ = m.flametop("-i", m.path("b.data"))
    assert samples(report) == samples(out)
    # each sample counts as self of one function
    title = re.search(r"^ *SELF% +TOTAL% +SELF SAMPLES ", report, re.M)
    assert title and sum(int(row.split()[2].replace(",", "")) for row in report[title.end():].splitlines()[1:]
                         if row) == \
        samples(report), report
    text = m.export(m.path("b.data"), "folded")
    _, all_of_it, _ = m.flametop("-i", m.path("b.data"), "--idle")  # other tools count the idle loop too
    assert sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) == samples(all_of_it)


def part_of_a_file():
    """-p, -t, -C, -K and -U select samples of a file, as many as perf script lists; other uses get a
    sentence"""
    m.need_events()
    m.need_perf()
    loops = "for i in 1 2; do (%s) & done; wait" % BURN[2]
    file = m.perf_record("part.data", "-F", "999", "-a", "--", "sh", "-c", loops)
    listed = m.perf("script", "-i", file, "-F", "comm,pid,tid,cpu")[0]
    # -1: a thread that ends; 0: an idle CPU, or an interrupt there
    lines = re.findall(r"^ *(\S.*?) +(-?\d+)/(-?\d+) +\[(\d+)\]", listed, re.M)
    comm, pid, tid, cpu = max((line for line in lines if int(line[1]) > 0), key=lines.count)

    def selected(*options):
        text = m.export(file, "report", "--idle", *options)
        assert ("selected: " in text) == bool(options), text
        return samples(text)

    everything = selected()
    assert everything == len(lines) > 100, (everything, len(lines))
    assert selected("-p", pid) == sum(line[1] == pid for line in lines) < everything
    assert selected("-t", tid) == sum(line[2] == tid for line in lines)
    assert selected("-p", comm) == sum(line[0] == comm for line in lines)
    assert selected("-C", str(int(cpu))) == sum(line[3] == cpu for line in lines) < everything
    both = sum(line[1] == pid and line[3] == cpu for line in lines)
    assert selected("-p", pid, "-C", str(int(cpu))) == both
    assert selected("-K") + selected("-U") == everything and selected("-K") > 0
    assert selected("-p", "nosuch") == 0
    others = sorted({line[1] for line in lines if int(line[1]) >= 0} - {pid})[:3]
    assert selected("-p", ",".join([pid, *others])) == sum(line[1] in [pid, *others] for line in lines)
    assert selected("-p", "nosuch,%s,%s" % (comm, pid)) == sum(line[0] == comm or line[1] == pid
                                                               for line in lines)
    tids = sorted({line[2] for line in lines if int(line[2]) >= 0})[:2]
    assert selected("-t", ",".join(tids)) == sum(line[2] in tids for line in lines)
    cpus = sorted({int(line[3]) for line in lines})
    assert selected("-C", "0-%d" % cpus[-1]) == everything
    assert selected("-C", "%d,8000" % cpus[0]) == sum(int(line[3]) == cpus[0] for line in lines)
    for options, wanted in ((("-p", "1,,2"), "a short list of process ids and names is selected"),
                            (("-t", "sh"), "a short list of thread ids is selected"),
                            (("-C", "0-a"), "a short list of CPUs, as in 0-3,8, is selected"),
                            (("-u", "root"), "leave out -u, -G and the command"),
                            (("-K", "-U"), "leave nothing")):
        status, _, why = m.flametop("-i", file, "-b", *options, check=False)
        assert status and wanted in why, (options, status, why)


def record_ends_with_its_command():
    """a recording ends with its command, before its duration, and returns its exit status"""
    m.need_events()
    status, out, why = m.flametop("-F", "997", "--duration", str(10 * LIMIT), "-o", m.path("c.folded"), "--",
                                  *BURN, check=False)
    assert status == 5, (status, why)
    assert out == "printed\n" and "wrote" in why, (out, why)
    assert any(line.startswith("sh;") for line in open(m.path("c.folded"))), open(m.path("c.folded")).read()


def catches(pid, sig):
    with open("/proc/%d/status" % pid) as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
    return int(caught, 16) >> (sig - 1) & 1


def record_ended_by_a_signal():
    """a recording ended by a signal is written, and the exit status names the signal"""
    m.need_events()
    for sig in (signal.SIGINT, signal.SIGTERM):
        out = m.path("%d.folded" % sig)
        live = m.start(PROGRAM, "-C", "0", "--idle", "-o", out)
        m.until(lambda: m.is_sampling(live.pid) and catches(live.pid, sig), "it did not begin")
        live.send_signal(sig)
        assert live.wait(LIMIT) == 128 + sig, live.returncode
        assert os.path.exists(out)


def views_as_text():
    """-b prints the view that --view names; a graphical view is refused with a hint"""
    m.need_events()
    frame = m.flametop("-b", "-n", "1", "-d", "0.3", "--view", "callgraph")[1]
    assert "FUNCTION AND CALLEES" in frame, frame
    for view in "flame", "time":
        code, _, said = m.flametop("-b", "-n", "1", "--view", view, check=False)
        assert code == 2 and "need the screen" in said and "--view callgraph" in said, (code, said)


def endings():
    """an unknown file extension is written as perf.data, with a message; /dev/null accepts any format"""
    m.need_events()
    said = m.flametop("--duration", "0.3", "-o", m.path("x.foo"))[2]
    assert "no format has the extension .foo: wrote a perf.data" in said, said
    said = m.flametop("--duration", "0.3", "-o", "/dev/null")[2]
    assert "wrote /dev/null" in said and "extension" not in said, said


def status_without_samples():
    """a command that failed before its first sample: its status, and a message that nothing was written"""
    m.need_events()
    for code, expected in (("7", 7), ("0", 1)):
        status, _, why = m.flametop("-e", "page-faults", "-c", str(10 ** 12), "-o", m.path("none.data"),
                                    "--", "sh", "-c", "exit " + code, check=False)
        assert status == expected and "nothing to write" in why, (status, why)


def status_of_its_command():
    """-b returns the exit status of its command"""
    m.need_events()
    code, out, _ = m.flametop("-b", "-d", "0.3", "--", "sh", "-c", "sleep 0.2; exit 7", check=False)
    assert code == 7 and frames(out), (code, out)


def few_descriptors():
    """with a low limit of open files, flametop raises the limit if it can, or says what it needs"""
    m.need_events()
    done = m.ran("sh", "-c", 'ulimit -n 12; exec "$0" -b -n 1 -d 0.3', PROGRAM)
    raised = done.returncode == 0 and frames(done.stdout) and "Too many open files" not in done.stdout
    why = "needs 64 open files, and 12 are allowed here: ulimit -n 64"
    refused = done.returncode == 1 and why in done.stderr
    assert raised or refused, (done.returncode, done.stdout, done.stderr)


run(last_frame_has_all, frames_are_counted, events_that_are_named_together, what_is_missing_is_said,
    file_is_one_frame, part_of_a_file, record_ends_with_its_command, record_ended_by_a_signal, views_as_text,
    endings, status_without_samples, status_of_its_command, few_descriptors)
