#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Choosing what to sample: events with their rates and expected overhead."""
import contextlib
import os
import subprocess

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

SYSCALLS = "raw_syscalls:sys_enter"
busy = None


def need_syscalls():
    m.need_events()
    for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.path.exists(root + "/events/raw_syscalls/sys_enter/id"):
            return
    raise Skip("no tracepoints can be read here")


def caller():
    """A process that makes system calls as fast as it can."""
    global busy
    need_syscalls()
    if os.cpu_count() > 32:
        raise Skip("with this many CPUs one process stays within the budget")
    if not busy:
        busy = m.busy("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    return str(busy.pid)


def typed(s, text):
    for letter in text:
        s.send(letter)


def nothing_matches():
    """a text that matches nothing is reported, however long it is"""
    m.need_events()
    with Screen(size=(80, 24)) as s:
        s.wait(r"samples")
        s.send("B", shows=r"Group by")
        s.send("x" * 60, shows=r"x  nothing matches")
        s.send("esc", "esc")
        s.wait_not(r"Group by")


def formats():
    """the description of each format is fully readable at 80 columns"""
    m.need_events()
    with Screen(size=(80, 24)) as s:
        s.wait(r"samples +[1-9]")
        s.send("E", shows=r"type to filter, Enter chooses")
        rows = s.text().split("Export what")[1].split("type to filter")[0].splitlines()[1:]
        assert len(rows) > 8 and not [row for row in rows if ".." in row], rows
        s.send("esc")
        s.wait_not(r"type to filter")


def whole_lines():
    """at 80 columns the selected line is shown in full, and search covers the hidden words"""
    m.need_events()
    with Screen([], size=(80, 24)) as s:
        s.wait(r"^flametop .*LIVE")
        s.send("e", shows=r"\^R counts visible")
        typed(s, "where the time goes")
        s.wait(r"cycles .*CPU cycles.*\.\.")
        s.wait(r"CPU cycles at the current CPU frequency;(.|\n)*where the time goes")
        s.send("esc", "esc", shows=r"SELF%")
        s.send("f2", shows=r"Column TREND")
        for _ in range(15):
            s.send("down")
        s.wait(r"too few samples, ~: multiplexed")
        s.send("esc")
        s.wait_not(r"Column IPC")


def rates():
    """in the event picker a key counts how often the visible events happen"""
    m.need_events()
    for size in ((80, 24), (120, 40)):
        with Screen([], size=size) as s:
            s.wait(r"^flametop .*LIVE")
            s.send("e", shows=r"\^R counts visible")
            typed(s, "cpu-clock")
            s.wait(r"filter: cpu-clock")
            assert not s.find(r"cpu-clock +\d+\.\d+ CPUs")
            s.send("\x12", shows=r"cpu-clock +\d+\.\d\d CPUs  \S")
            s.send("esc", "esc")
            s.wait_not(r"filter: cpu-clock")


def typed_events():
    """an event missing in the list can be typed; a wrong one is reported and stays for editing"""
    m.need_events()
    with Screen([], size=(120, 30)) as s:
        s.wait(r"^flametop .*LIVE")
        s.send("e", shows=r"\^R counts visible")
        typed(s, "cpu-clock/perid=5000000/")
        s.wait(r"filter: cpu-clock/perid=5000000/ .*Enter uses the text itself")
        s.send("enter", shows=r"'perid' is not a term .*did you mean 'period='")
        s.wait(r"filter: cpu-clock/perid=5000000/ ")
        s.send("\x15", shows=r"\^R counts visible")
        typed(s, "cpu-clock/period=5000000/")
        s.wait(r"filter: cpu-clock/period=5000000/ ")
        s.send("enter", shows=r"cpu-clock/period=5000000/ .*LIVE")


def short_names():
    """an exact short name is found before events that contain it"""
    m.need_events()
    with Screen([], size=(100, 24)) as s:
        for name, event in (("cs", "context-switches"), ("migrations", "cpu-migrations")):
            s.wait(r"^flametop .*LIVE")
            s.send("e", shows=r"\^R counts visible")
            typed(s, name)
            s.wait(r"filter: %s(.|\n)*" % name)
            s.send("enter", shows=r"^(flametop .*)?%s .*LIVE" % event)


def dear():
    """an expensive event is counted first and a period is offered; Esc changes nothing"""
    with Screen(["-p", caller()], size=(100, 24)) as s:
        s.wait(r"^flametop .*LIVE")
        for answer in ("esc", "enter"):
            s.send("e", shows=r"\^R counts visible")
            typed(s, SYSCALLS)
            s.wait(r"filter: " + SYSCALLS)
            s.send("enter", shows=SYSCALLS + r" happens often: \S+ [KMG]/s")
            s.wait(r"one in [\d,]+ .* samples a second: about \d\.\d% of the CPUs")
            s.wait(r"each one .* samples a second: ")
            s.send(answer)
            s.wait_not(r"happens often")
            if answer == "esc":
                assert not s.find(r"^.*%s.* LIVE" % SYSCALLS), "it was switched to"
        s.wait(r"^.*%s every [\d,]+ " % SYSCALLS)
        s.wait(r"^ *\d+\.\d +\d+\.\d +\d")


def dear_on_the_command_line():
    """an event on the command line over the overhead budget gives a warning with a suitable period"""
    with Screen(["-p", caller(), "-e", SYSCALLS, "-c", "1", "--call-graph", "none"], size=(200, 24)) as s:
        s.wait(r"DEGRADED \S+( [KMG])? samples a second of %s use about \d+%% of the CPUs" % SYSCALLS)


def presets():
    """a preset in the picker sets event, view and grouping; earlier samples stay"""
    m.need_events()
    with Screen([], size=(200, 30)) as s:
        s.wait(r"^flametop .*LIVE")
        s.send("e", shows=r"\^R counts visible")
        typed(s, "memory growth")
        s.wait(r"memory .*page faults \(memory growth\)")
        s.send("enter", shows=r"^.*page-faults \S+ ?\d+ .*LIVE")
        s.wait(r"3 Flame .*icicle")
        s.send("[", shows=r"^.*(cpu-clock|cycles)\S* \d+Hz .*LIVE")
        s.send("]", shows=r"^.*page-faults \S+ ?\d+ .*LIVE")


def own_presets():
    """--preset reads rows of the user's file, and reports the line of an error"""
    home = m.path("presets")
    os.makedirs(home + "/flametop", exist_ok=True)
    rows = home + "/flametop/presets"

    def put(text):
        with open(rows, "w") as f:
            f.write(text)
        os.chmod(rows, 0o600)

    def said(*args):
        done = subprocess.run([PROGRAM, *args], env=dict(os.environ, XDG_CONFIG_HOME=home),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        return done.returncode, done.stdout, done.stderr

    put("# mine\ngrowing page-faults 1/50 flame comm all what I look for\n")
    status, listed, _ = said("--list-presets")
    assert status == 0 and "growing" in listed and "memory" in listed, listed
    status, _, why = said("--preset", "growin")
    assert status == 2 and "growing" in why, why
    m.need_events()
    with Screen(["--preset", "growing"], size=(100, 30), env={"XDG_CONFIG_HOME": home}) as s:
        s.wait(r"^.*page-faults every 50 .*LIVE")
        s.wait(r"3 Flame")
    with Screen(["--preset", "growing", "-F", "77"], size=(100, 30), env={"XDG_CONFIG_HOME": home}) as s:
        s.wait(r"^.*page-faults 77Hz .*LIVE")
    put("growing page-faults 1/50 flame comm all what I look for\nbad page-faults often - - - x\n")
    status, _, why = said("--preset", "growing")
    assert status == 2 and rows + ":2: " in why and "rate" in why, why
    with Screen([], size=(100, 30), env={"XDG_CONFIG_HOME": home}) as s:
        s.wait(r"^flametop .*LIVE")
        s.send("e", shows=r"flametop/presets:2: .*is no rate")
        s.send("esc", shows=r"SELF%")


def cgroups():
    """several cgroups have one column each, including their descendants; b shows one row each"""
    m.need_events()
    names = ["%s-flametop-%d" % (x, os.getpid()) for x in ("aa", "bb")]
    loads = []
    with m.cgroups(names[0], names[1], names[1] + "/below") as folders, contextlib.ExitStack() as stack:
        stack.callback(lambda: [m.stop(load) for load in loads])
        for program, folder in (("shape", folders[0]), ("divide", folders[2])):
            loads.append(m.busy(m.build(program), "36000"))
            with open(folder + "/cgroup.procs", "w") as f:
                f.write(str(loads[-1].pid))
        chosen = ",".join("/" + name for name in names)
        with Screen(["-F", "199", "-G", chosen], size=(140, 24)) as s:
            s.wait(r"^flametop .*scope: 2 cgroups .*LIVE")
            s.wait(r"by cgroups side by side")
            s.resize(80, 24)
            s.wait(r"SELF% +TOTAL% +aa-\S+ +bb-\S+ +MODULE +FUNCTION")
            s.wait(r"^ *(\d*[1-9]\.\d|\d+\.[1-9]) +\d+\.\d +\1 +0\.0 +shape +hot_a$")
            s.wait(r"^ *(\d*[1-9]\.\d|\d+\.[1-9]) +\d+\.\d +0\.0 +\1 +divide +divide$")
            s.send("b", shows=r"\d+\.\d .*%s" % names[0])
            s.wait(r"\d+\.\d .*%s/below" % names[1])
            s.resize(140, 24)
            s.wait(r"by cgroup, self first")
            s.send("2", shows=r"CALLEES")
            s.wait(r"\] +/%s" % names[0])
            s.send("4", shows=r"the chosen ones are listed as parts")
        pids = ",".join(str(load.pid) for load in loads)  # only these cgroups
        with Screen(["-F", "199", "-p", pids, "--group-by", "cgroup,symbol"], size=(140, 24)) as s:
            s.wait(r"SELF% +TOTAL% .* aa-\S+ .*MODULE +FUNCTION")
            s.quit()
        with Screen(["-C", "0"], size=(140, 24)) as s:
            s.wait(r"^flametop .*scope: all on cpu 0 .*LIVE")
            s.send("c" + names[0])  # most likely before the list is read
            s.wait(r"%s .* \d+ +│\n(.*\n)*.*filter: %s" % (names[0], names[0]))
            s.send("enter", shows=r"^flametop .*scope: cgroup /%s on cpu 0 .*LIVE" % names[0])


def scopes():
    """a menu changes the scope: threads, a user, CPUs, and whether children are followed"""
    m.need_events()
    load = m.busy("sh", "-c", "while :; do :; done")
    with Screen(["-p", str(load.pid)], size=(120, 30)) as s:
        s.wait(r"scope: pid %d .*LIVE" % load.pid)
        s.send("F", shows=r"scope: only pid %d .*LIVE" % load.pid)
        s.send("S", shows=r"include child processes")
        s.send("esc")
        s.wait_not(r"include child processes")
        s.send("S", shows=r"Scope to sample")
        typed(s, "threads")
        s.wait(r"filter: threads")
        s.send("enter", shows=r"^threads of process: %d" % load.pid)
        s.send("enter", shows=r"Threads of %d to sample" % load.pid)
        s.wait(r"^.* %d  sh " % load.pid)
        s.send("enter", shows=r"scope: only thread %d .*LIVE" % load.pid)
        s.send("S", shows=r"Scope to sample")
        typed(s, "user")
        s.wait(r"filter: user")
        s.send("enter", shows=r"USER +SHARE PROCESSES")
        s.wait(r"%  +\d+ ")
        s.send("esc")
        s.wait_not(r"USER +SHARE")
        s.send("S", shows=r"Scope to sample")
        typed(s, "CPUs")
        s.wait(r"filter: CPUs")
        s.send("enter", shows=r"^CPUs \(0-3")
        typed(s, "0,zz")
        s.send("enter", shows=r"\"zz\" is not a list of CPUs")
        s.wait(r"^CPUs \(0-3.*: 0,zz$")
        s.send("backspace", "backspace", "backspace", "enter")
        s.wait(r"scope: only thread %d on cpu 0 .*LIVE" % load.pid)
        s.send("S", shows=r"Scope to sample")
        s.send("enter", shows=r"scope: all  .*LIVE")
        s.send("F", shows=r"all CPUs are measured, with all tasks")


def no_such_process():
    """a prompt keeps rejected text for editing and says what is wrong; Esc leaves it"""
    m.need_events()
    gone = m.start("true")
    gone.wait()
    with Screen(["-p", str(os.getpid())], size=(80, 24)) as s:
        s.wait(r"LIVE")
        s.send("S", shows=r"Scope to sample")
        typed(s, "threads")
        s.wait(r"filter: threads")
        s.send("enter", shows=r"^threads of process: ")
        typed(s, str(gone.pid))
        s.send("enter", shows=r"there is no process %d" % gone.pid)
        s.wait(r"^threads of process: %d$" % gone.pid)
        s.send("esc")
        s.wait_not(r"^threads of process")


def one_half():
    """with user space only, K does not offer to show the kernel only"""
    m.need_events()
    load = m.busy("sh", "-c", "while :; do :; done")
    with Screen(["-K", "-p", str(load.pid)], size=(120, 30)) as s:
        s.wait(r"LIVE")
        s.send("K", shows=r"only user space is sampled: there is nothing else to show")
        assert not s.find(r"only: *kernel"), s.text()


run(nothing_matches, formats, whole_lines, scopes, no_such_process, one_half, rates, typed_events,
    short_names, dear, dear_on_the_command_line, presets, own_presets, cgroups)
