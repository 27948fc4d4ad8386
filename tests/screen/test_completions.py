# SPDX-License-Identifier: GPL-2.0-or-later
"""The completions of the shells, tested in the shells: how Tab completes a command line."""
import os
import re
import subprocess

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

FOLDER = m.path("completions")
os.makedirs(os.path.join(FOLDER, "bin"), exist_ok=True)
os.symlink(os.path.abspath(PROGRAM), os.path.join(FOLDER, "bin", "flametop"))
ENVIRON = dict.fromkeys(("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), FOLDER)
ENVIRON.update(PATH=os.path.join(FOLDER, "bin") + ":" + os.environ["PATH"], PS1="READY> ")
MINE = str(os.getpid())

# Typed text, and its only completion.
ONLY = [
    ("flametop --list-exp", "flametop --list-exports"),
    ("flametop --export fol", "flametop --export folded"),
    ("flametop --export=fol", "flametop --export=folded"),
    ("flametop --view call", "flametop --view callgraph"),
    ("flametop --view=call", "flametop --view=callgraph"),
    ("flametop --call-graph dw", "flametop --call-graph dwarf"),
    ("flametop --theme def", "flametop --theme default"),
    ("flametop -e page-f", "flametop -e page-faults"),
    ("flametop -e cpu-clock,page-f", "flametop -e cpu-clock,page-faults"),
    ("flametop --event=page-f", "flametop --event=page-faults"),
    ("flametop -u nobod", "flametop -u nobody"),
    ("flametop --sort self,sampl", "flametop --sort self,samples"),
    (f"flametop -i {FOLDER}/one.d", f"flametop -i {FOLDER}/one.data"),
    (f"flametop --symfs {FOLDER}/onl", f"flametop --symfs {FOLDER}/only-folder/"),
    ("flametop -- only-one-com", "flametop -- only-one-command"),
    (f"flametop -F 99 -- cat {FOLDER}/one.d", f"flametop -F 99 -- cat {FOLDER}/one.data"),
]


def prepare():
    for name in ("one.data", "bin/only-one-command"):
        with open(os.path.join(FOLDER, name), "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n")
        os.chmod(os.path.join(FOLDER, name), 0o755)
    os.makedirs(os.path.join(FOLDER, "only-folder"), exist_ok=True)
    for shell, name in (("bash", "flametop.bash"), ("zsh", "_flametop"), ("fish", "flametop.fish")):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as f:
            subprocess.run([PROGRAM, "--generate", shell], stdout=f, check=True)


def need(shell):
    m.need_tools(shell, package=shell)
    prepare()


def typed_into(shell, setup):
    """Types into a shell in a terminal and completes with Tab; ^U deletes the line."""
    with Screen(shell[1:], program=shell[0], size=(200, 50), env=ENVIRON) as s:
        def stands(line):
            s.until(lambda: s.screen.display[s.screen.cursor.y].rstrip() == ("READY> " + line).rstrip(),
                    f"{line!r} never stood there")
        s.send(setup + "; PS1='READY'\"> \"; clear; echo IS-$((40 + 2))\r", shows=r"IS-42\nREADY>")
        for line, whole in ONLY:
            s.send(line + "\t")
            stands(whole)
            s.send("\x15")
            stands("")


def bash_completes_by_tab():
    need("bash")
    typed_into(["bash", "--norc", "--noprofile", "-i"], f"source {FOLDER}/flametop.bash")


def zsh_completes_by_tab():
    need("zsh")
    typed_into(["zsh", "-f", "-i"], f"fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -u -D")


def fish_knows(lines):
    """The candidates of each line: the last word, once each."""
    complete = "".join(f"complete -C '{line}'; echo ----\n" for line in lines)
    script = f"source {FOLDER}/flametop.fish\n{complete}"
    out = subprocess.run(["fish", "--no-config", "-c", script], env=dict(os.environ, **ENVIRON),
                         capture_output=True, text=True, check=True)
    assert not out.stderr, out.stderr
    return [[row.split("\t")[0] for row in part.splitlines()] for part in out.stdout.split("----\n")[:-1]]


def fish_completes():
    need("fish")
    for (line, whole), ways in zip(ONLY, fish_knows([line for line, _ in ONLY])):
        assert ways == [whole.split()[-1]], (line, ways)
    systems, groups, threads = fish_knows(["flametop -e ", "flametop --group-by comm", "flametop --tid="])
    assert "page-faults" in systems and "cs" in systems, systems
    assert sorted(groups) == ["comm", "comm,symbol"], groups
    assert "--tid=" + MINE in threads, threads


def candidates(what):
    out = subprocess.run([PROGRAM, "--complete", what], capture_output=True, text=True, check=True).stdout
    return dict(row.split("\t") for row in out.splitlines())


def tracepoints_are_offered_by_system_first():
    systems = [name for name in candidates("event=") if name.endswith(":")]
    if not systems:
        raise Skip("tracefs cannot be read")
    assert "sched:" in systems, systems
    assert not any(name.startswith("sched:sched_") for name in candidates("event=")), systems
    assert "sched:sched_switch" in candidates("event=sched:")
    assert "cycles,sched:sched_switch" in candidates("event=cycles,sched:")
    assert "{cycles,instructions" in candidates("event={cycles,inst")


def processes_are_told_by_their_command():
    with open("/proc/self/comm", encoding="utf-8") as f:
        assert candidates("pid=" + MINE)[MINE] == f.read().strip()


def a_hostile_command_name_reaches_no_terminal():
    child = subprocess.Popen(["python3", "-c",
                              "import sys; open('/proc/self/comm', 'wb').write(b'a\\x1b]0;x\\x07\\tb'); "
                              "print(flush=True); sys.stdin.read()"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    try:
        out = subprocess.run([PROGRAM, "--complete", f"pid={child.pid}"], capture_output=True,
                             check=True).stdout
    finally:
        child.communicate()
    assert out.startswith(b"%d\ta" % child.pid) and not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out), out
    assert out.count(b"\t") == 1 and out.count(b"\n") == 1, out


def what_has_no_values_offers_none():
    for what in ("", "no-such-option=", "freq=", "event", "cgroup=nothing-is-called-so"):
        assert what == "event" or not candidates(what), what


run(bash_completes_by_tab, zsh_completes_by_tab, fish_completes, tracepoints_are_offered_by_system_first,
    processes_are_told_by_their_command, a_hostile_command_name_reaches_no_terminal,
    what_has_no_values_offers_none)
