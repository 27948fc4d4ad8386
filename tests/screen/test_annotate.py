#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The annotate view: instructions and samples, as in perf annotate; navigation; messages without code."""
import atexit
import os
import re
import shutil

import machine as m
import perfdata_maker as p
from ptyscreen import Screen, Skip, run

loads = []  # of the present test
ROW = re.compile(r"^ *(\d+\.\d\d) (?:.{7}) *([\d,]+) +([0-9a-f]+) ")


def need_capstone():
    if not m.has("capstone"):
        raise Skip("built without capstone (apt-get install libcapstone-dev)")


def program(*flags):
    return m.build("divide", "-O1", *flags)


def started(*args, load=(), flags=(), first=r"divide$", size=(120, 50)):
    """Starts flametop on a test load and waits for the load's first function."""
    m.need_events()
    for other in loads:
        m.stop(other)
    loads[:] = [m.busy(program(*flags), "36000", *load)]
    pid = loads[0].pid
    atexit.register(lambda: os.path.exists("/tmp/perf-%d.map" % pid) and os.unlink("/tmp/perf-%d.map" % pid))
    s = Screen(["-F", "199", "-p", str(pid), *args], size=size)
    s.wait(r"^ *\d+\.\d+ .*\b%s" % first)
    return s


def recorded():
    """A recording of the load made by perf."""
    m.need_events()
    m.need_perf()
    file = m.path("divide.data")
    if not os.path.exists(file):
        said = m.perf(*m.RECORD, "-F", "499", "-e", "cpu-clock:u", "-o", file, "--", program(), "3")
        assert os.path.exists(file), said
    return file


def shown(s):
    """{address: (share, samples)} of the instructions on the screen that have samples."""
    rows = (ROW.match(line) for line in s.text().split("\n"))
    return {int(r.group(3), 16): (float(r.group(1)), int(r.group(2).replace(",", ""))) for r in rows if r}


def perfs_shares(file):
    """{address: share} of the instructions of divide that have samples, by perf annotate"""
    text, why = m.perf("annotate", "--stdio", "-i", file, "-s", "divide", "divide")
    wanted = {int(a, 16): float(p) for p, a in re.findall(r"^ +(\d+\.\d+) +: +([0-9a-f]+):", text, re.M)}
    wanted = {a: p for a, p in wanted.items() if p}
    if not wanted:
        raise Skip("perf annotate shows nothing here: " + why.strip()[:200])
    return wanted


def exported():
    """the text export gives each instruction the share that perf annotate gives it"""
    file = recorded()
    wanted = perfs_shares(file)
    text = m.export(file, "annotate")
    part = re.search(r"^# divide \(divide\): .*?(?:\n\n|\Z)", text, re.M | re.S)
    assert part, text
    got = {int(a, 16): float(p)
           for p, a in re.findall(r"^ +(\d+\.\d\d) +\d+ +([0-9a-f]+)\b", part.group(), re.M)}
    assert got.keys() == wanted.keys(), (got, wanted)
    for address, share in got.items():
        assert abs(share - wanted[address]) <= 0.02, \
            "%x: %s, perf says %s" % (address, share, wanted[address])


def same_as_perf():
    """each instruction of a recording has the share that perf annotate gives it"""
    need_capstone()
    file = recorded()
    wanted = perfs_shares(file)
    with Screen(["-i", file], size=(120, 60)) as s:
        s.wait(r"^ *\d+\.\d+ .*\bdivide$")
        s.send("a", shows=r"^divide \(divide\) +[\d,]+ samples: ")
        s.send("s", shows=r"without source lines")
        s.send("o", shows=r"^ *[\d. ]* +%x " % min(wanted))
        s.send("g")
        s.until(lambda: shown(s).keys() == wanted.keys(), "has samples where perf has them")
        for address, (share, _) in shown(s).items():
            assert abs(share - wanted[address]) <= 0.02, \
                "%x: %s, perf says %s" % (address, share, wanted[address])


def same_as_objdump():
    """the view shows the instructions that objdump finds, at the same addresses, in both syntaxes"""
    need_capstone()
    m.need_tools("objdump", package="binutils")
    file = recorded()
    text = m.tool("objdump", "-d", "--no-show-raw-insn", "--disassemble=divide", program())
    wanted = re.findall(r"^ +([0-9a-f]+):\t(\w+)", text, re.M)
    assert len(wanted) > 10, text
    with Screen(["-i", file], size=(120, 80)) as s:
        s.wait(r"^ *\d+\.\d+ .*\bdivide$")
        s.send("a", shows=r"^divide \(divide\) +[\d,]+ samples: ")
        s.send("s", "o", shows=r"^[ \d.,]* %s " % wanted[0][0])
        for address, name in wanted:
            assert s.find(r"^[ \d.,]* %s .*\b%s" % (address, name[:3])), \
                "%s: %s\n%s" % (address, name, s.text())
        if os.uname().machine == "x86_64":
            s.wait(r"%rax")
            s.send("v", shows=r"Intel's syntax")
            s.wait_not(r"%rax")


def unburdened():
    """without the annotate view, the disassembler and the event tables are not loaded"""
    with started() as s, open("/proc/%d/maps" % s.pid) as maps:
        loaded = maps.read()
        assert "flametop" in loaded
        assert "libcapstone" not in loaded and "libpfm" not in loaded, loaded


def live():
    """live, numbers update and the cursor stays; the hottest instruction is first; calls are followed and
    left again"""
    need_capstone()
    with started() as s:
        s.send("a")
        s.wait(r"^divide \(divide\) +[\d,]+ samples: \d+\.\d% of all self, .* instructions sampled")
        s.wait(r"^cpu-clock has skid: samples are behind" if s.find(r"cpu-clock") else r"^\S+ has .*skid")
        before = s.number(r"^divide \(divide\) +([\d,]+) samples")
        s.until(lambda: s.number(r"^divide \(divide\) +([\d,]+) samples") > before, "more samples")
        s.send("z", shows=r"frozen: ")
        s.send("H", shows=r"number 1 of \d+ sampled instructions")
        s.send("s", shows=r"without source lines")
        s.send("/", *"leaf", "enter", shows=r"search: *leaf")
        s.send("enter", shows=r"^leaf \(divide\) +[\d,]+ samples: ")
        s.send("backspace", shows=r"^divide \(divide\) +[\d,]+ samples: ")
        s.send("esc", "esc", shows=r"SELF%.*FUNCTION")


def toggles():
    """one key each toggles bytes, shares of the total and source lines"""
    need_capstone()
    with started() as s:
        s.send("7", shows=r"^divide \(divide\) +[\d,]+ samples: ")
        s.wait(r"divide\.c:\d+ |\d+ +for \(uint64_t i")
        s.wait(r"\d+ +sum \+= 0xfffffffffffffff / ")
        s.wait(r"SELF%.*ADDRESS.*INSTRUCTION.* SELF% of its own samples, TOTAL% of those with callees$")
        s.send("s")
        s.wait_not(r"sum \+= 0xfffffffffffffff / ")
        s.send("o", "o", shows=r"^[ \d.,]* [0-9a-f]{4,} .*[0-9a-f]{2} [0-9a-f]{2} [0-9a-f]{2}")
        s.send("%", shows=r"percent of all samples")
        s.wait(r"INSTRUCTION.* SELF% and TOTAL% of all samples$")
        s.send("o", "%", shows=r"INSTRUCTION.* SELF% of its own samples, TOTAL% of those with callees$")
        s.resize(80, 24)
        s.wait(r"INSTRUCTION.* of own, of own \+ callees$")
        s.resize(60, 24)
        s.wait(r"INSTRUCTION.* SELF% of its own samples$")
        s.resize(120, 40)
        s.send("?", shows=r"sample is where the interrupt of the counter")


def stripped():
    """a function of a program without symbols has the bounds given by the unwind table"""
    need_capstone()
    with started(flags=("-s",), first=r"divide\+0x") as s:
        s.send("a", shows=r"^divide\+0x[0-9a-f]+ \(divide\) +[\d,]+ samples: .* instructions sampled")
        s.wait(r"\bu?div")


def newer_source():
    """a source file changed after the compilation is not shown, and a message says so"""
    need_capstone()
    m.need_events()
    source, out = m.path("changed.c"), m.path("changed")
    shutil.copy(os.path.join(m.SOURCE, "tests", "live", "divide.c"), source)
    m.tool("cc", "-O1", "-g", "-o", out, source)
    os.utime(out, (1000000000, 1000000000))
    os.utime(source, (1000000001, 1000000001))
    load = m.busy(out, "36000")
    with Screen(["-F", "199", "-p", str(load.pid)], size=(120, 50)) as s:
        s.wait(r"^ *\d+\.\d+ .*\bdivide$")
        s.send("a", shows=r"changed\.c is newer than changed: not shown")
        s.wait(r"changed\.c:\d+")
        assert not s.find(r"sum \+= 0xfffffffffffffff / "), s.text()


def made_at_run_time():
    """JIT code is read from the memory of its process"""
    need_capstone()
    with started(load=("jit",), first="jit_divide") as s:
        s.send("a", shows=r"^jit_divide \(\[JIT\]\) +[\d,]+ samples: .* instructions sampled")
        s.wait(r"from the process's memory")
        s.wait(r"\bu?div")


def kernel():
    """a kernel function is read from memory or vmlinux, else its addresses and the reason are shown"""
    m.need_events()
    m.need_root()
    load = m.busy("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    with Screen(["-F", "199", "-p", str(load.pid)], size=(120, 50)) as s:
        s.send("K", shows=r"only: *kernel")
        s.wait(r"^ *\d+\.\d+ .* \[kernel\] +\w+")
        s.send("a", shows=r"^\S.* \(\[kernel\]\) +[\d,]+ samples: .* (addresses|instructions) sampled")
        s.wait(r"no instructions: \w+|from /proc/kcore|from vmlinux")
        s.wait(r"^ *\d+\.\d\d .* [0-9a-f]+")


# with an unwind table: without one flametop would analyse the whole function, which this test is not about
HUGE = """
asm(".globl huge; .type huge,@function; huge: .cfi_startproc; jmp 1f; .fill 4194304,1,6;"
    "1: mov $100000000, %ecx; 2: dec %ecx; jnz 2b; ret; .fill 4194304,1,6; .cfi_endproc; .size huge, .-huge");
void huge(void);
int main(void) { for (;;) huge(); }
"""


def huge():
    """of an 8 MB function the part with samples is shown, and bytes that are no instruction as bytes"""
    need_capstone()
    m.need_events()
    m.need_x86_64()
    load = m.busy(m.compiled("huge", HUGE, "-O1"))
    with Screen(["-F", "199", "-p", str(load.pid)], size=(120, 50)) as s:
        s.wait(r"^ *\d+\.\d+ .*\bhuge$")
        s.send("a", shows=r"8388\d+ bytes of code: only the part around the hottest is shown")
        # the part begins at a sample; on CPUs that fuse both instructions all samples are at the jump
        s.wait(r"\b(decl? +%ecx|jn[ez]) ")
        s.wait(r"\.byte +(0x)?0?6")


def no_samples():
    """annotate without samples does not fail"""
    m.need_events()
    load = m.start("sleep", "36000", becomes="sleep")
    with Screen(["-p", str(load.pid), "--view", "annotate"]) as s:
        s.wait(r"no samples|samples: ")  # its start may have one sample
        s.send("H", "enter", ".", ",", "s", "o", "v", "%", "esc", "q")
        s.wait_end()


def entered():
    """Enter in the table opens the row's instructions, i its callers; each Esc goes one step back, to the
    same row"""
    with started() as s:
        s.wait(r"^ *\d+\.\d+ .*\bleaf$")
        s.send("/", *"leaf", "enter")
        s.until(lambda: re.search(r"\bleaf *$", s.cursor_row()[1]), "the cursor is not on leaf")
        s.send("enter", shows=r"^leaf \(divide\) +[\d,]+ samples: ")
        s.send("i", shows=r"CALLERS of leaf")
        s.wait(r"[\]─] (main|divide)")
        s.send("end", "enter", "esc", shows=r"^leaf \(divide\) +[\d,]+ samples: ")
        s.send("esc", shows=r"SELF%.*FUNCTION")
        s.until(lambda: re.search(r"\bleaf *$", s.cursor_row()[1]), "the cursor is not on leaf")
        s.send("i", shows=r"CALLERS of leaf")
        s.send("esc", "esc", shows=r"SELF%.*FUNCTION")
        s.wait_not(r"search:")


def drilled():
    """Enter zooms in where a row is no function"""
    for group, row in (("comm", r"divide$"), ("module", r"divide$"), ("process", r"divide/\d+$"),
                       ("thread", r"divide/\d+$")):
        with started("--group-by", group, first=row) as s:
            s.send("/", *"divide", "enter")
            s.until(lambda: "divide" in s.cursor_row()[1], "the cursor is not on divide")
            s.send("enter", shows=r"%s:divide" % group)
            s.wait(r"by symbol,")


def nowhere():
    """an address without code opens its callers instead, and a message says so"""
    f = p.Maker()
    f.attr([1])
    f.comm(100, 100, "lost", 1000, 1)
    for n in range(5):
        f.sample(100, 100, 2000 + n, 1, 0x7000)
    with Screen(["-i", m.write("lost.data", f.file())]) as s:
        s.wait(r"\[unknown\] 0x7000")
        for key in ("enter", "a"):
            s.send(key, shows=r"CALLERS of \[unknown\] 0x7000")
            s.wait(r"\[unknown\] 0x7000 has no code to show, so here are its callers: "
                   r"8 says why, and what to do")
            s.send("esc", shows=r"CALLERS of \[unknown\] 0x7000")
            s.send("esc", shows=r"SELF%.*FUNCTION")


run(same_as_perf, exported, same_as_objdump, entered, drilled, nowhere, unburdened, live, toggles, stripped,
    newer_source, made_at_run_time, kernel, huge, no_samples)
