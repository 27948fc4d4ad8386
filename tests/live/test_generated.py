#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Code generated at run time: its caller is correct at every instruction of a function."""
import collections
import os
import re

import machine as m
from ptyscreen import Skip, run


def started(*args):
    m.need_events()
    m.need_x86_64()
    program = m.build("generated", "-O2")
    where = m.path("where" + "".join(args))
    load = m.start(program, where, *args)
    m.until(lambda: os.path.exists(where) and os.path.getsize(where), "it does not run")
    with open(where, encoding="ascii") as text:
        return load, int(text.read(), 16)


def stacks(pid, *options):
    """Stacks as tuples from the root, with their sample counts."""
    found = collections.Counter()
    for stack, n in m.stacks_of(m.sampled(pid, "folded", *options)):
        found[tuple(stack)] += n
    assert sum(found.values()) > 300, found
    return found


def share(found, wanted):
    return sum(n for stack, n in found.items() if wanted(stack)) / sum(found.values())


def callers_of_named_code_are_true():
    """a named function generated at run time has its true caller at every instruction"""
    load, _ = started("named")
    try:
        found = stacks(load.pid, "-K")
    finally:
        os.unlink("/tmp/perf-%d.map" % load.pid)
    for leaf in "small", "bare":
        assert share(found, lambda stack: stack[-1] == leaf) > 0.1, found
    wrong = share(found, lambda stack: stack[-1] in ("small", "bare") and stack[-3:-1] != ("main", "outer"))
    assert wrong <= 0.001, (wrong, found)
    assert share(found, lambda stack: stack[1] == "_start") >= 0.99, found


def callers_of_unnamed_code_are_true_or_unknown():
    """unnamed code has a caller proven by a call instruction, or an unknown one"""
    load, small = started()
    text = m.sampled(load.pid, "script", "-K")
    callers = collections.Counter()
    for sample in text.split("\n\n"):
        addresses = re.findall(r"^\s+([0-9a-f]+) (\S+)", sample, re.M)
        if len(addresses) > 1 and 0 <= int(addresses[0][0], 16) - small < 64:
            callers["main" if addresses[1][1].startswith("main") else addresses[1][1]] += 1
    assert sum(callers.values()) > 200, text[:4000]
    assert callers["main"] <= 0.001 * sum(callers.values()), callers


PATTERN = "for (;;) preg_match('/(a|b|[cd]+x)*y(?=z)/', str_repeat('abcdxy', 200));"


def unnamed_share(*options):
    """The share of unnamed code in a PHP program that matches a pattern, and the doctor's text."""
    load = m.start("php", *options, "-r", PATTERN)
    try:
        found = stacks(load.pid)
        doctor = m.sampled(load.pid, "doctor")
    finally:
        m.stop(load)
    return share(found, lambda stack: any(re.match(r"\[perf-\d+\.map\]", frame) for frame in stack)), doctor


def advice_for_patterns_of_php_works():
    """the doctor says how PHP patterns get names, and following it works"""
    m.need_events()
    m.need_tools("php", package="php-cli")
    unnamed, doctor = unnamed_share("-d", "pcre.jit=1")
    if unnamed < 0.1:
        raise Skip("this php does not compile patterns")
    assert "pcre.jit=0" in doctor, doctor
    unnamed, doctor = unnamed_share("-d", "pcre.jit=0")
    assert unnamed < 0.01 and "pcre.jit=0" not in doctor, (unnamed, doctor)


run(callers_of_named_code_are_true, callers_of_unnamed_code_are_true_or_unknown,
    advice_for_patterns_of_php_works)
