# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes perf.data files of any byte order, word size and age: the layouts of <linux/perf_event.h> and of
perf.data-file-format.txt in the kernel's tools/perf/Documentation."""
import struct

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
ATTR, EVENT_UPDATE, FINISHED_ROUND, AUXTRACE, FEATURE, COMPRESSED, COMPRESSED2 = 64, 78, 68, 71, 80, 81, 83
(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER,
 STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE,
 CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << n for n in range(25))
BASIC = IP | TID | TIME | ID | CPU | PERIOD
SAMPLE_ID_ALL, MMAP_BIT, COMM_BIT = 1 << 18, 1 << 8, 1 << 9
USER = 2


class Maker:
    def __init__(self, order="<", word=8, magic=None, attr_size=112):
        self.order, self.word, self.attr_size = order, word, attr_size
        self.magic = magic or (b"PERFILE2" if order == "<" else b"2ELIFREP")
        self.attrs, self.records, self.features = [], [], {}

    def pack(self, format, *values):
        return struct.pack(self.order + format, *values)

    def string(self, text, align=8):
        data = text.encode() + b"\0"
        return data + bytes(-len(data) % align)

    def attr(self, ids, sample_type=BASIC, read_format=0, branch=0, regs=0, stack=0,
             flags=SAMPLE_ID_ALL, config=0):
        if self.order == ">":  # bit fields fill from the other end
            flags = int(format(flags, "064b")[::-1], 2)
        data = self.pack("IIQQQQQIIQQQQIiQIHHII", 1, self.attr_size, config, 1000, sample_type, read_format,
                         flags, 0, 0, 0, 0, branch, regs, stack, 0, regs, 0, 0, 0, 0, 0)
        data = (data + bytes(self.attr_size))[:self.attr_size]
        self.attrs.append((data, ids))
        return data

    def record(self, type, body, misc=0, pad=True):
        body += bytes(-len(body) % 8) if pad else b""
        self.records.append(self.pack("IHH", type, misc, 8 + len(body)) + body)

    def trailer(self, pid, tid, time, id, cpu=0):
        """The trailer of records other than samples, for BASIC."""
        return self.pack("IIQQII", pid, tid, time, id, cpu, 0)

    def comm(self, pid, tid, name, time, id):
        self.record(COMM, self.pack("II", pid, tid) + self.string(name) + self.trailer(pid, tid, time, id))

    def mmap(self, pid, addr, size, path, time, id):
        self.record(MMAP, self.pack("IIQQQ", pid, pid, addr, size, 0) + self.string(path) +
                    self.trailer(pid, pid, time, id), misc=USER)

    def sample(self, pid, tid, time, id, ip, period=1000, cpu=0, more=b""):
        self.record(SAMPLE, self.pack("QIIQQIIQ", ip, pid, tid, time, id, cpu, 0, period) + more, misc=USER)

    def pipe(self):
        """The bytes as perf record -o - writes them."""
        head = self.magic + self.pack("Q", 16)
        for data, ids in self.attrs:
            data += self.pack("%dQ" % len(ids), *ids)
            head += self.pack("IHH", ATTR, 0, 8 + len(data)) + data
        for bit, data in sorted(self.features.items()):
            data += bytes(-len(data) % 8)
            head += self.pack("IHHQ", FEATURE, 0, 16 + len(data), bit) + data
        return head + b"".join(self.records)

    def file(self, data_size=None, tail=b""):
        start, ids, entries = 104, b"", b""
        at = start + len(self.attrs) * (self.attr_size + 16)
        for data, numbers in self.attrs:
            entries += data + self.pack("QQ", at + len(ids), 8 * len(numbers))
            ids += self.pack("%dQ" % len(numbers), *numbers)
        data_at = at + len(ids)
        data = b"".join(self.records)
        table_at = data_at + len(data)
        table, sections = b"", b""
        sections_at = table_at + 16 * len(self.features)
        bits = [0] * (256 // (8 * self.word))
        for bit, section in sorted(self.features.items()):
            table += self.pack("QQ", sections_at + len(sections), len(section))
            sections += section
            bits[bit // (8 * self.word)] |= 1 << bit % (8 * self.word)
        words = self.pack("%d%s" % (len(bits), "Q" if self.word == 8 else "I"), *bits)
        head = self.magic + self.pack("QQQQQQQQ", 104, self.attr_size + 16, start, len(entries), data_at,
                                      len(data) if data_size is None else data_size, 0, 0) + words
        return head + entries + ids + data + table + sections + tail


def wait(maker, reason, callers, chain, pid=200, tid=201, kind=0, magic=0x574b4c46, n=None):
    """What a sample of flametop's event wakers has after BASIC: include/profile/wait_summary.h. callers: the
    chain of the wait; chain: that of the waker, with n entries by its own account."""
    pack, user = maker.pack, 0xfffffffffffffe00
    aux = pack("IHHQQQ", 0x57544c46, ord("S"), 1, 0, 5000000, 5000000) + pack("II", 90, 1)
    chain = [user, *chain]
    aux += pack("IHHIIII", magic, kind, len(chain) if n is None else n, pid, tid, 0, 0)
    aux += pack("%dQ" % len(chain), *chain)
    return (pack("Q%dQ" % (len(callers) + 1), len(callers) + 1, user, *callers) + pack("Q", reason + 1) +
            pack("Q", len(aux)) + aux)


def offcpu_time(maker, low, high, ns, chain, cgroup=0, n=None):
    """What a sample of perf record --off-cpu of Linux 6.16 has after BASIC, for attr(BASIC | RAW): its thread
    and stack as a payload. low, high: process and thread, in the order of the writer."""
    n = len(chain) if n is None else n
    data = maker.pack("QQQ%dQQ" % len(chain), high << 32 | low, ns, n, *chain, cgroup)
    return maker.pack("I", len(data) + 4) + data + bytes(4)  # the kernel pads the payload


WAIT = BASIC | CALLCHAIN | WEIGHT | AUX


def every_field(maker, time, id, ip, value):
    """A sample with all fields of Linux 6.1, in the order of perf_output_sample(); for attr(EVERY …)."""
    p = maker.pack
    chain = [0xfffffffffffffe00, ip, ip + 16]
    return b"".join((
        p("QQIIQQQQIIQ", id, ip, 100, 101, time, 0xadd7, id, 7, 3, 0, 500),          # IDENTIFIER … PERIOD
        p("QQQQ", value, 1, 1, id),                                         # READ: value, times, id
        p("Q%dQ" % len(chain), len(chain), *chain),
        p("I", 12) + b"raw payload.",
        p("QQ", 1, 0) + p("QQQ", ip, ip + 8, 0),                            # one branch, after hw_idx
        p("QQQ", 2, 11, 22),                                                # two registers
        p("Q", 16) + b"stack of 16 byte" + p("Q", 16),
        p("QQQ", 9, 8, 7),                                                  # weight, data_src, transaction
        p("QQQ", 2, 33, 44),
        p("QQQQ", 0x9000, 77, 4096, 4096),                                  # phys_addr, cgroup, page sizes
        p("Q", 8) + b"aux data"))


EVERY = (IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD | READ | CALLCHAIN | RAW |
         BRANCH_STACK | REGS_USER | STACK_USER | WEIGHT | DATA_SRC | TRANSACTION | REGS_INTR | PHYS_ADDR |
         CGROUP | DATA_PAGE_SIZE |
         CODE_PAGE_SIZE | AUX)
