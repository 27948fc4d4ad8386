#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes (-e probe:FILE:FUNCTION, sdt:..., latency:probe:...), compared with what a load prints about itself
and with perf probe."""
import json
import os
import re
import shutil
import subprocess

import machine as m
from probes import LOG, background, defined, finish, interrupted, load, need_probes, probe, probed
from probes import samples_already, watched
from ptyscreen import LIMIT, PROGRAM, Screen, Skip, run

SLACK = 0.02  # share by which a time near the edge of a bucket may differ
CONFIG = {"XDG_CONFIG_HOME": m.path("config")}


def as_perf():
    """counts, arguments and results are those of the program, and counts those of perf probe and perf stat"""
    need_probes()
    m.need_perf()
    name = "hit%d" % os.getpid()  # perf refuses the name of any other probe
    m.tool("perf", "probe", "-q", "-x", probed(), "flametoptest:%s=work" % name)
    started = [load("sleeps")]
    pid = str(started[0].pid)
    try:
        perf = m.adopt(subprocess.Popen(["perf", "stat", "-x;", "-e", "flametoptest:" + name, "-p", pid],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        started.append(perf)
        m.until(lambda: samples_already(perf.pid, True), "perf did not begin to count")
        ours = background("--stat=csv", "-e", probe("work,") + probe("work%return"), "-p", pid)
        log = background(*LOG, "-p", pid, "-e", probe("work%return $retval:s64"), "-e",
                         probe("work ms name:string small address=$arg4:x64 second=+8($arg4):s64"))
        told = [tuple(map(int, line.split())) for line in finish(started[0]).splitlines()]
        counted = [int(n) for n in re.findall(r"^(\d+),", ours.communicate(timeout=LIMIT)[1], re.M)]
        theirs = int(perf.communicate(timeout=LIMIT)[1].split(";")[0])
        lines = interrupted(log)
    finally:
        for process in started:
            process.kill()
            process.wait()
        m.tool("perf", "probe", "-q", "-d", "flametoptest:" + name)
    assert len(told) == 21 and theirs == 21 and counted == [21, 21], (told, theirs, counted)
    entries = re.findall(r"probe:probed:work +\(\w+\) ms=(\d+) name=\"a name\" small=(\d+) "
                         r"address=0x\w+ second=(\d+)$", lines, re.M)
    assert entries == [(str(ms), "200", "7") for ms, _, _ in told], lines
    results = re.findall(r"probe:probed:work%return +\(.*\) ret=(-?\d+)$", lines, re.M)
    assert results == [str(result) for _, _, result in told], lines


def buckets_of(times, factor):
    counts = {}
    for ns in times:
        le = (1 << int(ns * factor).bit_length()) - 1
        counts[le] = counts.get(le, 0) + 1
    return counts


def durations():
    """the histogram of a function equals the times that the program measured"""
    need_probes()
    file = m.path("work.json")
    output, _ = watched("sleeps", "--latency", probe("work ms"), "-o", file)
    with open(file) as f:
        report = json.load(f)
    told = [tuple(map(int, line.split())) for line in output.splitlines()]
    found = {r["name"]: r for r in report["latency"]}
    assert len(told) == 21 and len(found) == 7, found
    for ms in (1, 2, 4, 8, 16, 32, 64):
        times = [ns for asked, ns, _ in told if asked == ms]
        row = found["work: ms %d" % ms] if "work: ms %d" % ms in found else found["ms %d" % ms]
        assert row["count"] == 3, row
        assert sum(times) * (1 - SLACK) - 300000 <= row["sum_ns"] <= sum(times), (ms, times, row)
        possible = [buckets_of(times, f) for f in (1, 1 - SLACK)]
        ours = {b["le_ns"]: b["count"] for b in row["buckets"] if b["count"]}
        assert ours in possible or set(ours) <= set(possible[0]) | set(possible[1]), (ours, possible)


def recursion():
    """each call of a function that calls itself is an operation, which contains those within it"""
    need_probes()
    file = m.path("deeper.json")
    watched("nested", "--latency", probe("deeper depth"), "-o", file)
    with open(file) as f:
        rows = {r["name"].split()[-1]: r for r in json.load(f)["latency"]}
    assert {name: r["count"] for name, r in rows.items()} == {str(n): 10 for n in range(1, 6)}, rows
    for depth in range(2, 6):
        assert rows[str(depth)]["sum_ns"] > rows[str(depth - 1)]["sum_ns"] + 10 * 2e6, rows
    assert rows["5"]["sum_ns"] > 10 * 5 * 2e6, rows


def hostile_texts():
    """texts of a hostile process are bounded and cleaned, as arguments and as names"""
    need_probes()
    event = probe("speak text:string")
    process = load("text")
    log = background(*LOG, "-e", event, "-p", str(process.pid))
    finish(process)
    lines = interrupted(log)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", lines), lines
    shown = [line for line in lines.splitlines() if "probe:probed:speak" in line]
    assert len(shown) == 6 and all(len(line) < 5000 for line in shown), shown
    texts = [re.search(r'text=(?:"(.*)"|\(fault\))$', line).group(1) or "" for line in shown]
    assert "red" in texts[0] and set(texts[2]) == {"x"} and len(texts[2]) > 100, texts
    assert texts[1].strip("x") == "" and texts[3:] == ["", "", ""], texts  # over 4,095 bytes: not copied
    _, printed = watched("text", "--latency", event)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", printed), printed
    assert re.search(r"^ +6( .*)? +\(all\)$", printed, re.M), printed


def markers():
    """a marker (USDT probe) is listed, and has its semaphore, arguments and count, at all its places"""
    need_probes()
    listed = m.flametop("--list-events", "sdt:%s:*" % probed())[1]
    assert re.search(r"sdt:%s:flametop_test:step +-4@\S+ 8@\S+$" % re.escape(probed()), listed, re.M), listed
    process = load("marks")
    of_process = m.flametop("--list-events", "sdt:flametop*", "-p", str(process.pid))[1]
    assert of_process == listed, of_process
    log = background(*LOG, "-e", "sdt:%s:flametop_test:step" % probed(),
                     "-p", str(process.pid))
    output = finish(process)
    lines = interrupted(log)
    assert output == "enabled 20\n", output
    numbers = re.findall(r"sdt:probed:flametop_test:step +\(\w+\) arg1=(-?\d+) arg2=\d+$", lines, re.M)
    assert [int(n) for n in numbers] == [i if i % 2 else -i for i in range(1, 21)], lines


def python_markers():
    """markers of Debian's Python: collections of garbage, with their generation"""
    need_probes()
    python = os.path.realpath("/usr/bin/python3")
    if "gc__start" not in m.flametop("--list-events", "sdt:%s:*" % python, check=False)[1]:
        raise Skip("%s has no markers" % python)
    code = "import gc, sys; gc.disable(); sys.stdin.read(1); [gc.collect(i % 3) for i in range(30)]"
    process = m.adopt(subprocess.Popen([python, "-c", code], stdin=subprocess.PIPE, text=True))
    log = background(*LOG, "-e", "sdt:%s:python:gc__start" % python,
                     "-p", str(process.pid))
    process.communicate("g", timeout=LIMIT)
    lines = interrupted(log)
    generations = re.findall(r"python:gc__start +\(\w+\) arg1=(\d+)$", lines, re.M)
    assert "012" * 10 in "".join(generations), lines


def saved():
    """perf.data has the probe with its fields, and perf prints them"""
    need_probes()
    m.need_perf()
    file = m.path("probe.data")
    watched("sleeps", "-e", probe("work ms"), "-o", file)
    ours = m.export(file, "script", "--fields", "comm,event,trace")
    theirs = m.perf("script", "-i", file, "-F", "comm,event,trace")[0]
    wanted = [str(1 << i) for i in range(7)] * 3
    assert re.findall(r"ms=(\d+)", ours) == wanted, ours
    assert re.findall(r"ms=(\d+)", theirs) == wanted, theirs


def definition():
    """the printed definition has no names, and counts the same in a program without symbols"""
    need_probes()
    bare = m.path("bare")
    m.tool("strip", "-o", bare, probed())
    line = m.flametop("--probe-definition", probe("work ms small"))[1].strip()
    assert re.fullmatch(r"probe:%s:0x[0-9a-f]+ ms=%%\w+:s32 small=%%\w+:u8" % re.escape(probed()), line), line
    process = load("sleeps", bare)
    log = background(*LOG, "-e", line.replace(probed(), bare), "-p", str(process.pid))
    finish(process)
    lines = interrupted(log)
    assert re.findall(r" ms=(\d+) small=200$", lines, re.M) == [str(1 << i) for i in range(7)] * 3, lines


def source_lines():
    """a probe of a source line counts how often the line runs"""
    need_probes()
    with open(os.path.join(m.SOURCE, "tests", "live", "probed.c")) as f:
        line = next(i for i, text in enumerate(f, 1) if "nanosleep(&t, NULL);" in text)
    process = load("sleeps")
    ours = background("--stat=csv", "-e", "probe:%s:probed.c:%d" % (probed(), line), "-p", str(process.pid))
    finish(process)
    assert ours.communicate(timeout=LIMIT)[1].startswith("21,"), line


def bad_input():
    """each wrong definition is refused with a sentence, and nothing is left behind"""
    need_probes()
    bare = m.path("stripped")
    m.tool("strip", "-o", bare, probed())
    file = probed()
    start = int(re.search(r":0x(\w+)", m.flametop("--probe-definition", probe("work"))[1]).group(1), 16)
    inside = 2  # "push %rbp", or endbr64, is followed by an instruction of three bytes, or is one of four
    for definition, text in (
            ("probe:%s:wrok" % file, "it has no function wrok; did you mean work?"),
            ("probe:/no/such/file:work", "/no/such/file"),
            ("probe:libnosuch.so:work", "there is no program libnosuch.so in PATH, and no process"),
            ("probe:/etc/passwd:work", "not an ELF file"),
            ("probe:%s:work" % bare, "no function work among those that it exports, and no symbol table"),
            ("probe:%s:folded" % file, "folded is inlined wherever it is called"),
            ("probe:libc.so.6:memcpy", "chooses memcpy among variants"),
            ("probe:%s:work nosuch" % file, "work has no parameter 'nosuch'; its parameters are ms, name, "),
            ("probe:%s:work ignored" % file, "'ignored' is no number"),
            ("probe:%s:work ms:s31" % file, "Unknown type is specified"),
            ("probe:%s:work a=%%nosuch" % file, "Invalid register name"),
            ("probe:%s:work $retval" % file, "$retval is known at a return only"),
            ("probe:%s:work%%return ms" % file, "parameters are known at the entry"),
            ("probe:%s:work%%retrun" % file, "only %return may follow"),
            ("probe:%s:work $arg0" % file, "numbered from $arg1"),
            ("probe:%s:work+0x10000" % file, "work has only "),
            ("probe:%s:work+%d" % (file, inside), "is in the middle of an instruction"),
            ("probe:%s:0x%x" % (file, start + inside), "is in the middle of an instruction"),
            ("probe:%s:0x7fffffff" % file, "it has no code at the offset"),
            ("probe:%s:probed.c:1" % file, "line 1 of probed.c has no code; the next line with code is"),
            ("probe:%s:nosuch.c:1" % file, "no source file nosuch.c"),
            ("probe:%s:probed.c:0" % file, "a line is a number"),
            ("probe:%s" % file, "a file and a place are needed"),
            ("sdt:%s:flametop_test:nosuch" % file, "it has no marker flametop_test:nosuch"),
            ("sdt:%s:step" % file, "a marker is sdt:FILE:PROVIDER:NAME"),
            ("latency:probe:%s:work%%return" % file, "give the function only"),
            ("latency:probe:%s:wrok" % file, "it has no function wrok"),
            ("{probe:%s:work,cycles}" % file, "a probe is no member of a group")):
        status, _, said = m.flametop("-b", "-n", "1", "-e", definition, "--", "true", check=False)
        assert status == 2 and text in said, (definition, said)
        assert said.startswith("flametop: ") and "\n  " in said, said
    assert not defined(m.WORK), defined(m.WORK)


def static_function():
    """a static function and a glob of functions are probed"""
    need_probes()
    process = load("nested")
    ours = background("--stat=csv", "-e", probe("deeper"), "-e", probe("deep*|spea?"),
                      "-p", str(process.pid))
    finish(process)
    counts = [int(n) for n in re.findall(r"^(\d+),", ours.communicate(timeout=LIMIT)[1], re.M)]
    assert counts == [50, 50], counts


def perf_may_be_asked():
    """Whether perf is here, and can read debug information."""
    return bool(shutil.which("perf")) and "[ on  ]" in m.ran("perf", "version", "--build-options").stdout


PARAMETERS = """
struct small { int a; };
struct large { long a[5]; };
typedef const unsigned short number;
enum color { RED };
struct large after_hidden_result(int a, char *b) { struct large l = { { a, (long)b } }; return l; }
int with_float(float f, number a, double d, enum color b, signed char c) { return f + a + d + b + c; }
int with_struct(int a, struct small s, int unknown) { return a + s.a + unknown; }
int on_stack(long a, long b, long c, long d, long e, long f, long g) { return a + b + c + d + e + f + g; }
int main(void) { return 0; }
"""


def parameters():
    """parameters are found in the registers of the calling convention, also in optimised programs"""
    need_probes()
    m.need_x86_64()
    for flags in ("-O0",), ("-O2",):
        program = m.compiled("parameters", PARAMETERS, "-g", *flags)
        for definition, wanted in (("after_hidden_result a b", "a=%si:s32 b=%dx:x64"),
                                   ("with_float a b c", "a=%di:u16 b=%si:s32 c=%dx:s8"),
                                   ("with_struct a", "a=%di:s32"),
                                   ("after_hidden_result b:string", "b=+0(%dx):string")):
            line = m.flametop("--probe-definition", probe(definition, program))[1]
            assert line.strip().split(" ", 1)[1] == wanted, line
            if "-O2" in flags and perf_may_be_asked():
                theirs = m.tool("perf", "probe", "-q", "-x", program, "-D", definition)
                place = r"=(\S+):[sux]?(\w+)"  # perf prints numbers without a sign as x, and has other names
                assert re.findall(place, theirs) == re.findall(place, wanted), (theirs, wanted)
        for definition in ("with_float d", "with_struct s", "with_struct unknown", "on_stack g"):
            status, _, said = m.flametop("--probe-definition", probe(definition, program), check=False)
            assert status == 2 and ("is no number" in said or "in registers" in said), said


VARIABLES = """
#include <stdio.h>
#include <string.h>
struct item { int id; char label[16]; };
static volatile short kept = 300;
volatile unsigned char shared_zeros;
__attribute__((noinline)) long total(const char *name, int n)
{
    long sum = 0;
    char copy[24] = "";
    struct item item = { n, "" };
    strncat(copy, name, 20);
    for (int i = 0; i < n; i++) {
        sum += i * 1000 + item.id;
        kept++; /* HERE */
        shared_zeros += 2;
    }
    return sum + copy[0];
}
int main(void) { printf("%ld\\n", total("some text", 6)); return 0; }
"""


def variables():
    """variables at a line have their values: on the stack, in registers, static ones, and texts"""
    need_probes()
    line = next(i for i, text in enumerate(VARIABLES.splitlines(), 1) if "HERE" in text)
    for flags in ("-O0",), ("-O0", "-fomit-frame-pointer"), ("-O0", "-no-pie"), ("-O1",):
        program = m.compiled("variables", VARIABLES, "-g", *flags)
        wanted = "n kept shared_zeros" + ("" if "-O1" in flags else " i sum copy:string name:string")
        event = probe("variables.c:%d %s" % (line, wanted), program)
        shown = m.flametop("-b", "--view", "log", "-e", event, "--", program)[1]
        lines = [row for row in shown.splitlines() if "probe:variables:variables.c" in row]
        assert len(lines) == 6, (flags, shown)
        for i, row in enumerate(lines):
            found = dict(re.findall(r'(\w+)=("[^"]*"|-?\d+|0x\w+)', row))
            assert found["kept"] == str(300 + i) and found["shared_zeros"] == str(2 * i), (flags, row)
            assert found["n"] == "6", (flags, row)
            if "-O1" not in flags:
                assert found["i"] == str(i), (flags, row)
                assert found["sum"] == str(sum(k * 1000 + 6 for k in range(i + 1))), (flags, row)
                assert found["copy"] == found["name"] == '"some text"', (flags, row)
    for name, text in (("nosuch", "no variable 'nosuch'"), ("item", "is no number"),
                       ("copy", "give it the type string")):
        event = probe("variables.c:%d %s" % (line, name), m.compiled("variables", VARIABLES, "-g", "-O0"))
        status, _, said = m.flametop("--probe-definition", event, check=False)
        assert status == 2 and text in said, said


def of_32_bits():
    """arguments of a 32-bit program are on its stack"""
    need_probes()
    m.need_x86_64()
    m.need_32_bits()
    program = m.compiled("narrow", """
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int add(int a, const char *b) { return a + *b; }
int main(void)
{
    char c;
    if (read(0, &c, 1) != 1)
        return 1;
    for (int i = 0; i < 5; i++)
        if (add(i - 2, "text") == 1)
            abort();
    return 0;
}
""", "-m32", "-O0")
    process = m.adopt(subprocess.Popen([program], stdin=subprocess.PIPE, text=True))
    log = background(*LOG, "-p", str(process.pid),
                     "-e", probe("add $arg1:s32 $arg2:string", program),
                     "-e", probe("add%return $retval:s32", program))
    process.communicate("g", timeout=LIMIT)
    lines = interrupted(log)
    assert re.findall(r'arg1=(-?\d+) arg2="text"$', lines, re.M) == ["-2", "-1", "0", "1", "2"], lines
    assert re.findall(r"ret=(-?\d+)$", lines, re.M) == [str(i - 2 + ord("t")) for i in range(5)], lines


def filters():
    """a filter by an argument applies in the kernel"""
    need_probes()
    process = load("sleeps")
    ours = background("--stat=csv", "-e", probe("work ms[ms > 8]"), "-e", probe("work n=$arg1:s32"),
                      "--filter", "n == 2 || n == 4", "-p", str(process.pid))
    finish(process)
    counts = [int(n) for n in re.findall(r"^(\d+),", ours.communicate(timeout=LIMIT)[1], re.M)]
    assert counts == [9, 6], counts


def elsewhere():
    """a file is found by its name in processes: in another mount namespace, deleted, with a blank"""
    need_probes()
    m.need_tools("unshare")
    for name, remove in ("only-here", ""), ("gone now", "rm '{}/gone now';"):
        folder = m.path("elsewhere")
        os.makedirs(folder, exist_ok=True)
        script = ("mount -t tmpfs none {0} && cp {1} '{0}/{2}' && {{ '{0}/{2}' sleeps <&3 & }} 3<&0; "
                  "until [ \"$(readlink /proc/$!/exe)\" = '{0}/{2}' ]; do sleep 0.05; done; {3} echo ready; "
                  "wait"
                  .format(folder, probed(), name, remove.format(folder)))
        process = m.started("unshare", "--mount", "sh", "-c", script, stdin=subprocess.PIPE)
        event = "probe:%s:work%%return" % name
        ours = background("--stat=csv", "-e", event, "--duration", "3")
        process.stdin.write("g")
        process.stdin.close()
        counted = ours.communicate(timeout=LIMIT)[1]
        assert counted.startswith("21,"), (name, counted)
        output = process.stdout.read()
        assert len(output.splitlines()) == 21, output


def replaced():
    """a program that was replaced while it runs is probed by its path, in both builds"""
    need_probes()
    program = m.path("renewed")
    m.tool("cp", probed(), program)
    process = load("sleeps", program)
    os.remove(program)
    m.build("probed", "-O2")
    try:
        m.tool("cp", m.path("probed"), program)
        event = probe("work ms", program)
        assert m.flametop("--probe-definition", event)[1].count("\n") == 2
        younger = load("sleeps", program)
        ours = background("--stat=csv", "-e", event, "-p", "%d,%d" % (process.pid, younger.pid))
        finish(process)
        finish(younger)
        counted = ours.communicate(timeout=LIMIT)[1]
        assert counted.startswith("42,"), counted
    finally:
        m.build("probed")


def names_of_cxx():
    """functions of C++ are named as in the source, and this is a parameter"""
    need_probes()
    m.need_x86_64()
    m.need_tools("c++")
    program = m.path("cxx")
    m.tool("c++", "-g", "-O0", "-o", program, m.write("cxx.cc", """
namespace shop { struct Box { int n; __attribute__((noinline)) int grow(int by) { return n += by; } }; }
int main() { shop::Box box = { 1 }; for (int i = 0; i < 30; i++) box.grow(i); return box.n < 0; }
"""))
    line = m.flametop("--probe-definition", probe("shop::Box::grow this by", program))[1]
    assert line.strip().split(" ", 1)[1] == "this=%di:x64 by=%si:s32", line
    counted = m.flametop("--stat=csv", "-e", probe("shop::*grow by[by >= 10]", program), "--", program)[2]
    assert counted.startswith("20,"), counted


def on_the_screen():
    """a definition that is typed into the event picker is sampled, and removed at the end of the screen"""
    need_probes()
    process = load("nested")
    with Screen(["-p", str(process.pid), "-d", "0.3"], env=CONFIG) as s:
        s.wait(r"SELF%")
        s.send("e", shows="type to filter or any event")
        s.send(probe("deepr"), shows="Enter uses the text itself")
        s.send("enter", shows="it has no function deepr; did you mean deeper")
        s.send("backspace", "er depth", "enter", shows=r"sampling probe:probed:deeper, each time")
        m.until(lambda: defined(probed()), "no probe")
        s.wait(r"scope: pid \d+.*LIVE")
        s.send("6")
        process.stdin.write("g")
        process.stdin.flush()
        s.wait(r"(?s)50 samples.*probed/\d+ +\(\w+\) depth=5.*depth=1")
        s.quit()
    assert not defined(probed()), defined()


def hot_function():
    """a very hot function does not hang the program, and its calls are counted"""
    need_probes()
    process = load("hot")
    process.stdin.write("g")
    process.stdin.flush()
    pid = str(process.pid)
    counted = m.flametop("--stat=csv", "-e", probe("spin"), "--duration", "1", "-p", pid)[2]
    assert int(counted.split(",")[0]) > 10000, counted
    m.flametop("-e", probe("spin"), "--duration", "2", "-o", m.path("hot.data"), "-p", pid)
    report = json.loads(m.export(m.path("hot.data"), "json"))
    assert sum(e["samples"] for e in report["events"] if "spin" in e["name"]) > 1000, report["events"]
    assert re.match(r"calls \d+$", finish(process, "e"))


def go_program():
    """a return in a Go program is refused"""
    need_probes()
    m.need_tools("go")
    m.write("main.go", "package main\nfunc main() {}\n")
    m.tool("go", "build", "-o", m.path("gone"), m.path("main.go"))
    status, _, said = m.flametop("-b", "-n", "1", "-e", "latency:" + probe("main.main", m.path("gone")), "--",
                                 "true", check=False)
    assert status == 2 and "is a Go program, whose stacks move" in said, said


# A private mount namespace: resolv.conf names a resolver on loopback, which answers after 50 ms.
RESOLVER = """
import os, socket, struct, sys, threading, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # other programs must not delay the answers
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
def answer(query, to):
    time.sleep(0.05)
    kind = struct.unpack(">H", query[query.index(b"\\0", 12) + 1:][:2])[0]
    question = query[12:query.index(b"\\0", 12) + 5]
    reply = query[:2] + struct.pack(">HHHHH", 0x8180, 1, kind == 1, 0, 0) + question
    if kind == 1:
        reply += b"\\xc0\\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 1])
    server.sendto(reply, to)
def serve():
    while True:
        query, to = server.recvfrom(4096)
        threading.Thread(target=answer, args=(query, to), daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
sys.stdin.read(1)
for i in range(10):
    begun = time.monotonic_ns()
    assert socket.getaddrinfo("host%d.example" % (i % 2), 80, socket.AF_INET, socket.SOCK_STREAM)
    print(time.monotonic_ns() - begun, flush=True)
"""


def resolver():
    """a process that looks up names with a resolver of its own"""
    m.write("resolv.conf", "nameserver 127.0.0.1\n")
    m.write("nsswitch.conf", "hosts: dns\n")
    script = ("ip link set lo up && mount --bind %s /etc/resolv.conf && "
              "mount --bind %s /etc/nsswitch.conf && exec /usr/bin/python3 %s" %
              (m.path("resolv.conf"), m.path("nsswitch.conf"), m.write("resolver.py", RESOLVER)))
    return m.started("unshare", "--mount", "--net", "sh", "-c", script, stdin=subprocess.PIPE)


def dns():
    """look-ups with a resolver that answers after 50 ms take 50 ms, by name"""
    need_probes()
    m.need_tools("unshare", "ip")
    process, file = resolver(), m.path("dns.json")
    ours = background("--latency", "dns", "-o", file, "-p", str(process.pid))
    told = [int(ns) for ns in finish(process).split()]
    assert ours.wait(LIMIT) == 0, ours.stderr.read()
    with open(file) as f:
        rows = {r["name"]: r for r in json.load(f)["latency"]}
    assert {name: r["count"] for name, r in rows.items()} == {"host0.example": 5, "host1.example": 5}, rows
    assert 50e6 <= min(told) <= 52e6, told  # a busy machine delays some
    for i in range(2):
        row, median = rows["host%d.example" % i], sorted(told[i::2])[2]
        assert abs(row["p50_ns"] - median) < 0.04 * median, (row, told)  # percentiles are those of buckets
    total = sum(r["sum_ns"] for r in rows.values())
    assert abs(total - sum(told)) < 0.02 * sum(told), (total, told)


def user_rows():
    """rows of the user's file may name probes"""
    need_probes()
    m.need_inih()
    folder = os.path.join(CONFIG["XDG_CONFIG_HOME"], "flametop")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "latency"), "w") as f:
        f.write("own probe:%s:deeper;depth probe:%s:deeper%%return thread,outermost depth - begin calls\n" %
                (probed(), probed()))
    try:
        assert re.search(r"^\+ own ", m.flametop("--list-latency", env=CONFIG)[1], re.M)
        process, file = load("nested"), m.path("own.json")
        ours = background("--latency", "own", "-o", file, "-p", str(process.pid),
                          env=dict(os.environ, **CONFIG))
        finish(process)
        assert ours.wait(LIMIT) == 0, ours.stderr.read()
        with open(file) as f:
            rows = json.load(f)["latency"]
        assert [(r["name"].split()[-1], r["count"]) for r in rows] == [("5", 10)], rows
    finally:
        os.remove(os.path.join(folder, "latency"))


def without_tracefs():
    """probes work with a tracefs that is not mounted, and a read-only one gets a sentence"""
    need_probes()
    m.need_tools("unshare")
    event = probe("work")
    inside = ("umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug 2>/dev/null; "
              "exec %s --stat=csv -e %s -- true" % (PROGRAM, event))
    done = m.ran("unshare", "--mount", "sh", "-c", inside)
    assert done.returncode == 0 and done.stderr.startswith("0,"), done
    inside = ("umount -l /sys/kernel/tracing; mount -t tracefs -o ro none /sys/kernel/tracing; "
              "mount -o remount,bind,ro /sys/kernel/tracing; exec %s --stat=csv -e %s -- true" %
              (PROGRAM, event))
    done = m.ran("unshare", "--mount", "sh", "-c", inside)
    assert done.returncode == 2 and "probes need a writable tracefs" in done.stderr, done
    assert not defined(m.WORK), defined(m.WORK)


def strangers():
    """a user without rights gets a sentence"""
    need_probes()
    m.need_root()
    m.need_tools("setpriv")
    done = m.ran("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", PROGRAM, "--stat", "-e",
                 probe("work"), "--", "true")
    assert done.returncode == 2, done
    assert re.search("probes need root|tracefs is not mounted|not readable", done.stderr), done


run(as_perf, durations, recursion, hostile_texts, markers, python_markers, saved, definition, source_lines,
    bad_input, static_function, parameters, variables, of_32_bits, filters, elsewhere, replaced, names_of_cxx,
    on_the_screen, hot_function, go_program, dns, user_rows, without_tracefs, strangers)
