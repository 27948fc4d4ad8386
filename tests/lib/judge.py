# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks each caller and callee in the stacks of a script export (flametop's, or perf's) against the machine
code. A pair is possible if a call instruction ends right before the caller's return address and can have led
to the callee: directly, through a stub, or through functions that jump on. A call through a register or
memory can lead anywhere. A frame interrupted by a signal made no call. The code is read from the process,
which must still run. A stack ends in a mark ("[truncated: ...]", "[caller unknown]"), in a true root (a
function that the kernel or a library starts without a call: _start, clone, the base of a coroutine or
goroutine), or else in a false root."""
import collections
import re

import machinecode as mc
import process

WINDOW = 1024      # bytes decoded at once of code without bounds
STEPS_MAX = 4000   # functions or windows followed from a call: beyond them anything is possible
FUNCTION_MAX = 2 << 20
STUB = 16           # bytes at most
FIELDS = "comm,pid,tid,ip,sym,dso"  # required fields of a script
HEAD = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*)$")
MARK = re.compile(r"\[(?:truncated\b[^\]]*|broken|caller unknown)\]")
ROOTS = re.compile(r"_start|__libc_start\w*|(?:__|__GI_+)?clone3?|start_thread|_dl_start(?:_user)?|"
                   r"__start_context|ret_from_fork\w*|_rt0_\w+|"
                   r"runtime\.(?:goexit|mstart|rt0_go|mcall|morestack)\d?(?:\.abi0)?")
# put on a new stack as a return address, without a call
BASES = re.compile(r"__start_context|runtime\.goexit(?:\.abi0)?")
SIGRETURN = (b"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", b"\xb8\x0f\x00\x00\x00\x0f\x05",
             b"\x58\xb8\x77\x00\x00\x00\xcd\x80", b"\xb8\xad\x00\x00\x00\xcd\x80",
             b"\x58\xb8\x77\x00\x00\x00\x0f\x05", b"\xb8\xad\x00\x00\x00\x0f\x05")
# HotSpot's interpreter puts this code's address on a method's stack as return address: mov -16(%rbp),%rsp;
# movq $0,-16(%rbp).
INTERPRETER_RETURN = b"\x48\x8b\x65\xf0\x48\xc7\x45\xf0\x00\x00\x00\x00"

Frame = collections.namedtuple("Frame", "address name module")
Sample = collections.namedtuple("Sample", "pid comm frames mark")


def split_frame(text):
    """(name, module) from the text after a frame's address."""
    if not text.endswith(")"):
        return text, None
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if not depth:
            return re.sub(r"\+0x[0-9a-f]+$", "", text[:i].rstrip()), text[i + 1:-1]
    return text, None


def read_script(text, less=0):
    """The samples of a script with the fields comm, pid, tid, ip, sym, dso: user frames, leaf first. less:
    how much is subtracted from return addresses (perf, from DWARF: 1)."""
    head, frames, mark = None, [], None
    for line in text.split("\n") + [""]:
        found = FRAME.match(line)
        if head and found:
            name, module = split_frame(found.group(2))
            if MARK.fullmatch(name) or (module == "[unknown]" and not int(found.group(1), 16)):
                mark = name if name.startswith(("[c", "[t")) else "[broken]"
            elif module != "inlined" and not _is_kernel(int(found.group(1), 16), module):
                frames.append(Frame(int(found.group(1), 16) + (less if frames else 0), name, module))
        elif not line.strip():
            if head and frames:
                yield Sample(int(head.group(2)), head.group(1), tuple(frames), mark)
            head, frames, mark = None, [], None
        else:
            head, frames, mark = HEAD.match(line.lstrip()), [], None


def _is_kernel(address, module):
    return (module is None or address >> 63 or module.startswith(("[kernel", "[guest")) or
            module.endswith((".ko", ".ko.xz")))


class Reach:
    """The possible targets of a call: functions, and single instructions of code without bounds."""

    def __init__(self):
        self.functions, self.starts, self.ends = set(), set(), set()
        self.anything = False


class Code:
    """The instructions of a process, decoded on demand, many at once."""

    def __init__(self, of):
        self.of = of
        self.blocks, self.wanted, self.reaches = {}, set(), {}
        self.machine = "i386:x86-64" if of.bits == 64 else "i386"

    def block(self, start, end):
        """The decoded block; None: not decoded yet, decode() will do it."""
        found = self.blocks.get((start, end))
        if found is None:
            self.wanted.add((start, end))
        return found

    def decode(self):
        """Decodes the requested code; False if there was none."""
        wanted = sorted(self.wanted)
        self.wanted = set()
        pieces = [(start, self.of.read(start, end - start)) for start, end in wanted]
        for key, block in zip(wanted, mc.disassemble(pieces, self.machine) if pieces else ()):
            self.blocks[key] = block
        return bool(wanted)

    def calls_before(self, back):
        """[(kind, target)] of the calls that can return to the address; None: not decoded yet."""
        function = self.of.function(back - 1)
        if function and function[1] - function[0] <= FUNCTION_MAX:
            block = self.block(*function)
            if block is None:
                return None
            edges = [(kind, target) for _, end, kind, target in block if end == back]
            if edges:
                return [edge for edge in edges if edge[0] in (mc.CALL, mc.CALL_ANY, mc.CALL_SLOT)]
        calls = mc.calls_that_end(self.of.read(back - 8, 8), back, self.of.bits)
        return [call for call in calls if call[1] is None or self.of.code_at(call[1])]

    def target_of_slot(self, slot):
        """The target of an indirect jump through a read-only word; None: anywhere."""
        m = self.of.mapping(slot)
        target = self.of.word(slot) if m and m.inode else None
        return target if target and self.of.code_at(target) else None

    def is_fixed(self, slot):
        m = self.of.mapping(slot)
        return bool(m) and "w" not in m.permissions

    def reach(self, target):
        """None: not decoded yet."""
        found = self.reaches.get(target)
        if found is None:
            found = self._search(target)
            if found:
                self.reaches[target] = found
        return found

    def _search(self, target):
        reach, queue, seen, complete = Reach(), [target], set(), True
        while queue and not reach.anything:
            at = queue.pop()
            if at in seen:
                continue
            seen.add(at)
            if len(seen) > STEPS_MAX or not self.of.code_at(at):
                reach.anything = True
                break
            function = self.of.function(at)
            if function and function[1] - function[0] <= FUNCTION_MAX:
                if function in reach.functions:
                    continue
                block = self.block(*function)
                leaves = self._leaves(function, block, reach) if block is not None else None
                block = None if leaves is None else block
                reach.functions.add(function)
                queue += leaves or []
            else:
                block = self.block(at, self._window_end(at))
                if block is not None:
                    queue += self._follow(block, reach)
            complete &= block is not None
        return reach if complete or reach.anything else None

    def _window_end(self, at):
        m, end = self.of.code_at(at), at + WINDOW
        return min(end, m.end)

    def _leaves(self, function, block, reach):
        """The targets that a function reaches without a call."""
        start, end = function
        slots = [target for _, _, kind, target in block if kind == mc.JUMP_SLOT]
        if slots and end - start <= STUB:
            return self._stub_leaves(slots[0], block, reach)
        kinds = [kind for _, _, kind, _ in block if kind != mc.NOP]
        leaves = [target for _, _, kind, target in block
                  if kind in (mc.JUMP, mc.BRANCH) and not start <= target < end]
        reach.anything |= mc.JUMP_ANY in kinds or bool(slots)
        if kinds and kinds[-1] in (mc.OTHER, mc.BRANCH):
            leaves.append(end)
        return leaves + self._cold_parts(start)

    def _stub_leaves(self, slot, block, reach):
        """A PLT stub leads to the target in its slot. If the slot was only just resolved, the resolver may
        still be at work:
        the end of the table's first entry leads there."""
        to = self.target_of_slot(slot)
        first = [target for _, _, kind, target in block if kind == mc.JUMP]
        if to is None or any(start <= to < end for start, end, _, _ in block):
            reach.anything = True
            return []
        for at in first:
            stub = self.of.function(at)
            entry = self.block(*stub) if stub else []
            if entry is None:
                return None
            reach.functions |= {self.of.function(self.target_of_slot(target) or 0)
                                for _, _, kind, target in entry
                                if kind == mc.JUMP_SLOT} - {None}
        return [to]

    def _cold_parts(self, start):
        """Code reached only when an exception is thrown."""
        m = self.of.code_at(start)
        elf, name = self.of.elf(m), self.of.name(start)
        if not elf or not name:
            return []
        return [elf.cold[name] + self.of.bias(m, elf)] if name in elf.cold else []

    def _follow(self, block, reach):
        """The instructions from the beginning of a block on, as long as they are consecutive."""
        for at, end, kind, target in block[:-1] or block:
            if at in reach.starts:
                return
            reach.starts.add(at)
            reach.ends.add(end)
            if kind in (mc.JUMP, mc.BRANCH):
                yield target
            elif kind in (mc.JUMP_ANY, mc.SWITCH):
                reach.anything = True
            elif kind == mc.JUMP_SLOT:
                to = self.target_of_slot(target)
                reach.anything |= to is None
                if to is not None:
                    yield to
            if kind in (mc.JUMP, mc.JUMP_ANY, mc.SWITCH, mc.JUMP_SLOT, mc.END):
                return
        if len(block) > 1:  # the end of the window may have truncated it
            yield block[-1][0]

    def leads(self, target, callee, exact):
        """Whether a call of target can have led to the callee, given by its address or by its return address.
        None: not decoded yet."""
        inside = callee - (not exact)
        methods = self.of.java_method(target), self.of.java_method(inside)
        # methods jump to stubs, never to other methods; the call may now lead to a newer version
        if all(methods):
            return methods[0] == methods[1]
        reach = self.reach(target)
        if reach is None:
            return None
        return (reach.anything or any(start <= inside < end for start, end in reach.functions) or
                (callee in (reach.starts if exact else reach.ends)))


class Judge:
    """Judges the stacks of one process, as it is now."""

    def __init__(self, pid):
        self.of = process.Process(pid)
        self.code = Code(self.of)
        self.addresses, self.verdicts = {}, {}

    def close(self):
        self.of.close()

    def places(self, frame):
        """Its addresses in memory; empty if no mapped code contains it."""
        if frame not in self.addresses:
            self.addresses[frame] = self._places(frame)
        return self.addresses[frame]

    def _places(self, frame):
        module = frame.module.removesuffix(" (deleted)")
        if module in ("[vdso]", "[vdso32]"):
            return [m.start + frame.address for m in self.of.maps if m.path == "[vdso]"]
        found = self.of.locate(module, frame.address)
        if not found and (not module.startswith("/") or module.startswith(("//", "/tmp/perf-"))):
            found = [frame.address] if self.of.code_at(frame.address) else []
        return found

    def is_trampoline(self, address):
        """A signal handler returns to it, though nothing called it; the thread may be anywhere in it."""
        return any(self.of.read(address - i, len(code)) == code
                   for code in SIGRETURN for i in range(len(code) + 1))

    def judge(self, callee, exact, caller):
        """"" if the caller is possible, else the reason; None: the code is not decoded yet."""
        if not self.places(callee) or not self.places(caller):
            return "" if self.is_gone(caller if self.places(callee) else callee) else "it is no code"
        found = [self._judge_places(called, exact, back, caller.name)
                 for called in self.places(callee) for back in self.places(caller)]
        return "" if "" in found else None if None in found else found[0]

    def _judge_places(self, called, exact, back, name):
        if self.is_trampoline(back) or self.is_trampoline(called):
            return ""
        calls = self.code.calls_before(back)
        if calls is None:
            return None
        if not calls:
            known = BASES.fullmatch(name) or self.of.read(back, len(INTERPRETER_RETURN)) == INTERPRETER_RETURN
            return "" if known else "no call ends before it"
        leads = [self._leads(kind, target, called, exact) for kind, target in calls]
        return "" if True in leads else None if None in leads else "the call before it leads elsewhere"

    def _leads(self, kind, target, called, exact):
        if kind == mc.CALL_SLOT:
            target = self.code.target_of_slot(target) if self.code.is_fixed(target) else None
        return target is None or self.code.leads(target, called, exact)

    def is_gone(self, frame):
        """Whether the file is no longer mapped, so that nothing is known."""
        return frame.module.startswith("/") and not any(m.path == frame.module for m in self.of.maps)

    def is_root(self, frame):
        if ROOTS.fullmatch(re.sub(r"@+[\w.]+$", "", frame.name)):
            return True
        return any(self.of.is_outermost(at - 1) for at in self.places(frame))


def pairs_of(sample):
    """[(callee, whether its address is exact, caller)]"""
    frames = sample.frames
    return [(frames[i], i == 0, frames[i + 1]) for i in range(len(frames) - 1)]


class Verdict:
    """The result for the samples of a script."""

    def __init__(self):
        self.samples = self.lies = self.rooted = self.pairs = self.unjudged = 0
        self.marked, self.impossible, self.false_roots = (collections.Counter() for _ in range(3))

    def share(self, n):
        return 100 * n / self.samples if self.samples else 0

    def __str__(self):
        marks = ", ".join("%s %.1f %%" % (mark, self.share(n)) for mark, n in self.marked.most_common())
        return ("%d samples: %.2f %% with an impossible caller, %.2f %% with a false root, "
                "%.1f %% with a true root%s") % (
            self.samples, self.share(self.lies), self.share(sum(self.false_roots.values())),
            self.share(self.rooted), ", marked: " + marks if marks else "")

    def details(self, n=10):
        for (callee, caller, why), count in self.impossible.most_common(n):
            yield "%6d  %s <- %s: %s" % (count, show(callee), show(caller), why)
        for (leaf, frame), count in self.false_roots.most_common(n):
            yield "%6d  false root %s (leaf %s)" % (count, show(frame), show(leaf))


def show(frame):
    return "%s %x (%s)" % (frame.name, frame.address, (frame.module or "").rsplit("/", 1)[-1])


def decide(samples, judges):
    """{pid: {pair: why it is impossible, or ""}}. judges: {pid: [Judge]}; a pair is possible if one of them
    allows it."""
    verdicts = {pid: {} for pid in judges}
    wanted = {pid: {pair for s in samples if s.pid == pid for pair in pairs_of(s)} for pid in judges}
    for pid, of_process in judges.items():
        left = wanted[pid]
        for one in of_process:
            open_pairs, refuted = left, {}
            while open_pairs:
                again = set()
                for pair in open_pairs:
                    why = one.judge(*pair)
                    if why is None:
                        again.add(pair)
                    elif why:
                        refuted[pair] = why
                    else:
                        verdicts[pid][pair] = ""
                if again and not one.code.decode():
                    raise AssertionError("code that cannot be decoded: %r" % (sorted(again)[:3],))
                open_pairs = again
            left = set(refuted)
            verdicts[pid].update(refuted)
    return verdicts


def judge(text, judges, less=0):
    """The verdict on a script (see read_script). judges: {pid: [Judge]}; other processes are not judged."""
    verdict, samples = Verdict(), list(read_script(text, less))
    verdicts = decide(samples, judges)
    for sample in samples:
        if sample.pid not in judges:
            verdict.unjudged += 1
            continue
        verdict.samples += 1
        lies = {(callee, caller, verdicts[sample.pid][callee, exact, caller])
                for callee, exact, caller in pairs_of(sample) if verdicts[sample.pid][callee, exact, caller]}
        verdict.lies += bool(lies)
        verdict.impossible.update(lies)
        if sample.mark:
            verdict.marked[sample.mark] += 1
        elif any(one.is_root(sample.frames[-1]) for one in judges[sample.pid]):
            verdict.rooted += 1
        else:
            verdict.false_roots[sample.frames[0], sample.frames[-1]] += 1
    return verdict
