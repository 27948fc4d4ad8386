#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor's advice for programs with stacks of their own runtime works when it is followed. A stack
ends at its root."""
import collections
import os

import beside
import machine as m
from ptyscreen import Skip, run

SBCL = "(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (loop (fib 32))"
HASKELL = """module Main where
import System.IO
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}
go :: Int -> IO ()
go n = do { print (fib (30 + n `mod` 2)); hFlush stdout; go (n + 1) }
main :: IO ()
main = go 0
"""
# Naps for 20 us, again and again. Its frame pointers lead beyond its root, to a function that never runs.
ROOTED = r"""
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

void begin(void);

__asm__(".type stray, @function\nstray: nop\n nop\n ret\n .size stray, .-stray\n"
        ".type begin, @function\nbegin: .cfi_startproc\n .cfi_undefined rip\n"
        "lea frames(%rip), %rbp\n call naps\n hlt\n .cfi_endproc\n .size begin, .-begin\n"
        ".data\n .balign 8\nframes: .quad 0, stray + 1\n .text\n");

__attribute__((used)) static void naps(void)
{
    struct timespec nap = { 0, 20000 };

    for (;;) {
        long number = SYS_nanosleep;
        __asm__ volatile("syscall" : "+a"(number) : "D"(&nap), "S"(0) : "rcx", "r11", "memory");
    }
}

int main(void)
{
    prctl(PR_SET_TIMERSLACK, 1);
    begin();
}
"""


def need(*programs):
    m.need_events()
    m.need_tools(*programs)


def shares(pid, *options):
    """The share of truncated stacks, and of stacks with more than ten frames."""
    found = collections.Counter()
    for stack, n in m.stacks_of(m.sampled(pid, "folded", "-K", *options)):
        found["all"] += n
        found["cut"] += n * any(frame.startswith(("[truncated", "[broken", "[caller unknown"))
                                for frame in stack)
        found["deep"] += n * (len(stack) > 11)
    assert found["all"] > 100, found
    return found["cut"] / found["all"], found["deep"] / found["all"]


def frame_pointers_lead_on_in_sbcl():
    """SBCL: the doctor advises frame pointers, and with them stacks reach the root"""
    need("sbcl")
    load = m.start("sbcl", "--script", m.write("fib.lisp", SBCL))
    text = m.sampled(load.pid, "doctor", "-K")
    assert "frame pointers work in code" in text and "--call-graph fp" in text, text
    cut, deep = shares(load.pid, "--call-graph", "fp")
    assert cut <= 0.02 and deep >= 0.9, (cut, deep)


def callers_in_haskell_cannot_be_told():
    """GHC: the doctor says that callers are not known, and advises GHC's profiling build"""
    need("ghc")
    source = m.write("Main.hs", HASKELL)
    m.tool("ghc", "-O1", "-outputdir", m.path("hs.d"), "-o", m.path("haskell"), source)
    load = m.start(m.path("haskell"))
    text = m.sampled(load.pid, "doctor", "-K")
    assert "GHC's code jumps instead of calling" in text and "ghc -prof -fprof-auto" in text, text
    cut, _ = shares(load.pid)
    assert cut >= 0.9, cut
    done = m.ran("ghc", "-O1", "-prof", "-fprof-auto", "-outputdir", m.path("prof.d"), "-o",
                 m.path("haskell-prof"), source)
    if "profiling" in done.stdout + done.stderr and done.returncode:
        raise Skip("the libraries of GHC for profiling are not installed")
    assert not done.returncode, done.stdout + done.stderr


def a_recording_of_go_with_c_lacks_the_other_stack():
    """cgo: for a perf file the doctor advises to record with flametop, which gives complete stacks"""
    need("go", "gcc", "perf")
    environment = dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS="",
                       CGO_ENABLED="1")
    m.tool("go", "build", "-o", m.path("cgo"), os.path.join(m.SOURCE, "tests", "zoo", "cgo.go"),
           env=environment)
    target = beside.Target(m.path("cgo"))
    data = m.path("perf.data")
    m.perf(*m.RECORD, "-F", "499", "--call-graph", "dwarf,16384", "-p", str(target.pid), "-o", data,
           "--", "sleep", "2")
    text = m.export(data, "doctor")
    assert "Go: record with flametop" in text, text
    cut, deep = shares(target.pid)
    assert cut <= 0.1 and deep >= 0.5, (cut, deep)


def roots_of_naps(pid, *options):
    """The outermost functions of the waits that have a stack."""
    m.flametop("--off-cpu", "--idle", "--budget", "50", "-p", str(pid), *options, "--duration", "2", "-o",
               m.path("naps.folded"))
    return {frames[1] for frames, _ in m.folded(m.path("naps.folded")) if "naps" in frames}


def stacks_by_frame_pointers_end_at_the_root():
    """where waits are too many for stack dumps, stacks by frame pointers end where those by tables do"""
    m.need_tracepoints()
    m.need_x86_64()
    need("cc")
    load = m.start(m.compiled("rooted", ROOTED, "-O1", "-fno-omit-frame-pointer"))
    roots = roots_of_naps(load.pid, "--call-graph", "fp")
    assert roots == {"stray"}, roots
    roots = roots_of_naps(load.pid)
    assert roots == {"begin"}, roots


run(frame_pointers_lead_on_in_sbcl, callers_in_haskell_cannot_be_told,
    a_recording_of_go_with_c_lacks_the_other_stack, stacks_by_frame_pointers_end_at_the_root)
