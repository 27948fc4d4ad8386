#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor's advice for programs with stacks of their own runtime works when it is followed."""
import collections
import os
import shutil
import subprocess

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


def need(*programs):
    m.need_events()
    for program in programs:
        if not shutil.which(program):
            raise Skip("%s is not installed" % program)


def doctor(pid):
    _, text, _ = m.flametop("-K", "-F", "499", "-p", str(pid), "--duration", "2", "--export", "doctor", "-o", "-")
    return text


def shares(pid, *options):
    """The share of truncated stacks, and of stacks with more than ten frames."""
    _, text, _ = m.flametop("-K", "-F", "499", "-p", str(pid), "--duration", "2", "--export", "folded", "-o", "-", *options)
    found = collections.Counter()
    for line in text.splitlines():
        stack, n = line.rsplit(" ", 1)
        found["all"] += int(n)
        found["cut"] += int(n) * ("[truncated" in stack or "[broken" in stack or "[caller unknown" in stack)
        found["deep"] += int(n) * (stack.count(";") > 10)
    assert found["all"] > 100, text
    return found["cut"] / found["all"], found["deep"] / found["all"]


def frame_pointers_lead_on_in_sbcl():
    """SBCL: the doctor advises frame pointers, and with them stacks reach the root"""
    need("sbcl")
    with open(m.path("fib.lisp"), "w", encoding="ascii") as source:
        source.write(SBCL)
    load = m.start("sbcl", "--script", m.path("fib.lisp"))
    text = doctor(load.pid)
    assert "frame pointers work in code" in text and "--call-graph fp" in text, text
    cut, deep = shares(load.pid, "--call-graph", "fp")
    assert cut <= 0.02 and deep >= 0.9, (cut, deep)


def callers_in_haskell_cannot_be_told():
    """GHC: the doctor says that callers are not known, and advises GHC's profiling build"""
    need("ghc")
    with open(m.path("Main.hs"), "w", encoding="ascii") as source:
        source.write(HASKELL)
    subprocess.run(["ghc", "-O1", "-outputdir", m.path("hs.d"), "-o", m.path("haskell"), m.path("Main.hs")], check=True,
                   stdout=subprocess.DEVNULL)
    load = m.start(m.path("haskell"))
    text = doctor(load.pid)
    assert "GHC's code jumps instead of calling" in text and "ghc -prof -fprof-auto" in text, text
    cut, _ = shares(load.pid)
    assert cut >= 0.9, cut
    done = subprocess.run(["ghc", "-O1", "-prof", "-fprof-auto", "-outputdir", m.path("prof.d"), "-o", m.path("haskell-prof"),
                           m.path("Main.hs")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if "profiling" in done.stdout and done.returncode:
        raise Skip("the libraries of GHC for profiling are not installed")
    assert not done.returncode, done.stdout


def a_recording_of_go_with_c_lacks_the_other_stack():
    """cgo: for a perf file the doctor advises to record with flametop, which gives complete stacks"""
    need("go", "gcc", "perf")
    environment = dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS="", CGO_ENABLED="1")
    subprocess.run(["go", "build", "-o", m.path("cgo"), os.path.join(m.SOURCE, "tests", "zoo", "cgo.go")], check=True,
                   env=environment)
    target = beside.Target(m.path("cgo"))
    data = m.path("perf.data")
    m.perf("record", "-q", "-F", "499", "--call-graph", "dwarf,16384", "-p", str(target.pid), "-o", data, "--", "sleep", "2")
    _, text, _ = m.flametop("-i", data, "--export", "doctor", "-o", "-")
    assert "Go: record with flametop" in text, text
    cut, deep = shares(target.pid)
    assert cut <= 0.1 and deep >= 0.5, (cut, deep)


run(frame_pointers_lead_on_in_sbcl, callers_in_haskell_cannot_be_told, a_recording_of_go_with_c_lacks_the_other_stack)
