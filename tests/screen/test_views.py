#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screens as the user sees them: views, keys, sizes, terminals."""
import re
import time

import machine as m
from ptyscreen import SLOW, Screen, Skip, run


def started(args=(), size=(120, 40), first="hot_a", **more):
    m.need_events()
    s = Screen(["-F", "199", "-p", str(m.shape().pid), *args], size=size, **more)
    s.wait(r"^ *\d+\.\d+ .*" + first)
    return s


def whole_stacks(s):
    """Waits until nearly all stacks reach their root: the first ones lack it until unwind tables are read."""
    s.wait(r"^ *[\d.]+ +(?:9\d|100)\.\d +[\d,]+ .*_start")


def cursor_on(s, name):
    s.until(lambda: name in s.cursor_row()[1], "the cursor is not on " + name)


def samples_of(s, name):
    """The SAMPLES value of the row with this name, if it is on the screen."""
    return s.number(r"^ *[\d.]+ +[\d.]+ +([\d,]+) .*" + name)


def in_order(s):
    """Whether the three functions are listed in the order of their known shares."""
    rows = re.findall(r"^ *([\d.]+) +[\d.]+ +[\d,]+ .*(hot_[abc])", s.text(), re.M)
    shares = [float(share) for share, _ in rows]
    assert shares == sorted(shares, reverse=True), rows
    return [name for _, name in rows] == ["hot_a", "hot_b", "hot_c"]


def first_data():
    """the first screen lists functions by share, and the header shows the facts"""
    with started() as s:
        s.wait(r"SELF%.*TOTAL%.*SAMPLES")
        s.wait(r"^flametop .*(cpu-clock|cycles)")
        s.wait(r"samples [\d,]+ .*lost 0")
        # 50, 30 and 20 %: with few samples hot_c may exceed hot_b by chance
        s.until(lambda: in_order(s), "hot_a, hot_b and hot_c were never in this order")


def all_views():
    """every view opens by number and by Tab, and shows the known paths"""
    with started() as s:
        whole_stacks(s)
        s.send("2", shows=r"\[[-+]\] shape")
        s.send("*", shows=r"path_one")
        s.send("i", shows=r"(?i)callers")
        s.wait(r"\[[-+]\] hot_a")
        s.send("3", shows=r"all 100\.0%")
        s.wait(r"path_one")
        s.send("4", shows=r"^load average +[\d.]+ ")
        s.wait(r"^run queue +\d+ +of \d+ threads")
        s.wait(r"context-switches")
        s.wait(r"CPUs utilized")
        s.send("1", shows=r"SELF%.*FUNCTION")
        s.send("tab", shows=r"CALLERS:")
        s.send("s-tab", shows=r"SELF%.*FUNCTION")


def expansion_stays():
    """expanded paths and the cursor of the call graph stay while numbers change"""
    with started() as s:
        whole_stacks(s)
        line = lambda name: next(i for i, text in enumerate(s.screen.display) if name in text)
        s.send("2", shows=r"\[[-+]\] shape")
        s.send("*")
        # with this many samples path_one exceeds path_two: rows keep their order
        s.until(lambda: (samples_of(s, "path_one") or 0) > 100 and samples_of(s, "hot_a"),
                "path_one stayed small")
        s.send("g", "down", "down")
        before, count = line("path_one"), samples_of(s, "path_one")
        for _ in range(3):
            s.until(lambda: (samples_of(s, "path_one") or count) != count, "the numbers do not move")
            count = samples_of(s, "path_one")
        assert line("path_one") == before and samples_of(s, "hot_a"), before


def groups():
    """b cycles through all groupings"""
    with started() as s:
        for pattern in (r"COMM.*MODULE.*FUNCTION", r"TREND +COMM$", r"TREND +MODULE$", r"PID PROCESS$",
                        r"TID THREAD$", r"cpu [01]", r"by cgroups side by side", r"by cgroup, ",
                        r"by symbol, "):
            s.send("b", shows=pattern)


def search_and_filter():
    r"""/ searches, n finds the next match, \ filters stacks by the match, Esc undoes both"""
    with started() as s:
        s.wait(r"hot_c")
        s.send("/", "hot_c", "enter")
        cursor_on(s, "hot_c")
        s.send("\\", "hot_b", "enter")
        s.wait_not(r"hot_a")
        s.wait(r"hot_b")
        s.send("esc", "esc", "esc", "g", shows=r"hot_a")


def search_goes_round():
    """n and N wrap around at the end, and say so"""
    with started() as s:
        whole_stacks(s)
        for view, shown in (("1", r"SELF%.*FUNCTION"), ("2", r"CALLEES:(.*\n)+.*\d\.\d .*shape"),
                            ("3", r"all 100\.0%")):
            s.send(view, shows=shown)
            s.send("/", "hot_a", "enter")
            s.until(lambda: "hot_a" in s.cursor_row()[1] or s.find(r"^selected: hot_a "),
                    "hot_a is not selected")
            s.send("n", shows=r'^no more "hot_a" below: continuing from the top')
            s.send("N", shows=r'^no more "hot_a" above: continuing from the end')


def freeze():
    """z freezes the numbers while sampling goes on, and thaws them"""
    with started() as s:
        s.send("z", shows=r"FROZEN")
        first = s.still(lambda: samples_of(s, "hot_a"))
        s.pump(2.5 * SLOW)
        assert samples_of(s, "hot_a") == first, first
        s.send("z", shows=r"LIVE")
        s.until(lambda: (samples_of(s, "hot_a") or first) != first, "the numbers do not move again")


def zooms():
    """d zooms into a module, Backspace undoes it"""
    with started() as s:
        s.send("/", "hot_a", "enter")
        cursor_on(s, "hot_a")
        s.send("d", shows=r" module:shape ")
        s.wait_not(r"\[kernel\]")
        s.send("backspace")
        s.wait_not(r" module:shape ")


def pickers():
    """e, p and c open pickers with their current values, and Esc closes them"""
    with started() as s:
        for key, title in ("p", "Processes to sample"), ("e", "Event to sample"), ("c", "Cgroups to sample"):
            s.send(key, shows=title)
            s.send("esc")
            s.wait_not(title)


def switches():
    """event, rate and scope change live, and earlier samples stay"""
    with started() as s:
        s.send("e", shows=r"Event to sample")
        for letter in "task-clock":
            s.send(letter)
        s.send("enter", shows=r"^flametop .*task-clock")
        s.wait(r"hot_a")
        s.send("[", shows=r"^flametop .*(cpu-clock|cycles)")
        s.wait(r"hot_a")
        s.send("K", shows=r"(?i):k|kernel")
        s.send("K", "K", shows=r"hot_a")


def frozen_without_the_event():
    """a frozen screen says how to continue when it has no samples of the chosen event"""
    with started() as s:
        s.wait(r"hot_a")
        s.send("z", shows=r"FROZEN")
        s.send("e", shows=r"Event to sample")
        for letter in "task-clock":
            s.send(letter)
        s.send("enter", shows=r"no frozen samples of task-clock: z thaws")
        s.send("z", shows=r"hot_a")


def clears():
    """x drops all samples so far"""
    with started() as s:
        clock = lambda: s.number(r"LIVE 00:00:(\d\d)$")
        s.until(lambda: (clock() or 0) >= 5, "the clock does not go on")
        s.send("x")
        sent = time.monotonic()
        s.until(lambda: clock() is not None and clock() <= time.monotonic() - sent + 2, "the clock goes on")


def arrows_of_both_modes():
    """cursor keys work in both modes of the terminal"""
    for down in ("\x1b[B", "\x1bOB"):
        with started() as s:
            s.send("2", shows=r"\[-\] shape")
            s.send("Z", "g", shows=r"\[\+\] shape")
            s.send("right", shows=r"\[\+\] _start")
            s.send(down)
            cursor_on(s, "_start")


def help_lists_keys():
    """F1 and ? list the keys of the view; Esc closes the list"""
    for key in ("f1", "?"):
        with started() as s:
            s.send(key, shows=r"─ Help ─")
            s.wait(r"^│ Functions ")
            s.send("esc")
            s.wait_not(r"─ Help ─")


def sizes():
    """every size from 200x60 down to 20x5 works, and the screen recovers"""
    with started(size=(200, 60)) as s:
        for size in ((120, 40), (80, 24), (40, 10), (20, 5), (1, 1), (300, 100), (80, 24)):
            s.resize(*size)
            s.pump(0.3 * SLOW)
            assert s.ended() is None, size
        for view, shown in ("2", r"CALLEES:"), ("3", r"all 100\.0%"), ("4", r"^load average "):
            s.send(view, shows=shown)
        s.resize(20, 5)
        s.wait(r"too small: *\n20x5 \(need 40x8\), q\s+quits")
        s.resize(80, 24)
        s.send("1", shows=r"hot_a")


def fits_80x24():
    """at 80x24 no view writes beyond its lines, and tables stay readable"""
    with started(["-s", "total"], size=(80, 24)) as s:  # the root among the first lines
        s.wait(r"SELF%.*FUNCTION")
        whole_stacks(s)
        s.send("2", "*", shows=r"\[-\] path_one")
        s.send("3", shows=r"all 100\.0%")
        s.send("4", shows=r"context-switches")


def run_ns(pid):
    """the CPU time of a process of one thread, in ns"""
    with open("/proc/%d/schedstat" % pid) as file:
        return int(file.read().split()[0])


def rates():
    """processes show PID and CPU in percent as the scheduler counts it; events without time show a rate"""
    with started(["--group-by", "process"], first=r"shape") as s:
        began, ran = time.monotonic(), run_ns(m.shape().pid)
        s.wait(r"SELF% +%CPU +SAMPLES TREND +PID PROCESS")
        s.pump(6)
        wanted = 100 * (run_ns(m.shape().pid) - ran) / 1e9 / (time.monotonic() - began)
        shown = r"^ *[\d.]+ +([\d.]+) +[\d,]+ .* %d shape/%d" % (m.shape().pid, m.shape().pid)
        s.until(lambda: abs(float(re.search(shown, s.text(), re.M).group(1)) - wanted) < 20,
                "%CPU was never " + str(wanted))
    faults = m.busy(m.build("faults"), "36000")
    with Screen(["-e", "page-faults", "-p", str(faults.pid)], size=(120, 40)) as s:
        s.wait(r"SELF% +TOTAL% +PER SEC +SAMPLES")
        s.wait(r"^ *[\d.]+ +[\d.]+ +[\d.]+( [KMG])? +[\d,]+ ")
    m.stop(faults)


def callers_beside():
    """a wide screen shows the callers of the selected function next to the table, and follows the cursor"""
    with started(size=(200, 40)) as s:
        whole_stacks(s)
        s.wait(r"CALLERS of the function at the cursor")
        s.wait(r"\[-\] hot_a")
        s.until(lambda: samples_of(s, "hot_c"), "hot_c never had a row")  # a search finds what there is
        s.send("/", "hot_c", "enter", shows=r"\[-\] hot_c")
        s.wait(r"path_two ← main")
        s.resize(120, 40)
        s.wait_not(r"CALLERS of")


def chains():
    """only children share the row of their caller, also without UTF-8; a search match inside the row ends
    it"""
    for more, arrow in ((), "→"), (["--no-unicode"], ">"):
        with started(list(more)) as s:
            whole_stacks(s)
            s.send("2", shows=r"_start %s .*%s main" % (arrow, arrow))
            s.send("/", "start_call", "enter", shows=r"start_call_main(  \S+)?$")
            s.send("esc", "right")
            cursor_on(s, "] main")


def tabs_and_notes():
    """tabs have names at 80 columns; facts of this machine are notes, not degradations; the legend names
    classes"""
    with started(size=(80, 24)) as s:
        s.wait(r"1 Functions|1 Funcs +2 Calls 3 Flame 4 Counts 5 Waits 6 Log +7 Code 8 Doctor 9 Time")
        assert not re.search(r"DEGRADED no hardware counters", s.text()), s.text()
        if s.find(r"cpu-clock"):
            s.wait(r"^(NOTE|DEGRADED) .*(counters|cycles)")
            report = m.flametop("-b", "-n", "1", "-d", "0.2")[1]
            assert "DEGRADED no hardware counters" not in report, report
            assert not s.find(r"^NOTE no hardware") or "\nNOTE no hardware" in report, report
        s.resize(120, 40)
        s.send("3", shows=r"^selected: ")
        s.wait(r"\buser\b")


def terminals():
    """linux, vt100, xterm, tmux and screen work; an unknown TERM gives a message"""
    for term in ("linux", "vt100", "xterm", "xterm-256color", "tmux-256color", "screen"):
        with started(term=term) as s:
            s.send("3", shows=r"all 100\.0%")
            assert s.quit() == 0, term
    with Screen([], term="no-such-terminal") as s:
        s.wait(r"(?i)unknown terminal|terminal type")
        assert s.wait_end() == 1


def strangers():
    """a terminal unknown to terminfo is treated like a similar one, a missing locale by its encoding"""
    if not m.has("terminfo"):
        raise Skip("built without infocmp: no built-in terminal descriptions")
    with started(term="xterm-flametop", env={"LC_ALL": "xx_XX.UTF-8"}) as s:
        s.send("3", shows=r"all 100\.0%")
        assert max(s.raw) > 127, "nothing but ASCII"
        assert s.quit() == 0


def plain():
    """without colour and UTF-8 only ASCII and attributes are sent"""
    with started(env={"NO_COLOR": "1", "LC_ALL": "C"}) as s:
        for key, shown in (("2", r"CALLEES"), ("3", r"^selected: "), ("4", r"^EVENT "),
                           ("1", r"SELF%.*FUNCTION")):
            s.send(key, shows=shown)
        assert not re.search(rb"\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|38|48)\b[0-9;]*m", s.raw), "colours"
        assert max(s.raw) < 128, "bytes beyond ASCII"


def themes():
    """all themes load; an unknown theme gives a list of the existing ones"""
    for theme in ("default", "light", "mono", "solarized"):
        with started(["--theme", theme]) as s:
            assert s.quit() == 0, theme
    status, _, why = m.flametop("--theme", "no-such", check=False)
    assert status == 2 and "default" in why, why


run(first_data, all_views, expansion_stays, groups, search_and_filter, search_goes_round, freeze, zooms,
    pickers, switches, frozen_without_the_event, clears, arrows_of_both_modes, help_lists_keys, sizes,
    fits_80x24, rates, callers_beside, chains, tabs_and_notes, terminals, strangers, plain, themes)
