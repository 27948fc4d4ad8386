# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes the code of an ELF file: bounds and names of functions, and which of them are outermost.
Addresses are those of the file (virtual, before it is loaded).
Sources: System V ABI (ELF), DWARF 5 section 6.4 and the Linux Standard Base (.eh_frame)."""
import bisect
import glob
import struct

PT_LOAD, SHT_SYMTAB, SHT_NOBITS, SHT_DYNSYM = 1, 2, 8, 11
STT_NOTYPE, STT_FUNC, STT_IFUNC = 0, 2, 10
MACHINES = {3: "i386", 62: "i386:x86-64"}
RETURN_ADDRESS = {3: 8, 62: 16}  # DWARF's column of the return address


class NotElf(Exception):
    pass


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


class Frames:
    """.eh_frame: the bounds of functions, and which of them have an undefined return address (no caller)."""

    SIZES = {0x0: "P", 0x1: None, 0x2: "H", 0x3: "I", 0x4: "Q", 0x9: None, 0xa: "h", 0xb: "i", 0xc: "q"}
    # operands of DW_CFA_*: u(leb), b(lock), digits: bytes
    OPERANDS = {0x02: "1", 0x03: "2", 0x04: "4", 0x05: "uu", 0x06: "u", 0x07: "u", 0x08: "u",
                0x09: "uu", 0x0c: "uu", 0x0d: "u", 0x0e: "u", 0x0f: "b", 0x10: "ub", 0x11: "uu", 0x12: "uu",
                0x13: "u", 0x14: "uu", 0x15: "uu", 0x16: "ub", 0x2e: "u", 0x2f: "uu"}

    def __init__(self, data, address, bits, column):
        self.data, self.address, self.bits, self.column = data, address, bits, column
        self.spans, self.outermost = [], []
        cies, at = {}, 0
        while at + 4 <= len(data):
            size, = struct.unpack_from("<I", data, at)
            if not size or size >= 0xfffffff0:
                break
            end = at + 4 + size
            about, = struct.unpack_from("<I", data, at + 4)
            try:
                if about:
                    self._take(at, end, self._cie(cies, at + 4 - about))
            except (IndexError, struct.error):
                pass
            at = end

    def _cie(self, cies, at):
        """(encoding of addresses, whether it has augmentation data, whether it says that nothing calls it)"""
        if at in cies:
            return cies[at]
        data, size = self.data, struct.unpack_from("<I", self.data, at)[0]
        zero = data.index(0, at + 9)
        letters, here, encoding = data[at + 9:zero].decode("ascii", "replace"), zero + 1, 0
        for _ in range(2):  # alignments of code and data
            _, here = uleb(data, here)
        if data[at + 8] == 1:
            here += 1
        else:
            _, here = uleb(data, here)
        if letters.startswith("z"):
            length, here = uleb(data, here)
            start = here
            for letter in letters[1:]:
                if letter == "R":
                    encoding = data[here]
                if letter == "P":
                    here += struct.calcsize("<" + self._format(data[here]))
                here += letter in "RLP"
            here = start + length
        cies[at] = encoding, letters.startswith("z"), self._undefines(here, at + 4 + size, encoding)
        return cies[at]

    def _format(self, encoding):
        form = self.SIZES[encoding & 0xf]
        return ("Q" if self.bits == 64 else "I") if form == "P" else form

    def _take(self, at, end, cie):
        encoding, augmented, outermost = cie
        form = "<" + self._format(encoding)
        size = struct.calcsize(form)
        start, = struct.unpack_from(form, self.data, at + 8)
        if encoding & 0x70 == 0x10:
            start += self.address + at + 8
        start &= (1 << self.bits) - 1
        length, = struct.unpack_from(form.upper(), self.data, at + 8 + size)
        here = at + 8 + 2 * size
        if augmented:
            skipped, here = uleb(self.data, here)
            here += skipped
        if start and length:
            self.spans.append((start, start + length))
            if outermost or self._undefines(here, end, encoding):
                self.outermost.append((start, start + length))

    def _undefines(self, at, end, encoding):
        data = self.data
        while at < end:
            code = data[at]
            at += 1
            if code >> 6:
                if code >> 6 == 2:
                    _, at = uleb(data, at)
                continue
            if code == 0x07 and uleb(data, at)[0] == self.column:
                return True
            if code == 0x01:
                at += struct.calcsize("<" + self._format(encoding))
            for operand in self.OPERANDS.get(code, ""):
                if operand.isdigit():
                    at += int(operand)
                else:
                    value, at = uleb(data, at)
                    at += value if operand == "b" else 0
        return False


class Elf:
    def __init__(self, data):
        if data[:4] != b"\x7fELF" or len(data) < 64 or data[5] != 1:
            raise NotElf
        self.data = data
        self.bits = 64 if data[4] == 2 else 32
        header = "<HHIQQQIHHHHHH" if self.bits == 64 else "<HHIIIIIHHHHHH"
        (_, self.machine, _, self.entry, phoff, shoff, _, _, phsize, phnum, shsize, shnum,
         names) = struct.unpack_from(header, data, 16)
        self.loads = list(self._loads(phoff, phsize, phnum))
        self.sections = self._sections(shoff, shsize, shnum, names)
        self.names = {}   # address: name
        self.spans = []   # (start, end) of known functions
        self.starts = set()
        self._read_symbols(self)
        self.outermost = []
        self._read_frames()
        for debug in self._debug_files():
            self._read_symbols(debug)
        self.cold = {name.split(".cold")[0]: at for at, name in self.names.items() if ".cold" in name}
        self.edges, self.inside = flatten(self.spans, self._stubs())

    @classmethod
    def of(cls, path):
        with open(path, "rb") as file:
            return cls(file.read())

    def _loads(self, at, size, n):
        for i in range(n):
            if self.bits == 64:
                fields = struct.unpack_from("<IIQQQQQ", self.data, at + i * size)
                kind, _, offset, address, _, filesz, _ = fields
            else:
                kind, offset, address, _, filesz = struct.unpack_from("<IIIII", self.data, at + i * size)
            if kind == PT_LOAD:
                yield offset, address, filesz

    def _sections(self, at, size, n, names):
        """{name: (kind, address, offset, size, linked section's index, size of an entry)}, and the sections
        in order"""
        found = []
        for i in range(n if at and at + n * size <= len(self.data) else 0):
            form = "<IIQQQQIIQQ" if self.bits == 64 else "<IIIIIIIIII"
            fields = struct.unpack_from(form, self.data, at + i * size)
            name, kind, _, address, offset, length, link, _, _, entry = fields
            found.append((name, kind, address, offset, length, link, entry))
        self.in_order = [section[1:] for section in found]
        if names >= len(found):
            return {}
        table = found[names]
        strings = self.data[table[3]:table[3] + table[4]]
        return {self._string(strings, section[0]): section[1:] for section in found}

    @staticmethod
    def _string(strings, at):
        end = strings.find(b"\0", at)
        return strings[at:end].decode("utf-8", "replace")

    def _read_symbols(self, elf):
        for kind, _, offset, size, link, _ in elf.in_order:
            if kind not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            table = elf.in_order[link]
            strings = elf.data[table[2]:table[2] + table[3]]
            form = "<IBBHQQ" if self.bits == 64 else "<IIIBBH"
            raw = elf.data[offset:offset + size - size % struct.calcsize(form)]
            for entry in struct.iter_unpack(form, raw):
                if self.bits == 64:
                    name, info, _, section, value, length = entry
                else:
                    name, value, length, info, _, section = entry
                if section and value and info & 0xf in (STT_FUNC, STT_IFUNC):
                    self.names.setdefault(value, self._string(strings, name))
                    self.starts.add(value)
                    if length:
                        self.spans.append((value, value + length))

    def _read_frames(self):
        found = self.sections.get(".eh_frame")
        if not found or found[0] == SHT_NOBITS or self.machine not in RETURN_ADDRESS:
            return
        _, address, offset, size, _, _ = found
        frames = Frames(self.data[offset:offset + size], address, self.bits, RETURN_ADDRESS[self.machine])
        stubs = self._stubs()
        self.spans += [span for span in frames.spans if not any(a <= span[0] < b for a, b, _ in stubs)]
        self.outermost = frames.outermost

    def _stubs(self):
        """[(start, end, bytes of each)] of the procedure linkage tables"""
        return [(section[1], section[1] + section[3], section[5] if section[5] in (8, 16) else 16)
                for name, section in self.sections.items()
                if name in (".plt", ".plt.sec", ".plt.got", ".iplt")]

    def _debug_files(self):
        note = self.sections.get(".note.gnu.build-id")
        if not note or note[3] < 17 or note[0] == SHT_NOBITS:
            return
        built = self.data[note[2] + 16:note[2] + note[3]].hex()
        for path in glob.glob("/usr/lib/debug/.build-id/%s/%s.debug" % (built[:2], built[2:])):
            with open(path, "rb") as file:
                yield Sections(file.read())

    def function(self, address):
        """(start, end) of the function that contains an address; None if unknown."""
        i = bisect.bisect_right(self.edges, address) - 1
        return (self.edges[i], self.edges[i + 1]) if 0 <= i < len(self.edges) - 1 and self.inside[i] else None

    def is_outermost(self, address):
        """Whether a table says that the code at this address has no caller."""
        return any(start <= address < end for start, end in self.outermost)

    def address_of(self, offset):
        """The address of an offset in the file."""
        for at, address, size in self.loads:
            if at <= offset < at + size:
                return offset - at + address
        return None


class Sections(Elf):
    """A file of which only the sections matter: a separate debug file."""

    def __init__(self, data):  # pylint: disable=super-init-not-called
        self.data = data
        self.bits = 64 if data[4] == 2 else 32
        header = "<QIHHHHHH" if self.bits == 64 else "<IIHHHHHH"
        fields = struct.unpack_from(header, data, 40 if self.bits == 64 else 32)
        shoff, _, _, _, _, shsize, shnum, names = fields
        self.sections = self._sections(shoff, shsize, shnum, names)


def flatten(spans, stubs):
    """Sorted addresses where something begins or ends, and whether a function continues from each."""
    changes = {}
    for start, end in spans:
        changes[start] = changes.get(start, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    for start, end, size in stubs:
        for at in range(start, end, size):
            changes.setdefault(at, 0)
        changes[start] += 1
        changes[end] = changes.get(end, 0) - 1
    edges, inside, depth = sorted(changes), [], 0
    for edge in edges:
        depth += changes[edge]
        inside.append(depth > 0)
    return edges, inside
