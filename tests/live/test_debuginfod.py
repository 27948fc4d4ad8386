#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files from a server on the loopback interface: a stripped program gets names; no server does harm."""
import functools
import http.server
import os
import re
import threading

import machine as m
from ptyscreen import LIMIT, Screen, Skip, run


class Handler(http.server.SimpleHTTPRequestHandler):
    asked = []
    hold = None  # an event to wait for before the response

    def do_GET(self):
        Handler.asked.append(self.path)
        if Handler.hold:
            Handler.hold.wait()
        super().do_GET()

    def log_message(self, *_):
        pass


@functools.lru_cache(None)
def server():
    """The URL of a server with the debug file of the stripped program stripped()."""
    folder = m.path("served")
    os.makedirs(folder, exist_ok=True)
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    made.daemon_threads = True
    made.handle_error = lambda *_: None  # clients disconnect in the middle, on purpose
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % made.server_port


@functools.lru_cache(None)
def stripped():
    """The program, whose debug file only the server has."""
    m.need_tools("objcopy", "readelf", package="binutils")
    if "+debuginfod" not in m.flametop("--version")[1]:
        raise Skip("built without debuginfod")
    program = m.build("shape", "-Wl,--build-id")
    notes = m.tool("readelf", "-n", program)
    folder = os.path.join(m.path("served"), "buildid", re.search(r"Build ID: (\w+)", notes).group(1))
    os.makedirs(folder)
    m.tool("objcopy", "--only-keep-debug", program, os.path.join(folder, "debuginfo"))
    m.tool("strip", program)
    return program


def environment(name, urls):
    return {"DEBUGINFOD_URLS": urls, "DEBUGINFOD_CACHE_PATH": m.path("cache-" + name),
            "XDG_CACHE_HOME": m.path("xdg")}


def report(name, program, *args, urls=None):
    load = m.start(program, str(10 * LIMIT))
    try:
        return m.flametop(*args, "-p", str(load.pid), "--duration", "2",
                          env=environment(name, urls or server()))[1]
    finally:
        m.stop(load)


def names_come_from_the_server():
    """a stripped program gets its names from a server, but only on request"""
    m.need_events()
    program = stripped()
    Handler.hold = None
    Handler.asked.clear()
    without = report("a", program)
    assert not Handler.asked and "path_one" not in m.rows(without), (Handler.asked, without)
    fetched = report("a", program, "--debuginfod")
    assert "path_one" in m.rows(fetched), fetched
    assert len([path for path in Handler.asked if path.endswith("/debuginfo")]) >= 1, Handler.asked


SHARED = """
static inline __attribute__((always_inline)) unsigned innermost(volatile unsigned *x)
{
    return *x = *x * 7 + 1;
}
__attribute__((noinline)) unsigned work(unsigned n)
{
    volatile unsigned r = 0;
    while (n--)
        r += innermost(&r);
    return r;
}
int main(void) { for (;;) work(1000000); }
"""
DWZ = """
gcc -O2 -gdwarf-4 -Wl,--build-id -o shared shared.c
objcopy --only-keep-debug shared shared.debug
cp shared.debug other.debug
dwz -m common -M /nowhere/common shared.debug other.debug
strip -g shared
objcopy --add-gnu-debuglink=shared.debug shared
"""


def shared_debug_file_comes_from_the_server():
    """a debug file shared by dwz that only the server has is fetched by its build-id"""
    m.need_events()
    stripped()
    m.need_tools("dwz", package="dwz")
    Handler.hold = None
    m.write("shared.c", SHARED)
    m.tool("sh", "-ec", DWZ, cwd=m.WORK)
    notes = m.tool("readelf", "-n", m.path("common"))
    common = re.search(r"Build ID: (\w+)", notes).group(1)
    os.makedirs(m.path("served/buildid/" + common))
    os.rename(m.path("common"), m.path("served/buildid/%s/debuginfo" % common))
    Handler.asked.clear()
    report("d", m.path("shared"), "-K")
    assert not Handler.asked, Handler.asked
    fetched = report("d", m.path("shared"), "-K", "--debuginfod")
    assert any(common in path for path in Handler.asked), Handler.asked
    assert "innermost" in fetched, fetched


def hanging_server_holds_nobody_up():
    """while a server hangs, the screen shows the fetch, keys work, and quitting is immediate"""
    m.need_events()
    program = stripped()
    Handler.hold = threading.Event()
    load = m.start(program, str(10 * LIMIT))
    try:
        with Screen(["--debuginfod=" + server(), "-p", str(load.pid)], env=environment("b", "")) as screen:
            screen.wait(r"debuginfod: requesting ")
            screen.send("8", shows=r"^[\d,]+ samples: ")
            assert screen.quit() == 0
    finally:
        Handler.hold.set()
        m.stop(load)


def fetchers():
    """{pid: the text of /proc/PID/status} of the processes that fetch"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with (open("/proc/%s/cmdline" % pid, "rb") as line,
                  open("/proc/%s/status" % pid, encoding="utf-8") as status):
                if b"--debuginfod-fetch" in line.read():
                    found[int(pid)] = status.read()
        except OSError:
            pass
    return found


def the_fetching_process_has_no_rights():
    """root's fetching process has its own user and a system-call filter, and leaves no folder behind"""
    m.need_events()
    m.need_root()
    program = stripped()
    Handler.hold = threading.Event()
    before = set(os.listdir("/tmp"))
    load = m.start(program, str(10 * LIMIT))
    try:
        with Screen(["--debuginfod=" + server(), "-p", str(load.pid)], env=environment("e", "")) as screen:
            screen.wait(r"debuginfod: requesting ")
            status = m.until(fetchers, "no process fetches")
            for text in status.values():
                uid = [int(n) for n in re.search(r"^Uid:\s+(.*)$", text, re.M).group(1).split()]
                assert 0 not in uid and int(re.search(r"^CapEff:\s+(\w+)", text, re.M).group(1), 16) == 0, \
                    text
                if not os.environ.get("SANITIZER_FLAGS") and "+libseccomp" in m.flametop("--version")[1]:
                    assert re.search(r"^Seccomp:\s+2$", text, re.M), text
            Handler.hold.set()
            screen.wait(r"shape +path_one$")
            assert screen.quit() == 0
    finally:
        Handler.hold.set()
        m.stop(load)
    left = [name for name in set(os.listdir("/tmp")) - before if name.startswith("flametop-debuginfod-")]
    assert not left, left
    cached = [os.path.join(at, name) for at, _, names in os.walk(m.path("cache-e")) for name in names]
    assert [os.path.basename(path) for path in cached] == ["debuginfo"], cached


def refused_server_is_a_line_of_trouble():
    """with an unreachable server, the report is the same as without one"""
    m.need_events()
    program = stripped()
    Handler.hold = None
    text = report("c", program, "--debuginfod", urls="http://127.0.0.1:1")
    assert m.rows(text) and "path_one" not in m.rows(text), text


run(names_come_from_the_server, shared_debug_file_comes_from_the_server, hanging_server_holds_nobody_up,
    the_fetching_process_has_no_rights, refused_server_is_a_line_of_trouble)
