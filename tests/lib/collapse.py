# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts the text of perf script as stackcollapse-perf.pl does: its rules for one event, in samples."""
import collections
import re


def names_of(function, module, java, kernel, jit):
    """The names in the folded line for one line of a stack; none for the name of a process."""
    function = re.sub(r"(?: \[[^\[\]]+\])?\+0x[\da-f]+.*$", "", function)
    if function.startswith("("):
        return []
    parts = []
    for part in re.sub(r"(?:->)+$", "", function).split("->"):
        if part == "[unknown]":
            part = "[%s]" % (module.rsplit("/", 1)[-1] if module != "[unknown]" else "unknown")
        part = part.replace(";", ":").replace('"', "").replace("'", "")
        if java and "/" in part and part.startswith("L"):
            part = part[1:]
        if parts:
            part += "" if "_[i]" in part else "_[i]"
        elif kernel and re.search(r"^\[|vmlinux$", module) and "unknown" not in module:
            part += "_[k]"
        elif jit and re.search(r"/tmp/perf-\d+\.map", module):
            part += "" if "_[j]" in part else "_[j]"
        parts.append(part)
    return parts


def collapse(lines, pid=False, tid=False, kernel=False, jit=False):
    """{folded stack: samples}"""
    found, who, stack = collections.Counter(), None, []
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if who and stack:
                found[";".join([who] + stack)] += 1
            who, stack = None, []
            continue
        head = re.match(r"(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
        if head:
            comm, one, two = head.groups()
            process, thread = (one, two) if two else ("?", one)
            who = comm + ("-%s/%s" % (process, thread) if tid else "-" + process if pid else "")
            who = who.replace(" ", "_")
            continue
        frame = re.match(r"\s*(\w+)\s*(.+) \((.*)\)", line)
        assert frame, "not a line of a stack: " + line
        stack[:0] = names_of(frame.group(2), frame.group(3), who.startswith("java"), kernel, jit)
    return found
