#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SVG flame graphs: their boxes; a browser that clicks and searches; two profiles compared."""
import collections
import json
import os
import re
import xml.etree.ElementTree as tree

import machine as m
import perffile
from browser import CONTROL, Page
from ptyscreen import Screen, run

DATA = os.path.join(m.SOURCE, "tests", "data")
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>]]>\"'&\\"
PAD = 10

STACKS = {"main": 0, "main;parse": 30, "main;parse;read_line": 10, "main;work;hot": 40, "main;work;warm": 15,
          "main;work": 5}
LATER = {"main;parse": 5, "main;parse;read_line": 5, "main;work;hot": 80, "main;new": 30}


def program(name="shop"):
    """Functions, one of which has a name that is dangerous to print."""
    p = perffile.Program(m.path(name), ["parse", "read_line", "work", "hot", "warm", "new", "evil"])
    m.tool("objcopy", "--redefine-sym", "evil=" + HOSTILE, p.path)
    return p


def profile(file, stacks, p, comm="shop"):
    samples = [stack for stack, n in stacks.items() for _ in range(n)]
    perffile.write(m.path(file), p,
                   [perffile.Sample(0.01 * i, 100, 0, s.split(";")) for i, s in enumerate(samples)],
                   {100: comm})
    return m.path(file)


Box = collections.namedtuple("Box", "name count extra x y width fill label")


def boxes_of(svg):
    found = []
    for g in tree.fromstring(svg).find(SVG + "g[@id='frames']"):
        title, rect, text = g.find(SVG + "title").text, g.find(SVG + "rect"), g.find(SVG + "text")
        name, count, extra = re.fullmatch(r"(?s)(.*) \(([\d,]+) samples, (.*)\)", title).groups()
        x, y, width = (float(rect.get(key)) for key in ("x", "y", "width"))
        found.append(Box(name, int(count.replace(",", "")), extra, x, y, width, rect.get("fill"),
                         "" if text is None else text.text))
    return found


def data_of(svg):
    return json.loads(tree.fromstring(svg).find(SVG + "script[@id='data']").text)


def paths_of(data):
    """{path of names below the root: samples}"""
    step, sums, path = 4 if "difference" in data else 3, collections.Counter(), []
    for i in range(0, len(data["nodes"]), step):
        func, depth, count = data["nodes"][i:i + 3]
        path[depth:] = [data["names"][func]]
        sums[tuple(path[1:])] += count
    return sums


def paths_of_folded(text, turned=False):
    sums = collections.Counter()
    for frames, count in m.stacks_of(text):
        frames = frames[::-1] if turned else frames
        for n in range(len(frames) + 1):
            sums[tuple(frames[:n])] += count
    return sums


def as_folded(paths):
    """Folded lines cannot have ';' in names, nor blanks in comms."""
    return collections.Counter({tuple(name.replace(";", ":").replace(" ", "_") for name in path): count
                                for path, count in paths.items()})


def files():
    p = program()
    return [profile("shop.data", STACKS, p), os.path.join(DATA, "google__perf.data.callgraph-3.8"),
            os.path.join(DATA, "perfparser__vector_static_gcc__perf.data")]


def same_as_folded():
    """the tree of an SVG has the paths and samples of the folded export, also inverted"""
    for file in files():
        folded = m.export(file, "folded", "--idle", "--fold", "raw")
        assert len(folded.splitlines()) > 3, file
        for options, turned in (((), False), (("--reverse",), True), (("--inverted",), False)):
            ours = paths_of(data_of(m.export(file, "svg", "--idle", *options)))
            assert as_folded(ours) == as_folded(paths_of_folded(folded, turned)), (file, options)


def check_row(row, scale, least):
    """Boxes of a row are adjacent, as wide as their samples, and none is too narrow."""
    end = 0
    for box in sorted(row, key=lambda b: b.x):
        wide = box.count * scale
        assert wide >= least - 1e-6 and abs(box.width - (wide - 0.5 if wide > 2 else wide)) < 0.11, box
        assert box.x >= end - 0.11, box
        end = box.x + wide


def laid_out():
    """boxes are as wide as their samples, inside their parents, sorted by name, and none is below minwidth"""
    for file in files():
        for width, least in ((1200, 0.1), (600, 12)):
            svg = m.export(file, "svg", "--idle", "--width", str(width), "--minwidth", str(least))
            found, all_samples = boxes_of(svg), data_of(svg)["nodes"][2]
            scale = (width - 2 * PAD) / all_samples
            rows = collections.defaultdict(list)
            for box in found:
                rows[box.y].append(box)
            levels = [sorted(rows[y], key=lambda b: b.x) for y in sorted(rows, reverse=True)]
            assert [b.name for b in levels[0]] == ["all"] and levels[0][0].count == all_samples
            for below, row in zip(levels, levels[1:]):
                check_row(row, scale, least)
                for parent in below:
                    end = parent.x + parent.count * scale
                    inside = [b for b in row if parent.x - 0.11 <= b.x and
                              b.x + b.count * scale <= end + 0.11]
                    assert [b.name for b in inside] == sorted(b.name for b in inside), inside
                assert sum(b.count for b in row) <= sum(b.count for b in below)
            whole = paths_of(data_of(svg))
            expected = sum(1 for count in whole.values() if count * scale >= least)
            assert len(found) == expected, (file, width, len(found), expected)
            for box in found:
                room = (box.count * scale - 6) / 7.2
                assert len(box.label) <= room + 1 and (box.label or room < 4), box
                cut = box.label.endswith("\u2026") or "<\u2026>" in box.label
                assert not box.label or box.label == box.name or cut, box


def dangerous_names():
    """names that would end an element, a script or a string are plain text everywhere in an SVG"""
    p = program()
    stacks = {"main;evil": 60, "main;work": 40}
    svg = m.export(profile("evil.data", stacks, p, comm="</text><script>"), "svg", "--title", HOSTILE,
                   "--subtitle", HOSTILE, "--countname", "samples", "--nametype", HOSTILE)
    root = tree.fromstring(svg)
    names = data_of(svg)["names"]
    assert HOSTILE in names and "</text><script>" in names, names
    assert {b.name for b in boxes_of(svg)} >= {HOSTILE, "</text><script>"}
    assert len(root.findall(".//" + SVG + "script")) == 2
    assert root.find(SVG + "title").text == HOSTILE and svg.count("alert(1)</script>") == 0
    for dark in (False, True):
        with Page(m.write("evil.svg", svg), dark=dark) as page:
            assert page.get("document.querySelectorAll('script').length") == 2
            assert not page.complaints()
            assert page.get("getComputedStyle(document.querySelector('#back')).fill") == (
                "rgb(21, 23, 28)" if dark else "rgb(255, 255, 255)")


def options():
    """flamegraph.pl's options work as in flamegraph.pl"""
    file = files()[0]
    svg = m.export(file, "svg", "--title", "Ten < seconds", "--countname", "samples", "--width", "700",
                   "--height", "20", "--fonttype", "Verdana", "--fontsize", "11", "--bgcolors", "#fafafa")
    root = tree.fromstring(svg)
    assert [root.get(name) for name in ("width", "font-size", "font-family")] == ["700", "11", "Verdana"]
    assert root.find(".//*[@id='title']").text == "Ten < seconds"
    ys = sorted({b.y for b in boxes_of(svg)}, reverse=True)
    assert ys[0] - ys[1] == 20 and boxes_of(svg)[0].y == ys[0]
    inverted = boxes_of(m.export(file, "svg", "--inverted"))
    assert inverted[0].name == "all" and inverted[0].y == min(b.y for b in inverted)
    fills = {}
    for palette in ("mixed hot mem io java js perl wakeup chain "
                    "aqua red green blue yellow purple orange").split():
        found = boxes_of(m.export(file, "svg", "--colors", palette))
        assert found == boxes_of(m.export(file, "svg", "--colors", palette)), palette
        fills[palette] = {b.name: b.fill for b in found}
    assert len({json.dumps(f) for f in fills.values()}) >= 11
    assert fills["wakeup"] == fills["aqua"] and fills["chain"] == fills["blue"]
    hashed = m.export(file, "svg", "--colors", "hot", "--hash")
    assert fills["hot"] != {b.name: b.fill for b in boxes_of(hashed)}
    for wrong in (("--colors", "pink"), ("--width", "x"), ("--minwidth", "2em"), ("--bgcolors", "#12")):
        status, _, why = m.flametop("-i", file, "--export", "svg", "-o", "-", *wrong, check=False)
        assert status == 2 and wrong[0] in why, why


def palette_map():
    """--cp reads colours from palette.map and adds new ones, as flamegraph.pl does"""
    here = m.path("map")
    os.makedirs(here, exist_ok=True)
    with open(os.path.join(here, "palette.map"), "w") as f:
        f.write("hot->rgb(1,2,3)\nsomething else->rgb(4,5,6)\n")
    file = files()[0]
    first = boxes_of(m.export(file, "svg", "--colors", "hot", "--cp", cwd=here))
    with open(os.path.join(here, "palette.map")) as f:
        lines = f.read().splitlines()
    assert lines == sorted(lines) and "something else->rgb(4,5,6)" in lines and "hot->rgb(1,2,3)" in lines, \
        lines
    assert any(re.fullmatch(r"parse->rgb\(\d+,\d+,\d+\)", line) for line in lines), lines
    assert {b.fill for b in first if b.name == "hot"} == {"#010203"}
    again = boxes_of(m.export(file, "svg", "--colors", "blue", "--cp", cwd=here))
    assert [b.fill for b in first][1:] == [b.fill for b in again][1:]
    with open(os.path.join(here, "palette.map"), "w") as f:
        f.write("hot->url(http://x)\n->\nrgb(1,2,3)\n")
    assert "http://x" not in m.export(file, "svg", "--cp", cwd=here)


def compared():
    """--diff is red for larger shares and blue for smaller ones, and the table has the changes"""
    p = program()
    before, after = profile("before.data", STACKS, p), profile("after.data", LATER, p)
    svg = m.export(after, "svg", "--diff", before)
    found = {b.name: b for b in boxes_of(svg)}
    change = {name: float(box.extra.split("; ")[1].rstrip("%")) for name, box in found.items()
              if name != "all"}
    # of 100 samples and of 120
    wanted = {"hot": 80 / 1.2 - 40, "new": 30 / 1.2, "parse": 10 / 1.2 - 40, "read_line": 5 / 1.2 - 10,
              "main": 0, "work": 80 / 1.2 - 60}
    assert {name: round(v, 2) for name, v in wanted.items()} == {n: change[n] for n in wanted}, change
    more, less, same = [], [], []
    for name, box in found.items():
        red, blue = int(box.fill[1:3], 16), int(box.fill[5:7], 16)
        (more if red > blue else less if blue > red else same).append(name)
    assert set(more) >= {"hot", "new", "work"} and set(less) == {"parse", "read_line"} and "main" in same, \
        (more, less, same)
    turned = {b.name: b for b in boxes_of(m.export(after, "svg", "--diff", before, "--negate"))}
    assert turned["parse"].fill > turned["hot"].fill and turned["hot"].extra.endswith("-26.67%"), turned
    assert "15.00% of it only there" in svg
    rows = re.findall(r"^ *([\d.]+) +([\d.]+) +([-+][\d.]+) +([\d.]+) +([\d.]+) +([-+][\d.]+)  shop +(\w+)$",
                      m.flametop("-i", after, "--diff", before)[1], re.M)
    assert [r[-1] for r in rows[:3]] == ["hot", "parse", "new"], rows
    assert rows[0] == ("40.00", "66.67", "+26.67", "40.00", "66.67", "+26.67", "hot"), rows[0]
    assert rows[1] == ("30.00", "4.17", "-25.83", "40.00", "8.33", "-31.67", "parse"), rows[1]
    status, _, why = m.flametop("-i", after, "--diff", before, "--export", "folded", "-o", "-", check=False)
    assert status == 2 and "cannot compare" in why, why


def ranges():
    """--diff-range compares seconds of one recording with the rest or with other seconds"""
    p = program()
    # a sample each hundredth of a second: the first second parses, the next one is hot for a half
    file = profile("ranges.data", {"main;parse": 100, "main;work;hot": 50, "main;work;warm": 50}, p)
    svg = m.export(file, "svg", "--diff-range", "0..0.995,1..1.995")
    found = {b.name: b for b in boxes_of(svg)}
    assert found["all"].count == 100 and found["hot"].count == 50 and "parse" not in found, found
    assert found["hot"].extra.endswith("; +50.00%") and found["main"].extra.endswith("; +0.00%"), found
    assert "100.00% of it only there" in svg and "compared with seconds 0..0.995" in svg
    rows = {r[-1]: r for r in re.findall(r"^ *([\d.]+) +([\d.]+) +([-+][\d.]+) .*  shop +(\w+)$",
                                         m.flametop("-i", file, "--diff-range", "0..0.995")[1], re.M)}
    assert rows["parse"][:3] == ("100.00", "50.00", "-50.00"), rows
    assert rows["hot"][:3] == ("0.00", "25.00", "+25.00"), rows
    for wrong in ("5", "2..1", "1..2,3", "a..b", "1..2..3", "..", "1e2..2e9"):
        status, _, why = m.flametop("-i", file, "--diff-range", wrong, check=False)
        assert status == 2 and "--diff-range" in why, (wrong, why)


def from_the_screen():
    """E writes the shown profile: filtered stacks, compared with the baseline of --diff"""
    p = program()
    before, after = profile("before.data", STACKS, p), profile("after.data", LATER, p)
    formats = [line.split()[0] for line in m.flametop("--list-exports")[1].splitlines()]
    with Screen(["-i", after, "--diff", before], size=(120, 40)) as s:
        s.wait(r"^ *\d+\.\d+ .* hot")
        s.send("\\", "pars", "enter")
        s.until(lambda: " hot" not in s.text() and " parse" in s.text(), "the filter never held")
        s.send("E", *["down"] * formats.index("svg"), "enter", m.path("screen.svg"), "enter")
        s.wait(r"written to .*screen.svg as svg")
    with open(m.path("screen.svg")) as f:
        svg = f.read()
    found = {b.name: b for b in boxes_of(svg)}
    assert set(found) == {"all", "shop", "main", "parse", "read_line"} and found["all"].count == 10, found
    assert found["read_line"].extra.endswith("; +25.00%"), found  # a half of 10, a quarter of 40


def middle(page, name):
    """The centre of the box with this name."""
    return page.get("""(() => { const g = Array.from(document.querySelectorAll('.func_g')).find(g => {
        const t = g.querySelector('text'); return t && t.textContent === %s; });
        if (!g) return null; const r = g.querySelector('rect').getBoundingClientRect();
        return [r.x + r.width / 2, r.y + r.height / 2, r.width]; })()""" % json.dumps(name))


def text(page, element):
    return page.get("document.querySelector('#%s').textContent" % element)


def in_a_browser():
    """a click zooms, a search shows its share, the mouse shows details, keys navigate, without errors"""
    with Page(m.write("shop.svg", m.export(files()[0], "svg")), size=(1000, 700)) as page:
        assert page.get("document.documentElement.getBoundingClientRect().width") == 1000
        x, y, width = middle(page, "work")
        assert abs(width - 60 * 9.8) < 1
        page.move(x, y)
        page.until("document.querySelector('#details').textContent.includes('Function: work')")
        assert "60 samples, 60.00% of all, self 5.00%" in text(page, "numbers"), text(page, "numbers")
        page.click(x, y)
        page.until("!document.querySelector('#unzoom').classList.contains('hidden')")
        assert abs(middle(page, "work")[2] - 980) < 1 and abs(middle(page, "main")[2] - 980) < 1
        assert abs(middle(page, "hot")[2] - 40 / 60 * 980) < 1 and middle(page, "parse") is None
        page.key("Escape")
        page.until("document.querySelector('#unzoom').classList.contains('hidden')")
        assert abs(middle(page, "work")[2] - 588) < 1
        page.key("f", CONTROL)
        page.type("^(hot|read_)")
        page.until("document.querySelector('#matched').textContent === 'Matched: 50.0% (2 boxes)'")
        assert page.get("document.querySelectorAll('.func_g.hit').length") == 2
        page.key("Enter")
        for name in ("hot", "read_line"):  # starting from work, the zoomed box
            page.key("n")
            page.until("document.querySelector('#details').textContent.endsWith('%s')" % name)
        page.key("Escape")
        page.until("document.querySelector('#matched').textContent === ''")
        page.key("/")
        page.type("PARSE")
        page.until("document.querySelector('#matched').textContent.startsWith('Matched: 0.0%')")
        page.key("Escape")
        page.key("/")
        page.type("parse(")
        page.until("document.querySelector('input').classList.contains('wrong')")
        page.key("Escape")
        page.key("Escape")
        page.key("ArrowRight")
        page.until("document.querySelector('#details').textContent.endsWith('all')")
        for _ in range(4):
            page.key("ArrowUp")
        page.until("document.querySelector('#details').textContent.endsWith('hot')")
        page.key("ArrowRight")
        page.until("document.querySelector('#details').textContent.endsWith('warm')")
        page.key("ArrowDown")
        page.until("document.querySelector('#details').textContent.endsWith('work')")
        page.key("Enter")
        page.until("location.hash.includes('zoom=')")
        page.key("r")
        page.until("document.querySelector('#unzoom').classList.contains('hidden')")
        page.key("t")
        page.until("document.documentElement.classList.contains('dark')")
        assert not page.complaints(), page.complaints()


def narrow_in_a_browser():
    """a zoom shows boxes that were too narrow, and a link opens its zoom or search"""
    p = program()
    stacks = {"main;work;hot": 3, "main;parse": 3997}
    svg = m.export(profile("narrow.data", stacks, p), "svg", "--minwidth", "5")
    assert "work" not in [b.name for b in boxes_of(svg)]
    file, data = m.write("narrow.svg", svg), data_of(svg)
    with Page(file + "#search=hot", size=(1000, 700)) as page:
        assert text(page, "matched") == "Matched: 0.1% (1 box)", text(page, "matched")
    work = next(i for i in range(len(data["nodes"]) // 3) if data["names"][data["nodes"][3 * i]] == "work")
    with Page(file + "#zoom=%d" % work, size=(1000, 700)) as page:
        assert abs(middle(page, "work")[2] - 980) < 1 and abs(middle(page, "hot")[2] - 980) < 1
        assert not page.complaints(), page.complaints()


run(same_as_folded, laid_out, options, palette_map, compared, ranges, from_the_screen, dangerous_names,
    in_a_browser, narrow_in_a_browser)
