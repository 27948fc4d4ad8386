#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perf.data files with several and very many events: all of them are read, selected by -e, and named."""
import json
import re

import machine as m
import perfdata_maker as p
from ptyscreen import Screen, run

EVENT_DESC = 12
BPF_OUTPUT = 10  # PERF_COUNT_SW_BPF_OUTPUT
TEXT = 0x400000


def name_events(f, attrs):
    """Names the events of a file, {name: attr}, with the ids 100, 101 and so on."""
    section = f.pack("II", len(attrs), f.attr_size)
    for i, (name, attr) in enumerate(attrs.items()):
        section += attr + f.pack("II", 1, 64) + name.encode().ljust(64, b"\0") + f.pack("Q", 100 + i)
    f.features = {EVENT_DESC: section}


def made(counts, name="many.data"):
    """a file with events of these names and numbers of samples, each event in its own functions"""
    f = p.Maker()
    name_events(f, {event: f.attr([100 + i], config=i) for i, event in enumerate(counts)})
    f.comm(100, 100, "worker", 1000, 100)
    f.mmap(100, TEXT, 0x100000, "/usr/bin/worker", 1000, 100)
    time = 2000
    for i, n in enumerate(counts.values()):
        for _ in range(n):
            time += 1000
            f.sample(100, 100, time, 100 + i, TEXT + 16 * i, cpu=time % 4)
    return m.write(name, f.file())


def forty():
    return made({"app:event_%02d" % i: i for i in range(40)})


def samples_of(path, *args):
    found = json.loads(m.export(path, "json", *args))
    return {e["name"]: e["samples"] for e in found["events"]}, found


def no_limit():
    """700 events with samples each are all read"""
    counts = {"syscalls:call_%03d" % i: 1 + i % 3 for i in range(700)}
    found, whole = samples_of(made(counts))
    assert found == counts, {n: (found.get(n), counts[n]) for n in counts if found.get(n) != counts[n]}
    assert whole["samples"] == sum(counts.values()) and not whole["damage"], whole["damage"]


def sections():
    """report, call graph, callers and annotate have a section for each event with samples"""
    path = forty()
    for format in "report", "callgraph", "callers", "annotate":
        text = m.export(path, format)
        heads = re.findall(r"^flametop - .*?(app:event_\d\d).*\nsamples (\d+)", text, re.M)
        assert heads == [("app:event_%02d" % i, str(i)) for i in range(1, 40)], (format, heads)
    frames = m.flametop("-i", path, "-b")[1]
    assert len(re.findall(r"^flametop - ", frames, re.M)) == 39, frames


def chosen():
    """-e selects events of the file by name and glob, and only these are read"""
    path = forty()
    text = m.flametop("-i", path, "-e", "app:event_07,app:event_3[89]", "--export", "report", "-o", "-")[1]
    named = re.findall(r"^flametop - .*?(app:event_\d\d)", text, re.M)
    assert named == ["app:event_07", "app:event_38", "app:event_39"], text
    found, whole = samples_of(path, "-e", "app:event_07", "-e", "app:event_09")
    assert found == {"app:event_07": 7, "app:event_09": 9} and whole["samples"] == 16, whole
    script = m.flametop("-i", path, "-e", "app:event_03", "--export", "script", "-o", "-")[1]
    assert script.count("app:event_03") == 3 and "app:event_04" not in script, script
    m.flametop("-i", path, "-e", "app:event_05", "--export", "perf.data", "-o", m.path("part.data"))
    assert sum(samples_of(m.path("part.data"))[0].values()) == 5
    part = made({"cycles:ppu": 2, "cpu/event=1,umask=2/": 3}, "names.data")
    assert samples_of(part, "-e", "cycles")[0] == {"cycles:ppu": 2}
    assert samples_of(part, "-e", "cpu/event=1,umask=2/")[0] == {"cpu/event=1,umask=2/": 3}


SWITCH_FORMAT = """name: sched_switch
ID: 300
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;
\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;
"""


def tracing(f, text):
    """The tracing data of a file with one tracepoint: trace-cmd.dat.v6(5)."""
    return b"".join((b"\027\010\104tracing", b"0.6\0", bytes([f.order == ">", 8]), f.pack("I", 4096),
                     b"header_page\0", f.pack("Q", 0), b"header_event\0", f.pack("Q", 0), f.pack("I", 0),
                     f.pack("I", 1), b"sched\0", f.pack("I", 1), f.pack("Q", len(text)), text.encode(),
                     f.pack("II", 0, 0)))


def switches(records, text=SWITCH_FORMAT, order="<", period=1, clock=()):
    """A file of perf record -e sched:sched_switch -a: records are (ms, left thread, state, next thread). With
    clock, also -e cpu-clock: (ms, thread, address)."""
    f = p.Maker(order=order)
    attr = f.attr([100], sample_type=p.BASIC | p.RAW, config=300)
    attr = f.pack("I", 2) + attr[4:16] + f.pack("Q", period) + attr[24:]
    f.attrs[0] = (attr, [100])
    events = attr + f.pack("II", 1, 64) + b"sched:sched_switch".ljust(64, b"\0") + f.pack("Q", 100)
    if clock:
        events += f.attr([101]) + f.pack("II", 1, 64) + b"cpu-clock".ljust(64, b"\0") + f.pack("Q", 101)
    f.features = {1: tracing(f, text), EVENT_DESC: f.pack("II", len(f.attrs), f.attr_size) + events}
    f.comm(100, 100, "worker", 1000, 100)
    f.mmap(100, TEXT, 0x100000, "/usr/bin/worker", 1000, 100)
    f.mmap(100, TEXT + 0x100000, 0x100000, "/usr/bin/helper", 1000, 100)
    for ms, tid, ip in clock:
        f.sample(100, tid, ms * 1000000, 101, ip)
    for ms, left, state, after in records:
        raw = f.pack("QiiqiI", 300, left, 0, state, after, 0)
        if state is LOST:
            f.record(p.LOST, f.pack("QQ", 100, 5) + f.trailer(0, 0, ms * 1000000, 100))
            continue
        f.sample(100 if left else 0, left, ms * 1000000, 100, TEXT, period=1,
                 more=f.pack("I", len(raw) + 4) + raw + bytes(4))
    return m.write("switches.data", f.file())


LOST = 1 << 32
WAITS = [(10, 100, 1, 0), (40, 0, 0, 100), (50, 100, 0, 101), (70, 101, 128, 100), (80, 100, 2, 0),
         (85, 0, 0, 101), (86, 101, 1, 100), (90, 100, 0x10, 0)]


def waits(path, tid=100, event="off-cpu"):
    """By leaf frame, in milliseconds: those of a thread."""
    stacks = m.stacks_of(m.export(path, "folded", "--idle", "-e", event, "--fold", "tid"))
    sums = {}
    for frames, us in stacks:
        if frames[0].endswith("/%d" % tid):
            sums[frames[-1]] = sums.get(frames[-1], 0) + us / 1000
    return sums


def off_cpu():
    """sched:sched_switch of a file becomes time off the CPU, in both byte orders"""
    for order in "<>":
        path = switches(WAITS, order=order)
        assert waits(path) == {"[wait]": 30 + 6, "[runnable]": 20}, (order, waits(path))
        # an idle worker does not wait; a sleep that is open at the end does, until the end
        assert waits(path, 101) == {"[wait]": 4}, (order, waits(path, 101))


def off_cpu_lost():
    """the time of lost records is unknown, then the next record tells; no wait is longer than the truth"""
    lost = WAITS[:1] + [(20, 0, LOST, 0)] + WAITS[1:]
    assert waits(switches(lost)) == {"[wait]": 20 + 6, "[runnable]": 20}, waits(switches(lost))
    unseen = WAITS[:1] + WAITS[2:]  # it came back at an unknown time after 10 ms
    assert waits(switches(unseen)) == {"[wait]": 6, "[runnable]": 20}, waits(switches(unseen))


def off_cpu_of_a_damaged_file():
    """a tracepoint that lacks a field, or has one of an impossible size or place, or only some of the
    switches: a sentence, and the file's own samples"""
    for text, period, said in (
            ("", 1, "lacks next_pid or prev_state"),
            (SWITCH_FORMAT.replace("next_pid", "other_pid"), 1, "lacks next_pid or prev_state"),
            (SWITCH_FORMAT.replace("size:8", "size:3"), 1, "lacks next_pid or prev_state"),
            (SWITCH_FORMAT.replace("pid_t next_pid", "char next_pid[4]"), 1, "lacks next_pid or prev_state"),
            (SWITCH_FORMAT, 10, "only some of the switches")):
        path = switches(WAITS, text, period=period)
        assert said in m.export(path, "doctor"), (text, m.export(path, "doctor"))
        assert samples_of(path)[0] == {"sched:sched_switch": len(WAITS)}
    beyond = switches(WAITS, SWITCH_FORMAT.replace("offset:24", "offset:4000000000"))
    assert not waits(beyond) and samples_of(beyond)[0] == {"sched:sched_switch": len(WAITS)}


# a sample of a running thread gets the time that it ran since its last one; the last one also gets the rest
CLOCK = [(45, 100, TEXT), (60, 0, TEXT), (75, 100, TEXT + 0x100000)]


def wall_clock():
    """running, runnable and waiting are the lifetime of each thread, also of one without a sample, in both
    byte orders and in a saved file"""
    for order in "<>":
        path = switches(WAITS, order=order, clock=CLOCK)
        assert waits(path, event="wall") == {"[worker]": 5, "[helper]": 10 + 9, "[wait]": 36,
                                             "[runnable]": 20}, (order, waits(path, event="wall"))
        assert waits(path, 101, "wall") == {"[running]": 21, "[wait]": 4}, waits(path, 101, "wall")
        assert samples_of(path)[0] == {"sched:sched_switch": len(WAITS), "cpu-clock": len(CLOCK)}
        assert waits(path) == {"[wait]": 36, "[runnable]": 20}, waits(path)
        m.flametop("-i", path, "--wall", "--idle", "-o", m.path("saved.data"))
        for tid in 100, 101:
            assert waits(m.path("saved.data"), tid, "wall") == waits(path, tid, "wall"), (order, tid)


def wall_clock_lost():
    """what a thread did while records were lost is unknown, and a row says so"""
    lost = WAITS[:5] + [(82, 0, LOST, 0)] + WAITS[5:]
    found = waits(switches(lost, clock=CLOCK), event="wall")
    assert found == {"[worker]": 5, "[helper]": 10 + 9, "[wait]": 30 + 4, "[runnable]": 20,
                     "[unknown: records lost]": 2}, found


def no_wall_clock():
    """a file without samples of CPU time, or without switches, has no wall clock: a sentence"""
    for path in switches(WAITS), made({"cycles": 3}):
        status, _, said = m.flametop("-i", path, "--wall", "--export", "report", "-o", "-", check=False)
        assert status and "no wall-clock time in" in said and "perf record -e cycles" in said, said


def times_on_the_screen():
    """O shows time on the CPU, time off the CPU and both; a wait has a colour of its own, and without colours
    its name"""
    path = switches(WAITS, clock=CLOCK * 9)
    for env in {}, {"NO_COLOR": "1"}:
        with Screen(["-i", path, "--idle"], size=(100, 30), env=env) as s:
            s.wait("cpu-clock")
            s.send("O", shows="off-cpu each")
            s.wait("event off-cpu")
            s.send("O", shows="wall clock: % of thread time")
            s.wait(r"%WALL|SELF%")
            s.send("3", shows=r"all 100\.0%")
            s.wait(r"\[wait\]")
            text = s.text().splitlines()
            colours = {}
            for name in "[runnable]", "[wait]", "helper":
                y = next(y for y, line in enumerate(text) if name in line)
                colours[name] = s.screen.buffer[y][text[y].index(name)].bg
            assert len(set(colours.values())) == (1 if env else 3), (env, colours)
            s.send("O", shows="event cpu-clock")


def off_cpu_of_perf():
    """waits of perf record --off-cpu (Linux 5.19 to 6.15) have user stacks only: their reason is unknown"""
    f = p.Maker()
    name_events(f, {"offcpu-time": f.attr([100], config=BPF_OUTPUT)})
    f.comm(100, 100, "worker", 1000, 100)
    for i in range(2):
        f.sample(100, 100, 0xffffffff00000000 + i, 100, TEXT, period=5000000)
    path = m.write("perf.data", f.file())
    stacks = m.stacks_of(m.export(path, "folded", "--idle"))
    assert sum(us for frames, us in stacks if frames[-1] == "[wait]") == 10000, stacks


def off_cpu_of_new_perf():
    """waits of perf record --off-cpu since Linux 6.16 are payloads: they have the thread, stack and time of
    the wait, not those of the thread that was on the CPU; damaged ones are counted as such"""
    user = 0xfffffffffffffe00
    for order in "<>":
        f = p.Maker(order)
        name_events(f, {"offcpu-time": f.attr([100], config=BPF_OUTPUT, sample_type=p.BASIC | p.RAW)})
        for pid, name in (100, "worker"), (200, "other"):
            f.comm(pid, pid, name, 1000, 100)
            f.mmap(pid, TEXT, 0x1000, "/usr/bin/" + name, 1000, 100)
        f.comm(100, 101, "thread", 1000, 100)
        chain = [user, TEXT + 16, TEXT + 33, TEXT + 49]
        # the BPF program has the thread in the lower half, perf at the end has the process there
        f.sample(200, 200, 2000, 100, 0xffffffff81000000, more=p.offcpu_time(f, 101, 100, 700000000, chain))
        f.sample(200, 200, 3000, 100, TEXT, more=p.offcpu_time(f, 101, 100, 9000000, chain, n=2 ** 61))
        f.sample(200, 200, 3100, 100, TEXT, more=p.offcpu_time(f, 101, 100, 9000000, chain, n=5))
        f.sample(200, 200, 3200, 100, TEXT, more=f.pack("IQ", 12, 5) + bytes(4))
        f.sample(0, 0, 0xffffffff00000000, 100, 0, period=0,
                 more=p.offcpu_time(f, 100, 101, 30000000, [user, TEXT + 64, TEXT + 81]))
        path = m.write("thresh.data", f.file())
        stacks = m.stacks_of(m.export(path, "folded", "--idle", "--fold", "tid"))
        assert sorted(stacks) == [(["thread-100/101"] + ["[worker]"] * n + ["[wait]"], us)
                                  for n, us in ((2, 30000), (3, 700000))], stacks
        counts = json.loads(m.export(path, "json"))
        assert counts["samples"] == 2 and "3 inconsistent records" in counts["damage"][0], counts["damage"]
        for name, *options in ("whole.data",), ("part.data", "-e", "offcpu-time"), ("bundle.tar.zst",):
            m.flametop("-i", path, *options, "-o", m.path(name))
            again = m.stacks_of(m.export(m.path(name), "folded", "--idle", "--fold", "tid"))
            assert sorted(again) == sorted(stacks), (name, again)


def wakers_of_flametop():
    """a sample of wakers has the waker's stack in the waker's own process; a payload that is damaged names no
    waker"""
    f = p.Maker()
    name_events(f, {"wakers": f.attr([100], config=BPF_OUTPUT, sample_type=p.WAIT)})
    for pid, name in (100, "worker"), (200, "holder"):
        f.comm(pid, pid, name, 1000, 100)
        f.mmap(pid, TEXT, 0x1000, "/usr/bin/" + name, 1000, 100)
    f.comm(200, 201, "thread", 1000, 100)
    futex = 1
    for i, more in enumerate(({}, {"kind": 1}, {"kind": 65535}, {"magic": 1}, {"n": 65535}, {"n": 0},
                              {"pid": 4000, "tid": 4001})):
        f.sample(100, 100, 2000 + i, 100, TEXT + 16, period=5000000 << i,
                 more=p.wait(f, futex, [TEXT + 16], [TEXT + 32, TEXT + 49], **more))
    path = m.write("wakers.data", f.file())
    found = {us // 5000: frames for frames, us in m.stacks_of(m.export(path, "folded", "--idle"))}
    waits, own = ["worker", "[worker]", "[wait: futex]"], ["[holder]", "[holder]"]
    assert found == {1 + 4: [*waits, "[woken by thread]", *own], 2: [*waits, "[woken by a timer]", *own],
                     8 + 16: [*waits, "[woken by an unknown thread]"], 32: [*waits, "[woken by thread]"],
                     64: [*waits, "[woken by :4001]", "[unknown]", "[unknown]"]}, found


def wrong_choice():
    """an event name that the file lacks is an error that lists the file's events"""
    path = forty()
    code, _, said = m.flametop("-i", path, "-e", "sched:sched_switch", "--export", "report", "-o", "-",
                               check=False)
    assert code and "has no such event; its events are app:event_00, app:event_01" in said, said
    assert "(40)" in said, said
    code, _, said = m.flametop("-i", path, "--preset", "cpu", "-o", "-", "--export", "report", check=False)
    assert code == 2 and "--preset applies to live sampling" in said, said


def pictures():
    """a format with room for one event says which event it shows, and that there are others"""
    path = made({"app:few": 2, "app:most": 5, "app:some": 3})
    for format in "folded", "svg", "pprof", "speedscope":
        said = m.flametop("-i", path, "--export", format, "-o", m.path("picture"))[2]
        assert re.search(r"3 events have samples; %s holds only app:most: -e chooses another" % format,
                         said), said
    assert "app:most" in m.export(path, "svg")
    _, out, said = m.flametop("-i", path, "-e", "app:few", "--export", "folded", "-o", "-")
    assert out.split()[-1] == "2" and "events have samples" not in said, (out, said)


def on_the_screen():
    """the event with most samples is first; e lists all, those with samples first; [ and ] visit only
    those"""
    path = made(dict({"app:none_%02d" % i: 0 for i in range(60)}, **{"app:few": 2, "app:most": 5}))
    with Screen(["-i", path], size=(100, 30)) as s:
        s.wait(r"app:most.*\[2/2\]")
        s.wait(r"samples 5 ")
        s.send("e", shows=r"Event of the recording to show")
        rows = s.text().split("EVENT")[1].splitlines()[1:4]
        assert [re.search(r"app:\S+ +\d+", r).group().split() for r in rows] == \
            [["app:most", "5"], ["app:few", "2"], ["app:none_00", "0"]], rows
        s.send("down", "enter", shows=r"app:few.*\[1/2\]")
        s.wait(r"samples 2 ")
        s.send("]", shows=r"app:most.*\[2/2\]")
        s.send("]", shows=r"app:few.*\[1/2\]")
        for key in "enone_07":
            s.send(key)
        s.send("enter", shows=r"app:none_07 has no samples in this recording")


run(no_limit, sections, chosen, wrong_choice, off_cpu, off_cpu_lost, off_cpu_of_a_damaged_file,
    off_cpu_of_perf, off_cpu_of_new_perf, wakers_of_flametop, wall_clock, wall_clock_lost, no_wall_clock,
    times_on_the_screen, pictures, on_the_screen)
