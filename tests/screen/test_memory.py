#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files made to exhaust memory: memory use is bounded by the file's size, whatever its counts claim."""
import os
import struct
import subprocess

import machine as m
import perfdata_maker as p
from ptyscreen import PROGRAM, Skip, run

MB = 1 << 20
PER_BYTE = 120        # a thread's record has 16 bytes; its entry and its row take a few hundred
BASE = 40 * MB        # tables that do not depend on the file
SPACES = 80 * MB      # mappings of processes: the fixed part
SPACES_PER_BYTE = 20  # mappings of processes: per byte of the file
PLAIN = 16 * MB       # bytes that compressed records may always hold; PLAIN_TIMES: memory per such byte
PLAIN_TIMES = 12
N = 40000
PATH = b"/lib\0\0\0\0"


def maker(kind, **more):
    f = p.Maker(attr_size=136)
    f.attr([1], sample_type=kind, flags=0, **more)
    return f


def peak(data):
    """peak memory in bytes of the program while it reads and prints the file"""
    file = m.path("hostile.data")
    with open(file, "wb") as out:
        out.write(data)
    argv = [PROGRAM, "-i", file, "--export", "json", "-o", "-", "--no-cache"]
    quiet = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    _, status, used = os.wait4(os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet), 0)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 1), status
    return used.ru_maxrss * 1024


def check(what, data, more=0):
    if os.environ.get("SANITIZER_FLAGS"):
        raise Skip("a sanitizer uses much memory itself")
    took, limit = peak(data), BASE + PER_BYTE * len(data) + more
    assert took <= limit, "%s: a file of %d bytes took %.0f MB, which should be at most %.0f" % (
        what, len(data), took / MB, limit / MB)


def mapping(f, i, path):
    return f.pack("IHHIIQQQ8s", p.MMAP, 2, 48, 1, 1, 8192 * i, 4096, 0, path)


def tiny_records():
    """memory stays bounded with tiny records: samples, threads, names, mappings, cgroups, symbols, rounds"""
    kinds = {
        "times that fall": (p.TIME, lambda f, i: f.pack("IHHQ", p.SAMPLE, 2, 16, 10**9 - i)),
        "threads": (p.TID, lambda f, i: f.pack("IHHII", p.SAMPLE, 2, 16, i + 5, i + 5)),
        "addresses": (p.IP, lambda f, i: f.pack("IHHQ", p.SAMPLE, 2, 16, 4096 * i + 7)),
        "names": (p.IP | p.TID, lambda f, i: f.pack("IHHII8s", p.COMM, 0, 24, i, i, b"c%06d" % i)),
        "modules": (p.IP | p.TID, lambda f, i: mapping(f, i, b"/%06d" % i)),
        "mappings": (p.IP | p.TID, lambda f, i: mapping(f, i, PATH)),
        "cgroups": (p.IP, lambda f, i: f.pack("IHHQ8s", 19, 0, 24, i, b"/%06d" % i)),
        "kernel symbols": (p.IP, lambda f, i: f.pack("IHHQIHH8s", 17, 0, 32, 2**64 - 2**31 + 64 * i, 64,
                                                     0, 0, b"s%06d" % i)),
        "rounds": (p.TIME, lambda f, i: f.pack("IHH", p.FINISHED_ROUND, 0, 8)),
    }
    for what, (kind, one) in kinds.items():
        f = maker(kind)
        f.records = [one(f, i) for i in range(N)]
        check(what, f.file())


def families():
    """memory stays bounded with many children of a process with many mappings, each adding its own mapping"""
    f = maker(p.IP | p.TID | p.TIME)
    f.records = [f.pack("IHHIIQQQ8s", p.MMAP, 2, 48, 1, 1, 8192 * i, 4096, 0, PATH) for i in range(10000)]
    for i in range(5000):
        f.records += [f.pack("IHHIIIIQ", p.FORK, 2, 32, i + 2, 1, i + 2, 1, i),
                      f.pack("IHHIIQQQ8s", p.MMAP, 2, 48, i + 2, i + 2, 8192 * i, 4096, 0, PATH),
                      f.pack("IHHQIIQ", p.SAMPLE, 2, 32, 8192 * 5 + 1, i + 2, i + 2, i)]
    data = f.file()
    check("children", data, SPACES + SPACES_PER_BYTE * len(data))


def huge_claims():
    """counts, sizes and offsets far beyond the file, in samples, attrs and sections, use no memory"""
    f = maker(p.IP | p.CALLCHAIN)
    f.records = [f.pack("IHHQQ", p.SAMPLE, 2, 24, i, 1 << 60) for i in range(N)]
    check("chains", f.file())
    f = maker(p.IP)
    f.records = [f.pack("IHHQ", p.SAMPLE, 2, 16, i) for i in range(N)]
    f.features = {bit: f.pack("II", 2**32 - 1, 2**32 - 1) * 1000 for bit in range(1, 32)}
    check("counts", f.file())
    f.features = {bit: b"" for bit in range(1, 256)}
    whole = bytearray(f.file())
    for place in ((0, len(whole)), (1000, 1 << 42), (2**64 - 8, 2**64 - 1)):
        for i in range(255):
            struct.pack_into("<QQ", whole, len(whole) - 16 * 255 + 16 * i, *place)
        check("sections", bytes(whole))
    f = p.Maker(attr_size=64)
    for i in range(2000):
        f.attr([i], sample_type=p.IP | p.ID, flags=0)
    whole = bytearray(f.file())
    for place in ((0, len(whole) // 8 * 8), (0, 1 << 62)):
        for i in range(2000):
            struct.pack_into("<QQ", whole, 104 + 80 * i + 64, *place)
        check("ids", bytes(whole))
    check("attrs of a pipe", f.pipe())
    for size in (1 << 40, 1 << 63):
        struct.pack_into("<QQ", whole, 24, 104, size)
        check("attrs", bytes(whole))


def packed(piece, times):
    """N copies of the piece, compressed by zstd. Nothing grows here: a child's peak memory includes ours."""
    with open(m.path("packed"), "wb") as out:
        with subprocess.Popen(["zstd", "-q", "-c"], stdin=subprocess.PIPE, stdout=out) as zstd:
            for _ in range(times):
                zstd.stdin.write(piece)
    with open(m.path("packed"), "rb") as file:
        return file.read()


def bombs():
    """compression bombs of a few bytes use bounded memory"""
    m.need_tools("zstd", package="zstd")
    samples = b"".join(struct.pack("<IHHQ", p.SAMPLE, 2, 16, 10**9 - i) for i in range(1000))
    for what, piece, times in (("zeros", bytes(MB), 256), ("samples", samples, 3000)):
        stream, f = packed(piece, times), maker(p.TIME)
        for i in range(0, len(stream), 60000):
            f.record(p.COMPRESSED, stream[i:i + 60000], pad=False)
        data = f.file()
        check(what, data, PLAIN_TIMES * (PLAIN + 128 * len(data)))


run(tiny_records, families, huge_claims, bombs)
