# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks programs of the zoo (tests/zoo), whose stacks are known, profiled live by flametop and by perf: at
least 99 % of samples, and of the time of waits, reach their true root, 99 % of frames have their true name,
and perf with --call-graph dwarf finds no true frame that flametop misses. ZOO=NAME,... runs some of them."""
import os
import re

import beside
import machine as m
import zoo
from ptyscreen import run

ENOUGH = 500
SHARE = 0.99
WAITS = []  # the verdict of each program whose stacks can be complete
FLAGS = ("-O2", "-g", "-fno-optimize-sibling-calls")
DWARF = ("-e", "cpu-clock:u", "--call-graph", "dwarf,24576")


def source(name):
    return os.path.abspath(os.path.join(m.SOURCE, "tests", "zoo", name))


def need(*programs):
    m.need_events()
    m.need_perf()
    m.need_tools(*programs)


def compiled(name, *flags, out=None, compiler="gcc"):
    need(compiler)
    out = m.path(out or name.rsplit(".", 1)[0])
    m.tool(compiler, *FLAGS, "-o", out, source(name), *flags)
    return out


def say(what, verdict, worst=True):
    print("#   %-24s %s" % (what, verdict), flush=True)
    if worst:
        for line in verdict.worst().split("\n")[1:]:
            print("#       " + line, flush=True)


def check(truth, argv, options=("-K",), perf_options=DWARF, named=None, whole=0.5, cut=False, target=None,
          from_file=True, cut_in_file=False, roots=None,
          waits_options=(), threads=(), stops=300):
    """Profiles argv until there are enough samples, and compares them with the truth. whole: the least share
    of samples that must have their complete path. cut: stacks may be truncated if they are marked. from_file:
    flametop also reads perf's file, and the same samples are compared; otherwise samples of the same seconds
    are. cut_in_file: complete stacks need the program's memory, which a file lacks. roots: the share of
    samples that must reach their root, where others may be marked. waits_options: of flametop, for waits.
    threads: (regular expression of a comm, path) of other threads, which wait. stops: of threads, which are
    waits."""
    target = target or beside.Target(*argv)
    perf_data = m.path("perf.data") if perf_options else None
    try:
        for cpu_seconds in (0.6, 1.2, 6):
            live = zoo.Verdict(truth, beside.stacks(target, options, m.path("live.folded"), perf_data,
                                                    perf_options or (), cpu_seconds))
            if live.samples >= ENOUGH:
                break
        say("flametop, live", live)
        theirs = mine = waits = None
        if not m.lacks_tracepoints():
            waits = zoo.Verdict(truth, ())
            how = [*(o for o in options if o != "-K"), *waits_options], m.path("waits.folded")
            if threads: # flametop brings their untouched stack pages into memory, see stacks_not_in_memory
                beside.stopped_stacks(target, *how, stops=60)
            for comm, found in beside.stopped_stacks(target, *how, stops=stops).items():
                waits.add(truth.with_paths(path for name, path in threads if re.fullmatch(name, comm)), found)
            say("flametop, waits in us", waits)
        if perf_options:
            theirs = zoo.Verdict(truth, beside.as_perf_reads(perf_data, truth.inlines, named))
            say("perf", theirs)
            if from_file:
                mine = zoo.Verdict(truth, beside.as_flametop_reads(perf_data))
                say("flametop, perf's file", mine)
    finally:
        target.stop()
    assert live.samples >= ENOUGH, "only %d samples" % live.samples
    for verdict in filter(None, (live, mine, waits)):
        marked = verdict.marked if cut or roots or (cut_in_file and verdict is mine) else 0
        assert verdict.share(verdict.rooted) >= (roots or 0), "of %s" % verdict
        reached = verdict.rooted + marked
        assert verdict.share(reached) >= SHARE, "of %s" % verdict
        assert verdict.true_frames >= SHARE * verdict.frames, "of %s" % verdict
        assert verdict.share(verdict.whole + marked) >= whole, "of %s" % verdict
    if mine:
        assert mine.samples == theirs.samples, \
            "perf shows %d samples of a file, flametop %d" % (theirs.samples, mine.samples)
        lacking = zoo.missing(mine, theirs, mine.marked if cut else 0)
        assert not lacking, "perf finds in more samples of its file than flametop: %s" % lacking
    for frame, count in theirs.found.items() if theirs else ():
        mine_live, theirs_live = live.share(live.found[frame]), theirs.share(count)
        off = m.tolerance(theirs_live, live.samples, theirs.samples)
        assert mine_live >= theirs_live - off, \
            "%s: perf finds it in %.3f of its samples, flametop in %.3f" % (
            frame, theirs_live, mine_live)
    if waits and not cut:
        WAITS.append(waits)  # only now: a try that failed has a second one, and would count beside it
    return live


def waits():
    """waits of all programs whose stacks can be complete: 99 % of the time reaches the true root"""
    m.need_tracepoints()
    assert WAITS, "no program was stopped"
    rooted = sum(v.share(v.rooted) for v in WAITS) / len(WAITS)
    print("#   %d programs, %.2f %% of the time of waits with its true root" % (len(WAITS), 100 * rooted))
    assert rooted >= SHARE


def zoo_run(*animals):
    """Runs the checks of programs, and then that of all their waits."""
    wanted = os.environ.get("ZOO")
    run(*[animal for animal in (*animals, waits) if not wanted or animal.__name__ in wanted.split(",")])
