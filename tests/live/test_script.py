#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Script fields that only the records of a file have, compared with the output of perf script."""
import itertools
import re
import shutil

import machine as m
import perfdata_maker as maker
from ptyscreen import Skip, run

ALL = ("comm,tid,pid,time,misc,event,addr,data_src,weight,ins_lat,ip,sym,symoff,dso,iregs,uregs,brstack,"
       "phys_addr,data_page_size,code_page_size")
PAGES = (0, 1, 4096, 65536, 2 << 20, 3 << 20, 1 << 30, 1 << 40)


def script(file, fields, *more, check=True):
    done = m.flametop("-i", file, "--export", "script", "-o", "-", "--no-inline",
                      *(["--fields", fields] if fields else []), *more, check=check)
    return done[1] if check else done


def perf_script(file, fields):
    return m.perf("script", "--no-inline", "-i", file, *(["-F", fields] if fields else []))[0]


def same(mine, theirs, what):
    for number, (ours, perfs) in enumerate(itertools.zip_longest(mine.split("\n"), theirs.split("\n"))):
        assert ours == perfs, "%s, line %d:\n%s\n%s" % (what, number + 1, ours, perfs)


def sources():
    """Values of data_src: each value of each field, except hops, which no machine reports."""
    for shift, values in ((0, [1 << n for n in range(5)]),
                          (5, [1 << n for n in range(14)] + [3, 0xa, 0x46, 0x1003]),
                          (19, range(32)), (24, range(4)),
                          (26, [1 << n for n in range(7)] + [0xa, 0x16, 0x1c]), (33, range(16)),
                          (37, range(2)), (38, range(4)), (40, range(8)), (43, range(5))):
        yield from (value << shift for value in values)
    yield from (0x68100142, 0x1e05080021, 1 << 37 | 3 << 33 | 1 << 43,
                1 << 37 | 0x2 << 5 | 0x8 << 5 | 1 << 33)


def branch_flags(order, missed, predicted, in_tx, aborted, cycles, kind, other=0):
    """Bit fields, which fill from the other end in the other byte order."""
    value = at = 0
    for bits, width in ((missed, 1), (predicted, 1), (in_tx, 1), (aborted, 1), (cycles, 16), (kind, 4),
                        (0, 2), (other, 4)):
        value |= bits << (at if order == "<" else 64 - at - width)
        at += width
    return value


def write_made(name, order="<"):
    """Writes samples with everything that perf records, though nothing here could have counted it."""
    f = maker.Maker(order, attr_size=128)
    tail = (maker.BRANCH_STACK | maker.REGS_USER | maker.WEIGHT_STRUCT | maker.DATA_SRC | maker.REGS_INTR |
            maker.PHYS_ADDR |
            maker.DATA_PAGE_SIZE | maker.CODE_PAGE_SIZE)
    f.attr([1], sample_type=maker.BASIC | maker.ADDR | tail, regs=0xff0fff, branch=8)
    f.comm(100, 100, "made", 1000, 1)
    for i, source in enumerate(sources()):
        body = f.pack("QIIQQQIIQ", 0x400000 + i, 100, 100, 2000 + 1000 * i, 0x7f0000500000 + 8 * i, 1,
                      i % 3, 0, 1000)
        body += f.pack("Q", i % 3)
        for k in range(i % 3):
            flags = branch_flags(order, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, 37 * i,
                                 (i + k) % 16, i % 3)
            body += f.pack("QQQ", 0x400010 + k, 0xffffffff81000000 if k else 0x400020, flags)
        body += f.pack("Q", 2) + f.pack("20Q", *range(i, i + 20))
        body += f.pack("Q", i * 3 | (7 * i & 0xffff) << 32 | 5 << 48) + f.pack("Q", source)
        body += f.pack("Q", 2) + f.pack("20Q", *range(20)) if i % 7 else f.pack("Q", 0)
        body += f.pack("QQQ", 4096 * i + 8, PAGES[i % len(PAGES)], PAGES[-1 - i % len(PAGES)])
        f.record(maker.SAMPLE, body, misc=1 + i % 2)
    return m.write(name, f.file())


def made_as_perf():
    """data addresses and sources, latencies, registers, branches and pages are printed like perf's"""
    m.need_perf()
    file = write_made("made.data")
    for fields in (ALL, ALL.replace("brstack", "brstacksym"), "comm,brstack,addr", "ip,brstacksym,weight",
                   "time,data_src,period"):
        same(script(file, fields), perf_script(file, fields), fields)


def of_the_other_byte_order():
    """a file in the other byte order gives the same script"""
    for fields in (ALL, "time,brstacksym,data_src"):
        same(script(write_made("big.data", ">"), fields), script(write_made("little.data"), fields), fields)


def recorded_as_perf():
    """recordings of perf with its events are printed like perf's; data has a location but no name"""
    m.need_perf()
    file = m.perf_record("data.data", "-d", "-W", "--phys-data", "--data-page-size", "--code-page-size",
                         "--user-regs", "--intr-regs", "-e", "cpu-clock,page-faults", "sh", "-c",
                         "ls /usr/bin >/dev/null; sort /etc/services >/dev/null")
    fields = ALL.replace(",brstack", "")
    faulted = re.compile(r"(page-faults: +[0-9a-f]+) (\S+) \(")
    pairs = itertools.zip_longest(script(file, fields, "--as-perf").split("\n"),
                                  perf_script(file, fields).split("\n"))
    for mine, theirs in pairs:
        assert faulted.sub(r"\1 NAME (", mine) == faulted.sub(r"\1 NAME (", theirs), \
            "\n%s\n%s" % (mine, theirs)


INNER = """\
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
    for (int i = 0; i < 1000; i++)
        x = x * 1664525 + 1013904223;
    return x;
}
"""
OUTER = """\
__attribute__((noinline)) unsigned outer(unsigned x)
{
    for (int i = 0; i < 100000; i++)
        x ^= inner(x);
    return x;
}
int main(void) { return outer(1) == 7; }
"""


def lines_as_perf():
    """srcline is the line of each address like perf's, and for inlined functions the line of their call"""
    m.need_perf()
    program = m.compiled("lines", INNER + OUTER, "-O1", "-g")
    file = m.perf_record("lines.data", "-e", "cpu-clock:u", "-F", "500", program)
    fields = "comm,ip,sym,symoff,dso,srcline"

    def of_it(text):
        return re.findall(r"(\S+/lines\))\n  (\S+)", text), re.findall(r"\S+ (\w+)\+\S+ \(\S+/lines\)", text)
    mine, theirs = of_it(script(file, fields, "--as-perf")), of_it(perf_script(file, fields))
    assert mine == theirs and {line for _, line in mine[0]} & {"lines.c:3", "lines.c:4"}, (mine, theirs)
    stacks = m.perf_record("stacks.data", "-e", "cpu-clock:u", "-F", "500", "--call-graph", "dwarf", program)
    text = m.export(stacks, "script", "--fields", "comm,ip,sym,srcline")
    assert re.search(r" inner \(inlined\)\n  lines\.c:[34]\n\t +\w+ outer\n  lines\.c:10\n"
                     r"\t +\w+ main\n  lines\.c:13\n", text), text[:3000]


TWICE = """\
__attribute__((noinline)) unsigned one(unsigned x) { return inner(x) + 1; }
__attribute__((noinline)) unsigned two(unsigned x) { return inner(x) + 2; }
int main(void)
{
    unsigned x = 1;
    for (int i = 0; i < 100000; i++)
        x ^= one(x) + two(x);
    return x == 7;
}
"""


def inlined_is_one_function():
    """a function inlined into several others is one row, as a function called by them"""
    m.need_perf()
    program = m.compiled("twice", INNER + TWICE, "-O1", "-g")
    stacks = m.perf_record("twice.data", "-e", "cpu-clock:u", "-F", "500", "--call-graph", "dwarf", program)
    rows = re.findall(r"^ *([\d.]+) +([\d.]+) .* inner \(inlined\)$", m.flametop("-i", stacks)[1], re.M)
    assert len(rows) == 1 and float(rows[0][0]) > 80, rows


SPIN = """
#include <signal.h>
#include <sys/time.h>
void spin(void); /* instructions at 0, 4 and 6 */
__asm__(".text\\n.globl spin\\n.type spin, @function\\nspin:\\n.cfi_startproc\\n"
        "1: addq $1, %rax\\nxchg %ax, %ax\\njmp 1b\\n.cfi_endproc\\n.size spin, .-spin\\n");
volatile unsigned sink;
void handler(int n)
{
    for (unsigned i = 0; i < 3000000; i++)
        sink += i * (unsigned)n;
}
int main(void)
{
    struct sigaction action = { .sa_handler = handler };
    struct itimerval timer = { { 0, 20000 }, { 0, 20000 } };
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    spin();
}
"""


def interrupted_is_exact():
    """an address interrupted by a signal is exact, not a return address: live and from a recording"""
    m.need_x86_64()
    load = m.start(m.compiled("spin", SPIN, "-O1", "-g"), becomes="spin")
    for seconds in (2, 8, 32):
        m.flametop("-p", str(load.pid), "-F", "999", "--duration", str(seconds), "-o", m.path("spin.data"))
        text = script(m.path("spin.data"), "ip,sym,symoff")
        interrupted = re.findall(r" handler\+\S+\n\t +\w+ (\S+)\n\t +\w+ spin\+0x(\w+)\n"
                                 r"\t +\w+ main\+0x(\w+)", text)
        if len(interrupted) > 50:
            break
    m.stop(load)
    assert len(interrupted) > 50, text[:3000]
    assert {int(at, 16) for _, at, _ in interrupted} <= {0, 4, 6}, interrupted
    if shutil.which("perf"):
        assert set(re.findall(r" handler\+\S+ .*\n\t +\w+ .*\n\t +\w+ spin\+0x(\w+) ",
                              perf_script(m.path("spin.data"), "ip,sym,symoff,dso"))) <= {"0", "4", "6"}


def raw_events_as_perf():
    """for raw and memory events perf prints recorded fields by default, and so does the script"""
    m.need_perf()
    file = write_made("raw.data")
    with open(file, "r+b") as f:
        f.seek(104)
        f.write(b"\4")  # PERF_TYPE_RAW
    mine, theirs = script(file, None), perf_script(file, None)
    assert "|OP LOAD|" in mine
    same(mine, theirs, "defaults")


def deleted_files():
    """a file deleted before it was mapped is marked as perf marks it, also in folded stacks"""
    m.need_perf()
    f = maker.Maker(attr_size=128)
    f.attr([1])
    f.comm(100, 100, "made", 1000, 1)
    f.mmap(100, 0x400000, 0x10000, "/opt/gone (deleted)", 1000, 1)
    f.mmap(100, 0x500000, 0x10000, "/memfd:sealed (deleted)", 1000, 1)
    f.mmap(100, 0x600000, 0x10000, "/opt/here", 1000, 1)
    for i in range(30):
        f.sample(100, 100, 2000 + i, 1, 0x400000 + 0x100000 * (i % 3) + i)
    m.write("deleted.data", f.file())
    fields = "comm,tid,ip,sym,dso"
    mine = script(m.path("deleted.data"), fields, "--as-perf")
    assert mine.count("(/opt/gone (deleted))") == 10, mine
    same(mine, perf_script(m.path("deleted.data"), fields), fields)
    folded = m.export(m.path("deleted.data"), "folded")
    assert "made;[gone (deleted)] 10\n" in folded, folded


def without_samples():
    """a file without samples is reported, and named if perf stat wrote it"""
    m.need_perf()
    file = m.path("stat.data")
    done = m.ran("perf", "stat", "record", "-e", "task-clock", "-o", file, "true")
    if done.returncode:
        raise Skip("perf stat cannot record: " + done.stderr.strip())
    text = m.export(file, "report")
    assert "DEGRADED perf stat wrote this file: it has counts, and no samples" in text, text
    f = maker.Maker(attr_size=128)
    f.attr([1])
    f.comm(100, 100, "made", 1000, 1)
    m.write("empty.data", f.file())
    text = m.export(m.path("empty.data"), "report")
    assert "DEGRADED there are no samples in this file" in text, text


def what_is_not_there():
    """a field that was not recorded is refused with a message, as perf does"""
    m.need_perf()
    file = m.perf_record("plain.data", "-e", "cpu-clock", "true")
    for fields, said in (("comm,addr", "--fields addr: no event of this file recorded it"),
                         ("+brstacksym", "--fields brstacksym: no event of this file recorded it"),
                         ("comm,srcline", "--fields srcline needs the address: add ip"),
                         ("comm,adr", "did you mean addr"), ("zzzzzzzz", "the fields are comm, tid, pid")):
        status, text, errors = script(file, fields, check=False)
        assert status and not text and said in errors, (fields, status, text, errors)
    status, text, errors = m.flametop("--export", "script", "-o", "-", "--fields", "+weight", "--", "true",
                                      check=False)
    assert status and not text and "--fields weight: live samples do not have it" in errors, \
        (status, text, errors)


def cgroups():
    """--fields cgroup prints the sample's cgroup path as perf 6.2 does; without its record it is unknown"""
    f = maker.Maker()
    f.attr([11], sample_type=maker.BASIC | maker.CGROUP)
    f.comm(100, 100, "worker", 1000, 11)
    f.record(19, f.pack("Q", 5) + f.string("/system.slice/x.service") + f.trailer(100, 100, 1500, 11))
    f.sample(100, 100, 2000, 11, 0x400000, more=f.pack("Q", 5))
    f.sample(100, 101, 3000, 11, 0x400000, more=f.pack("Q", 6))
    m.write("cgroup.data", f.file())
    lines = script(m.path("cgroup.data"), "comm,cgroup").splitlines()
    assert [line.split()[-1] for line in lines] == ["/system.slice/x.service", "unknown"], lines


run(made_as_perf, of_the_other_byte_order, recorded_as_perf, lines_as_perf, inlined_is_one_function,
    interrupted_is_exact, raw_events_as_perf, deleted_files, without_samples, what_is_not_there, cgroups)
