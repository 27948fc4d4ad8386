#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of other tools, converted to the other byte order, give the same result."""
import glob
import os
import re

import machine as m
from byteswap import swapped
from ptyscreen import run

DATA = os.path.join(m.SOURCE, "tests", "data")
FORMATS = ("json", "folded", "script", "report", "callgraph", "callers", "speedscope", "svg")


def outcome(file, form):
    return m.export(file, form)


def check(name):
    """All exports of a recording and of its byte-swapped copy are the same."""
    copy = m.path(name)  # with the same name, which some formats contain
    with open(os.path.join(DATA, name), "rb") as file:
        data = file.read()
    with open(copy, "wb") as file:
        file.write(swapped(data))
    for form in FORMATS:
        ours, theirs = (outcome(path, form).replace(os.path.dirname(path), "")
                        for path in (copy, os.path.join(DATA, name)))
        if form == "json":  # its compressed pieces differ
            ours, theirs = (re.sub(r'"COMPRESSED": ?\d+', "", text) for text in (ours, theirs))
        assert ours == theirs, (name, form, [pair for pair in zip(ours.split("\n"), theirs.split("\n"))
                                             if pair[0] != pair[1]][:3])


def all_recordings():
    """every little-endian recording reads the same when it is byte-swapped"""
    names = [os.path.basename(file)[:-len(".json")]
             for file in sorted(glob.glob(os.path.join(DATA, "*.json")))]
    assert len(names) >= 8, names
    for name in names:
        if not name.endswith("zstd"):
            check(name)


def compressed():
    """a compressed recording reads the same when it is byte-swapped"""
    m.need_tools("zstd", package="zstd")
    check("perfparser__fork_static_gcc__perf.data.zstd")


run(all_recordings, compressed)
