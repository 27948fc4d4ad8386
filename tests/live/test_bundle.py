#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A bundle: one file that opens anywhere with all names, and contains no secrets."""
import os
import re
import struct
import subprocess
import tarfile

import machine as m
from ptyscreen import Screen, Skip, run

SECRET = "a5e9c3-nobody-may-read-this-71f0"
KEEPER = r"""
#include <string.h>
#include <stdlib.h>
#include <stdio.h>
volatile unsigned sink;
static void inner(const char *s)
{
    for (unsigned i = 0; i < 100000; i++)
        sink += i ^ (unsigned char)s[i & 7];
}
__attribute__((noinline)) void keeper_of_secrets(void)
{
    char secret[256];
    snprintf(secret, sizeof secret, "stack:%s", getenv("TEST_SECRET"));
    inner(secret);
    sink += strlen(secret);
}
int main(void) { for (;;) keeper_of_secrets(); }
"""


def load():
    """A program with a secret on its stack and in its environment; it is gone after profiling."""
    # without frame pointers, so that perf and flametop must use stack dumps
    return m.start(m.compiled("keeper", KEEPER, "-O2", "-g"), env=dict(os.environ, TEST_SECRET=SECRET))


def made(name, *more):
    m.need_events()
    process = load()
    _, _, told = m.flametop("-F", "499", "--call-graph", "dwarf", "-p", str(process.pid), "--duration", "1",
                            "-o", m.path(name), *more)
    m.stop(process)
    os.unlink(m.path("keeper"))
    return told


def members(name):
    """{name in the bundle: bytes}"""
    path = m.path(name)
    if name.endswith(".zst"):
        plain = path + ".tar"
        if subprocess.run(["zstd", "-q", "-d", "-f", path, "-o", plain], check=False).returncode:
            raise Skip("zstd cannot decompress it here")
        path = plain
    with tarfile.open(path) as tar:
        assert all(i.isreg() and i.mode == 0o600 and not i.name.startswith("/") and
                   ".." not in i.name for i in tar)
        assert len({i.name.split("/")[0] for i in tar}) == 1, "more than one folder"
        return {i.name.split("/", 1)[1]: tar.extractfile(i).read() for i in tar}


def far_away(*args):
    """Runs flametop as on a machine that has none of the files."""
    os.makedirs(m.path("nothing"), exist_ok=True)
    return m.flametop(*args, "--symfs", m.path("nothing"), "--no-cache")


def opens_anywhere():
    """a bundle has all names without any of the files"""
    told = made("b.tar.gz")
    files = members("b.tar.gz")
    for name in ("README.txt", "perf.data", "symbols.txt", "stacks.folded", "flame.svg", "report.txt",
                 "proc/meminfo", "proc/interrupts", "proc/loadavg", "proc/version", "counters.txt"):
        assert files.get(name), (name, sorted(files))
        assert re.search(r"^ *[\d.]+[BKMG] +%s " % re.escape(name), told, re.M), told
        assert name in files["README.txt"].decode() or name == "README.txt"
    assert b"cpu-clock" in files["counters.txt"] or b"task-clock" in files["counters.txt"], \
        files["counters.txt"]
    assert re.search(rb"^load average +[\d.]+  (.*\n)+steal +[\d.]+%\n.*pressure", files["counters.txt"],
                     re.M), files["counters.txt"]
    far_away("-i", m.path("b.tar.gz"), "-o", m.path("far.folded"))
    with open(m.path("far.folded"), "rb") as f:
        far = f.read()
    assert far == files["stacks.folded"]
    assert b"main;keeper_of_secrets;inner " in far, far[:500]
    _, report, _ = far_away("-i", m.path("b.tar.gz"))
    table = r"^ *SELF%.*"
    said = files["report.txt"].decode()
    assert re.search(table, report, re.M | re.S).group() == re.search(table, said, re.M | re.S).group()
    no_proc = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "-"]
    if subprocess.run([*no_proc, "true"], capture_output=True, check=False).returncode == 0:
        done = subprocess.run([*no_proc, os.environ["FLAMETOP"], "-i", m.path("b.tar.gz"), "--export",
                               "folded", "-o", "-"],
                              capture_output=True, stdin=subprocess.DEVNULL, check=True)
        assert done.stdout == far, done.stderr


def in_all_forms():
    """a bundle in another compression, made from a bundle, has the same content, and is reproducible"""
    made("c.tar.gz")
    far_away("-i", m.path("c.tar.gz"), "-o", m.path("d.tar"))
    far_away("-i", m.path("c.tar.gz"), "-o", m.path("e.tar"))
    with open(m.path("d.tar"), "rb") as d, open(m.path("e.tar"), "rb") as e:
        assert d.read() == e.read()
    first, second = members("c.tar.gz"), members("d.tar")
    assert first.keys() == second.keys()
    for name in first.keys() - {"report.txt", "flame.svg", "perf.data"}:
        assert first[name] == second[name], name
    far_away("-i", m.path("d.tar"), "-o", m.path("f.folded"))
    with open(m.path("f.folded"), "rb") as f:
        assert f.read() == first["stacks.folded"]


def keeps_secrets():
    """a bundle contains neither stack memory nor the environment"""
    made("s.tar")
    with open(m.path("s.tar"), "rb") as f:
        everything = f.read()
    assert b"keeper_of_secrets" in everything
    assert SECRET.encode() not in everything and b"TEST_SECRET=" not in everything
    # a bundle of a file with stack dumps leaves them out, too
    m.need_perf()
    process = load()
    m.perf(*m.RECORD, "--call-graph", "dwarf", "-F", "299", "-p", str(process.pid), "-o",
           m.path("dumps.data"), "--", "sleep", "2")
    with open(m.path("dumps.data"), "rb") as f:
        assert SECRET.encode() in f.read(), "the dumps do not reach the secret: nothing was tested"
    m.flametop("-i", m.path("dumps.data"), "-o", m.path("t.tar"))
    m.stop(process)
    with open(m.path("t.tar"), "rb") as f:
        everything = f.read()
    assert b"keeper_of_secrets" in everything and SECRET.encode() not in everything
    assert not [name for name in members("t.tar") if name.startswith("proc")], \
        "facts of this machine are in the bundle of another one's file"


def perf_reads_its_file():
    """perf reads the perf.data in a bundle"""
    m.need_perf()
    made("p.tar")
    m.write("p.data", members("p.tar")["perf.data"])
    for args in (("report", "--stdio"), ("script",), ("evlist", "-v"), ("report", "--header-only")):
        out, why = m.perf(args[0], "-i", m.path("p.data"), *args[1:])
        assert out.strip() and "incompatible" not in why, (args, why)


def from_the_screen():
    """w offers a bundle, lists its content, and writes it"""
    m.need_events()
    process = load()
    with Screen(["-F", "199", "-p", str(process.pid)], size=(100, 30)) as s:
        s.wait(r"keeper_of_secrets")
        s.send("w", shows=r"bundle .*ticket")
        s.send("down", "enter", shows=r"write bundle to: flametop-\S+\.tar\.zst")
        s.send("\x15" + m.path("screen.tar.gz"), "enter", shows=r"perf\.data +the samples")
        assert not os.path.exists(m.path("screen.tar.gz"))
        s.send("n", shows=r"nothing was written")
        s.send("w", "down", "enter", "\x15" + m.path("screen.tar.gz"), "enter")
        s.wait(r"perf\.data +the samples")
        s.send("y", shows=r"written to \S+screen\.tar\.gz as bundle")
        assert s.quit() == 0
    m.stop(process)
    assert b"keeper_of_secrets" in members("screen.tar.gz")["stacks.folded"]
    assert not [f for f in os.listdir(m.WORK) if f.startswith(".")], "a temporary file is left"


def another_kernel():
    """a bundle of another machine's recording does not contain the address of this kernel"""
    recording = os.path.join(m.SOURCE, "tests", "data",
                             "google__perf.data.piped.header_features_aligned-6.12")
    m.flametop("-i", recording, "-o", m.path("another.tar"))
    profile = members("another.tar")["perf.data"]
    at = profile.index(b"[kernel.kallsyms]_text\0")
    start, size = struct.unpack_from("<QQ", profile, at - 24)
    with open("/proc/kallsyms") as f:
        text = {int(line.split()[0], 16) for line in f if line.split()[2] in ("_text", "_stext")}
    assert start not in text and 0 < size < 1 << 30, (hex(start), hex(size), text)


def damaged():
    """a truncated or invalid bundle is refused with a message"""
    made("x.tar")
    with open(m.path("x.tar"), "rb") as f:
        whole = f.read()
    for name, content, why in (("cut.tar", whole[:len(whole) // 2], "truncated"),
                               ("head.tar", whole[:512], "without a perf.data|truncated"),
                               ("noise.tar", whole[:512] + b"\x01" * 5000, "damaged|truncated|without")):
        m.write(name, content)
        status, _, said = m.flametop("-i", m.path(name), check=False)
        assert status and re.search(why, said), (name, status, said)


def outputs():
    """a full disk, a read-only folder and a link leave no file behind"""
    m.need_events()
    made("y.tar")
    folder = m.path("out")
    os.makedirs(folder, exist_ok=True)
    for limit in (1, 8, 64, 256):  # blocks of 512 bytes, or of 1024
        for name in ("full.tar.gz", "full.tar.zst", "full.tar", "full.data"):
            done = m.ran("bash", "-c", "ulimit -f %d; exec \"$@\"" % limit, "-", os.environ["FLAMETOP"], "-i",
                         m.path("y.tar"), "-o", os.path.join(folder, name))
            written = os.listdir(folder)
            assert done.returncode in (0, 1), done
            assert written == ([] if done.returncode else [name]), (written, done)
            assert done.returncode == 0 or "cannot write" in done.stderr, done.stderr
            for f in written:
                os.unlink(os.path.join(folder, f))
    os.symlink("/dev/null", os.path.join(folder, "link.tar"))
    status, _, why = m.flametop("-i", m.path("y.tar"), "-o", os.path.join(folder, "link.tar"), check=False)
    assert status == 1 and "symbolic link" in why, why
    assert os.listdir(folder) == ["link.tar"]


run(opens_anywhere, in_all_forms, keeps_secrets, perf_reads_its_file, from_the_screen, another_kernel,
    damaged, outputs)
