#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--diff and --diff-range on the screen: the change of each function and path against the baseline."""
import re

import machine as m
from perffile import Program, Sample, write
from ptyscreen import Screen, run

BEFORE = {"main;parse": 30, "main;parse;read_line": 10, "main;work;hot": 40, "main;work;warm": 20}
AFTER = {"main;parse": 5, "main;work;hot": 80, "main;work;warm": 15}
program = None


def profile(name, stacks, period=lambda stack: 10**7):
    global program
    program = program or Program(m.path("shop"), ["parse", "read_line", "work", "hot", "warm"])
    samples = [stack for stack, n in stacks.items() for _ in range(n)]
    write(m.path(name), program,
          [Sample(0.01 * i, 100, 0, s.split(";"), period(s)) for i, s in enumerate(samples)], {100: "shop"})
    return m.path(name)


def compared(size=(120, 40), env=None, view="functions", more=()):
    files = profile("after.data", AFTER), profile("before.data", BEFORE)
    return Screen(["-i", files[0], "--diff", files[1], "--view", view, *more], size=size, env=env)


def rows_of(s):
    """{function: (self, total, change of self, change of total)} and the functions in their order"""
    found = re.findall(r"^ +([\d.]+) +([\d.]+) +([-+]?[\d.]+) +([-+]?[\d.]+) .* (\w+) *$", s.text(), re.M)
    return {row[-1]: row[:-1] for row in found}, [row[-1] for row in found]


TABLE = {"hot": ("80.0", "80.0", "+40.00", "+40.00"), "parse": ("5.0", "5.0", "-25.00", "-35.00"),
         "read_line": ("0.0", "0.0", "-10.00", "-10.00"), "warm": ("15.0", "15.0", "-5.00", "-5.00"),
         "work": ("0.0", "95.0", "0.00", "+35.00"), "main": ("0.0", "100.0", "0.00", "0.00")}


def in_the_table():
    """functions show their change, largest change first, and functions only in the baseline are listed"""
    with compared() as s:
        s.until(lambda: rows_of(s)[0] == TABLE, "the table never was right")
        assert rows_of(s)[1][:4] == ["hot", "parse", "read_line", "warm"], s.text()
        assert "against before.data" in s.text()
        s.send("down", "down", "enter", shows="only in the baseline profile")
        s.send("\\", "pars", "enter")
        wanted = {"parse": ("100.0", "100.0", "+25.00", "0.00"), "main": ("0.0", "100.0", "0.00", "0.00"),
                  "read_line": ("0.0", "0.0", "-25.00", "-25.00")}
        s.until(lambda: rows_of(s)[0] == wanted, "the filter never held on both sides")


def without_colours():
    """without colours, signs show the direction; --negate swaps them"""
    with compared(size=(80, 24), env={"NO_COLOR": "1"}, more=["--negate"]) as s:
        s.wait(r"^ +80\.0 +80\.0 +-40\.00 +-40\.00 .* hot")
        s.send("3", shows=r"hot 80\.0% -40\.00")


def background(s, name):
    """the background colour of a flame graph box"""
    for y, line in enumerate(s.text().split("\n")):
        at = line.find("▏" + name)
        if at >= 0:
            return s.screen.buffer[y][at + 2].bg
    return None


def in_the_flame():
    """boxes are red for increases and blue for decreases; c changes the meaning of colours"""
    with compared(view="flame") as s:
        s.wait(r"hot 80\.0% \+40\.00")
        s.wait(r"icicle, against before\.data")

        def by_change():
            colours = [background(s, name) for name in ("hot", "warm", "main")]
            return colours[0] == "red" and len(set(colours)) == 3 and None not in colours
        s.until(by_change, "colours never were of changes")
        s.send("down", "down", "down", "down", shows=r"selected: hot +80\.0% total, \+40\.00 \(was 40\.00%\)")
        s.send("c", shows=r"icicle, by type")
        s.until(lambda: background(s, "warm") == background(s, "main"), "colours never were of types")
        s.wait(r"hot 80\.0% *(▏|$)")
        s.send("c", "c", shows=r"colours: against before\.data: red")


def two_ranges():
    """two time ranges of one recording are compared"""
    file = profile("ranges.data", {"main;parse": 100, "main;work;hot": 50, "main;work;warm": 50})
    with Screen(["-i", file, "--diff-range", "0..0.995,1..1.995"], size=(120, 40)) as s:
        wanted = {"parse": ("0.0", "0.0", "-100.00", "-100.00"), "hot": ("50.0", "50.0", "+50.00", "+50.00"),
                  "warm": ("50.0", "50.0", "+50.00", "+50.00"), "work": ("0.0", "100.0", "0.00", "+100.00"),
                  "main": ("0.0", "100.0", "0.00", "0.00")}
        s.until(lambda: rows_of(s)[0] == wanted, "the table never was right")
        s.send("R")
        s.until(lambda: rows_of(s)[0].get("parse") == ("50.0", "50.0", "-50.00", "-50.00"),
                "all of the time never came")


def table_of(*more):
    text = m.flametop(*more)[1]
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +([-+][\d.]+) .* (\w+)$", text, re.M)
    return {row[-1]: float(row[0]) for row in rows}, text


def by_samples_or_period():
    """--diff-by compares samples or periods, in tables and flame graphs, each side relative to its own
    total"""
    def heavy(stack):
        return 4 * 10**7 if stack.endswith("hot") else 10**7
    before = profile("light.data", {"main;hot": 40, "main;warm": 60})
    after = profile("heavy.data", {"main;hot": 40, "main;warm": 60}, heavy)
    samples, text = table_of("-i", after, "--diff", before, "--diff-by", "samples")
    assert samples["hot"] == samples["warm"] == 0 and "total samples" in text, text
    for words in (["--diff-by", "period"], []):
        period, text = table_of("-i", after, "--diff", before, *words)
        assert period["hot"] == 32.73 and period["warm"] == -32.73 and "total time" in text, text
    turned, text = table_of("-i", after, "--diff", before, "--negate")
    assert turned["hot"] == -32.73 and "+ means less now" in text, text
    for words, change in ((["--diff-by", "period"], "+32.73%"), (["--diff-by", "samples"], "+0.00%"),
                          ([], "+0.00%")):
        svg = m.flametop("-i", after, "--diff", before, "--export", "svg", "-o", "-", *words)[1]
        assert re.search(r"hot \([^)]*; %s\)" % re.escape(change), svg), \
            (words, re.findall(r"hot \([^)]*\)", svg))
    assert m.flametop("-i", after, "--diff", before, "--diff-by", "weeks", check=False)[0] == 2


def refusal(*more):
    """the message for a comparison that cannot be made"""
    status, text, said = m.flametop(*more, check=False)
    assert status and not text, (status, text, said)
    return said


def nothing_to_compare_with():
    """a range behind the end of the file and options without a comparison are refused"""
    file, other = profile("after.data", AFTER), profile("before.data", BEFORE)
    for words in (["--diff-range", "100..200"], ["--diff-range", "0..0.5,100..200"],
                  ["--diff", other, "--diff-range", "7..8"]):
        said = refusal("-i", file, *words)
        assert re.search(r"--diff-range \d+\.\.\d+ is past the end: \S+ lasts 0\.99\d* s", said), \
            (words, said)
    said = m.flametop("-i", file, "--diff-range", "0..0.2,0.5..60")[2]
    assert re.search(r"after.data lasts 0\.99\d* s: --diff-range 0\.5\.\.60 is compared only up to there",
                     said), said
    assert "lasts" not in m.flametop("-i", file, "--diff-range", "0..0.2,0.5..0.9")[2]
    assert "--negate swaps the signs of a comparison: give --diff" in refusal("-i", file, "--negate")
    said = refusal("-i", file, "--diff-by", "samples")
    assert "--diff-by selects what a comparison counts: give --diff" in said, said
    with Screen(["-i", file, "--diff-range", "100..200"], size=(160, 40)) as s:
        s.wait(r"against .*\(no samples\)")


run(in_the_table, without_colours, in_the_flame, two_ranges, by_samples_or_period, nothing_to_compare_with)
