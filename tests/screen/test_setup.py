#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Setup screen (F2) and the settings it saves."""
import os
import stat
import tempfile

import machine as m
from ptyscreen import Screen, run


def started(home, args=(), size=(100, 30), **env):
    s = Screen([*args], size=size, env={"XDG_CONFIG_HOME": home, "HOME": home, **env})
    s.wait(r"^ SELF%|no samples|^SELF%")
    s.send("f2", shows=r"Redraw every")
    return s


def config(home):
    with open(os.path.join(home, "flametop", "config"), encoding="utf-8") as file:
        return file.read()


def quit_now(s):
    s.send("esc", "q")
    assert s.wait_end() == 0


def saves():
    """w saves changes in a file that only the user can read, and the next start uses it"""
    m.need_inih()
    with tempfile.TemporaryDirectory() as home:
        with started(home) as s:
            s.wait(r"w saves in .*flametop/config")
            s.send("down", "right", shows=r"Redraw every +< 2 s >")
            s.send("down", "right", shows=r"Time window +< 5min >")
            s.send(*["down"] * 11, " ")
            s.wait(r"Column SAMPLES +\[ \]")
            s.send("w", shows=r"saved in .*flametop/config")
            quit_now(s)
        path = os.path.join(home, "flametop", "config")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        text = config(home)
        for line in ("[options]", "delay = 2", "window = 300", "theme = default",
                     "columns = self,latency,total,self-change,total-change,parallelism,rate,trend,ipc,"
                     "cache-miss,branch-miss,other1,other2,other3,other4,pid,comm,module,function"):
            assert line in text.split("\n"), text
        with started(home) as s:
            s.wait(r"Redraw every +< 2 s >")
            s.wait(r"Time window +< 5min >")
            s.wait(r"Column SAMPLES +\[ \]")
            s.send("esc", shows=r"SELF%.*TREND")
            s.wait_not(r"SAMPLES")
            quit_now(s)


def keeps():
    """lines written by the user stay in the file, and settings that cannot be saved are reported"""
    m.need_inih()
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(os.path.join(home, "flametop"))
        mine = "# my settings\n[options]\nmouse = yes\ndelay = 3 ; slow line\n\n[keys]\nfreeze = z F7\n"
        path = os.path.join(home, "flametop", "config")
        with open(path, "w", encoding="utf-8") as file:
            file.write(mine)
        os.chmod(path, 0o600)
        with started(home) as s:
            s.wait(r"Redraw every +< 3 s >")
            s.send("w", shows=r"saved in")
            text = config(home).split("\n")
            assert all(line in text for line in mine.strip().split("\n") if "delay" not in line), text
            assert "delay = 3 ; slow line" in text and text.index("theme = default") < text.index("[keys]"), \
                text
            os.chmod(path, 0o666)
            s.send("w", shows=r"is writable by others")
            quit_now(s)


def nowhere():
    """without a home folder settings cannot be saved, and a message says so"""
    with tempfile.TemporaryDirectory() as home:
        with started("", HOME="") as s:
            s.send("w", shows=r"cannot save: set HOME")
            quit_now(s)
        assert os.listdir(home) == []


run(saves, keeps, nowhere)
