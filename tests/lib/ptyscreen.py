# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the real program in a pseudo-terminal, with its screen kept by pyte; and a small TAP runner.
with Screen(["--history", "4M"], size=(80, 24)) as s:
    s.wait(r"SELF%")
    s.send("2", shows=r"TOTAL%")"""
import fcntl
import functools
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback

try:
    import pyte
except ImportError:
    print("1..0 # SKIP python3-pyte is not installed (apt-get install python3-pyte)")
    sys.exit(0)

PROGRAM = os.environ.get("FLAMETOP", "./flametop")
SLOW = 2 if os.environ.get("SANITIZER_FLAGS") else 1  # factor for times in which nothing may happen
# seconds to wait for a condition before the test fails
LIMIT = 120 if os.environ.get("SANITIZER_FLAGS") else 60
QUIET = 0.01  # seconds without output that end a frame
PAUSE = 5  # seconds before a second try
SECOND_TRIES = 2  # per file: more failures are not caused by a busy machine
_shared = []
KEYS = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "enter": "\r", "esc": "\x1b",
    "tab": "\t", "backspace": "\x7f", "pgdn": "\x1b[6~", "pgup": "\x1b[5~", "home": "\x1bOH", "end": "\x1bOF",
    "s-tab": "\x1b[Z", "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~",
    "f6": "\x1b[17~", "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~",
}


class Skip(Exception):
    pass


class Crash(Exception):
    """The program died of a signal that nobody sent: never caused by a busy machine, and never repeated."""


class OutOfTime(BaseException):
    """SIGTERM, by which tests/run-tap ends a test that takes too long."""


class Screen:
    newest = None  # the screen that run() shows when a test fails

    def __init__(self, args=(), size=(120, 40), env=None, program=None, term="xterm-256color", preexec=None,
                 limit=LIMIT):
        """limit: seconds to wait for each condition."""
        self.size, self.limit = size, limit
        self.raw = self.rest = b""
        self.status = None
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        environ = dict(os.environ, TERM=term, LC_ALL="C.UTF-8")
        for name in ("LINES", "COLUMNS", "NO_COLOR"):
            environ.pop(name, None)
        environ.update(env or {})
        argv = [program or PROGRAM, *args]
        Screen.newest = self
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
        """Private sequences, unknown to pyte, are removed; REP (repeat a character) is expanded."""
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
        """SU and SD, which pyte ignores."""
        screen = self.screen
        margins, at = screen.margins or (0, screen.lines - 1), screen.cursor.y
        screen.cursor.y = margins[1 if up else 0]
        for _ in range(lines):
            screen.index() if up else screen.reverse_index()
        screen.cursor.y = at

    def pump(self, seconds, quiet=None):
        """Reads the program's output for this time, or until it has written something and then nothing for
        `quiet` seconds; False if the program has ended."""
        end = last = time.monotonic() + seconds
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
            if quiet:
                end = min(last, time.monotonic() + quiet)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, condition, what, seconds=None):
        """Waits until the condition holds and returns its value; fails after the time limit."""
        seconds = seconds or self.limit
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            alive = self.pump(0.05, QUIET)
            if time.monotonic() > end or not alive:
                while not alive and self.ended() is None and time.monotonic() < end:
                    time.sleep(0.01)  # its terminal closes before its status is there
                found = condition()
                if found:
                    return found
                self.see_crash()
                raise AssertionError("%s within %d seconds" % (what, seconds) if self.ended() is None else
                                     "%s: the program has ended with %d" % (what, self.ended()))

    def find(self, pattern):
        return re.search(pattern, self.text(), re.M)

    def wait(self, pattern, seconds=None):
        """Waits until the screen matches; returns the match."""
        return self.until(lambda: self.find(pattern), "the screen never showed %r" % pattern, seconds)

    def wait_not(self, pattern, seconds=None):
        self.until(lambda: not self.find(pattern), "the screen always showed %r" % pattern, seconds)

    def cursor_row(self):
        """(line, text) of the table's row with the cursor, whose background differs; (-1, "") without one."""
        lines = self.screen.display
        head = next((y for y, line in enumerate(lines) if re.search("(SELF|TOTAL|SHARE)%", line)), len(lines))
        return next(((y, lines[y]) for y in range(head + 1, len(lines) - 1)
                     if self.screen.buffer[y][1].bg != "default"), (-1, ""))

    def number(self, pattern):
        """The group of the pattern as a number, without its commas; None while the screen does not match."""
        found = self.find(pattern)
        return float(found.group(1).replace(",", "")) if found else None

    def still(self, value):
        """Waits until the value stays the same for a second, as at the end of a frame."""
        before = [None, 0]

        def same():
            now = value()
            if now is None or now != before[0]:
                before[:] = now, time.monotonic()
            return now is not None and time.monotonic() - before[1] > 1
        self.until(same, "no value stays")
        return before[0]

    def send(self, *keys, shows=None):
        """Types keys; then waits until the screen matches, and returns the match."""
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())
            self.pump(0.05, None if key == "esc" else QUIET)  # the program waits for more after an escape
        return self.wait(shows) if shows else None

    def quit(self):
        """Types q; returns the exit status."""
        self.send("q")
        return self.wait_end()

    def resize(self, columns, lines):
        self.size = (columns, lines)
        self.screen.resize(lines, columns)
        self._set_size(self.fd)

    def ended(self):
        """The exit status as in a shell, or None while the program runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        if self.status is None:
            return None
        return os.waitstatus_to_exitcode(self.status)

    def see_crash(self):
        status = self.ended()
        if status in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE,
                      -signal.SIGSYS):
            raise Crash("the program died of %s" % signal.Signals(-status).name)

    def wait_end(self, seconds=None, crash=False):
        seconds = seconds or self.limit
        end = time.monotonic() + seconds
        while self.ended() is None:
            if time.monotonic() > end:
                raise AssertionError("it did not end within %d seconds" % seconds)
            self.pump(0.02)
        self.pump(0.2)  # its last output
        if not crash:
            self.see_crash()
        return self.ended()


def attempt(test):
    """(the failure or None, lines about it: the assertion and its location first, then the whole screen)"""
    Screen.newest = None
    try:
        test()
        return None, []
    except Skip as why:
        return why, []
    except (Exception, OutOfTime) as error:
        lines = ("%s: %s" % (type(error).__name__, error)).split("\n")
        for frame in reversed(traceback.extract_tb(error.__traceback__)[1:]):
            lines.append("  at %s:%d, %s: %s" % (os.path.basename(frame.filename), frame.lineno, frame.name,
                                                 frame.line))
        if Screen.newest:
            lines.append("the screen then, %d by %d:" % Screen.newest.size)
            lines += ["|" + line for line in Screen.newest.text().rstrip().split("\n")]
        return error, lines


def shared(make):
    """Decorates a function without arguments whose result, such as a recording, several tests use: it is made
    once, and anew for a second try, since the machine may have been busy meanwhile."""
    _shared.append(functools.lru_cache(None)(make))
    return _shared[-1]


def out_of_time(*_):
    raise OutOfTime("ended from outside, most likely by the limit of tests/run-tap")


def run(*tests):
    """Runs functions as TAP; a test's docstring, or its name, states the behaviour.
    These tests share the machine with other processes: a failed test is repeated once after a pause; if it
    passes then, the log says so with the first failure. ./quickstart check counts them."""
    signal.signal(signal.SIGTERM, out_of_time)
    print("1..%d" % len(tests), flush=True)
    failed = second_tries = 0
    for number, test in enumerate(tests, 1):
        name = " ".join((test.__doc__ or test.__name__).split())
        began = time.monotonic()
        error, lines = attempt(test)
        notes = []
        if error and not isinstance(error, (Skip, Crash, OutOfTime)) and second_tries < SECOND_TRIES:
            second_tries += 1
            first = lines
            time.sleep(PAUSE)
            for made in _shared:
                made.cache_clear()
            error, lines = attempt(test)
            if error:
                lines += ["and at the first try:"] + first
            else:
                notes = ["passed at the second try; the first said: " + first[0]] + first[1:]
        skipped = isinstance(error, Skip)
        print("%s %d - %s%s" % ("ok" if skipped or not error else "not ok", number, name,
                                " # SKIP %s" % error if skipped else ""), flush=True)
        for line in lines + notes + ["took %.1f s" % (time.monotonic() - began)]:
            print("# " + line, flush=True)
        failed += bool(error and not skipped)
        if isinstance(error, OutOfTime):
            break
    sys.exit(1 if failed else 0)
