#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge of stacks finds exactly the injected errors, and none in flametop's stacks of the zoo."""
import os
import platform
import re
import subprocess

import beside
import judge as j
import machine as m
from ptyscreen import PROGRAM, run


def need_judge(*tools):
    if platform.machine() != "x86_64":
        raise m.Skip("the judge reads x86 code only")
    m.need_tools("objdump", *tools)


class Liar:
    """Scripts about a waiting program, whose frames are named by locations in it."""

    def __init__(self):
        need_judge("gcc", "nm", "readelf")
        self.program = m.build("lies")
        self.process = m.adopt(subprocess.Popen([self.program], stdout=subprocess.PIPE,
                                                start_new_session=True))
        assert self.process.stdout.readline().startswith(b"ready")
        segments = [tuple(int(n, 16) for n in found) for found in re.findall(
            r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", m.tool("readelf", "-lW", self.program))]
        self.places = {}
        for address, name in re.findall(r"^(\w+) [tT] (\S+)$", m.tool("nm", self.program), re.M):
            for offset, start, size in segments:
                if start <= int(address, 16) < start + size:
                    self.places[name] = int(address, 16) - start + offset
        self.judge = j.Judge(self.process.pid)

    def stop(self):
        self.judge.close()
        m.stop(self.process)
        self.process.stdout.close()

    def line(self, place):
        if place.startswith("["):
            return "%17x %s ([unknown])" % (0, place)
        if place.startswith("libc:"):
            libc = next(x for x in self.judge.of.maps if "libc.so" in x.path and x.executable)
            elf, name = self.judge.of.elf(libc), place[len("libc:"):]
            address = min(a for a, n in elf.names.items() if n.strip("_") == name)
            return "%17x %s (%s)" % (address - elf.address_of(libc.offset) + libc.offset, name, libc.path)
        return "%17x %s (%s)" % (self.places[place], re.sub("_(in|back|no_call).*", "", place), self.program)

    def verdict(self, *stacks):
        """The verdict on stacks from leaf to root, each a list of locations."""
        pid = self.process.pid
        text = "".join("lies %d/%d \n%s\n\n" % (pid, pid, "\n".join(map(self.line, stack.split())))
                       for stack in stacks)
        return j.judge(text, {pid: [self.judge]})


def told(*stacks):
    liar = Liar()
    try:
        return liar.verdict(*stacks)
    finally:
        liar.stop()


def reasons(verdict):
    return sorted((callee.name, caller.name, why) for callee, caller, why in verdict.impossible)


def truths():
    """possible callers are accepted"""
    stacks = ("leaf_in direct_back outer_back root_back", "leaf_in to_jumps_back root_back",
              "other_in indirect_back root_back", "libc:getpid stub_back root_back",
              "bare_in to_bare_back root_back", "bare_in_branch to_bare_back root_back",
              "leaf_in bare_back root_back", "leaf_in direct_back indirect_back root_back")
    verdict = told(*stacks)
    assert verdict.samples == len(stacks) and verdict.rooted == len(stacks), verdict
    assert not verdict.lies and not verdict.impossible and not verdict.false_roots, list(verdict.details())


def lies():
    """each impossible caller is found with its reason, and no other one"""
    elsewhere, none = "the call before it leads elsewhere", "no call ends before it"
    for stack, lie in (("other_in direct_back outer_back root_back", ("other", "direct", elsewhere)),
                       ("leaf_in outer_back root_back", ("leaf", "outer", elsewhere)),
                       ("leaf_in direct_in outer_back root_back", ("leaf", "direct", none)),
                       ("other_in to_jumps_back root_back", ("other", "to_jumps", elsewhere)),
                       ("other_in stub_back root_back", ("other", "stub", elsewhere)),
                       ("libc:getppid stub_back root_back", ("getppid", "stub", elsewhere)),
                       ("other_in to_switches_back root_back", ("other", "to_switches", elsewhere)),
                       ("bare_behind to_bare_back root_back", ("bare_behind", "to_bare", elsewhere)),
                       ("leaf_in bare_no_call root_back", ("leaf", "bare", none)),
                       ("other_in bare_back root_back", ("other", "bare", elsewhere))):
        true = "leaf_in direct_back outer_back root_back"
        verdict = told(stack, true, true)
        assert (verdict.samples, verdict.lies) == (3, 1), (stack, str(verdict), list(verdict.details()))
        assert reasons(verdict) == [lie], (stack, reasons(verdict))


def ends():
    """truncation marks and false roots are distinguished"""
    verdict = told("leaf_in direct_back outer_back", "leaf_in direct_back outer_back [truncated:x]",
                   "leaf_in", "leaf_in [broken]", "leaf_in direct_back outer_back root_back")
    assert (verdict.samples, verdict.lies, verdict.rooted) == (5, 0, 1), str(verdict)
    assert sum(verdict.false_roots.values()) == 2 and sum(verdict.marked.values()) == 2, \
        list(verdict.details())


FLAGS = ("-O2", "-g", "-fno-optimize-sibling-calls")
LIES_MOST = 0.1  # per cent of samples
# name: (source, compiler, extra flags, arguments)
C = {
    "frame_pointers": ("path.c", "gcc", ("-fno-omit-frame-pointer",), ()),
    "no_frame_pointers": ("path.c", "gcc", ("-fomit-frame-pointer",), ()),
    "static": ("path.c", "gcc", ("-static",), ()),
    "stripped": ("path.c", "gcc", ("-s",), ()),
    "clang": ("path.c", "clang", (), ()),
    "assembly": ("assembly.c", "gcc", (), ()),
    "assembly_stripped": ("assembly.c", "gcc", ("-s",), ()),
    "assembly_in_frames": ("assembly.c", "gcc", ("-fno-omit-frame-pointer",), ()),
    "cplusplus": ("templates.cpp", "g++", (), ()),
    "inlines": ("inlined.c", "gcc", (), ()),
    "python_functions": ("trampoline.c", "gcc", ("-fomit-frame-pointer",), ()),
    "signal_handler": ("altstack.c", "gcc", (), ("none",)),
    "alternate_stack": ("altstack.c", "gcc", (), ("near",)),
    "alternate_stack_elsewhere": ("altstack.c", "gcc", (), ("far",)),
    "threads": ("threads.c", "gcc", ("-pthread",), ()),
    "musl": ("path.c", "musl-gcc", ("-static",), ()),
    "musl_threads": ("threads.c", "musl-gcc", ("-static", "-pthread"), ()),
    "untouched": ("untouched.c", "gcc", ("-pthread",), ()),
    "births": ("births.c", "gcc", ("-pthread",), ()),
    "signal_storm": ("storm.c", "gcc", (), ()),
    "coroutines": ("coroutine.c", "gcc", (), ()),
    "recursion": ("recursion.c", "gcc", (), ("1000",)),
    "kernel_side": ("kernelside.c", "gcc", (), ()),
}

# no table covers all of their code
ROOTED = ("assembly", "assembly_stripped", "assembly_in_frames", "musl", "musl_threads")
# sampled in the kernel: options
OF_THE_KERNEL = {"births": ("--no-inherit",), "signal_storm": (), "kernel_side": ()}


def judged(*argv, options=("-K",)):
    """Profiles a program of the zoo and judges its stacks."""
    target = beside.Target(*argv)
    script = m.path("script")
    try:
        before = j.Judge(target.pid)
        beside.record(target, 1.2, [PROGRAM, "-F", "499", *options, "-p", str(target.pid),
                                    "--duration", "100", "--export", "script", "--fields", j.FIELDS,
                                    "-o", script])
        with open(script, encoding="utf-8", errors="replace") as file:
            verdict = j.judge(file.read(), {target.pid: [j.Judge(target.pid), before]})
    finally:
        target.stop()
    for line in (str(verdict), *verdict.details(5)):
        print("#   " + line, flush=True)
    assert verdict.samples > 100, "only %d samples" % verdict.samples
    assert verdict.share(verdict.lies) <= LIES_MOST and not verdict.false_roots, str(verdict)
    return verdict


def zoo_of_c(name):
    source, compiler, flags, arguments = C[name]
    need_judge(compiler)
    m.need_events()
    program = m.path("judged-" + name)
    m.tool(compiler, *FLAGS, "-o", program, zoo(source), *flags)
    if name in OF_THE_KERNEL:
        m.need_root()
    verdict = judged(program, *arguments, options=OF_THE_KERNEL.get(name, ("-K",)))
    assert name not in ROOTED or verdict.share(verdict.rooted) >= 99, str(verdict)


def zoo(name):
    return os.path.abspath(os.path.join(m.SOURCE, "tests", "zoo", name))


def animal(name):
    def test():
        zoo_of_c(name)
    test.__doc__ = test.__name__ = "zoo: " + name.replace("_", " ")
    return test


def go():
    """zoo: Go"""
    need_judge("go")
    m.need_events()
    m.tool("go", "build", "-o", m.path("gopher"), zoo("gopher.go"),
           env=dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS=""))
    judged(m.path("gopher"))


def python():
    """zoo: python"""
    need_judge("/usr/bin/python3")
    m.need_events()
    # the machine code runs no Python frames
    judged("/usr/bin/python3", zoo("snake.py"), options=("--no-interpreted",))


wanted = os.environ.get("ZOO")
run(truths, lies, ends, *[animal(name) for name in C if not wanted or name in wanted.split(",")], go, python)
