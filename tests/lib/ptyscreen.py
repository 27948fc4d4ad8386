# SPDX-License-Identifier: GPL-2.0-or-later
"""The real program in a real pseudo-terminal, its screen kept by pyte; and a little TAP.

    with Screen(["--history", "4M"], size=(80, 24)) as s:
        s.wait(r"SELF%")
        s.send("2")
        s.wait(r"TOTAL%")
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

try:
    import pyte
except ImportError:
    print("1..0 # SKIP python3-pyte is not installed (apt-get install python3-pyte)")
    sys.exit(0)

PROGRAM = os.environ.get("FLAMETOP", "./flametop")
SLOW = 4 if os.environ.get("SANITIZER_FLAGS") else 1
KEYS = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "enter": "\r", "esc": "\x1b", "tab": "\t",
    "backspace": "\x7f", "pgdn": "\x1b[6~", "pgup": "\x1b[5~", "home": "\x1bOH", "end": "\x1bOF", "s-tab": "\x1b[Z",
    "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~",
    "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~",
}


class Screen:
    def __init__(self, args=(), size=(120, 40), env=None, program=None, term="xterm-256color", preexec=None):
        self.size = size
        self.raw = self.rest = b""
        self.status = None
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        environ = dict(os.environ, TERM=term, LC_ALL="C.UTF-8")
        for name in ("LINES", "COLUMNS", "NO_COLOR"):
            environ.pop(name, None)
        environ.update(env or {})
        argv = [program or PROGRAM, *args]
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                self._set_size(0)
                if preexec:
                    preexec()
                os.execvpe(argv[0], argv, environ)
            finally:
                os._exit(127)

    def _set_size(self, fd):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", self.size[1], self.size[0], 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.ended() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitpid(self.pid, 0)[1]
        try:
            os.close(self.fd)
        except OSError:
            pass

    def _feed(self, data):
        """What pyte does not know is taken out (private sequences) or written out (REP: a character repeated)."""
        data = self.rest + data
        cut = re.search(rb"(?:[\xc2-\xf4][\x80-\xbf]*|.)?(?:\x1b(?:\[[0-9;?>=]*)?)?$", data, re.S).start()
        data, self.rest = data[:cut], data[cut:]
        data = re.sub(rb"\x1b\[[>=?][0-9;]*[cmpqu]|\x1b\[[0-9;]*t", b"", data)
        data = re.sub(rb"([\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]+)\x1b\[(\d+)b",
                      lambda m: m.group(1) * (int(m.group(2)) + 1), data)
        rest = 0
        for scroll in re.finditer(rb"\x1b\[(\d*)([ST])", data):
            self.stream.feed(data[rest:scroll.start()])
            self._scroll(int(scroll.group(1) or 1), scroll.group(2) == b"S")
            rest = scroll.end()
        self.stream.feed(data[rest:])

    def _scroll(self, lines, up):
        """SU and SD, which pyte would ignore."""
        screen = self.screen
        margins, at = screen.margins or (0, screen.lines - 1), screen.cursor.y
        screen.cursor.y = margins[1 if up else 0]
        for _ in range(lines):
            screen.index() if up else screen.reverse_index()
        screen.cursor.y = at

    def pump(self, seconds):
        """Reads what the program draws for at most so long; False when it has gone."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.fd], [], [], max(0, left))
            if not ready:
                rest, self.rest = self.rest, b""
                self.stream.feed(rest)
                return True
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.raw += data
            self._feed(data)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait(self, pattern, seconds=10):
        """Waits until the screen matches; returns the match, fails with the screen otherwise."""
        end = time.monotonic() + seconds * SLOW
        while True:
            found = re.search(pattern, self.text(), re.M)
            if found:
                return found
            if time.monotonic() > end or not self.pump(0.05):
                found = re.search(pattern, self.text(), re.M)
                if found:
                    return found
                raise AssertionError("the screen never showed %r:\n%s" % (pattern, self.text()))

    def wait_not(self, pattern, seconds=10):
        end = time.monotonic() + seconds * SLOW
        while re.search(pattern, self.text(), re.M):
            if time.monotonic() > end:
                raise AssertionError("the screen still shows %r:\n%s" % (pattern, self.text()))
            self.pump(0.05)

    def send(self, *keys):
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())
            self.pump(0.05)

    def resize(self, columns, lines):
        self.size = (columns, lines)
        self.screen.resize(lines, columns)
        self._set_size(self.fd)

    def ended(self):
        """Exit status as the shell has it, or None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        if self.status is None:
            return None
        return os.waitstatus_to_exitcode(self.status)

    def wait_end(self, seconds=3):
        end = time.monotonic() + seconds * SLOW
        while self.ended() is None:
            if time.monotonic() > end:
                raise AssertionError("it did not end:\n" + self.text())
            self.pump(0.02)
        self.pump(0.2)  # its last words
        return self.ended()


class Skip(Exception):
    pass


def run(*tests):
    """Runs functions as TAP; a test's doc string, or its name, says the behaviour it shows."""
    print("1..%d" % len(tests), flush=True)
    failed = 0
    for number, test in enumerate(tests, 1):
        name = (test.__doc__ or test.__name__).strip().split("\n")[0]
        try:
            test()
            print("ok %d - %s" % (number, name), flush=True)
        except Skip as why:
            print("ok %d - %s # SKIP %s" % (number, name, why), flush=True)
        except Exception as error:
            failed += 1
            print("not ok %d - %s" % (number, name), flush=True)
            for line in ("%s: %s" % (type(error).__name__, error)).split("\n"):
                print("# " + line, flush=True)
    sys.exit(1 if failed else 0)
