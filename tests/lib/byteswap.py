# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts a perf.data file to the other byte order: swaps each number, whatever record it is in, and
reverses the bits of bit fields, which fill from the other end. Texts and build-ids stay; stack memory is
treated as words. Layouts: <linux/perf_event.h>, tools/lib/perf/include/perf/event.h,
tools/perf/util/header.c."""
import struct
import subprocess

import perfdata_maker as p

(THROTTLE, UNTHROTTLE, READ_RECORD, AUX_RECORD, ITRACE_START, SWITCH, SWITCH_CPU_WIDE, NAMESPACES,
 KSYMBOL, BPF_EVENT, CGROUP_RECORD) = 5, 6, 8, 11, 12, 14, 15, 16, 17, 18, 19
ID_INDEX, THREAD_MAP, CPU_MAP, TIME_CONV, FINISHED_INIT = 69, 73, 74, 79, 82
MMAP_BUILD_ID = 1 << 14
KNOWN = 32  # perf's features; numbers of later ones, and of other tools' except symbols, are not read here


class Reader:
    """Reads little-endian numbers from bytes and collects them in the other byte order."""

    def __init__(self, data):
        self.data, self.at, self.out = data, 0, []

    def left(self):
        return len(self.data) - self.at

    def bytes(self, n):
        assert 0 <= n <= self.left(), (n, self.left())
        piece = self.data[self.at:self.at + n]
        self.at += n
        self.out.append(piece)
        return piece

    def numbers(self, format):
        """Swaps numbers in struct's notation, such as "IIQ"; returns them."""
        piece = self.bytes(struct.calcsize("<" + format))
        values = struct.unpack("<" + format, piece)
        self.out[-1] = struct.pack(">" + format, *values)
        return values

    def number(self, format):
        return self.numbers(format)[0]

    def string(self):
        self.bytes(self.number("I"))

    def text(self):
        """A text up to its NUL."""
        self.bytes(self.data.index(0, self.at) + 1 - self.at)

    def rest(self):
        return self.bytes(self.left())

    def done(self):
        assert not self.left(), self.left()
        return b"".join(self.out)


def mirrored(byte):
    return int(format(byte, "08b")[::-1], 2)


def attr(data):
    r = Reader(data)
    fields = dict(zip(("type", "size", "config", "period", "sample_type", "read_format"),
                      r.numbers("IIQQQQ")))
    flags = r.bytes(8)
    r.out[-1] = bytes(mirrored(b) for b in flags)
    fields["id_all"] = flags[2] >> 2 & 1
    later = "IIQQQQIiQIHHIIQQ"  # wakeup_events … sig_data, config3: as many as there are
    values = {}
    for i, letter in enumerate(later):
        if r.left() >= struct.calcsize("<" + letter):
            values[i] = r.number(letter)
    fields.update(branch=values.get(4, 0), regs_user=values.get(5, 0), regs_intr=values.get(8, 0))
    r.rest()
    return r.done(), fields


class Swapper:
    def __init__(self):
        self.events = []  # fields of attrs; one layout for all, as perf record writes them

    def trailer(self, r, end):
        kind = self.events[0]["sample_type"] if self.events[0]["id_all"] else 0
        fields = "".join(format for bit, format in ((p.TID, "II"), (p.TIME, "Q"), (p.ID, "Q"),
                                                    (p.STREAM_ID, "Q"), (p.CPU, "II"), (p.IDENTIFIER, "Q"))
                         if kind & bit)
        r.bytes(end - struct.calcsize("<" + fields) - r.at)
        r.numbers(fields)

    def sample(self, r):
        e = self.events[0]
        kind, regs = e["sample_type"], ((p.REGS_USER, "regs_user"), (p.REGS_INTR, "regs_intr"))
        assert not kind & (p.RAW | p.BRANCH_STACK | p.AUX), "what is in these depends on their event"
        r.numbers("".join(f for bit, f in ((p.IDENTIFIER, "Q"), (p.IP, "Q"), (p.TID, "II"), (p.TIME, "Q"),
                                           (p.ADDR, "Q"), (p.ID, "Q"), (p.STREAM_ID, "Q"), (p.CPU, "II"),
                                           (p.PERIOD, "Q")) if kind & bit))
        if kind & p.READ:
            values, format = r.number("Q") if e["read_format"] & 8 else 1, e["read_format"]
            each = 1 + bool(format & 4) + bool(format & 16)
            r.numbers("Q" * ((values * each if format & 8 else each - 1) + bool(format & 1) +
                             bool(format & 2)))
        if kind & p.CALLCHAIN:
            r.numbers("Q" * r.number("Q"))
        for bit, mask in regs[:1]:
            if kind & bit and r.number("Q"):
                r.numbers("Q" * bin(e[mask]).count("1"))
        if kind & p.STACK_USER:
            n = r.number("Q")
            r.numbers("Q" * (n // 8))  # some of its words are addresses
            r.numbers("Q" if n else "")
        r.numbers("".join("Q" for bit in (p.WEIGHT, p.WEIGHT_STRUCT, p.DATA_SRC, p.TRANSACTION)
                          if kind & bit))
        for bit, mask in regs[1:]:
            if kind & bit and r.number("Q"):
                r.numbers("Q" * bin(e[mask]).count("1"))
        r.numbers("Q" * (r.left() // 8))

    def mmap2(self, r, misc):
        r.numbers("IIQQQ")
        if misc & MMAP_BUILD_ID:
            r.bytes(24)
        else:
            r.numbers("IIQQ")
        r.numbers("II")

    def record(self, kind, misc, body):
        """The body of one record in the other byte order."""
        r = Reader(body)
        kernel = {p.MMAP: "IIQQQ", p.LOST: "QQ", p.COMM: "II", p.EXIT: "IIIIQ", p.FORK: "IIIIQ",
                  THROTTLE: "QQQ", UNTHROTTLE: "QQQ", p.LOST_SAMPLES: "Q", AUX_RECORD: "QQQ",
                  ITRACE_START: "II", SWITCH: "", SWITCH_CPU_WIDE: "II", KSYMBOL: "QIHH", BPF_EVENT: "HHI",
                  CGROUP_RECORD: "Q"}
        if kind == p.SAMPLE:
            self.sample(r)
        elif kind == p.MMAP2 or kind in kernel:
            if kind == p.MMAP2:
                self.mmap2(r, misc)
            else:
                r.numbers(kernel[kind])
            self.trailer(r, len(body))
        elif kind == p.ATTR:
            size = struct.unpack_from("<I", body, 4)[0]
            data, fields = attr(r.bytes(size))
            r.out[-1] = data
            self.events.append(fields)
            r.numbers("Q" * (r.left() // 8))
        elif kind == p.FEATURE:
            bit = r.number("Q")
            section = r.rest()
            r.out[-1] = self.feature(bit, section)
        elif kind == THREAD_MAP:
            for _ in range(r.number("Q")):
                r.number("Q")
                r.bytes(16)
        elif kind == CPU_MAP:
            r.number("H")
            r.numbers("H" * (r.left() // 2))
        elif kind == p.EVENT_UPDATE:
            what, _ = r.numbers("QQ")
            if what == 1:  # a scale
                r.number("Q")
            r.rest()       # a unit, a name; a map of CPUs, which is not read
        else:
            assert kind in (ID_INDEX, TIME_CONV, p.FINISHED_ROUND, FINISHED_INIT), kind
            r.numbers("Q" * (r.left() // 8))
        return r.done()

    def records(self, data):
        out, at, packed = [], 0, b""
        while at < len(data):
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            body = data[at + 8:at + size]
            if kind == p.COMPRESSED:
                packed += body
            else:
                out.append(struct.pack(">IHH", kind, misc, size) + self.record(kind, misc, body))
            at += size
        assert at == len(data)
        return b"".join(out) + (self.unpacked(packed) if packed else b"")

    def unpacked(self, stream):
        """Converts compressed records: decompresses and compresses them again."""
        plain = subprocess.run(["zstd", "-q", "-d", "-c"], input=stream, capture_output=True,
                               check=False).stdout
        packed = subprocess.run(["zstd", "-q", "-c"], input=self.records(plain), capture_output=True,
                                check=True).stdout
        pieces = [packed[i:i + 60000] for i in range(0, len(packed), 60000)]
        return b"".join(struct.pack(">IHH", p.COMPRESSED, 0, 8 + len(piece)) + piece for piece in pieces)

    # Sections that describe the machine, by their numbers and texts: I, Q, S for a text.
    PLAIN = {3: "S", 4: "S", 5: "S", 6: "S", 7: "II", 8: "S", 9: "S", 10: "Q", 21: "QQ", 23: "Q", 27: "IIIII"}
    LISTS = {11: "S", 14: "IQQS", 16: "IS", 17: "SII", 28: "SS", 30: "SS"}  # after their count

    def words(self, r, format):
        for letter in format:
            if letter == "S":
                r.string()
            else:
                r.number(letter)

    def simpleperf_file(self, data):
        r = Reader(data)
        r.text()
        r.numbers("IQ")
        for _ in range(r.number("I")):
            r.numbers("QI")
            r.text()
        if r.left() >= 8:
            r.number("Q")
        r.rest()
        return r.done()

    def feature(self, bit, data):
        r = Reader(data)
        if bit == 2:
            while r.left():
                r.numbers("IHH")
                size = struct.unpack_from("<H", data, r.at - 2)[0]
                r.number("I")
                r.bytes(size - 12)
        elif bit in self.PLAIN:
            self.words(r, self.PLAIN[bit])
        elif bit in self.LISTS:
            for _ in range(r.number("I")):
                self.words(r, self.LISTS[bit])
        elif bit == 12:
            events, size = r.numbers("II")
            for _ in range(events):
                r.out[-1] = attr(r.bytes(size))[0]
                ids = r.number("I")
                r.string()
                r.numbers("Q" * ids)
        elif bit == 13:
            for _ in range(2):
                self.words(r, "S" * r.number("I"))
            r.numbers("I" * (r.left() // 4))
        elif bit == 20:
            for _ in range(r.numbers("II")[1]):
                self.words(r, "IIIISSS")
        elif bit == 22:
            r.numbers("Q" * (r.left() // 8))
        elif bit == 31:
            for _ in range(r.number("I")):
                self.words(r, "SS" * r.number("I") + "S")
        elif bit in (128, 132):  # simpleperf's FILE, and FILE2: protocol buffers, which have no byte order
            while r.left():
                piece = r.bytes(r.number("I"))
                if bit == 128:
                    r.out[-1] = self.simpleperf_file(piece)
        elif bit == 192:  # hiperf's symbols
            for _ in range(r.number("I")):
                self.words(r, "SIQQS")
                for _ in range(r.number("I")):
                    self.words(r, "QIS")
        elif bit < KNOWN:
            assert bit in (25, 26), bit  # BPF programs: no recording has any
            r.numbers("I" * (r.left() // 4))
        r.rest()  # padding
        return r.done()

    def pipe(self, data):
        return b"2ELIFREP" + struct.pack(">Q", 16) + self.records(data[16:])

    def file(self, data):
        size, entry, attrs_at, attrs_size, data_at, data_size, _, _ = struct.unpack_from("<8Q", data, 8)
        out = bytearray(data)
        words = struct.unpack_from("<12Q", data, 8)
        out[:104] = b"2ELIFREP" + struct.pack(">12Q", *words)
        for at in range(attrs_at, attrs_at + attrs_size, entry):
            swapped, fields = attr(data[at:at + entry - 16])
            self.events.append(fields)
            ids_at, ids_size = struct.unpack_from("<QQ", data, at + entry - 16)
            out[at:at + entry] = swapped + struct.pack(">QQ", ids_at, ids_size)
            ids = struct.unpack_from("<%dQ" % (ids_size // 8), data, ids_at)
            out[ids_at:ids_at + ids_size] = struct.pack(">%dQ" % len(ids), *ids)
        bits = int.from_bytes(data[72:104], "little")
        bits = [bit for bit in range(256) if bits >> bit & 1]
        sections, table = b"", b""
        records = self.records(data[data_at:data_at + data_size])
        tail_at = data_at + len(records) + 16 * len(bits)
        for i, bit in enumerate(bits):
            at, n = struct.unpack_from("<QQ", data, data_at + data_size + 16 * i)
            table += struct.pack(">QQ", tail_at + len(sections), n)
            sections += self.feature(bit, data[at:at + n])
        out[40:56] = struct.pack(">QQ", data_at, len(records))
        assert size == 104 and attrs_at + attrs_size <= data_at
        return bytes(out[:data_at]) + records + table + sections


def swapped(data):
    assert data[:8] in (b"PERFILE2", b"PERFFILE"), data[:8]
    return Swapper().pipe(data) if struct.unpack_from("<Q", data, 8)[0] == 16 else Swapper().file(data)
