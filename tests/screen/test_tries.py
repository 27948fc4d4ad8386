#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The messages of failed tests, and when a failed test is repeated."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from ptyscreen import LIMIT, run


def output_of(body):
    """Runs tests whose functions are given as text; (lines without the time of each test, status)."""
    script = "import ptyscreen\nfrom ptyscreen import Crash, Screen, Skip, run\nptyscreen.PAUSE = 0\n"
    script += textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    lines = done.stdout.split("\n")
    times = [line for line in lines if re.fullmatch(r"# took \d+\.\d s", line)]
    assert len(times) == sum("ok " in line for line in lines if not line.startswith("#")), lines
    return [line for line in lines if line not in times], done.returncode


ONCE = """
    tries = {}
    def once(name, error):
        tries[name] = tries.get(name, 0) + 1
        if tries[name] == 1:
            raise error
"""


def passes_then():
    """a test that fails once passes at the second try, and reports the first failure"""
    lines, status = output_of(ONCE + """
    def noisy():
        once("noisy", AssertionError("the screen\\nstayed"))
    def quiet():
        pass
    run(noisy, quiet)
    """)
    assert lines[:3] == ["1..2", "ok 1 - noisy",
                         "# passed at the second try; the first said: AssertionError: the screen"], lines
    assert lines[3] == "# stayed" and "ok 2 - quiet" in lines and status == 0, lines
    assert sum("second try" in line for line in lines) == 1, lines


def fails_then():
    """a test that fails twice has failed, and reports both failures"""
    lines, status = output_of("""
    n = []
    def broken():
        n.append(1)
        assert 0, "try %d" % len(n)
    run(broken)
    """)
    assert lines[1:3] == ["not ok 1 - broken", "# AssertionError: try 2"] and status == 1, lines
    assert "# AssertionError: try 1" in lines and not any("passed" in line for line in lines), lines


def crashes():
    """a crash is never repeated"""
    lines, status = output_of(ONCE + """
    def dies():
        once("dies", Crash("SIGSEGV"))
    run(dies)
    """)
    assert lines[1:3] == ["not ok 1 - dies", "# Crash: SIGSEGV"] and status == 1, lines


def a_program_that_dies():
    """a program that dies of a signal while the test reads its screen counts as a crash"""
    lines, status = output_of("""
    def dies():
        with Screen(["-c", "echo last words; kill -SEGV $$"], program="sh") as s:
            s.wait("never")
    run(dies)
    """)
    assert lines[1:3] == ["not ok 1 - dies", "# Crash: the program died of SIGSEGV"] and status == 1, lines
    assert "# |last words" in lines, lines


def many():
    """a third failure in a file is not repeated"""
    lines, status = output_of(ONCE + """
    def a(): once("a", AssertionError("x"))
    def b(): once("b", AssertionError("x"))
    def c(): once("c", AssertionError("x"))
    run(a, b, c)
    """)
    assert [line for line in lines
            if "ok " in line] == ["ok 1 - a", "ok 2 - b", "not ok 3 - c"] and status == 1, lines


def skips():
    """a skipped test is reported with its reason, and the next one runs"""
    lines, status = output_of("""
    def absent():
        raise Skip("nothing here")
    def present():
        pass
    run(absent, present)
    """)
    assert lines[1:3] == ["ok 1 - absent # SKIP nothing here", "ok 2 - present"] and status == 0, lines


def unit_test(name, body):
    """The output lines of tests/run-tap for a program of this name with this shell script."""
    runner = os.path.join(os.environ.get("FLAMETOP_SOURCE", "."), "tests/run-tap")
    with tempfile.TemporaryDirectory(prefix="flametop-tries-") as folder:
        test = os.path.join(folder, name)
        with open(test, "w") as f:
            f.write("#!/bin/sh\ncd %s\n%s\n" % (folder, textwrap.dedent(body)))
        os.chmod(test, 0o755)
        env = dict(os.environ, FLAMETOP_BUILD=folder)
        return subprocess.run([runner, test], capture_output=True, text=True, env=env).stdout.split("\n")


FAILS_ONCE = """
    echo 1..2
    echo "ok 1 - quiet"
    if [ -e tried ]; then echo "ok 2 - noisy"; exit 0; fi
    touch tried
    echo "not ok 2 - noisy"
    echo "# 1 != 2"
    exit 1
"""


def screens_together():
    """screen tests that may run in parallel do"""
    runner = os.path.join(os.environ.get("FLAMETOP_SOURCE", "."), "tests/run-tap")
    with tempfile.TemporaryDirectory(prefix="flametop-tries-") as folder:
        running = []
        for name, other in (("one", "two"), ("two", "one")):
            test = os.path.join(folder, name)
            with open(test, "w") as f:
                f.write("#!/bin/sh\ncd %s && touch seen-%s && echo 1..1\n" % (folder, name) +
                        "for i in $(seq %d); do [ -e seen-%s ] && echo ok 1 && exit; sleep 0.1; done\n" %
                        (10 * LIMIT, other))
            os.chmod(test, 0o755)
            env = dict(os.environ, FLAMETOP_BUILD=folder, TESTS_TOGETHER="yes")
            running.append(subprocess.Popen([runner, "--alone", test], stdout=subprocess.PIPE,
                                            text=True, env=env))
        assert [process.communicate()[0] for process in running] == ["1..1\nok 1\n"] * 2


def units_of_the_machine():
    """a unit test of the running kernel that fails once passes at the second try, and says so"""
    assert unit_test("test_live", FAILS_ONCE)[:6] == [
        "1..2", "ok 1 - quiet", "ok 2 - noisy", "# passed at the second try; the first said:",
        "# not ok 2 - noisy", "# # 1 != 2"]


def other_units():
    """any other unit test that fails once has failed, and so has a crash"""
    assert "not ok 2 - noisy" in unit_test("test_text", FAILS_ONCE)
    crash = FAILS_ONCE.replace("# 1 != 2", "# Test failed with exception: Segmentation fault(11)")
    assert "not ok 2 - noisy" in unit_test("test_live", crash)


run(screens_together, units_of_the_machine, other_units, passes_then, fails_then, crashes,
    a_program_that_dies, many, skips)
