#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of other languages with known stacks (tests/zoo): Rust, Go, JavaScript, Java and Python, profiled
live by flametop and by perf, as tests/lib/animals.py says. ZOO=NAME,... runs some of them."""
import os

import beside
import machine as m
import zoo
from animals import check, compiled, need, source, zoo_run


def rust(mangling):
    need("rustc")
    m.tool("rustc", "-O", "-g", *mangling, "-o", m.path("iron"), source("iron.rs"))
    check(zoo.Truth(source("iron.rs")), [m.path("iron")])


def rust_legacy():
    """Rust, release, with the compiler's own mangling"""
    rust(())


def rust_v0():
    """Rust, release, v0 mangling"""
    rust(("-C", "symbol-mangling-version=v0"))


# a stop often meets a signal of Go's: a few of these, whose stack may have no root, must not decide
GO_STOPS = 900
GO = dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS="")


def go():
    """Go: the main goroutine and another"""
    need("go")
    m.tool("go", "build", "-o", m.path("gopher"), source("gopher.go"), env=GO)
    check(zoo.Truth(source("gopher.go")), [m.path("gopher")], stops=GO_STOPS)


def go_stripped():
    """Go without symbols: names and frames from the table of Go's own tracebacks"""
    need("go")
    m.tool("go", "build", "-ldflags=-s -w", "-o", m.path("gopher-stripped"), source("gopher.go"), env=GO)
    check(zoo.Truth(source("gopher.go")), [m.path("gopher-stripped")], stops=GO_STOPS)


def go_inlined():
    """Go: inlined functions by debug information and, in a stripped program, by Go's own table"""
    need("go")
    for name, flags in ("gopher-inlined", ()), ("gopher-inlined-stripped", ("-ldflags=-s -w",)):
        m.tool("go", "build", *flags, "-o", m.path(name), source("gopher_inlined.go"), env=GO)
        check(zoo.Truth(source("gopher_inlined.go")), [m.path(name)])


def go_with_c():
    """Go that calls C, and is called back, across stacks. A file lacks the memory for that."""
    need("go", "gcc")
    m.tool("go", "build", "-o", m.path("cgo"), source("cgo.go"), env=dict(GO, CGO_ENABLED="1"))
    # Go's own signals, which interrupt code on the other stack, are a matter of the load of the machine
    check(zoo.Truth(source("cgo.go")), ["env", "GODEBUG=asyncpreemptoff=1", m.path("cgo")], from_file=False,
          roots=0.99, stops=GO_STOPS)


NODE = ("node", "--perf-basic-prof", "--no-turbo-inlining")


def node():
    """node with --perf-basic-prof"""
    need("node")
    check(zoo.Truth(source("reactor.js")), [*NODE, source("reactor.js")], threads=[("node", "@thread;..")])


def java_with(option, **more):
    need("java", "javac", "jcmd")
    m.tool("javac", "-d", m.WORK, source("Steam.java"))
    target = beside.Target("java", "-cp", m.WORK, "-XX:-Inline", option, "Steam")
    status = m.ran("jcmd", str(target.pid), "Compiler.perfmap")
    if status.returncode or "Unknown" in status.stdout:
        target.stop()
        raise m.Skip("this java writes no map of its code: " + status.stdout.strip())
    check(zoo.Truth(source("Steam.java")), [], target=target,
          threads=[("java", "@start;main;.."), ("(?!java).*", "@thread;..")], **more)


def java():
    """java with -XX:+PreserveFramePointer"""
    java_with("-XX:+PreserveFramePointer")


def java_without_frame_pointers():
    """java without frame pointers"""
    java_with("-XX:-PreserveFramePointer", cut_in_file=True)


def python():
    """python 3"""
    need("/usr/bin/python3")
    check(zoo.Truth(source("snake.py")), ["/usr/bin/python3", source("snake.py")],
          options=("-K", "--no-interpreted"))


def python_functions():
    """python -X perf: each function is called through its own code, without table and frame pointer"""
    need("gcc")
    if os.uname().machine != "x86_64":
        raise m.Skip("this code is supported on x86-64 only")
    target = beside.Target(compiled("trampoline.c", "-fomit-frame-pointer", out="python3-zoo"))
    try:
        check(zoo.Truth(source("trampoline.c")), [], target=target)
    finally:
        os.unlink("/tmp/perf-%d.map" % target.pid)


def namespaces_node():
    """node in its own namespaces: its pid and its /tmp are not the host's"""
    m.need_root()
    need("node", "unshare", "mount")
    target = beside.Target("unshare", "-m", "-p", "-f", "sh", "-ec",
                           'script=$(cat "$0"); mount -t tmpfs zoo /tmp; '
                           'printf %%s "$script" >/tmp/reactor.js; exec %s /tmp/reactor.js' % " ".join(NODE),
                           source("reactor.js"))
    check(zoo.Truth(source("reactor.js")), [], target=target, threads=[("node", "@thread;..")])


zoo_run(rust_legacy, rust_v0, go, go_stripped, go_inlined, go_with_c, node, java, java_without_frame_pointers,
        python, python_functions, namespaces_node)
