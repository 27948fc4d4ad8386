#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Native programs of every kind with known stacks (tests/zoo), profiled live by flametop and by perf, as
tests/lib/animals.py says. ZOO=NAME,... runs some of them."""
import os
import re
import shutil
import subprocess

import beside
import machine as m
import zoo
from animals import DWARF, FLAGS, SHARE, check, compiled, need, say, source, zoo_run
from ptyscreen import PROGRAM


def with_frame_pointers():
    """C at -O2 with frame pointers"""
    check(zoo.Truth(source("path.c")), [compiled("path.c", "-fno-omit-frame-pointer")])


def without_frame_pointers():
    """C at -O2 without frame pointers"""
    check(zoo.Truth(source("path.c")), [compiled("path.c", "-fomit-frame-pointer")])


def frame_pointers_do_not_do():
    """with frame pointers only, stacks through code without them are truncated and marked"""
    need("gcc")
    target = beside.Target(compiled("path.c", "-fomit-frame-pointer"))
    found = beside.stacks(target, ("-K", "--call-graph", "fp"), m.path("live.folded"))
    target.stop()
    verdict = zoo.Verdict(zoo.Truth(source("path.c")), found)
    say("flametop, fp", verdict, worst=False)
    assert verdict.samples > 100 and verdict.share(verdict.rooted) < 0.05, verdict
    assert verdict.share(verdict.marked) > 0.9, verdict


def static():
    """C, linked statically"""
    check(zoo.Truth(source("path.c")), [compiled("path.c", "-static")])


def static_pie():
    """C, linked statically, position-independent"""
    check(zoo.Truth(source("path.c")), [compiled("path.c", "-static-pie")])


def of_32_bits(*flags):
    need("gcc")
    m.need_32_bits()
    return compiled("path.c", "-m32", "-static", *flags)


def of_32_bits_with_frame_pointers():
    """C of 32 bits, with frame pointers"""
    check(zoo.Truth(source("path.c")), [of_32_bits("-fno-omit-frame-pointer")])


def of_32_bits_without_frame_pointers():
    """C of 32 bits, without frame pointers"""
    check(zoo.Truth(source("path.c")), [of_32_bits("-fomit-frame-pointer")])


def of_32_bits_without_tables():
    """C of 32 bits, without tables and frame pointers: stacks not proven by calls are truncated and marked"""
    target = beside.Target(of_32_bits("-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-g0"))
    found = beside.stacks(target, ("-K",), m.path("live.folded"))
    target.stop()
    verdict = zoo.Verdict(zoo.Truth(source("path.c")), found)
    say("flametop, live", verdict)
    assert verdict.samples > 100 and verdict.true_frames >= SHARE * verdict.frames, verdict
    assert verdict.share(verdict.marked) + verdict.share(verdict.rooted) >= SHARE, verdict


def by_clang():
    """C by clang"""
    check(zoo.Truth(source("path.c")), [compiled("path.c", compiler="clang")])


def functions(program):
    """{name: offset in the file} of a program's symbols."""
    segments = [tuple(int(n, 16) for n in found) for found in re.findall(
        r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", m.tool("readelf", "-lW", program))]
    table = {}
    for address, name in re.findall(r"^(\w+) [tTwW] (\S+)$", m.tool("nm", program), re.M):
        address = int(address, 16)
        for offset, start, size in segments:
            if start <= address < start + size:
                table[name] = address - start + offset
    return table


def stripped():
    """a stripped program: _start and main by the entry point, other functions by the starts in the unwind
    table"""
    program = compiled("path.c")
    starts = functions(program)
    names = {name: name if name in ("main", "_start") else "path+0x%x" % start
             for name, start in starts.items()}
    m.tool("strip", program)

    def named(dso, offset):
        below = [(start, names[name]) for name, start in starts.items() if start <= offset]
        return max(below)[1] if dso == program and below else None

    check(zoo.Truth(source("path.c"), names), [program], named=named)


def assembly():
    """assembly without call-frame information"""
    if os.uname().machine != "x86_64":
        raise m.Skip("the test program is for x86-64")
    check(zoo.Truth(source("assembly.c")), [compiled("assembly.c")], whole=0.9)


def split_debug():
    """a stripped program with a debug link to a file in .debug"""
    program = compiled("path.c")
    os.makedirs(m.path(".debug"), exist_ok=True)
    m.tool("objcopy", "--only-keep-debug", program, m.path(".debug/path.debug"))
    m.tool("objcopy", "--strip-all", "--add-gnu-debuglink=" + m.path(".debug/path.debug"), program)
    check(zoo.Truth(source("path.c")), [program])
    shutil.rmtree(m.path(".debug"))


def mini_debug():
    """a stripped program with mini-debug-info (.gnu_debugdata)"""
    need("xz", "objcopy", "nm")
    program, mini = compiled("path.c"), m.path("mini")
    # as rpm's find-debuginfo makes it: only functions that .dynsym lacks
    wanted = set(re.findall(r"^\w+ [tT] (\S+)$", m.tool("nm", "--format=bsd", "--defined-only", program),
                            re.M))
    wanted -= set(re.findall(r"^\w+ . (\S+)$", m.tool("nm", "-D", "--format=bsd", "--defined-only", program),
                             re.M))
    keep = m.write("keep", "\n".join(sorted(wanted)) + "\n")
    m.tool("objcopy", "--only-keep-debug", program, mini + ".debug")
    m.tool("objcopy", "-S", "--remove-section=.gdb_index", "--remove-section=.comment",
           "--keep-symbols=" + keep, mini + ".debug", mini)
    if os.path.exists(mini + ".xz"):
        os.unlink(mini + ".xz")
    m.tool("xz", mini)
    m.tool("objcopy", "--strip-all", "--add-section", ".gnu_debugdata=" + mini + ".xz", program)
    check(zoo.Truth(source("path.c")), [program])


def guest():
    m.tool("gcc", *FLAGS, "-fPIC", "-shared", "-o", m.path("libvisitor.so"), source("visitor.c"))
    return compiled("guest.c", "-Wl,-z,lazy", "-L" + m.WORK, "-lvisitor", "-Wl,-rpath,$ORIGIN")


def library():
    """C through a library, back, and through its PLT"""
    need("gcc")
    check(zoo.Truth(source("guest.c")), [guest()])


def plugin_files():
    need("gcc")
    for order, name in enumerate(("one", "two")):
        m.tool("gcc", *FLAGS, "-fPIC", "-shared", "-DPLUGIN=" + name, "-DORDER=%d" % order, "-o",
               m.path(name + ".so"), source("plugin.c"))
    return [m.path("one.so"), m.path("two.so")]


def plugins():
    """dlopen and dlclose in a loop, at the same address"""
    files = plugin_files()
    # perf reads maps before its events run: until the next dlopen its file may have the other plugin's maps
    live = check(zoo.Truth(source("loader.c")), [compiled("loader.c"), *files], from_file=False)
    for name in ("one_hot", "two_hot"):
        assert 0.25 < live.share(live.found[name]) < 0.75, (name, live.found)


def cplusplus():
    """C++: deep templates, exceptions through frames"""
    # while _Unwind_Resume replaces its own frame, its caller is unknown
    check(zoo.Truth(source("templates.cpp")), [compiled("templates.cpp", compiler="g++")],
          whole=0.3, cut=True)


def inlines():
    """functions inlined three deep are shown"""
    check(zoo.Truth(source("inlined.c")), [compiled("inlined.c")])


def signal_handler():
    """a signal handler on the same stack"""
    check(zoo.Truth(source("altstack.c")), [compiled("altstack.c"), "none"])


def alternate_stack():
    """a signal handler on an alternate stack inside the interrupted stack"""
    check(zoo.Truth(source("altstack.c")), [compiled("altstack.c"), "near"])


def alternate_stack_elsewhere():
    """a signal handler on a separate stack: complete to the root, or truncated at the interrupted function"""
    check(zoo.Truth(source("altstack.c")), [compiled("altstack.c"), "far"], cut=True)


def many_threads():
    """48 threads that start and end"""
    check(zoo.Truth(source("threads.c")), [compiled("threads.c", "-pthread")])


def stacks_not_in_memory():
    """untouched stack pages end the kernel's copy: flametop brings them into memory"""
    program = compiled("untouched.c", "-pthread")
    truth = zoo.Truth(source("untouched.c"))
    target = beside.Target(program)
    try:
        # perf does not touch the pages; they are missing in flametop's first samples
        theirs, first, later = m.path("perf.data"), m.path("first.folded"), m.path("later.folded")
        beside.record(target, 0.5,
                      ["perf", *m.RECORD, "-F", "499", *DWARF, "-p", str(target.pid), "-o", theirs])
        before = zoo.Verdict(truth, beside.as_flametop_reads(theirs))
        say("flametop, perf's file", before)
        rare = {"cpu_seconds": 1.2, "rate": 499}  # at a higher rate, dumps are too small for these stacks
        beside.stacks(target, ("-K",), first, **rare)
        live = zoo.Verdict(truth, beside.stacks(target, ("-K",), later, **rare))
        say("flametop, live", live)
    finally:
        target.stop()
    assert before.samples > 100 and before.share(before.rooted) < 0.05, before
    assert live.samples > 300 and live.share(live.rooted) >= SHARE and live.share(live.whole) >= 0.9, live
    marks = [count for frames, count in beside.frames_of(m.folded(first)) if zoo.MARK.fullmatch(frames[0])]
    assert sum(marks) < 0.5 * live.samples, \
        "the pages are missing throughout the first recording: %d" % sum(marks)


def births():
    """threads being created: sampled in the kernel"""
    m.need_root()
    # without the new threads: with a clock for each, the creator has few samples. perf's stacks end in clone3
    check(zoo.Truth(source("births.c")), [compiled("births.c", "-pthread")], options=("--no-inherit",),
          perf_options=None, whole=0.9, threads=[("births", "@thread;..")],
          waits_options=DWARF[2:])


def signal_storm():
    """endless signals: sampled where the kernel removes their frames"""
    m.need_root()
    check(zoo.Truth(source("storm.c")), [compiled("storm.c")], options=(), perf_options=None, whole=0.9)


def coroutines():
    """coroutines (ucontext)"""
    check(zoo.Truth(source("coroutine.c")), [compiled("coroutine.c")])


def recursion():
    """1000 frames: truncated by the dump and marked, never with a false root"""
    live = check(zoo.Truth(source("recursion.c")), [compiled("recursion.c"), "1000"], cut=True)
    deep = [(frames, count) for frames, count in live.stacks if "bottom" in frames]
    # the others are on the way there or back: their number depends on the machine
    assert sum(count for _, count in deep) > 0.9 * live.samples, live
    for frames, _ in deep:
        assert zoo.MARK.fullmatch(frames[0]) and 100 < frames.count("down") < 1000, frames[:3]


def frames_of_screens(target, reached, *modes):
    """Per mode, which are options: [(stack mode, samples, broken stacks)] of the last two seconds, once a
    second, by flametops that run at once until reached(the first one's), for 10 s at most."""
    runs = [m.adopt(subprocess.Popen(
        [PROGRAM, "-K", "-p", str(target.pid), "-b", "-d", "1", "-n", "10", "--window", "2", *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True))
        for options in modes]
    frames = []
    while not frames or not reached([first for first, *_ in frames]):
        frame = [next_frame(process.stdout) for process in runs]
        if not all(frame):
            break
        frames.append(frame)
    for process, rows in zip(runs, zip(*frames)):
        m.stop(process)
        process.stdout.close()
        print("#   %s" % ", ".join("%s: %d of %d cut" % (size, cut, n) for size, n, cut in rows), flush=True)
    return list(zip(*frames))


def next_frame(lines):
    """(stack mode, samples, broken stacks) of the next frame of a screen printed as text; None at the end."""
    size = None
    for line in lines:
        head = re.search(r"stacks: (\S+(?: \d+K)?)  ", line)
        size = head.group(1) if head else size
        counts = re.match(r"samples ([\d,]+) .*broken stacks ([\d,]+)", line)
        if counts:
            return size, *(int(n.replace(",", "")) for n in counts.groups())
    return None


def deep_stacks():
    """stacks of 40 and 60 KB: auto copies more until they are complete, dwarf keeps its size"""
    program = compiled("deep.c")
    for frames, size in (("80", "auto 48K"), ("118", "auto 64K")):
        def complete(rows, size=size):
            return rows[-1][0] == size and rows[-1][1] > 50 and rows[-1][2] < 0.01 * rows[-1][1]
        target = beside.Target(program, frames)
        try:
            found, *named = frames_of_screens(target, complete, (),
                                              *[("--call-graph", "dwarf,24576")] * (size == "auto 64K"))
        finally:
            target.stop()
        assert found[0][2] > 0.9 * found[0][1], "24 KB suffice"
        assert complete(found), found
        for as_told, n, cut in named[0] if named else ():
            assert as_told == "dwarf 24K" and cut > 0.9 * n, named


def kernel_side():
    """sampled in the kernel and in the vdso"""
    m.need_root()
    check(zoo.Truth(source("kernelside.c")), [compiled("kernelside.c")], options=(),
          perf_options=("-e", "cpu-clock", *DWARF[2:]), whole=0.9)


def replaced_file():
    """a program whose file was replaced while it runs"""
    program, other = compiled("path.c"), compiled("path.c", "-O0", out="other")
    target = beside.Target(program)
    os.rename(other, program)
    # perf identifies a file by its path, so the old file is unknown in perf's recording
    check(zoo.Truth(source("path.c")), [], target=target, perf_options=None)


def from_memory():
    """a program run from memory (memfd)"""
    program = compiled("path.c")
    run_it = ("import os, sys; fd = os.memfd_create('hidden'); os.write(fd, open(sys.argv[1], 'rb').read()); "
              "os.execv('/proc/self/fd/%d' % fd, ['hidden'])")
    target = beside.Target("/usr/bin/python3", "-c", run_it, program)
    os.unlink(program)
    check(zoo.Truth(source("path.c")), [], target=target, perf_options=None)


def code_on_huge_pages():
    """a program that moved its code into anonymous memory"""
    check(zoo.Truth(source("hugetext.c")), [compiled("hugetext.c")], perf_options=None)


def code_that_moves():
    """a program that moves its code into anonymous memory while it is sampled"""
    program = compiled("hugetext.c")
    out = m.path("moves.folded")
    load = m.start(program, "700")
    m.flametop("-p", str(load.pid), "--duration", "6", "-o", out)
    maps = open("/proc/%d/maps" % load.pid).read()
    m.stop(load)
    assert re.search(r"^\w+-\w+ r-xp \w+ 00:00 0 *$", maps, re.M), maps
    stacks = m.folded(out)
    total = sum(n for _, n in stacks)
    true = sum(n for frames, n in stacks if frames[-4:] == ["main", "outer", "inner", "hot"])
    assert total > 50 and true >= 0.95 * total, stacks


def libraries_in_memory():
    """libraries loaded from memory (memfd) again and again"""
    program, files = compiled("loader.c"), plugin_files()
    load = ("import os, sys; fds = [os.memfd_create('lib%d' % n, 0) for n in (1, 2)]; "
            "[os.write(fd, open(path, 'rb').read()) for fd, path in zip(fds, sys.argv[2:])]; "
            "os.execv(sys.argv[1], sys.argv[1:2] + ['/proc/self/fd/%d' % fd for fd in fds])")
    target = beside.Target("/usr/bin/python3", "-c", load, program, *files)
    live = check(zoo.Truth(source("loader.c")), [], target=target, perf_options=None)
    for name in ("one_hot", "two_hot"):
        assert 0.25 < live.share(live.found[name]) < 0.75, (name, live.found)


def namespaces():
    """a program in its own mount and pid namespaces, with files that the host lacks"""
    m.need_root()
    need("gcc", "unshare", "mount")
    program = guest()
    ghost = m.path("ghost")
    os.makedirs(ghost, exist_ok=True)
    target = beside.Target("unshare", "-m", "-p", "-f", "sh", "-ec",
                           "mount -t tmpfs zoo '%s'; mv '%s' '%s' '%s'; exec '%s/guest'" % (
        ghost, program, m.path("libvisitor.so"), ghost, ghost))
    assert not os.listdir(ghost) and not os.path.exists(program), "the host has the files"
    check(zoo.Truth(source("guest.c")), [], target=target)


zoo_run(with_frame_pointers, without_frame_pointers, frame_pointers_do_not_do, static, static_pie,
        of_32_bits_with_frame_pointers, of_32_bits_without_frame_pointers, of_32_bits_without_tables,
        by_clang, stripped, assembly, split_debug, mini_debug, library, plugins, cplusplus, inlines,
        signal_handler, alternate_stack, alternate_stack_elsewhere, many_threads, stacks_not_in_memory,
        births, signal_storm, coroutines, recursion, deep_stacks, kernel_side, replaced_file, from_memory,
        code_on_huge_pages, code_that_moves, libraries_in_memory, namespaces)
