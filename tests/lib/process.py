# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of a running process: its mappings, their files, and its memory."""
import bisect
import functools
import os
import re
import struct

import elfcode

ANONYMOUS_MAX = 256 << 20  # bytes of code generated at run time copied per process
PAGE = os.sysconf("SC_PAGE_SIZE")
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) (\S+) (\d+) *(.*)")

# The VM's code for it jumps to the method of the handle.
METHOD_HANDLE = re.compile(r"java\.lang\.invoke\.MethodHandle\.(?:linkTo|invokeBasic)")


class Mapping:
    def __init__(self, match):
        self.start, self.end, self.offset = (int(match.group(i), 16) for i in (1, 2, 4))
        self.permissions, self.device, self.inode = match.group(3), match.group(5), int(match.group(6))
        self.path = match.group(7)
        self.code = None  # a copy of code that is in no file

    @property
    def executable(self):
        return "x" in self.permissions

    @property
    def anonymous(self):
        """Whether the code was generated at run time, also in named memory."""
        in_memory = self.path.startswith(("/memfd:", "/dev/", "/SYSV"))
        return not self.inode or in_memory and "w" in self.permissions


@functools.lru_cache(None)
def _elf_of_file(path, device, inode, changed):
    del device, inode, changed
    return elfcode.Elf.of(path)


class Process:
    """The process as it is now. Code of files is read on demand, so the process must still exist then; code
    generated at run time is copied at once."""

    def __init__(self, pid):
        self.pid = pid
        with open("/proc/%d/maps" % pid, encoding="utf-8", errors="surrogateescape") as file:
            self.maps = [Mapping(MAPPING.match(line.rstrip("\n"))) for line in file]
        self.starts = [m.start for m in self.maps]
        self.memory = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
        self.elves = {}
        with open("/proc/%d/exe" % pid, "rb") as file:
            self.bits = 64 if file.read(5)[4] == 2 else 32
        left = ANONYMOUS_MAX
        for m in self.maps:
            if m.executable and m.anonymous and not m.path.startswith("["):
                m.code = self._copy(m, left)
                left -= len(m.code)
        self.is_java = any(m.path.endswith("/libjvm.so") for m in self.maps)
        self.edges, self.names = self._perf_map()

    def close(self):
        os.close(self.memory)

    def _copy(self, m, most):
        try:
            return os.pread(self.memory, min(m.end - m.start, most), m.start)
        except OSError:
            return b""

    def _perf_map(self):
        """The sorted bounds of functions in a perf map, and the names by start."""
        edges, names = {}, {}
        inside = self._pid_inside()
        try:
            with open("/proc/%d/root/tmp/perf-%d.map" % (self.pid, inside), encoding="utf-8",
                      errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            return [], {}
        found = {}
        for order, line in enumerate(lines):
            match = re.match(r"(?:0x)?([0-9a-f]+) (?:0x)?([0-9a-f]+) (.*)", line)
            if match:
                found[int(match.group(1), 16)] = order, int(match.group(2), 16), match.group(3)
        last = None  # of overlapping functions the one written later is valid
        for start, (order, size, name) in sorted(found.items()):
            if last and start < last[1] and order < last[0]:
                continue
            edges[start], names[start] = True, name
            edges.setdefault(start + size, False)
            if last and start < last[1] < start + size:
                del edges[last[1]]
            last = order, start + size
        return sorted(edges.items()), names

    def _pid_inside(self):
        with open("/proc/%d/status" % self.pid, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^NSpid:.*\s(\d+)$", file.read(), re.M)
        return int(found.group(1)) if found else self.pid

    def mapping(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.maps[i] if i >= 0 and address < self.maps[i].end else None

    def code_at(self, address):
        m = self.mapping(address)
        return m if m and m.executable else None

    def locate(self, path, offset):
        """The addresses of a file offset that is mapped as code; a file may be mapped twice."""
        return [offset - m.offset + m.start for m in self.maps
                if m.executable and m.path.removesuffix(" (deleted)") == path and
                m.offset <= offset < m.offset + m.end - m.start]

    def read(self, address, size):
        m = self.mapping(address)
        if not m:
            return b""
        size = min(size, m.end - address)
        if m.code is not None:
            return m.code[address - m.start:address - m.start + size]
        try:
            return os.pread(self.memory, size, address)
        except OSError:
            return b""

    def word(self, address):
        size = self.bits // 8
        data = self.read(address, size)
        return struct.unpack("<Q" if size == 8 else "<I", data)[0] if len(data) == size else None

    def elf(self, m):
        """The file behind a mapping, or None."""
        key = m.device, m.inode, m.path
        if key not in self.elves:
            self.elves[key] = self._open(m)
        return self.elves[key]

    def _open(self, m):
        try:
            if m.path == "[vdso]":
                return elfcode.Elf(self.read(m.start, m.end - m.start))
            if not m.inode:
                return None
            path = "/proc/%d/map_files/%x-%x" % (self.pid, m.start, m.end)
            about = os.stat(path)
            return _elf_of_file(path, about.st_dev, about.st_ino, about.st_mtime_ns)
        except (OSError, elfcode.NotElf, struct.error, IndexError):
            return None

    def bias(self, m, elf):
        """The difference between an address in memory and in the file."""
        if m.path == "[vdso]":
            return m.start - min(load[1] for load in elf.loads)
        for offset, address, size in elf.loads:
            if offset // PAGE * PAGE <= m.offset < offset + size:
                return m.start - m.offset - (address - offset)
        return None

    def function(self, address):
        """(start, end) of the function that contains an address, in memory; None if unknown."""
        m = self.code_at(address)
        if not m:
            return None
        elf = self.elf(m)
        if not elf:
            return self._made_function(address)
        bias = self.bias(m, elf)
        found = elf.function(address - bias) if bias is not None else None
        return (max(found[0] + bias, m.start), min(found[1] + bias, m.end)) if found else None

    def _made_function(self, address):
        i = bisect.bisect_right(self.edges, (address, True)) - 1
        if not 0 <= i < len(self.edges) - 1 or not self.edges[i][1]:
            return None
        return self.edges[i][0], self.edges[i + 1][0]

    def java_method(self, address):
        """The name of the compiled Java method that contains an address, from the map that the VM writes."""
        if not self.is_java or not (m := self.code_at(address)) or not m.anonymous:
            return None
        function = self._made_function(address)
        name = self.names.get(function[0]) if function else None
        return name if name and "(" in name and not METHOD_HANDLE.search(name) else None

    def name(self, address):
        """The name of the function that begins exactly there."""
        m = self.code_at(address)
        elf = self.elf(m) if m else None
        if not elf:
            return self.names.get(address)
        bias = self.bias(m, elf)
        return elf.names.get(address - bias) if bias is not None else None

    def is_outermost(self, address):
        """Whether the code is known to have no caller: by a table, or as the entry point of the file."""
        m = self.code_at(address)
        elf = self.elf(m) if m else None
        bias = self.bias(m, elf) if elf else None
        if bias is None:
            return False
        entry = elf.function(elf.entry)
        inside = entry and entry[0] <= address - bias < entry[1] or 0 <= address - bias - elf.entry < 64
        return bool(inside) or elf.is_outermost(address - bias)
