#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports of recordings by other tools, compared with known facts and with the output of other programs."""
import base64
import collections
import functools
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import collapse
import machine as m
import perffile
from browser import Page
from ptyscreen import Screen, Skip, run

DATA = os.path.join(m.SOURCE, "tests", "data")


def recordings():
    found = sorted(glob.glob(os.path.join(DATA, "*.json")))
    assert found, "no recordings in " + DATA
    return [file[:-len(".json")] for file in found]


def facts_of(file):
    """the facts that perf and another unwinder report: tests/data/README.md"""
    with open(file + ".json") as f:
        facts = json.load(f)
    return facts["raw"], facts["perf"]


def by(rows, key, what="samples"):
    assert len({row[key] for row in rows}) == len(rows), rows
    return {str(row[key]): row[what] for row in rows}


def known_facts():
    """the JSON of every recording has the known numbers"""
    for file in recordings():
        (raw, facts), told = facts_of(file), json.loads(m.export(file, "json"))
        assert told["samples"] == facts["samples"], file
        assert told["time"] == {"first_ns": facts["time_ns"]["first"], "last_ns": facts["time_ns"]["last"]}, \
            file
        assert told["records"] == {k: n for k, n in facts["aggregated"].items() if k != "TOTAL"}, file
        lost = facts["lost_events_sum"] + facts["lost_samples_sum"]
        assert told["lost"] == lost == sum(e["lost"] for e in told["events"]), file
        events = [e for e in told["events"] if e["samples"]]
        reports = facts["report"]["comm"]
        assert [e["name"] for e in events] == [r["event"] for r in reports], file
        assert [e["samples"] for e in events] == [e["counts"]["SAMPLE"] for e in facts["per_event_stats"]], \
            file
        assert [e["period"] for e in events] == [r["event_count_approx"] for r in reports], file
        assert sum(e["period"] for e in events) == facts["total_period"], file
        per = facts["per"]
        assert by(told["comms"], "name") == per["comm"], file
        assert by(told["comms"], "name", "period") == per["comm_period"], file
        assert by(told["pids"], "pid") == per["pid"], file
        assert by(told["threads"], "tid") == per["tid"], file
        assert by(told["cpus"], "cpu") == per["cpu"], file
        for key, ours in (("hostname", "hostname"), ("os release", "os_release"),
                          ("perf version", "perf_version"), ("arch", "arch"), ("cpudesc", "cpudesc"),
                          ("cmdline", "cmdline"), ("nrcpus online", "nrcpus_online")):
            assert str(told["header"].get(ours, "")) == facts["header"].get(key, ""), \
                (file, key, told["header"])
        assert told["header"]["features"] == raw.get("features", told["header"]["features"]), \
            (file, told["header"])
        assert sum(s["self"] for s in told["symbols"]) <= told["samples"]
        assert all(0 <= s["self"] <= s["total"] <= told["samples"] for s in told["symbols"]), file


def known_modules():
    """the JSON of every recording has the known modules"""
    for file in recordings():
        dsos = collections.Counter()
        for name, n in facts_of(file)[1]["per"]["dso"].items():
            dsos["[unknown]" if name == "<not found>" else name] += n
        assert by(json.loads(m.export(file, "json"))["modules"], "path") == dsos, (file, dsos)


def blocks(text):
    """[(head, [lines of its stack])] of a script's output; samples without a stack have it in the head"""
    found = []
    for line in text.split("\n"):
        if line.startswith("\t"):
            # perf names some kernel modules by path and some by name
            found[-1][1].append(re.sub(r"\(/\S*/([^/]+)\.ko\)$", r"([\1])", line.strip()))
        elif line.strip():
            found.append((line.strip(), []))
    return found


def as_perf_script():
    """the script of each recording equals perf's, plus frame-pointer targets that are no code"""
    m.need_perf()
    for name, fields in (("google__perf.data.callgraph-3.8", None),
                         ("google__perf.data.lost_samples-4.4", None),
                         ("google__perf.data.armv7-3.4", "comm,pid,tid,cpu,time,event,period"),
                         ("eclipse__tests_multievent-data_perf.data", None)):
        file = os.path.join(DATA, name)
        mine = blocks(m.export(file, "script", *(["--fields", fields] if fields else [])))
        theirs = blocks(m.perf("script", "--no-inline", "-i", file, *(["-F", fields] if fields else []))[0])
        assert len(mine) == len(theirs), (name, len(mine), len(theirs))
        for (head, stack), (head_of_perf, stack_of_perf) in zip(mine, theirs):
            assert head == head_of_perf, (name, head, head_of_perf)
            assert stack == stack_of_perf, (name, head, stack, stack_of_perf)


def frames_of(script):
    """[[(address, name with offset, module)]] of the samples in a script"""
    frame = re.compile(r"(\w+) (.*?) \((\S.*)\)$")
    return [[frame.match(line).groups() for line in stack] for _, stack in blocks(script)]


@functools.lru_cache(None)
def ends_of(module):
    """{(name, size)} of a library's functions"""
    listed = m.tool("nm", "-D", "-S", "--defined-only", module)
    return {(name, int(size, 16)) for size, name in re.findall(r"^\w+ (\w+) [TtWi] ([^@\n]+)", listed, re.M)}


def is_explained(mine, theirs):
    """Whether a difference between both tools in one frame is explained by perf's own rules."""
    name, of_perf = (re.sub(r"\+0x[\da-f]+$", "", frame[1]) for frame in (mine, theirs))
    if mine[2] == theirs[2] and name == of_perf.split("@")[0]:
        # a symbol's version is not part of its name; either of two equal names begins the function
        return True
    same_offset = mine[1].split("+")[1:] == theirs[1].split("+")[1:]
    if mine[2] == theirs[2] and re.search(r"[^@]@[^@]", of_perf) and same_offset:
        return True  # of two names of a function flametop avoids the one kept for old programs
    if theirs[1].endswith("+0x0"):
        return True  # the code after a call that does not return is not the caller
    if mine[2] == theirs[2] and of_perf == "[unknown]" and "+" in mine[1] and os.path.exists(mine[2]) and (
            name, int(mine[1].split("+")[1], 16)) in ends_of(mine[2]):
        return True  # the same, where no function follows
    of_plt = re.search(r"@plt$|^\.plt", name) and re.search(r"^\[unknown\]$|@plt$", of_perf)
    if mine[2] == theirs[2] and of_plt:
        return True  # perf numbers PLT entries in another order
    if mine[2] == theirs[2] and of_perf == "[unknown]" and re.match(r"(main|_start)(\+|$)", name):
        return True  # in a stripped program, by the code at its entry point
    # after an exec a process has other maps; perf keeps the previous ones
    return mine[1:] == ("[unknown]", "[unknown]")


def stacks_as_perf():
    """with --as-perf stacks equal perf's exactly; without it they differ only by perf's rules"""
    m.need_perf()
    todo = ("for i in 1 2 3 4; do ls -R /usr/share >/dev/null; sort /etc/services >/dev/null; "
            "%s -c pass; done" % sys.executable)
    file = m.perf_record("spawned.data", "-g", "-F", "4000", "-e", "cpu-clock", "sh", "-c", todo)
    script_of_perf = m.perf("script", "--no-inline", "-i", file)[0]
    theirs = blocks(script_of_perf)
    exact = blocks(m.export(file, "script", "--no-inline", "--as-perf"))
    assert len(exact) == len(theirs) > 0
    assert exact == theirs, [pair for pair in zip(exact, theirs) if pair[0] != pair[1]][:2]
    folded = collections.Counter({stack: int(n) for stack, n in (
        line.rsplit(" ", 1) for line in m.export(file, "folded", "--no-inline", "--as-perf").splitlines())})
    collapsed = collapse.collapse(script_of_perf.split("\n"))
    assert folded == collapsed, [(folded - collapsed).most_common(2), (collapsed - folded).most_common(2)]
    mine, theirs = frames_of(m.export(file, "script", "--no-inline")), frames_of(script_of_perf)
    for stack, stack_of_perf in zip(mine, theirs):
        if any(int(frame[0], 16) > 0xfffffffffffff000 for frame in stack):
            continue  # perf treats it as an unknown context, and shows no stack
        assert len(stack) == len(stack_of_perf), (stack, stack_of_perf)
        odd = [pair for pair in zip(stack, stack_of_perf) if pair[0] != pair[1] and not is_explained(*pair)]
        assert not odd, odd


MODES = (("-z", "-g"), ("--threads", "-g", "-N"), ("--per-thread",), ("--no-timestamp",), ("-d", "-W", "-R"),
         ("--switch-events", "--namespaces", "--all-cgroups", "-g"), ("-k", "raw", "-I", "--user-regs=ip,sp"),
         ("-g", "--kernel-callchains"), ("-g", "--user-callchains"), ("-e", "{cpu-clock,page-faults}:S"))


def modes_as_perf():
    """for every recording mode, the script with --as-perf and the number of samples equal perf's"""
    m.need_perf()
    done = 0
    for mode in MODES:
        file = m.path("mode.data")
        shutil.rmtree(file, ignore_errors=True)
        event = [] if "-e" in mode else ["-e", "cpu-clock"]
        recorded = m.ran("perf", *m.RECORD, "-F", "2000", *event, *mode, "-o", file, "sh", "-c",
                         "ls -R /usr/share/doc >/dev/null; sort /etc/services >/dev/null; "
                         "ls /usr/bin >/dev/null")
        if recorded.returncode:
            continue  # not supported by this machine or this perf
        done += 1
        mine = blocks(m.export(file, "script", "--no-inline", "--as-perf"))
        theirs = blocks(m.perf("script", "--no-inline", "-i", file)[0])
        assert mine == theirs, (mode, len(mine), len(theirs),
                                [pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:2])
        assert json.loads(m.export(file, "json"))["samples"] == len(theirs), mode
    if not done:
        raise Skip("perf cannot record: " + recorded.stderr.strip().split("\n")[-1])


def perfs_rules_are_for_perfs_formats():
    """--as-perf is refused for formats that perf does not have"""
    file = recordings()[0]
    for more in (["-i", file, "--export", "json", "-o", "-"], ["-i", file],
                 ["--duration", "1", "-o", m.path("x.folded")],
                 ["-i", file, "--export", "folded", "--fold", "raw", "-o", "-"]):
        status, _, why = m.flametop("--as-perf", *more, check=False)
        assert status and "--as-perf" in why, (more, why)


def tracepoints_as_perf():
    """tracepoint payloads are printed like perf's, also with formats of another kernel"""
    m.need_perf()
    events = ("sched:sched_switch", "irq:softirq_entry", "kmem:kmalloc", "syscalls:sys_enter_openat",
              "timer:hrtimer_start")
    file = m.perf_record("tracepoints.data", "-a", *(word for event in events for word in ("-e", event)),
                         "sleep", "0.2")
    # the formats differ from this kernel's: they are read like another machine's
    foreign = m.path("foreign.data")
    with open(file, "rb") as whole, open(foreign, "wb") as other:
        other.write(whole.read().replace(b"common_preempt_count", b"common_preempt_counT"))
    for file in (file, foreign):
        # perf does not name a thread if only its process is known
        for fields in (None, "comm,tid,event,trace,time"):
            mine = m.export(file, "script", "--as-perf",
                            *(["--fields", fields] if fields else [])).splitlines()
            theirs = m.perf("script", "-i", file, *(["-F", fields] if fields else []))[0].splitlines()
            assert [line.rstrip() for line in mine] == [line.rstrip() for line in theirs], \
                [pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:4]


def bytecode_frames():
    """callchains continue through bytecode frames of an interpreter, in files that are mapped for reading
    only"""
    file = os.path.join(DATA, "simpleperf__perf_with_jit_symbol.data")
    stacks = [line for line in m.export(file, "folded", "--fold", "raw").splitlines()
              if "java.lang.Thread.run" in line]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in stacks) == 151, stacks
    assert not any("[broken]" in line for line in stacks), stacks


def as_stackcollapse():
    """folded stacks equal those of stackcollapse-perf.pl from the script"""
    for file in recordings():
        # one event only: stackcollapse-perf.pl uses the first event of its input
        events = [e for e in json.loads(m.export(file, "json"))["events"] if e["samples"]]
        script = m.export(file, "script", "--fields", "+pid").split("\n")
        if len(events) > 1 or not any(line.startswith("\t") for line in script):
            continue
        for words in ((), ("tid",), ("pid", "all")):
            options = {word: True for word in words if word != "all"}
            if "all" in words:
                options.update(kernel=True, jit=True)
            text = m.export(file, "folded", *(["--fold", ",".join(words)] if words else []))
            mine = dict((stack, int(n)) for stack, n in (line.rsplit(" ", 1) for line in text.splitlines()))
            theirs = collapse.collapse(script, **options)
            assert mine == theirs, (file, words, sorted(set(mine.items()) ^ set(theirs.items()))[:6])


def speedscope_is_sound():
    """the speedscope file has all samples, and its functions are opened and closed in turn"""
    for file in recordings():
        counts, told = json.loads(m.export(file, "json")), json.loads(m.export(file, "speedscope"))
        event = max(counts["events"], key=lambda e: e["samples"])
        frames = len(told["shared"]["frames"])
        sampled, threads = told["profiles"][0], told["profiles"][1:]
        assert sampled["type"] == "sampled" and len(sampled["samples"]) == len(sampled["weights"]), file
        assert sum(sampled["weights"]) == sampled["endValue"] == event["period"], (file, event)
        assert all(0 <= frame < frames for stack in sampled["samples"] for frame in stack), file
        assert {t["name"].rsplit("/", 1)[1] for t in threads} <= {str(t["tid"]) for t in counts["threads"]}, \
            file
        for thread in threads:
            stack, at = [], 0
            for step in thread["events"]:
                assert at <= step["at"] <= thread["endValue"], (file, step)
                at = step["at"]
                if step["type"] == "O":
                    stack.append(step["frame"])
                else:
                    assert stack.pop() == step["frame"], (file, step)
            assert not stack, file


# C0, DEL, C1, bidirectional controls and line separators: never unescaped in an export
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def hostile_names():
    """names that try to break a format or a terminal are escaped in every export"""
    with open(os.path.join(DATA, "eclipse__tests_multievent-data_perf.data"), "rb") as f:
        recorded = f.read()
    # a comm, a library's path, the kernel's release and the command line, each with its old length
    made = recorded.replace(b"hellotest\0", b"a\"\x1b\xff;\n\\'>\0")
    made = made.replace(b"/libc-2.14.90.so\0", b"/\xe2\x80\xae\t;\xc2\x9b\"\x80 ()\\<&\0")
    for text in (b"3.3.7-1.fc16.x86_64", b"runtime-EclipseApplication"):
        assert text in recorded, text
        made = made.replace(text, ("\u202e\u2066\x9b".encode() + text[8:]))
    assert made != recorded and len(made) == len(recorded)
    m.write("hostile.data", made)
    for form in ("json", "speedscope"):
        text = m.export(m.path("hostile.data"), form)
        told = json.loads(text)
        assert "\ufffd" not in told, form
    counts = json.loads(m.export(m.path("hostile.data"), "json"))
    assert counts["samples"] == 1846, counts
    assert {c["name"] for c in counts["comms"]} == {"perf", "a\"??;?\\'>"}, counts["comms"]
    for form in ("json", "speedscope", "svg", "doctor", "script", "folded", "report", "callgraph", "callers"):
        done = subprocess.run([m.PROGRAM, "-i", m.path("hostile.data"), "--export", form, "-o", "-"],
                              check=True, capture_output=True)
        text = done.stdout.decode()  # valid UTF-8
        assert not UNSAFE.search(text.replace("\t", " ")), (form, UNSAFE.search(text.replace("\t", " ")))
        assert form == "svg" or "\t" not in text, form
    script = m.export(m.path("hostile.data"), "script").splitlines()
    assert len(script) == counts["samples"], len(script)
    folded = m.export(m.path("hostile.data"), "folded")
    assert all(re.fullmatch(r".+ \d+", line) for line in folded.splitlines())


def kernel_of_others():
    """report and screen say that a recording's kernel is not named here, until its names are supplied"""
    file = os.path.join(DATA, "google__perf.data.callgraph-3.8")
    said = "DEGRADED no kernel names: recorded on another kernel"
    assert said in m.export(file, "report"), m.export(file, "report")[:1000]
    with Screen(["-i", file], size=(120, 40)) as s:
        s.wait(said)
    m.write("kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n")
    assert said not in m.export(file, "report", "--kallsyms", m.path("kallsyms"))
    program = perffile.Program(m.path("plain"), ["work"])
    perffile.write(m.path("plain.data"), program, [perffile.Sample(0.01, 100, 0, ["main", "work"])],
                   {100: "plain"})
    assert "DEGRADED" not in m.export(m.path("plain.data"), "report")


def standard_output():
    """every format can be written to standard output; a terminal accepts text only; a pipe gets the report"""
    file = recordings()[0]
    assert "SELF%" in m.flametop("-i", file)[1]
    for form in ("perf.data", "bundle", "pprof", "script"):
        done = subprocess.run([m.PROGRAM, "-i", file, "--export", form, "-o", "-"], capture_output=True,
                              stdin=subprocess.DEVNULL, check=True)
        m.flametop("-i", file, "--export", form, "-o", m.path("as_file"))
        with open(m.path("as_file"), "rb") as f:
            assert done.stdout == f.read(), form
        if form == "script":
            continue
        leader, follower = os.openpty()
        done = subprocess.run([m.PROGRAM, "-i", file, "--export", form, "-o", "-"], stdout=follower,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False)
        os.close(follower)
        os.close(leader)
        assert done.returncode and "terminal" in done.stderr, (form, done.stderr)
    # a reader that stops early causes no crash and no wait
    done = subprocess.run("%s -i %s --export script -o - | head -1" % (m.PROGRAM, file), shell=True,
                          capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1 and not done.stderr, done


def fields_of(message):
    """[(number, integer or bytes)] of a protocol buffer"""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 0x7f) << shift
            shift += 7
            at += 1
            if message[at - 1] < 0x80:
                return value
    while at < len(message):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            assert key & 7 == 2, key
            size = varint()
            found.append((key >> 3, message[at:at + size]))
            at += size
    return found


def write_pprof(file):
    status, _, why = m.flametop("-i", file, "-o", m.path("x.pb.gz"), check=False)
    if "without zlib" in why:
        raise Skip("this flametop was built without zlib")
    assert not status, why


def pprof_of(file):
    write_pprof(file)
    with gzip.open(m.path("x.pb.gz")) as f:
        return fields_of(f.read())


def numbers_of(packed):
    each = re.findall(rb"[\x80-\xff]*[\0-\x7f]", packed)
    return [value for _, value in fields_of(b"".join(b"\x08" + one for one in each))]


def pprof_is_sound():
    """the pprof file has all samples, and no dangling reference"""
    for file in recordings():
        event = max(json.loads(m.export(file, "json"))["events"], key=lambda e: e["samples"])
        profile = pprof_of(file)
        texts = [value.decode() for number, value in profile if number == 6]
        ids = {number: {dict(fields_of(value))[1] for n, value in profile if n == number}
               for number in (3, 4, 5)}
        assert texts[0] == "" and 0 not in ids[3] | ids[4] | ids[5], file
        samples = [dict(fields_of(value)) for number, value in profile if number == 2]
        values = [numbers_of(sample[2]) for sample in samples]
        assert [sum(column) for column in zip(*values)] == [event["samples"], event["period"]], (file, event)
        assert {location for sample in samples for location in numbers_of(sample[1])} == ids[4], file
        period = dict(profile)[12]
        assert period and period <= event["period"], (file, period)
        for number, value in profile:
            if number == 4:
                parts = fields_of(value)
                assert dict(parts)[2] in ids[3], file
                assert all(dict(fields_of(line))[1] in ids[5] for n, line in parts if n == 4), file
            if number == 5:
                assert dict(fields_of(value))[2] < len(texts), file


def go_reads_pprof():
    """go tool pprof reads the file, with the same total"""
    m.need_tools("go", package="golang-go")
    for file in recordings():
        counts = json.loads(m.export(file, "json"))
        write_pprof(file)
        done = m.ran("go", "tool", "pprof", "-sample_index=samples", "-top", m.path("x.pb.gz"),
                     env=dict(os.environ, HOME=m.WORK))
        assert not done.returncode, (file, done.stderr)
        total = int(re.search(r"of (\d+) total", done.stdout).group(1))
        assert total == max(e["samples"] for e in counts["events"]), (file, done.stdout)


def recording(name, shares):
    """A recording of a program with this many samples per function, and flametop's version of it."""
    program = perffile.Program(m.path("compared"), ["hot_a", "hot_b", "hot_c"])
    names = [function for function, n in shares.items() for _ in range(n)]
    perffile.write(m.path(name), program,
                   [perffile.Sample(0.01 * i, 100, 0, ["main", name]) for i, name in enumerate(names)],
                   {100: "compared"})
    m.flametop("-i", m.path(name), "-o", m.path("saved." + name))


def compared(old, new):
    """{function: (share in the baseline, change)} from perf diff"""
    text, _ = m.perf("diff", m.path(old), m.path(new))
    found = re.findall(r"^ *(?:([\d.]+)%)? +(?:([+-][\d.]+)%)? +\S+ +\[\.\] (\w+) *$", text, re.M)
    return {name: (float(before or 0), float(change or 0)) for before, change, name in found}, text


def perf_diff():
    """perf diff of two saved files equals that of the recordings, and the known differences"""
    m.need_perf()
    recording("old.data", {"hot_a": 60, "hot_b": 40})
    recording("new.data", {"hot_a": 30, "hot_b": 50, "hot_c": 20})
    told, text = compared("saved.old.data", "saved.new.data")
    assert told["hot_a"] == (60, -30) and told["hot_b"] == (40, 10) and told["hot_c"][0] == 0, text
    assert told == compared("old.data", "new.data")[0], text
    same, text = compared("saved.old.data", "saved.old.data")
    assert {name: before for name, (before, _) in same.items()} == {"hot_a": 60, "hot_b": 40}, text
    assert not any(change for _, change in same.values()), text


def speedscope_page():
    """The page of the npm package, if it is installed."""
    roots = [os.environ.get("SPEEDSCOPE", "")]
    if shutil.which("npm"):
        known = m.ran("npm", "root", "-g")
        roots.append(os.path.join(known.stdout.strip(), "speedscope"))
    for root in filter(None, roots):
        page = os.path.join(root, "dist", "release", "index.html")
        if os.path.exists(page):
            return page
    raise Skip("speedscope is not installed (npm install -g speedscope)")


def speedscope_imports():
    """speedscope imports its own format and our perf script, with the known shares"""
    page = speedscope_page()
    recording("scoped.data", {"hot_a": 60, "hot_b": 40})
    for form, name in (("speedscope", "scoped.speedscope.json"), ("script", "scoped.perf.txt")):
        m.flametop("-i", m.path("saved.scoped.data"), "--export", form, "-o", m.path(name))
        with open(m.path(name), "rb") as f:
            content = base64.b64encode(f.read()).decode()
        m.write(name + ".js", 'speedscope.loadFileFromBase64("%s", "%s")' % (name, content))
        with Page("%s#localProfilePath=%s&view=sandwich" % (page, m.path(name + ".js"))) as scope:
            scope.until("document.body.innerText.includes('hot_a') && document.title != 'speedscope'")
            text = scope.get("document.body.innerText")
        for function, share in (("hot_a", 60), ("hot_b", 40)):
            assert re.search(r"\(%d%%\)\s+[\d.]+ms \(%d%%\)\s+%s\b" % (share, share, function), text), \
                (name, text)


run(known_facts, known_modules, as_perf_script, stacks_as_perf, modes_as_perf,
    perfs_rules_are_for_perfs_formats, tracepoints_as_perf, bytecode_frames, as_stackcollapse,
    speedscope_is_sound, hostile_names, kernel_of_others, standard_output, pprof_is_sound, go_reads_pprof,
    perf_diff, speedscope_imports)
