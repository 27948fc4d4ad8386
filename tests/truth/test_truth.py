#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of packaged programs, checked against their machine code: encoders with hand-written assembly,
runtimes that generate code, a database, a 32-bit program.
For each: at most 0.1 % of samples have an impossible caller that is not marked, and no sample has a false
root. Programs that are not installed are skipped. TRUTH=NAME,... runs some of them; TRUTH_PERF=yes also shows
perf's result for each."""
import collections
import os
import re
import shutil
import subprocess
import threading
import time

import judge as j
import machine as m
from ptyscreen import PROGRAM, Skip, run

RATE, SECONDS, ENOUGH = "199", 10, 200  # at this rate auto can afford dumps of 64 KB
LIES_MOST = 0.1       # per cent of samples
LIMIT = 45 * 60       # seconds after which a load ends by itself
WIDTH, HEIGHT = 352, 288
FACTOR = "2100000000000316050400000009449873842491"  # the product of two primes of 20 digits: it takes hours
results = []


def source(name):
    return os.path.abspath(os.path.join(m.SOURCE, "tests", "truth", name))


def make(*argv, **more):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=m.WORK,
                          check=False, **more)
    if done.returncode:
        raise Skip("%s cannot make the load: %s" % (argv[0], done.stdout.strip().split("\n")[-1]))


# ---- loads: a function prepares files and returns the command; a feeder provides its input ----

def pictures():
    """The planes of a few pictures with motion."""
    noise = os.urandom(WIDTH * 2)
    for n in range(12):
        rows = []
        for y in range(HEIGHT):
            shift = (n * 7 + y // 16 * 5) % WIDTH
            row = bytes((x * 3 + y * 2 + n * 9 & 0xff) ^ (noise[x] & 15) for x in range(0, 64))
            rows.append((row * (WIDTH // 64 + 1) + noise)[shift:shift + WIDTH])
        yield b"".join(rows) + bytes([110 + n]) * (WIDTH * HEIGHT // 4) + noise[:1] * (WIDTH * HEIGHT // 4)


def video(frames=None):
    """YUV4MPEG2, endless or with this many pictures."""
    yield b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT)
    kept = list(pictures())
    n = 0
    while frames is None or n < frames:
        yield b"FRAME\n" + kept[n % len(kept)]
        n += 1


def encoder(*argv):
    return lambda: (argv, video)


def decoder():
    """dav1d reading a repeated file made by aomenc."""
    short, long = m.path("short.obu"), m.path("long.obu")
    with open(m.path("video.y4m"), "wb") as file:
        for part in video(24):
            file.write(part)
    make("aomenc", "-q", "--obu", "--cpu-used=6", "--limit=24", "-o", short, m.path("video.y4m"))
    with open(short, "rb") as one, open(long, "wb") as many:
        many.write(one.read() * 8000)
    return ("dav1d", "-q", "-i", long, "-o", "/dev/null", "--muxer", "null"), None


def command(*argv):
    return lambda: (argv, None)


def script(*argv):
    """The last argument is a source in tests/truth."""
    return lambda: ((*argv[:-1], source(argv[-1])), None)


def go(name, *flags):
    def prepare():
        make("go", "build", *flags, "-o", m.path("go-load"), source(name),
             env=dict(os.environ, HOME=m.WORK, GOCACHE=m.path("gocache"), GO111MODULE="off", GOFLAGS="",
                      CGO_ENABLED="1"))
        return (m.path("go-load"),), None
    return prepare


def java(*flags):
    def prepare():
        make("javac", "-d", m.WORK, source("Small.java"))
        return ("java", "-cp", m.WORK, *flags, "Small"), None
    return prepare


def write_map(pid):
    status = m.ran("jcmd", str(pid), "Compiler.perfmap")
    if status.returncode:
        raise Skip("this java writes no map of its code")


def compiled(*argv):
    """The last argument is a source in tests/truth; the program has its name without the extension."""
    def prepare():
        name = os.path.splitext(argv[-1])[0] + "-" + argv[0]
        shutil.copy(source(argv[-1]), m.WORK)
        make(*[name if a == "OUT" else a for a in argv[:-1]], argv[-1])
        return (m.path(name),), None
    return prepare


def mono():
    make("mcs", "-out:" + m.path("small.exe"), source("small.cs"))
    return ("mono", m.path("small.exe")), None


def thirty_two():
    m.need_32_bits()
    make("gcc", "-m32", "-O2", "-fno-optimize-sibling-calls", "-o", m.path("path32"),
         os.path.join(m.SOURCE, "tests", "zoo", "path.c"))
    return (m.path("path32"),), None


def postgres():
    m.need_root()
    programs = m.ran("sh", "-c", "ls -d /usr/lib/postgresql/*/bin | tail -1").stdout.strip()
    if not programs:
        raise Skip("postgres is not installed")
    data = m.path("postgres")
    shutil.rmtree(data, ignore_errors=True)
    os.mkdir(data)
    shutil.chown(data, "postgres")
    query = ("select count(*), sum(length(md5(i::text))), max(substring(i::text from '[0-4]+')) "
             "from generate_series(1, 200000) i join generate_series(1, 1000) k on i % 1000 = k")
    with open(m.path("load.sh"), "w", encoding="utf-8") as file:
        file.write("set -e\ncd %s\n%s/initdb -A trust -D . >/dev/null\n"
                   "%s/postgres -D . -k %s -h '' >/dev/null 2>&1 &\n"
                   "until psql -h %s postgres -c 'select 1' >/dev/null 2>&1; do sleep 0.2; done\n"
                   "printf '%%s\\n' \"%s\" '\\watch 0.01' | psql -h %s postgres >/dev/null\n"
                   % (data, programs, programs, data, data, query, data))
    os.chmod(m.path("load.sh"), 0o755)
    return ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "sh",
            m.path("load.sh")), None


Row = collections.namedtuple("Row", "name tools prepare warm settle of root", defaults=(2, None, None, None))
# name, required programs, function that makes the load; seconds of warm-up, action after it, the command
# line of the judged process if it is not the started one, and the expected per cent of true roots
ROWS = (
    Row("x264", "x264", encoder("x264", "--quiet", "--demuxer", "y4m", "-o", "/dev/null", "-"), root=90),
    Row("x265", "x265", encoder("x265", "--log-level", "0", "--y4m", "--input", "-", "-o", "/dev/null")),
    Row("vp8", "vpxenc", encoder("vpxenc", "-q", "--codec=vp8", "-o", "/dev/null", "-")),
    Row("vp9", "vpxenc", encoder("vpxenc", "-q", "--codec=vp9", "--cpu-used=4", "-o", "/dev/null", "-"),
        root=90),
    Row("aom", "aomenc", encoder("aomenc", "-q", "--cpu-used=6", "-o", "/dev/null", "-"), root=90),
    Row("dav1d", "dav1d aomenc", decoder),
    Row("factor", "factor", command("factor", FACTOR)),
    Row("openssl-rsa", "openssl", command("openssl", "speed", "-seconds", "2000", "rsa2048")),
    Row("openssl-ec", "openssl", command("openssl", "speed", "-seconds", "2000", "ecdsap256")),
    Row("openssl-aes", "openssl",
        command("openssl", "speed", "-seconds", "2000", "-bytes", "64", "-evp", "aes-256-gcm")),
    Row("openssl-sha", "openssl",
        command("openssl", "speed", "-seconds", "2000", "-bytes", "64", "-evp", "sha512")),
    Row("openssl-chacha", "openssl", command("openssl", "speed", "-seconds", "2000", "-bytes", "64", "-evp",
                                             "chacha20-poly1305")),
    Row("go", "go", go("busy.go"), root=99),
    Row("go-stripped", "go", go("busy.go", "-ldflags=-s -w"), root=98),
    Row("cgo", "go gcc", go("crossing.go"), root=90),
    Row("node", "node", script("node", "--perf-basic-prof", "small.js"), 3),
    Row("node-not-inlined", "node", script("node", "--perf-basic-prof", "--no-turbo-inlining", "small.js"),
        3),
    Row("node-plain", "node", script("node", "small.js"), 3),
    Row("java", "javac java", java(), 5),
    Row("java-map", "javac java jcmd", java(), 5, write_map, root=99),
    Row("java-fp", "javac java jcmd", java("-XX:+PreserveFramePointer"), 5, write_map, root=99),
    Row("java-map-not-inlined", "javac java jcmd", java("-XX:-Inline"), 5, write_map, root=99),
    Row("java-fp-not-inlined", "javac java jcmd", java("-XX:-Inline", "-XX:+PreserveFramePointer"), 5,
        write_map, root=99),
    Row("mono", "mono mcs", mono, root=85),
    Row("ocaml", "ocamlopt", compiled("ocamlopt", "-o", "OUT", "small.ml")),
    Row("ghc", "ghc", compiled("ghc", "-v0", "-O", "-o", "OUT", "small.hs")),
    Row("luajit", "luajit", script("luajit", "small.lua")),
    Row("sbcl", "sbcl", script("sbcl", "--script", "small.lisp")),
    Row("R", "Rscript", script("Rscript", "small.R"), 4, of="/exec/R", root=90),
    Row("octave", "octave-cli", script("octave-cli", "--norc", "small.m"), 6),
    Row("php", "php", script("php", "-d", "opcache.enable_cli=1", "small.php")),
    Row("php-pcre-interpreted", "php", script("php", "-d", "pcre.jit=0", "small.php")),
    Row("postgres", "psql setpriv", postgres, of=r"postgres: .*SELECT"),
    Row("i386", "gcc", thirty_two),
)


def command_line_of(pid):
    with open("/proc/%d/cmdline" % pid, encoding="utf-8", errors="replace") as file:
        return file.read().replace("\0", " ")


class Load:
    """A program that runs until it is stopped."""

    def __init__(self, row):
        argv, feeder = row.prepare()
        self.process = m.adopt(subprocess.Popen(
            ["timeout", str(LIMIT), *argv], stdin=subprocess.PIPE if feeder else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=m.WORK, start_new_session=True))
        if feeder:
            threading.Thread(target=self._feed, args=(feeder,), daemon=True).start()
        time.sleep(row.warm)
        if self.process.poll() is not None:
            raise Skip("%s ended at once, with %d" % (argv[0], self.process.returncode))
        self.pids = m.until(lambda: self._pids(row.of), "a process of %s" % row.name)

    def _feed(self, feeder):
        try:
            for part in feeder():
                self.process.stdin.write(part)
        except OSError:
            pass

    def _pids(self, command_line):
        """The judged processes: those with such a command line, or the one below timeout."""
        found, queue = [], [self.process.pid]
        while queue:
            pid = queue.pop()
            with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
                queue += [int(child) for child in file.read().split()]
            if not command_line and queue:
                return queue
            if command_line and re.search(command_line, command_line_of(pid)):
                found.append(pid)
        return found

    def stop(self):
        m.stop(self.process)


def judges_of(pids):
    found = {}
    for pid in pids:
        try:
            found[pid] = [j.Judge(pid)]
        except OSError:
            pass
    return found


def by_flametop(load, row):
    pids = load.pids
    before = judges_of(pids)
    argv = [PROGRAM, "-F", RATE, "-K", "--no-interpreted", "-p", ",".join(map(str, pids)), "--duration",
            str(SECONDS), "--export", "script", "--fields", j.FIELDS, "-o", m.path("flametop.script")]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, "%s: %s" % (argv, done.stderr)
    judges = judges_of(pids)
    for pid, of_process in judges.items():
        of_process += before.get(pid, [])
    with open(m.path("flametop.script"), encoding="utf-8", errors="replace") as file:
        verdict = j.judge(file.read(), judges)
    for of_process in [*before.values()]:
        of_process[0].close()
    return verdict


def by_perf(load):
    pids = ",".join(map(str, load.pids))
    data, text = m.path("perf.data"), m.path("perf.script")
    subprocess.run(["perf", "record", "-q", "-F", "199", "-e", "cpu-clock:u", "--call-graph", "dwarf,65528",
                    "-p", pids, "-o", data, "--", "sleep", "2"], capture_output=True, check=False)
    judges = judges_of(load.pids)
    with open(text, "wb") as out:
        subprocess.run(["perf", "script", "--no-inline", "-i", data, "-F", j.FIELDS], stdout=out,
                       stderr=subprocess.DEVNULL, check=False, timeout=300)
    with open(text, encoding="utf-8", errors="replace") as file:
        verdict = j.judge(file.read(), judges, 1)
    os.unlink(data)
    return verdict


def judged(row):
    m.need_events()
    m.need_tools("objdump", *row.tools.split())
    load = Load(row)
    try:
        if row.settle:
            row.settle(load.pids[0])
        verdict = by_flametop(load, row)
        if verdict.samples < ENOUGH:
            verdict = by_flametop(load, row)
        theirs = by_perf(load) if os.environ.get("TRUTH_PERF") and shutil.which("perf") else None
    finally:
        load.stop()
    results.append((row, verdict, theirs))
    for line in verdict.details(8):
        print("#     " + line, flush=True)
    print("# " + line_of(row, verdict, theirs), flush=True)
    assert verdict.samples >= ENOUGH, "only %d samples" % verdict.samples
    assert verdict.share(verdict.lies) <= LIES_MOST, "impossible callers: " + str(verdict)
    assert not verdict.false_roots, "false roots: " + str(verdict)


def numbers(verdict):
    marks = ", ".join("%s %.1f" % (mark.strip("[]"), verdict.share(n))
                      for mark, n in verdict.marked.most_common(4))
    return "%5d samples  lies %6.2f %%  false roots %6.2f %%  true roots %6.1f %%  %s" % (
        verdict.samples, verdict.share(verdict.lies), verdict.share(sum(verdict.false_roots.values())),
        verdict.share(verdict.rooted), marks)


def line_of(row, verdict, theirs):
    line = "%-20s %s" % (row.name, numbers(verdict))
    if row.root and verdict.share(verdict.rooted) < row.root:
        line += "  (%d %% of true roots are expected)" % row.root
    return line + ("\n# %-20s %s" % ("  perf", numbers(theirs)) if theirs else "")


def test_of(row):
    def test():
        judged(row)
    test.__doc__ = test.__name__ = row.name
    return test


def table():
    """the results of all programs in one table"""
    for row in results:
        print("# " + line_of(*row), flush=True)
    print("# %d of %d programs were installed and judged" % (len(results), len(ROWS)), flush=True)
    if not results:
        raise Skip("none of the programs is installed")


wanted = os.environ.get("TRUTH")
run(*[test_of(row) for row in ROWS if not wanted or row.name in wanted.split(",")], table)
