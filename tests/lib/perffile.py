# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes perf.data files with known samples: of a program with the given functions, at the given times.
program = Program("/tmp/x", ["hot_a", "hot_b"])
write("/tmp/x.data", program, [Sample(0.010, tid=100, cpu=0, stack=["main", "hot_a"]), …])"""
import collections
import re
import struct
import subprocess

START_NS = 1_000_000_000_000
HZ = 100
Sample = collections.namedtuple("Sample", "seconds tid cpu stack period", defaults=[10**9 // HZ])

FORK, MMAP2, COMM, SAMPLE = 7, 10, 3, 9
USER, BUILD_ID = 2, 1 << 14
# IP, TID, TIME, CALLCHAIN, CPU, PERIOD
SAMPLE_TYPE = 1 | 2 | 4 | 32 | 128 | 256
SAMPLE_ID_ALL = 1 << 18


class Program:
    """Functions without content, in an executable that is loaded at its link address."""

    def __init__(self, path, functions):
        self.path = path
        source = "".join("int __attribute__((noinline)) %s(int x) { return x + %d; }\n" % (name, i)
                         for i, name in enumerate(functions))
        source += "int main(void) { return %s; }\n" % " + ".join("%s(1)" % name for name in functions)
        subprocess.run(["cc", "-O0", "-g0", "-no-pie", "-Wl,--build-id=sha1", "-x", "c", "-", "-o", path],
                       input=source.encode(), check=True)
        text = subprocess.run(["readelf", "-lnW", path], check=True, capture_output=True, text=True).stdout
        self.build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]{40})", text).group(1))
        load = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", text)
        self.offset, self.start, self.size = (int(x, 16) for x in load.groups())
        names = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
        self.address = {name: int(value, 16)
                        for value, name in re.findall(r"^(\w+) [tT] (\w+)$", names, re.M)}


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample_id(tid, time_ns, cpu):
    return struct.pack("<IIQII", 100, tid, time_ns, cpu, 0)


def comm(tid, name):
    text = name.encode() + b"\0"
    return record(COMM, 0, struct.pack("<II", 100, tid) + text + bytes(-len(text) % 8) +
                  sample_id(tid, START_NS, 0))


def mmap(program):
    text = program.path.encode() + b"\0"
    body = struct.pack("<IIQQQ", 100, 100, program.start, (program.size + 4095) & ~4095, program.offset)
    body += struct.pack("<BBH20s", 20, 0, 0, program.build_id) + struct.pack("<II", 5, 2)
    return record(MMAP2, USER | BUILD_ID, body + text + bytes(-len(text) % 8) + sample_id(100, START_NS, 0))


def sample(program, s):
    """For callers, the chain has return addresses."""
    chain = [program.address[name] + (1 if i == 0 else 2) for i, name in enumerate(reversed(s.stack))]
    chain = [2**64 - 512] + chain
    time_ns = START_NS + round(s.seconds * 1e9)
    body = struct.pack("<QIIQIIQQ", chain[1], 100, s.tid, time_ns, s.cpu, 0, s.period, len(chain))
    return record(SAMPLE, USER, body + struct.pack("<%dQ" % len(chain), *chain))


def write(path, program, samples, comms):
    """comms: {tid: name}; thread 100 is the first of its process."""
    # cpu-clock, by frequency, as perf does
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, HZ, SAMPLE_TYPE, 0, 1 << 10 | SAMPLE_ID_ALL | 1 << 20)
    attr += bytes(112 - len(attr))
    data = b"".join(comm(tid, name) for tid, name in sorted(comms.items())) + mmap(program)
    data += b"".join(sample(program, s) for s in sorted(samples, key=lambda s: s.seconds))
    attrs_at = 104
    data_at = attrs_at + 128
    header = b"PERFILE2" + struct.pack("<QQ", 104, 128)
    header += struct.pack("<QQQQQQ", attrs_at, 128, data_at, len(data), 0, 0)
    header += bytes(104 - len(header))
    with open(path, "wb") as out:
        out.write(header + attr + struct.pack("<QQ", 0, 0) + data)
