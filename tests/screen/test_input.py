#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording arrives as a file, compressed, through a pipe or as a folder; the result is always the same."""
import gzip
import json
import lzma
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import threading

import machine as m
from ptyscreen import LIMIT, PROGRAM, Screen, Skip, run

DATA = os.path.join(m.SOURCE, "tests", "data")
FILE = os.path.join(DATA, "google__perf.data.callgraph-3.8")
PIPED = os.path.join(DATA, "google__perf.data.piped.header_features_aligned-6.12")


def folded(name, **more):
    """(status, folded stacks, stderr without the note that a busy machine takes its time)"""
    done = subprocess.run([PROGRAM, "-i", name, "--export", "folded", "-o", "-"], capture_output=True,
                          timeout=2 * LIMIT, **more)
    waits = "flametop: names, source lines and unwind tables are still being read.*\n"
    return done.returncode, done.stdout, re.sub(waits, "", done.stderr.decode())


def whole():
    status, out, why = folded(FILE)
    assert status == 0 and out.count(b"\n") > 100, why
    return out


def packed():
    """(name, bytes) of the file compressed by gzip, xz and zstd, as far as this build decompresses them"""
    with open(FILE, "rb") as file:
        plain = file.read()
    built = m.tool(PROGRAM, "--version")
    if re.search(r"\+zlib", built):
        yield "gz", gzip.compress(plain)
        yield "two.gz", gzip.compress(plain[:100000]) + gzip.compress(plain[100000:])
    if re.search(r"\+lzma", built):
        yield "xz", lzma.compress(plain)
    if re.search(r"\+zstd", built) and shutil.which("zstd"):
        yield "zst", subprocess.run(["zstd", "-q", "-c", FILE], capture_output=True, check=True).stdout


def write(name, data):
    return m.write(name, data)


def packed_files():
    """gzip, xz and zstd files are read like the original, from disk, standard input and a pipe"""
    wanted = whole()
    for ending, data in packed():
        file = write("packed." + ending, data)
        assert folded(file) == (0, wanted, ""), ending
        assert folded("-", input=data) == (0, wanted, ""), ending
        ends = os.pipe()
        reader = subprocess.Popen([PROGRAM, "-i", "/dev/fd/%d" % ends[0], "--export", "folded", "-o", "-"],
                                  stdout=subprocess.PIPE, pass_fds=[ends[0]], start_new_session=True)
        m.adopt(reader)
        with open(ends[1], "wb") as end:
            end.write(data)
        assert reader.communicate(timeout=LIMIT)[0] == wanted, ending
        os.close(ends[0])


def standard_input():
    """-i - reads a file or a pipe on standard input"""
    wanted = whole()
    with open(FILE, "rb") as file:
        assert folded("-", stdin=file) == (0, wanted, "")
        assert folded("-", input=open(FILE, "rb").read()) == (0, wanted, "")
    with open(PIPED, "rb") as file:
        assert folded("-", input=file.read()) == folded(PIPED)


def bundles():
    """a bundle is read from a pipe, compressed or not, in pieces of any size; a truncated one is refused"""
    for name in ("a.tar", "a.tar.gz"):
        file = m.path(name)
        m.flametop("-i", FILE, "-o", file)
        inside = folded(file)[1]
        with open(file, "rb") as f:
            data = f.read()
        with open(file, "rb") as f:
            assert folded("-", stdin=f) == (0, inside, ""), name
        reader = subprocess.Popen([PROGRAM, "-i", "-", "--export", "folded", "-o", "-"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for piece in (data[:7], data[7:300], data[300:]):
            reader.stdin.write(piece)
            reader.stdin.flush()
        assert reader.communicate(timeout=2 * LIMIT)[0] == inside, name
        status, _, why = folded("-", input=data[:len(data) // 2])
        assert status == 1 and re.search(r"cut|truncated", why), (name, why)
    assert sum(int(line.rsplit(b" ", 1)[1]) for line in inside.splitlines()) == 1768


def still_written():
    """a recording that perf is still writing is read up to its current end"""
    with open(FILE, "rb") as f:
        data = bytearray(f.read())
    begin, size = struct.unpack_from("<QQ", data, 40)
    struct.pack_into("<Q", data, 48, 0)  # perf writes the data size and the feature sections at the end
    data[72:104] = bytes(32)
    file = write("grows.data", data[:begin])

    def grow():
        with open(file, "ab") as end:
            for at in range(begin, begin + size, 512):
                end.write(data[at:min(at + 512, begin + size)])
                end.flush()
    writer = threading.Thread(target=grow)
    writer.start()
    before, more = 0, True
    while more:
        more = writer.is_alive()
        done = subprocess.run([PROGRAM, "-i", file, "--export", "json", "-o", "-"], capture_output=True,
                              timeout=2 * LIMIT, check=True)
        told = json.loads(done.stdout)
        assert before <= told["samples"] <= 1768 and "still writes it" in told["damage"][0], \
            (before, told["samples"], told["damage"])
        before = told["samples"]
    writer.join()
    assert before == 1768 and len(told["damage"]) == 1, (before, told["damage"])


def keys_from_the_terminal():
    """with -i - the screen is shown, and keys are read from the terminal"""
    def from_a_pipe():
        ends = os.pipe()
        if os.fork() == 0:
            os.close(ends[0])
            with open(FILE, "rb") as file, os.fdopen(ends[1], "wb") as pipe:
                pipe.write(file.read())
            os._exit(0)
        os.close(ends[1])
        os.dup2(ends[0], 0)

    with Screen(["-i", "-"], preexec=from_a_pipe) as s:
        s.wait(r"standard input")
        s.wait(r"SELF%")
        s.wait(r"chrome")
        s.send("3")
        s.wait_not(r"SELF%")
        s.quit()
        assert s.status == 0


def cut_and_damaged():
    """truncated or damaged compressed files give what can be decompressed, with a warning"""
    for ending, data in packed():
        if ending == "two.gz":
            continue
        for name, bad, pattern in (("cut", data[:len(data) // 2], r"truncated"),
                                   ("damaged", data[:len(data) // 2] + b"\x55" * 4096, r"truncated|damaged")):
            out = m.flametop("-i", write(name + "." + ending, bad), "--export", "report", "-o", "-")[1]
            assert re.search(r"DEGRADED the \w+ data is (" + pattern + ")", out), (ending, name, out[:600])
    status, out, why = folded("-", input=b"\x1f\x8b\x08\x00")
    assert status == 1 and re.search(r"standard input.*truncated", why), why


def bombs_and_floods():
    """data that decompresses to another format is refused at its first bytes; a full disk is reported"""
    status, _, why = folded("-", input=gzip.compress(bytes(100 << 20)))
    assert status == 1 and re.search(r"no perf\.data file", why), why
    endless = subprocess.Popen(["yes"], stdout=subprocess.PIPE, start_new_session=True)
    m.adopt(endless)
    status, _, why = folded("-", stdin=endless.stdout)
    m.stop(endless)
    assert status == 1 and re.search(r"no perf\.data file", why), why

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    done = subprocess.run([PROGRAM, "-i", "-", "--export", "report", "-o", "-"],
                          input=open(FILE, "rb").read(), capture_output=True, preexec_fn=small_files,
                          timeout=LIMIT)
    assert done.returncode == 0 and re.search(rb"DEGRADED cannot write to a file in .*TMPDIR", done.stdout), \
        done


def folders():
    """a folder of perf record --threads is read as one recording, and a missing file in it is reported"""
    wanted = whole()
    folder = m.path("folder")
    os.mkdir(folder)
    status, _, why = folded(folder)
    assert status == 1 and re.search(r"folder.*no file \"data\"", why), why
    shutil.copy(FILE, os.path.join(folder, "data"))
    assert folded(folder) == (0, wanted, "")
    # the records of a second reader, before and after those of the first
    with open(FILE, "rb") as file:
        data = file.read()
    start, size = (int.from_bytes(data[at:at + 8], "little") for at in (40, 48))
    records, split = data[start:start + size], 0
    while split < size // 2:
        split += int.from_bytes(records[split + 6:split + 8], "little")
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(data[:48] + split.to_bytes(8, "little") + data[56:start + split] + data[start + size:])
    with open(os.path.join(folder, "data.0"), "wb"):
        pass
    with open(os.path.join(folder, "data.1"), "wb") as file:
        file.write(records[split:])
    # sections are found by the size of the records; these have moved
    total = sum(int(line.rsplit(b" ", 1)[1]) for line in wanted.splitlines())
    out = folded(folder)[1]
    assert sum(int(line.rsplit(b" ", 1)[1]) for line in out.splitlines()) == total
    os.remove(os.path.join(folder, "data.0"))
    report = m.export(folder, "report")
    assert re.search(r"DEGRADED 1 of the files of the folder is missing", report), report[:600]


def endless_file(recording=FILE):
    """A recording with 64 GB of zeros behind its records, which takes very long to read."""
    name = m.path("endless")
    with open(recording, "rb") as file:
        data = file.read()
    start, size = (int.from_bytes(data[at:at + 8], "little") for at in (40, 48))
    features = int.from_bytes(data[72:104], "little").bit_count()
    places = list(struct.unpack_from("<%dQ" % (2 * features), data, start + size))
    places[::2] = [offset + (64 << 30) - size for offset in places[::2]]
    with open(name, "wb") as file:
        file.write(data[:48] + (64 << 30).to_bytes(8, "little") + data[56:start + size])
        file.seek(start + (64 << 30))
        file.write(struct.pack("<%dQ" % len(places), *places) + data[start + size + 16 * features:])
    return name


def stopped_reading():
    """keys work while a file is read; Esc and ^C stop reading, and the samples read so far are shown"""
    for key in ("esc", "\x03"):
        with Screen(["-i", endless_file()]) as s:
            s.wait(r"READING .*\d%")
            s.send("2", shows=r"CALLEES")
            s.send("1", shows=r"SELF%.*FUNCTION")
            assert s.find(r"READING"), s.text()
            s.send(key, shows=r"DEGRADED.*stopped at")
            s.wait(r"FILE ")
            s.wait(r"chrome")
            s.quit()
            assert s.status == 0, s.status
    report = subprocess.Popen([PROGRAM, "-i", endless_file(), "--export", "report", "-o", "-"],
                              stdout=subprocess.PIPE, start_new_session=True)
    m.adopt(report)
    m.until(lambda: int(open("/proc/%d/status" % report.pid).read().split("SigCgt:")[1].split()[0], 16) & 2,
            "its handler of ^C")
    m.until(lambda: len(os.listdir("/proc/%d/task" % report.pid)) > 1, "its threads")
    os.kill(report.pid, signal.SIGINT)
    out = report.communicate(timeout=LIMIT)[0].decode()
    assert re.search(r"DEGRADED reading the file was stopped", out), out[:600]


def event_chosen_while_reading():
    """an event chosen while a file is read is shown, and stays when reading ends; O finds waits"""
    m.need_perf()
    if m.lacks_tracepoints():
        raise Skip("tracepoints need root")
    m.perf(*m.RECORD, "-a", "-g", "-e", "cpu-clock/freq=4000/", "-e", "sched:sched_switch",
           "-o", m.path("both.data"), "--", "sleep", "0.2")
    with Screen(["-i", endless_file(m.path("both.data")), "--idle"]) as s:
        s.wait(r"cpu-clock[\s\S]*READING")
        s.send("O", shows=r"off-cpu.*READING")
        s.send("\x03", shows=r"cpus[\s\S]*DEGRADED")
        s.wait(r" off-cpu each .* FILE ")


def threads():
    """recordings of perf record --threads, with and without compression, are read as perf reads them"""
    m.need_perf()
    m.need_events()
    for options in ([], ["-z"]):
        folder = m.path("threads" + "".join(options))
        done = m.ran("perf", *m.RECORD, "--threads", "-F", "999", "-g", *options, "-o", folder, "--",
                     "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
        if done.returncode or not os.path.isdir(folder):
            continue  # this perf has no --threads, or no -z
        theirs = [line for line in m.perf("script", "-i", folder, "-G", "-F", "comm,time")[0].splitlines()
                  if line.strip()]
        ours = m.export(folder, "report")
        assert int(re.search(r"samples ([\d,]+)", ours).group(1).replace(",", "")) == len(theirs), ours[:300]


def nobody_writes():
    """a FIFO without a writer is reported, not waited for"""
    os.mkfifo(m.path("lonely"))
    status, _, why = folded(m.path("lonely"))
    assert status == 1 and re.search(r"a pipe without a writer", why), why


def no_recordings():
    """devices, terminals, empty and tiny files are refused with a reason"""
    for name, pattern in (("/dev/zero", r"device"), ("/dev/null", r"device"),
                          (write("empty", b""), r"is empty"), (write("one", b"P"), r"only 1 byte"),
                          (m.path("none"), r"No such file"),
                          (write("elf", b"\x7fELF" + bytes(100)), r"an ELF file")):
        status, _, why = folded(name)
        assert status == 1 and re.search(pattern, why) and why.count("\n") == 1, (name, why)
    status, _, why = folded("-", stdin=subprocess.DEVNULL)
    assert status == 1 and re.search(r"standard input is .*device", why), why
    status, _, why = folded("-", input=b"")
    assert status == 1 and re.search(r"standard input is empty", why), why


run(packed_files, standard_input, bundles, still_written, keys_from_the_terminal, cut_and_damaged,
    bombs_and_floods, folders, stopped_reading, event_chosen_while_reading, threads, nobody_writes,
    no_recordings)
