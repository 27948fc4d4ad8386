# SPDX-License-Identifier: GPL-2.0-or-later
"""Disassembles x86 machine code with objdump: which instructions call, jump or return, and to where."""
import os
import re
import struct
import subprocess
import tempfile

CALL, CALL_SLOT, CALL_ANY, JUMP, BRANCH, JUMP_SLOT, JUMP_ANY, SWITCH, END, NOP, OTHER = (
    "call", "call slot", "call any", "jump", "branch", "jump slot", "jump any", "switch", "end",
    "nop", "other")
PADDING = b"\x90" * 32  # between pieces of code: a truncated instruction does not swallow the next piece
LOOK_BACK = 8           # instructions before a jump where its table may be read
PREFIXES = re.compile(r"^(?:(?:bnd|notrack|rep[a-z]*|data16|addr32|lock|[cdefgs]s|rex[.A-Z]*) )+")
LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)$")
DIRECT = re.compile(r"^(call|jmp|j[a-z]+|loop[a-z]*|xbegin)[lqw]?(?:,p[nt])? +(?:0x)?([0-9a-f]+)\b")
INDIRECT = re.compile(r"^l?(call|jmp)[lqw]? +\*(.*)$")
SLOT = re.compile(r"\(%rip\) +# (?:0x)?([0-9a-f]+)")


def classify(text, before):
    """(kind, target as objdump prints it)"""
    bare = PREFIXES.sub("", text)
    found = DIRECT.match(bare)
    if found:
        kind = {"call": CALL, "jmp": JUMP}.get(found.group(1), BRANCH)
        return kind, int(found.group(2), 16)
    found = INDIRECT.match(bare)
    if found:
        slot = SLOT.search(found.group(2))
        if found.group(1) == "call":
            return (CALL_SLOT, int(slot.group(1), 16)) if slot else (CALL_ANY, None)
        if slot:
            return JUMP_SLOT, int(slot.group(1), 16)
        table = any("movs" in line and ",4)" in line for line in before)
        return (SWITCH if table or "notrack" in text else JUMP_ANY), None
    word = bare.split(" ", 1)[0]
    if word.startswith(("ret", "iret", "hlt", "ud2", "(bad)", "int3")):
        return END, None
    return (NOP if word.startswith("nop") or bare == "xchg %ax,%ax" else OTHER), None


def disassemble(pieces, machine):
    """pieces: [(address, bytes)]. Returns for each [(address, next address, kind, target)] of its code."""
    at, places, blob = 0, [], []
    for address, data in pieces:
        places.append((at, address, len(data)))
        blob += [data, PADDING]
        at += len(data) + len(PADDING)
    found = [[] for _ in pieces]
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(blob))
        file.flush()
        with subprocess.Popen(["objdump", "-D", "-z", "-w", "--no-show-raw-insn", "-b", "binary", "-m",
                               machine, file.name],
                              stdout=subprocess.PIPE, text=True, env=dict(os.environ, LC_ALL="C")) as process:
            _read(process.stdout, places, found, 64 if machine.endswith("64") else 32)
    assert process.returncode == 0, "objdump ended with %d" % process.returncode
    return found


def _read(lines, places, found, bits):
    piece, mask, last, before = 0, (1 << bits) - 1, None, []
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        at, text = int(match.group(1), 16), match.group(2).strip()
        if last is not None:
            address, kind, target, place = last
            found[place].append((address, address + at - last_at, kind, target))
        while piece + 1 < len(places) and at >= places[piece + 1][0]:
            piece += 1
            before = []
        start, address, size = places[piece]
        last = None
        if at < start + size:
            kind, target = classify(text, before[-LOOK_BACK:])
            if target is not None:
                target = (target - start + address) & mask
            last, last_at = (address + at - start, kind, target, piece), at
            before.append(text)


def calls_that_end(data, end, bits):
    """The call instructions that the bytes right before an address can be: [(kind, target)]."""
    found = []
    if len(data) >= 5 and data[-5] == 0xe8:
        found.append((CALL, (end + struct.unpack("<i", data[-4:])[0]) & ((1 << bits) - 1)))
    for size in range(2, 8):
        if (len(data) >= size and data[-size] == 0xff and
                _indirect_call_size(data[-size + 1:], bits) == size - 1):
            found.append((CALL_ANY, None))
    return found


def _indirect_call_size(data, bits):
    """Bytes of ModRM, SIB and displacement of a near indirect call; 0: another instruction."""
    mode, reg, rm = data[0] >> 6, data[0] >> 3 & 7, data[0] & 7
    if reg != 2:
        return 0
    if mode == 3:
        return 1
    size = 1 + (0, 1, 4)[mode]
    if rm == 4:
        size += 1
        if mode == 0 and len(data) > 1 and data[1] & 7 == 5:
            size += 4
    elif mode == 0 and rm == 5:
        size += 4
    return size
