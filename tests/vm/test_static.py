#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program from `make static`, alone in a root folder with only /proc, /sys and /dev."""
import os
import re
import shutil
import subprocess

import machine as m
from ptyscreen import PROGRAM, Screen, Skip, run

STATIC = os.environ.get("FLAMETOP_STATIC", os.path.join(os.path.dirname(PROGRAM), "flametop-static"))
MOUNT = """r=$1; shift
mount -t proc proc "$r/proc" && mount --rbind /sys "$r/sys" && mount --rbind /dev "$r/dev" &&
    exec chroot "$r" /flametop "$@"
"""


def empty_root():
    """A root folder that contains the program."""
    m.need_root()
    m.need_events()
    if not os.path.exists(STATIC):
        raise Skip("%s is missing: run make static" % STATIC)
    if not os.path.exists(m.path("root")):
        for name in ("proc", "sys", "dev", "tmp"):
            os.makedirs(m.path("root/" + name))
        shutil.copy(STATIC, m.path("root/flametop"))
    return ["unshare", "-m", "/bin/sh", "-c", MOUNT, "sh", m.path("root")]


def needs_nothing():
    """it is linked without dependencies"""
    empty_root()
    headers = subprocess.run(["readelf", "-W", "-l", "-d", STATIC], capture_output=True, text=True,
                             check=True).stdout
    assert "INTERP" not in headers and "NEEDED" not in headers, headers


def batch():
    """without a screen it samples, and its worker names functions of programs and of the kernel"""
    run_it = [*empty_root(), "-b", "-n", "2", "-F", "199", "-p", str(m.shape().pid)]
    done = subprocess.run(run_it, capture_output=True, text=True, timeout=120, env={})
    assert done.returncode == 0, done.stderr
    assert re.search(r"shape +hot_a", done.stdout), done.stdout
    assert re.search(r"shape +main", done.stdout), done.stdout


def screen():
    """its screen works on terminals of every kind, with a custom theme"""
    for term in ("xterm-256color", "xterm", "screen", "tmux-256color", "linux", "vt100", "xterm-kitty"):
        argv = [*empty_root(), "--theme", "solarized", "-F", "199", "-p", str(m.shape().pid)]
        with Screen(argv[1:], program=argv[0], term=term) as s:
            s.wait(r"^ *\d+\.\d+ .*shape +hot_a")
            s.send("3", shows=r"path_one")
            assert s.quit() == 0, term


def configuration():
    """it reads keys from a config file"""
    argv = empty_root()
    os.makedirs(m.path("root/etc/flametop"), exist_ok=True)
    with open(m.path("root/etc/flametop/config"), "w") as f:
        f.write("[options]\nview = callgraph\n[keys]\nquit = F12\n")
    argv += ["-F", "199", "-p", str(m.shape().pid)]
    with Screen(argv[1:], program=argv[0], env={"XDG_CONFIG_HOME": "/etc"}) as s:
        s.wait(r"\[[-+]\] shape")
        s.send("\x1b[24~")
        assert s.wait_end() == 0


def users():
    """user names are read from /etc/passwd"""
    argv = [*empty_root(), "-b", "-n", "1", "-u", "nobody"]
    os.makedirs(m.path("root/etc"), exist_ok=True)
    with open(m.path("root/etc/passwd"), "w") as f:
        f.write("root:x:0:0::/:/bin/sh\nsomebody:x:65534:65534::/:/bin/sh\n")
    with open(m.path("root/etc/nsswitch.conf"), "w") as f:
        f.write("passwd: systemd sss files\n")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode and "nobody" in done.stderr, (done.stdout, done.stderr)
    argv[-1] = "somebody"
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "somebody" in done.stdout, (done.stdout, done.stderr)


run(needs_nothing, batch, screen, configuration, users)
