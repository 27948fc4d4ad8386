# SPDX-License-Identifier: GPL-2.0-or-later
"""The true stacks of a program, as its source states them, and the comparison of sampled stacks with them.
A line "truth: FRAME;FRAME;..." in a source in tests/zoo is a path from the root to the leaf. A stack is true
if it is the beginning of a path: a sample may be in any function of it. A FRAME is
    name     a function            ~regex   functions             name+    one or more of them in a row
    =name    one inlined there     a{3..1}b  a3b;a2b;a1b           @word    of MACROS: libc's own functions
    ..       any number of frames that have names                 *        (last) anything, not counted"""
import collections
import copy
import functools
import glob
import os
import re
import subprocess

# A frame with a location: neither a bare address nor a mark such as "[broken]".
NAMED = r"(?!\[|0x)[^;]+"
MARK = re.compile(r"\[(?:broken|truncated|caller unknown)[^;]*\]")
INLINED = " (inlined)"


@functools.lru_cache
def libc_is_named():
    """Whether libc's private functions can have names here: its debug file is installed."""
    for libc in glob.glob("/lib/*/libc.so.6") + glob.glob("/lib64/libc.so.6"):
        notes = subprocess.run(["readelf", "-n", libc], capture_output=True, text=True, check=False).stdout
        found = re.search(r"Build ID: (\w\w)(\w+)", notes)
        if found and os.path.exists("/usr/lib/debug/.build-id/%s/%s.debug" % found.groups()):
            return True
    return False


def of_libc(names):
    return "~" + names if libc_is_named() else "~%s|libc\\.so\\.6\\+0x[0-9a-f]+" % names


MACROS = {
    "@start": ("_start", of_libc(r"__libc_start_main[\w@.]*"), of_libc("__libc_start_call_main")),
    "@thread": (of_libc(r"_*(?:GI_+)?clone3?"), of_libc("start_thread")),
    "@coroutine": (of_libc("__start_context"),),
    "@signal": (of_libc("__restore_rt"),),
}
PATTERNS = (
    (r"@js (\w+)", r"~JS:[*^~]?\1 \\S*reactor\\.js:\\d+:\\d+"),
    (r"@java (\w+)", r"~\\w+ Steam\\.\1\\(.*\\)"),
)


def expand(token):
    if token in MACROS:
        return list(MACROS[token])
    for pattern, regex in PATTERNS:
        token = re.sub("^%s$" % pattern, regex, token)
    numbers = None if token.startswith("~") else re.search(r"\{(\d+)\.\.(\d+)\}", token)
    if not numbers:
        return [token]
    first, last = map(int, numbers.groups())
    step = -1 if first > last else 1
    return [token.replace(numbers.group(), str(i)) for i in range(first, last + step, step)]


def one(token):
    """The regular expression of one frame of a token."""
    if token.startswith("~"):
        return "(?:%s)" % token[1:].replace(".*", "[^;]*")
    if token.startswith("="):
        return re.escape(token[1:] + INLINED)
    return re.escape(token[:-1] if token.endswith("+") else token)


def several(token, later):
    """The regular expression of all frames of a token, each followed by ;. Skipped frames are none of the
    later ones."""
    if token == "..":
        return "(?:(?!(?:%s);)%s;)*" % ("|".join(one(t) for t in later if t not in ("..", "*")) or "(?!)",
                                        NAMED)
    if token == "*":
        return "(?:[^;]+;)*"
    return "(?:%s;)%s" % (one(token), "+" if token.endswith("+") else "")


def beginning(patterns):
    return re.compile("".join("(?:" + p for p in patterns) + ")?" * len(patterns))


class Path:
    def __init__(self, text, rename):
        self.tokens = [rename.get(t, t) for token in text.strip().split(";") for t in expand(token)]
        patterns = [several(t, self.tokens[i + 1:]) for i, t in enumerate(self.tokens)]
        self.root = re.compile(one(self.tokens[0]))
        self.whole = re.compile("".join(patterns))
        self.begins = beginning(patterns)
        self.rests = [beginning(patterns[i:]) for i in range(1, len(patterns))]
        self.singles = [(t, re.compile(one(t))) for t in self.tokens if t not in ("..", "*")]

    def in_order(self, frames):
        """The largest number of the path's frames found in a stack in order, and the number expected."""
        best = [[] for _ in range(len(self.singles) + 1)]
        for frame in frames:
            before = best[:]
            for j, (token, pattern) in enumerate(self.singles, 1):
                best[j] = max(before[j], best[j - 1], key=len)
                if pattern.fullmatch(frame):
                    more = before[j] if token.endswith("+") and token in before[j] else before[j - 1]
                    best[j] = max(best[j], more + [token], key=len)
        leaf = [j for j, (_, pattern) in enumerate(self.singles, 1) if pattern.fullmatch(frames[-1])]
        return best[-1], max(len(frames), leaf[0] if leaf else 0)


class Truth:
    """All paths of a source. rename: other names that functions have in the compiled program."""

    def __init__(self, source, rename=None):
        with open(source, encoding="utf-8") as file:
            lines = re.findall(r"^[ *]*truth: (.*)$", file.read(), re.M)
        assert lines, source + " does not say what is true of it"
        self.paths = [Path(line, rename or {}) for line in lines]
        self.inlines = any(t.startswith("=") for p in self.paths for t in p.tokens)

    def with_paths(self, paths):
        more = copy.copy(self)
        more.paths = self.paths + [Path(path, {}) for path in paths]
        return more

    def tokens_in(self, frames):
        """The tokens of all paths that one of the frames matches."""
        return {token for p in self.paths for token, pattern in p.singles
                if any(pattern.fullmatch(frame) for frame in frames)}

    def of_frames(self, frames):
        frames = [re.sub(r" \[clone \.cold\]$|\.cold$", "", frame) for frame in frames]
        return frames if self.inlines else [frame for frame in frames if not frame.endswith(INLINED)]


class Verdict:
    """How stacks, [(frames from the root, count)], compare with the truth."""

    def __init__(self, truth, stacks):
        self.samples = self.rooted = self.marked = self.exact = self.whole = 0
        self.frames = self.true_frames = 0
        self.found = collections.Counter()  # samples with a true frame at its position
        self.wrong = collections.Counter()
        self.stacks = []
        self.add(truth, stacks)

    def add(self, truth, stacks):
        for frames, count in stacks:
            self.stacks.append((truth.of_frames(frames), count))
            self._add(truth, *self.stacks[-1])

    def _add(self, truth, frames, count):
        self.samples += count
        if not frames:
            self.wrong[""] += count
            return
        text = "".join(frame + ";" for frame in frames)
        self.rooted += count * any(p.root.fullmatch(frames[0]) for p in truth.paths)
        self.whole += count * any(p.whole.fullmatch(text) for p in truth.paths)
        exact = any(p.begins.fullmatch(text) for p in truth.paths)
        marked = not exact and MARK.fullmatch(frames[0]) and len(frames) > 1
        rest = text.split(";", 1)[1]
        marked = bool(marked) and any(r.fullmatch(rest) for p in truth.paths for r in p.rests)
        found, expected = max((p.in_order(frames) for p in truth.paths), key=lambda f: (len(f[0]), -f[1]))
        self.exact += count * exact
        self.marked += count * marked
        if exact or marked:
            expected, right = len(frames) - marked, len(frames) - marked
            # where a path ends with "*", another path's functions may follow, which perf finds by themselves
            found = found + [token for token in truth.tokens_in(frames) if token not in found]
        else:
            right = len(found)
        self.frames += count * expected
        self.true_frames += count * right
        for token in found:
            self.found[token] += count
        if not exact:
            self.wrong[text] += count

    def share(self, count):
        return count / self.samples if self.samples else 0

    def __str__(self):
        return ("%d samples, %.1f %% with their true root, %.1f %% marked as truncated, "
                "%.1f %% of frames true, %.1f %% to the end") % (
            self.samples, 100 * self.share(self.rooted), 100 * self.share(self.marked),
            100 * self.true_frames / self.frames if self.frames else 0, 100 * self.share(self.whole))

    def worst(self, n=3):
        return "".join("\n%6d  %s" % (count, text) for text, count in self.wrong.most_common(n))


def missing(mine, theirs, marked=0):
    """{frame: (my samples, their samples)} of frames that they find in more samples of the same file. marked:
    my samples that may lack any frame, because they are marked."""
    return {token: (mine.found[token], count) for token, count in theirs.found.items()
            if mine.found[token] + marked < count}


def perf_stacks(text, named=None):
    """[(frames from the root, count)] from perf script -F comm,ip,sym,dso. named(dso, offset): for frames
    without a symbol."""
    counts = collections.Counter()
    for block in text.split("\n\n"):
        frames = []
        for line in block.split("\n"):
            found = re.match(r"\s+([0-9a-f]+) (.*?)(?: \(([^()]*)\))?$", line)
            if not found:
                continue
            offset, name, dso = int(found.group(1), 16), found.group(2), found.group(3) or ""
            if dso == "inlined":
                name += INLINED
            if name == "[unknown]" and named:
                name = named(dso, offset) or name
            frames.append(name.replace(";", ":"))
        if block.strip():
            counts[tuple(reversed(frames))] += 1
    return [(list(frames), count) for frames, count in counts.items()]
