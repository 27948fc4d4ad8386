#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perf.data files of every byte order, word size and age, with every record and field they may contain."""
import json
import os
import re
import shutil
import struct
import subprocess

import machine as m
import perfdata_maker as p
from ptyscreen import PROGRAM, Skip, run

TEXT = 0x400000


def read(data):
    """flametop's JSON of a file with these bytes"""
    m.write("made.data", data)
    return json.loads(m.export(m.path("made.data"), "json"))


def named(rows, key):
    return {row[key]: row["samples"] for row in rows}


def plain(samples=12, **kind):
    """two events, two threads, one program; the time of a sample is its number"""
    f = p.Maker(**kind)
    f.attr([11], config=0)
    f.attr([22, 23], config=1)
    f.features = {3: f.pack("I", 64) + b"far-away".ljust(64, b"\0"),
                  6: f.pack("I", 64) + b"ppc64".ljust(64, b"\0"), 7: f.pack("II", 8, 4)}
    f.comm(100, 100, "worker", 1000, 11)
    f.mmap(100, TEXT, 0x10000, "/usr/bin/worker", 1000, 11)
    for i in range(samples):
        f.sample(100, 100 + i % 2, 2000 + i, (11, 22, 23)[i % 3], TEXT + 16 * i, period=100, cpu=i % 4)
    return f


def check_plain(found, samples=12):
    assert [e["samples"] for e in found["events"]] == [(samples + 2) // 3, samples - (samples + 2) // 3], \
        found["events"]
    assert found["samples"] == samples, found
    assert named(found["comms"], "name") == {"worker": samples}, found["comms"]
    assert named(found["threads"], "tid") == {100: samples // 2, 101: samples // 2}, found["threads"]
    assert named(found["cpus"], "cpu") == {n: samples // 4 for n in range(4)}, found["cpus"]
    assert found["time"] == {"first_ns": 2000, "last_ns": 1999 + samples}, found["time"]
    assert sum(e["period"] for e in found["events"]) == 100 * samples
    assert "far-away" in json.dumps(found["header"]), found["header"]


def orders_and_words():
    """both byte orders, 32 and 64 bits, both magics, attrs of every size, as a file and from a pipe"""
    for order in "<>":
        for word in (4, 8):
            for size in (64, 72, 80, 96, 104, 112, 120, 128, 136, 200):
                found = read(plain(order=order, word=word, attr_size=size).file())
                check_plain(found)
                assert not found["damage"], (order, word, size, found["damage"])
            found = read(plain(order=order, word=word, magic=b"PERFFILE", attr_size=64).file())
            check_plain(found)
        found = read(plain(order=order).pipe())
        check_plain(found)
        assert not found["damage"], found["damage"]


def every_record_type():
    """all record types of the kernel and perf are counted by name; unknown ones are skipped and reported"""
    for order in "<>":
        f = plain(order=order)
        for type in range(1, 23):
            if type not in (p.COMM, p.SAMPLE, p.MMAP, p.EXIT, p.FORK):
                f.record(type, bytes(72) + f.trailer(100, 100, 3000, 11))
        for type in range(65, 85):
            if type not in (66, p.AUXTRACE, p.COMPRESSED, p.COMPRESSED2):
                f.record(type, bytes(32))
        f.record(p.AUXTRACE, f.pack("QQQIIII", 4096, 0, 0, 0, 100, 0, 0))
        f.records.append(b"\xa5" * 4096)
        for type in (30, 100, 120):
            f.record(type, bytes(48))
        f.comm(100, 100, "worker", 4000, 11)
        f.features.update({40: b"", 130: b"something new!!!", 200: b"more"})
        found = read(f.file())
        check_plain(found)
        for name in ("MMAP2", "LOST", "THROTTLE", "SWITCH_CPU_WIDE", "KSYMBOL", "BPF_EVENT", "CGROUP",
                     "TEXT_POKE", "AUX", "ITRACE_START", "ID_INDEX", "EVENT_UPDATE", "TIME_CONV",
                     "THREAD_MAP", "CPU_MAP", "STAT", "AUXTRACE", "AUXTRACE_INFO", "FINISHED_ROUND",
                     "FINISHED_INIT", "AUX_OUTPUT_HW_ID"):
            assert found["records"].get(name) == 1, (name, found["records"])
        damage = "\n".join(found["damage"])
        assert re.search(r"3 records of types that are not known", damage), damage
        assert re.search(r"2 header sections of kinds that are not known", damage), damage
        assert re.search(r"4,096 bytes of hardware trace", damage), damage
        assert damage.count("\n") == 2, damage


def every_sample_field():
    """samples with every field are read, in either byte order"""
    for order in "<>":
        f = p.Maker(order=order, attr_size=136)
        f.attr([5], sample_type=p.EVERY, read_format=7, branch=1 << 17, regs=3, stack=16)
        for i in range(5):
            f.record(p.SAMPLE, p.every_field(f, 1000 + i, 5, TEXT + i, 500 * (i + 1)), misc=p.USER)
        found = read(f.file())
        assert found["samples"] == 5 and not found["damage"], (order, found["samples"], found["damage"])
        assert found["time"] == {"first_ns": 1000, "last_ns": 1004}, found["time"]
        assert sum(e["period"] for e in found["events"]) == 2500 and named(found["cpus"], "cpu") == {3: 5}, \
            found


def groups():
    """a sample that read its group's counters counts for each member, with that member's count"""
    for order in "<>":
        f = p.Maker(order=order)
        kind = p.BASIC | p.READ
        f.attr([1], sample_type=kind, read_format=4 | 8)
        f.attr([2], sample_type=kind, read_format=4 | 8, config=1)
        f.attr([3], sample_type=kind, read_format=4 | 8, config=2)
        for i in range(1, 4):
            f.sample(7, 7, 1000 + i, 1, TEXT, more=f.pack("QQQQQQQ", 3, 100 * i, 1, 10 * i, 2, 5, 3))
        found = read(f.file())
        assert [(e["samples"], e["period"]) for e in found["events"]] == [(3, 300), (3, 30), (1, 5)], \
            found["events"]


def compressed():
    """COMPRESSED records and padded COMPRESSED2 records form one stream"""
    built = m.tool(PROGRAM, "--version")
    if not re.search(r"\+zstd", built) or not shutil.which("zstd"):
        raise Skip("needs zstd, in the program and as a command (apt-get install zstd)")
    for type in (p.COMPRESSED, p.COMPRESSED2):
        for order in "<>":
            f = plain(order=order)
            stream = subprocess.run(["zstd", "-q", "-c"], input=b"".join(f.records), capture_output=True,
                                    check=True).stdout
            f.records = []
            for piece in (stream[:50], stream[50:101], stream[101:]):
                if type == p.COMPRESSED:
                    f.record(type, piece, pad=False)
                else:
                    f.record(type, f.pack("Q", len(piece)) + piece)
            found = read(f.file())
            check_plain(found)
            assert not found["damage"] and found["records"][("COMPRESSED", "COMPRESSED2")[type != 81]] == 3, \
                found


def killed_and_damaged():
    """a missing data size, trailing text, zeroed pages and truncation lose nothing else and are reported"""
    for order in "<>":
        found = read(plain(order=order).file(data_size=0))
        assert found["samples"] == 12 and "killed" in found["damage"][0], found["damage"]
        f = plain(order=order)
        found = read(f.pipe() + b"[ perf record: Woken up 1 times to write data ]\n")
        assert found["samples"] == 12 and re.search(r"48 bytes", found["damage"][0]), found["damage"]
        f = plain(order=order)
        f.records[6:6] = [bytes(4096)]
        found = read(f.file())
        check_plain(found)
        assert re.search(r"4,096 zero bytes", found["damage"][0]), found["damage"]
        f = plain(order=order)
        whole = f.file(data_size=1 << 40)[:-len(f.records[-1]) - 300]
        found = read(whole)
        assert 0 < found["samples"] < 12 and re.search(r"truncated", " ".join(found["damage"])), \
            found["damage"]


def names_from_updates():
    """in a file from a pipe, an EVENT_UPDATE names the event"""
    f = plain()
    f.records.insert(0, f.pack("IHHQQ", p.EVENT_UPDATE, 0, 8 + 16 + 16, 2, 22) +
                     f.string("my-event").ljust(16, b"\0"))
    assert [e["name"] for e in read(f.pipe())["events"]][1] == "my-event"


def jitdump_maps():
    """mappings of single functions, as perf inject --jit writes them, are separate modules"""
    f = plain(samples=0)
    for i in range(3):
        path = "/home/me/.debug/jit/jitted-100-%d.so" % i
        f.record(p.MMAP2, f.pack("IIQQQIIQQII", 100, 100, 0x7f0000000000 + 0x1000 * i, 0x1000, 0x40, 8, 1,
                                 99, 0, 5, 2) +
                 f.string(path) + f.trailer(100, 100, 1500 + i, 11), misc=p.USER)
        f.sample(100, 100, 2000 + i, 11, 0x7f0000000010 + 0x1000 * i)
    found = read(f.file())
    jitted = [row for row in found["modules"] if "jitted-100-" in row["path"] and row["samples"] == 1]
    assert len(jitted) == 3, found["modules"]


def recordings_of_other_tools():
    """unpadded hiperf records and simpleperf's inline tracing data are read; no record is skipped"""
    folder = os.path.join(os.environ["FLAMETOP_SOURCE"], "tests", "data", "dialects")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    assert len(names) == 2, names
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            facts = json.load(file)
        with open(os.path.join(folder, name[:-len(".json")]), "rb") as file:
            found = read(file.read())
        assert found["records"] == facts["raw"]["record_counts"], (name, found["records"])
        assert found["samples"] == facts["raw"]["record_counts"]["SAMPLE"], (name, found["samples"])
        per = facts.get("perf", {}).get("per")
        if per:
            assert named(found["comms"], "name") == per["comm"], (name, found["comms"])
            assert {str(pid): n for pid, n in named(found["pids"], "pid").items()} == per["pid"], \
                (name, found["pids"])
        else:
            assert [e["name"] for e in found["events"]] == ["sched:sched_switch", "cycles:HG"], \
                found["events"]
            assert named(found["comms"], "name") == {"sleep": 43, "simpleperf": 2}, found["comms"]
        names = {row["name"] for row in found["symbols"]}
        known = {"binder_ioctl_write_read", "malloc"} if per else {"__schedule", "filemap_fault"}
        assert known <= names, (name, names)


def varint(n):
    out = b""
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    """a protocol buffer of (number, integer or bytes)"""
    return b"".join(varint(number << 3 | 2) + varint(len(value)) + value if isinstance(value, bytes) else
                    varint(number << 3) + varint(value) for number, value in fields)


def simpleperf_file(f, path, symbols, kind=2, low=0x1000, place=0x400):
    """FEAT_FILE: a file whose lowest address is at an offset; None: an old FEAT_FILE without that offset"""
    body = path + b"\0" + f.pack("IQI", kind, low, len(symbols))
    body += b"".join(f.pack("QI", at, size) + name + b"\0" for at, size, name in symbols)
    body += b"" if place is None else f.pack("Q", place)
    return f.pack("I", len(body)) + body


def simpleperf_proto(f, path, symbols, kind=2, low=0x1000, place=0x400):
    """FEAT_FILE2"""
    body = message((1, path), (2, kind), (3, low),
                   *((4, message((1, at), (2, size), (3, name))) for at, size, name in symbols),
                   *[] if place is None else [(6, message((1, place)))])
    return f.pack("I", len(body)) + body


def hiperf_file(f, path, symbols, kind=2, low=0x1000, place=0x400):
    """HIPERF_FILES_SYMBOL of one file"""
    def text(value):
        return f.pack("I", len(value) + 1) + value + b"\0"
    body = f.pack("I", 1) + text(path) + f.pack("IQQ", kind, low, place) + text(b"00aabb")
    body += f.pack("I", len(symbols))
    return body + b"".join(f.pack("QI", at, size) + text(name) for at, size, name in symbols)


def symbols_in_the_file():
    """symbols that simpleperf and hiperf store in their files name the samples, without the machine's
    files"""
    symbols = [(0x1c00, 0x20, b"_ZN5outer5innerEv"), (0x1c20, 0, b"without_size"), (0x1c40, 0x10, b"last")]
    expected = {"outer::inner": 2, "without_size": 2, "last": 1}
    for number, section in ((128, simpleperf_file), (132, simpleperf_proto), (192, hiperf_file)):
        for order in "<>":
            f = plain(samples=6, order=order)
            f.features[number] = section(f, b"/usr/bin/worker", symbols, low=0x1c00, place=0)
            found = read(f.file())
            names = {row["name"]: row["self"] for row in found["symbols"]}
            assert not found["damage"] and {name: names.get(name) for name in expected} == expected, \
                (number, order, names)
            whole = f.features[number]
            for cut in range(5, len(whole), 23):
                f.features[number] = whole[:cut]
                found = read(f.file())
                assert found["samples"] == 6 and "section" in found["damage"][0], \
                    (number, cut, found["damage"])
    f = plain(samples=6)
    f.features[128] = simpleperf_file(f, b"/usr/bin/worker", symbols, place=None)
    assert not {row["name"] for row in read(f.file())["symbols"]} & set(expected), \
        "symbols without a known address have names"


def damaged_sizes():
    """a damaged size loses one record, whether or not the writer pads its records"""
    f = plain(samples=30)
    bad = bytearray(f.records[10])
    bad[6:8] = struct.pack("<H", len(bad) - 3)
    f.records[10] = bytes(bad)
    found = read(f.file())
    assert found["samples"] == 29 and "bytes" in found["damage"][0], (found["samples"], found["damage"])
    f = plain(samples=0)
    for i in range(30):
        f.record(p.COMM, f.pack("II", 100, 100) + f.string("w" * (i % 7 + 1), align=1) +
                 f.trailer(100, 100, 1000 + 2 * i, 11), pad=False)
        f.sample(100, 100, 1001 + 2 * i, 11, TEXT)
    f.records.insert(30, b"no record at all, of an odd length")
    found = read(f.file())
    assert found["samples"] == 30 and found["records"]["COMM"] == 31, (found["records"], found["damage"])
    assert "34 bytes" in found["damage"][0], found["damage"]


def times_that_are_none():
    """numbered samples of perf record --off-cpu get the last time; without times the JSON has none"""
    f = plain(samples=12)
    f.attr([33], config=2)
    for i in range(5):
        f.sample(100, 100, 0xffffffff00000000 + i, 33, TEXT, period=1000)
    found = read(f.file())
    assert [e["samples"] for e in found["events"]] == [4, 8, 5] and not found["damage"], found
    assert found["time"]["first_ns"] == 2000 and found["time"]["last_ns"] < 2100, found["time"]
    f = p.Maker()
    f.attr([11], sample_type=p.IP | p.TID | p.PERIOD, flags=0)
    f.record(p.SAMPLE, f.pack("QIIQ", TEXT, 100, 100, 1), misc=p.USER)
    found = read(f.file())
    assert found["samples"] == 1 and found["time"] == {}, found


def long_comm():
    """a comm of more than 15 characters is not truncated"""
    f = p.Maker()
    f.attr([11])
    f.comm(100, 100, "com.example.application:service", 1000, 11)
    f.sample(100, 100, 2000, 11, TEXT)
    assert named(read(f.file())["comms"], "name") == {"com.example.application:service": 1}


run(orders_and_words, every_record_type, every_sample_field, groups, compressed, killed_and_damaged,
    names_from_updates, jitdump_maps, recordings_of_other_tools, symbols_in_the_file, damaged_sizes,
    times_that_are_none, long_comm)
