#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes doc/pictures/*.svg: the screens of the README and of the tutorial, made by the real program on real
loads.

    FLAMETOP=build/flametop doc/make-pictures.py [NAME...]    as root: all pictures of the README, or these
    FLAMETOP=build/flametop doc/make-pictures.py tutorial     the pictures of doc/tutorial.md

The script starts the loads itself and types the keys. Nothing in a picture identifies the machine: the host
has another name, the kernel's release has no suffix, and flametop samples only the loads, whose user runs
nothing else.
"""
import ctypes
import os
import re
import shutil
import socket
import sys
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
# the tutorial changes the folder
os.environ["FLAMETOP"] = os.path.abspath(os.environ.get("FLAMETOP", "flametop"))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "lib"))

import machine as m  # noqa: E402
from ptyscreen import Screen  # noqa: E402

HOST = "web-17"
USER = "www-data"
SIZE = (104, 30)
HEADER_LINES = 4
CELL_W, CELL_H, FONT, PAD = 9, 18, 15, 10
BACKGROUND, FOREGROUND = "#16181d", "#d3d7de"
PALETTE = {
    "black": "#101216", "red": "#e06c5f", "green": "#8cc265", "brown": "#d9a648", "blue": "#4f8fe6",
    "magenta": "#c678dd", "cyan": "#46b3bf", "white": "#d3d7de", "brightblack": "#6b7280",
    "brightred": "#ff8a7a",
    "brightgreen": "#a9e07f", "brightbrown": "#f2c66d", "brightyellow": "#f2c66d", "brightblue": "#7fb2ff",
    "brightmagenta": "#e19cf2", "brightcyan": "#72d5e0", "brightwhite": "#ffffff",
}
# Arms to the left, right, up and down.
BOX = {"─": (1, 1, 0, 0), "│": (0, 0, 1, 1), "┌": (0, 1, 0, 1), "┐": (1, 0, 0, 1), "└": (0, 1, 1, 0),
       "┘": (1, 0, 1, 0), "├": (0, 1, 1, 1), "┤": (1, 0, 1, 1)}
CLONE_NEWUTS = 0x04000000

BURSTS = """
import json, time
data = {str(i): [i] * 9 for i in range(200)}
while True:
    end = time.monotonic() + 3
    while time.monotonic() < end:
        json.loads(json.dumps(data))
    time.sleep(3)
"""
LOADS = (
    ("./shape", "600"),
    ("dd", "if=/dev/zero", "of=/dev/null", "bs=1"),
    ("/usr/bin/python3", "-c", BURSTS),
    ("sh", "-c", "while :; do find /usr/share/doc -size +9M; sleep 1; done"),
    ("sh", "-c", "while :; do /bin/true; done"),
)
# Programs with something for the doctor to list; those that are not installed are left out.
PATIENTS = (
    ("./recursion", "900"),
    ("java", "Steam"),
    ("node", "-e", "for (;;) JSON.parse(JSON.stringify(process.memoryUsage()))"),
    ("/usr/bin/python3", "-c", "import json\nwhile True: json.loads(json.dumps(list(range(999))))"),
)


def rename_host():
    """Only in a new UTS namespace, not on the machine."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS) != 0:
        sys.exit("make-pictures: cannot give the host another name: " + os.strerror(ctypes.get_errno()))
    socket.sethostname(HOST)


def colour(name, otherwise):
    if name == "default":
        return otherwise
    return PALETTE.get(name, "#" + name)


def cells(screen):
    """Rows of (character, foreground, background, bold, underlined)."""
    for y in range(screen.lines):
        row = []
        for x in range(screen.columns):
            c = screen.buffer[y][x]
            front, back = colour(c.fg, FOREGROUND), colour(c.bg, BACKGROUND)
            if c.reverse:
                front, back = back, front
            row.append((c.data or " ", front, back, c.bold, c.underscore))
        yield row


def without_suffix(row):
    """A line of a header without the suffix of the kernel's release, at the same width."""
    text = "".join(c[0] for c in row)
    found = re.search(r" \d+\.\d+\.\d+(-\S+)", text)
    if not found:
        return row
    cut, end = found.span(1)
    gap = re.search(r" {3,}", text[end:])
    at = end + gap.start() if gap else len(row)
    return row[:cut] + row[end:at] + [row[at - 1 if at == len(row) else at]] * (end - cut) + row[at:]


def runs(row):
    """(column, text, look) of neighbours that look alike."""
    start = 0
    for x in range(1, len(row) + 1):
        if x == len(row) or row[x][1:] != row[start][1:]:
            yield start, "".join(c[0] for c in row[start:x]), row[start][1:]
            start = x


def rectangle(x, y, width, height, fill):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>'


def shape_of(character, x, y, fill):
    """The SVG shape of a block or line character, as fonts leave gaps between them; None for a letter."""
    code, middle_x, middle_y = ord(character[0]), x + CELL_W // 2, y + CELL_H // 2
    if 0x2581 <= code <= 0x2588:
        height = round((CELL_H - 3) * (code - 0x2580) / 8)  # a gap between the trends of two rows
        return rectangle(x, y + CELL_H - height, CELL_W, height, fill)
    if 0x2589 <= code <= 0x258f:
        return rectangle(x, y, round(CELL_W * (0x2590 - code) / 8), CELL_H, fill)
    if character not in BOX:
        return None
    left, right, up, down = BOX[character]
    across = rectangle(x if left else middle_x, middle_y, (left + right) * CELL_W / 2 + 0.5, 1, fill)
    upright = rectangle(middle_x, y if up else middle_y, 1, (up + down) * CELL_H / 2, fill)
    return (across if left or right else "") + (upright if up or down else "")


def draw_run(column, y, text, look):
    front, back, bold, underlined = look
    x = PAD + column * CELL_W
    if back != BACKGROUND:
        yield rectangle(x, y, len(text) * CELL_W, CELL_H, back)
    plain = ""
    for i, character in enumerate(text):
        shape = shape_of(character, x + i * CELL_W, y, front)
        if shape:
            yield shape
        plain += " " if shape else character
    for word in re.finditer(r"\S+(?: \S+)*", plain):
        style = ((' font-weight="bold"' if bold else "") +
                 (' text-decoration="underline"' if underlined else ""))
        width = (word.end() - word.start()) * CELL_W
        yield (f'<text x="{x + word.start() * CELL_W:g}" y="{y + CELL_H - 4.5:g}" textLength="{width:g}" '
               f'fill="{front}"{style}>{escape(word.group())}</text>')


def svg(screen, title):
    width, height = screen.columns * CELL_W + 2 * PAD, screen.lines * CELL_H + 2 * PAD
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           f'width="{width:.0f}" height="{height:.0f}" '
           f'font-family="\'DejaVu Sans Mono\',Menlo,Consolas,monospace" font-size="{FONT}" '
           f'xml:space="preserve" shape-rendering="crispEdges">', f"<title>{escape(title)}</title>",
           f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>']
    for number, row in enumerate(cells(screen)):
        row = without_suffix(row) if number < HEADER_LINES else row
        for column, text, look in runs(row):
            out += draw_run(column, PAD + number * CELL_H, text, look)
    return "\n".join(out + ["</svg>", ""])


def functions(s):
    """flametop: which functions burn the CPU"""
    s.send("1", "g", shows=r"SELF%.*FUNCTION")


def callgraph(s):
    """flametop: the call graph, two branches opened"""
    s.send("2", "Z", "/", *"ksys_read", "enter", "/", *"hot_a", "enter", shows=r"\[-\] .*path_one")


def flame(s):
    """flametop: the flame graph"""
    s.send("3", shows=r"all 100\.0%")


def counters(s):
    """flametop: the counters"""
    s.send("4")
    s.wait(r"CPUs utilized", 15)
    s.pump(12)


def events(s):
    """flametop: picking an event"""
    s.send("1", "e", shows=r"Event to sample")
    s.wait(r"Hardware")


def heat(s):
    """flametop: the heat map: a column is a second, a row a part of it"""
    s.send("R", "9", shows=r"heat map")
    s.send("left", "left", "left", "up", "up")


def chart(s):
    """flametop: what one thread did, over time, and the time strip below"""
    s.send("z", "9", "v", "v", shows=r": 1 of \d+")
    for number in range(2, 12):
        if s.find(r"python3/\d+: "):
            break
        s.send(".", shows=r": %d of \d+" % number)
    s.send("r", "left", "left")


def doctor(s):
    """flametop: the doctor: what is missing, why, and how to fix it"""
    s.send("8", "g", shows=r"SHARE%  SAMPLES")
    for _ in range(12):
        if s.find(r"D asks the Java VM|D copies the maximum"):
            return
        s.send("j")
        s.pump(0.5)


def build_loads():
    m.build("shape")


def build_patients():
    zoo = os.path.join(m.SOURCE, "tests", "zoo")
    m.tool("cc", "-O2", "-fno-optimize-sibling-calls", "-o", m.path("recursion"),
           os.path.join(zoo, "recursion.c"))
    if shutil.which("javac"):
        m.tool("javac", "-d", m.WORK, os.path.join(zoo, "Steam.java"))
        os.chmod(m.path("Steam.class"), 0o644)


SCENES = ((build_loads, LOADS, (functions, callgraph, flame, counters, events, heat, chart)),
          (build_patients, PATIENTS, (doctor,)))


def draw(s, picture):
    picture(s)
    s.pump(2.5)
    path = os.path.join(HERE, "pictures", picture.__name__.replace("_", "-") + ".svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(s.screen, picture.__doc__))
    print("wrote doc/pictures/" + os.path.basename(path), flush=True)
    s.send("esc")


def start_loads(loads):
    loads = [load for load in loads if "/" in load[0] or shutil.which(load[0])]
    return [m.start(*load, cwd=m.WORK, user=USER, group=USER, extra_groups=[]) for load in loads]


def open_screen(*args, size=SIZE, program=None):
    return Screen(args, size=size, program=program, env={"XDG_CONFIG_HOME": "/nonexistent"})


def play(build, loads, pictures):
    build()
    running = start_loads(loads)
    with open_screen("--user", USER, "--window", "30", "--no-cache") as s:
        s.pump(32)
        for picture in pictures:
            draw(s, picture)
    for process in running:
        m.stop(process)


# The tutorial: doc/shop.c and a nightly backup.

SHOP = ("./shop", "log/shop.log")
BACKUP = ("sh", "-c", "while :; do nice tar c /usr/share/man | nice gzip >/dev/null; sleep 6; done")
TICKET = """
printf '$ %s\\n' "flametop -i ticket.data -o ticket.txt" "head -n 24 ticket.txt"
"$FLAMETOP" -i ticket.data -o ticket.txt 2>/dev/null
head -n 24 ticket.txt | cut -c 1-104
sleep 60
"""


def tutorial_functions(s):
    """flametop: the first screen: the functions that use the CPU"""
    s.wait(r"SELF%.*FUNCTION")
    s.send("g")


def tutorial_callgraph(s):
    """flametop: the call graph, opened down the hot path"""
    s.send("2", "/", *"shop-requests", "enter", "*", shows=r"compare_names")


def tutorial_flame(s):
    """flametop: the flame graph; the frames that match a search are highlighted"""
    s.send("3", "/", *"find_article", "enter", shows=r"find_article: \d+ frame")


def tutorial_kernel(s):
    """flametop: only the kernel's samples, and the calls that lead to them"""
    s.send("K", shows=r" :k ")
    s.send("2", "Z", "/", *"sys_pwrite64", "enter", "*", shows=r"vfs_write")


def tutorial_annotate(s):
    """flametop: the instructions and source lines of the hottest function"""
    s.send("K", "K", "1", "/", *"compare_names", "enter", "a", shows=r"INSTRUCTION")
    s.pump(2)
    s.send("H")


def tutorial_doctor(s):
    """flametop: the doctor: which samples lack a caller or a name, why, and how to fix it"""
    s.send("esc", "esc", "8", "g", shows=r"SHARE%  SAMPLES")
    s.send("j")


def tutorial_time(s):
    """flametop: one process, frozen; a spike in the heat map is selected"""
    s.send("p", *"shop", "enter", shows=r"scope: pid")
    s.pump(45)
    s.send("z", "9", "H", *["up"] * 4, " ")
    s.send(*["down"] * 9, " ")


def tutorial_memory(s):
    """flametop: another event: the call paths of one process that touch new memory"""
    s.send("e", *"page-faults", "enter", shows=r"page-faults .*scope")
    s.pump(15)
    s.send("2", "g", "*")


def tutorial_diff(s):
    """flametop: the recording compared with yesterday's"""
    s.wait(r"SELF%.*FUNCTION")


def tutorial_ticket(s):
    """flametop: the text report for the ticket"""
    s.wait(r"TOTAL%")


def save_recording(s):
    """Saves the frozen samples, as step 7 of the tutorial says after its picture."""
    s.send("R", "w", "enter", shows=r"write perf.data to")
    s.send("\x15", *"ticket.data", "enter", shows=r"written to ticket.data")
    s.send("z")


def prepare_tutorial():
    """Builds the shop, and records yesterday's version, which had an index."""
    m.tool("cc", "-O2", "-g", "-D_GNU_SOURCE", "-pthread", "-o", m.path("shop"), os.path.join(HERE, "shop.c"))
    os.chdir(m.WORK)
    os.mkdir("log")
    shutil.chown("log", USER)
    running = start_loads((SHOP + ("-i",), BACKUP))
    m.flametop("--pid", "shop", "--duration", "20", "--no-cache", "-o", "yesterday.data")
    for process in running:
        m.stop(process)


def tutorial():
    prepare_tutorial()
    running = start_loads((SHOP, BACKUP))
    with open_screen("--user", USER, "--window", "30", "--no-cache") as s:
        s.pump(32)
        for picture in (tutorial_functions, tutorial_callgraph, tutorial_flame, tutorial_kernel,
                        tutorial_annotate, tutorial_doctor, tutorial_time):
            draw(s, picture)
        save_recording(s)
        draw(s, tutorial_memory)
    for process in running:
        m.stop(process)
    with open_screen("-i", "ticket.data", "--diff", "yesterday.data") as s:
        draw(s, tutorial_diff)
    with open_screen("-c", TICKET, program="/bin/sh") as s:
        draw(s, tutorial_ticket)


def main():
    wanted = sys.argv[1:] or [p.__name__ for _, _, pictures in SCENES for p in pictures] + ["tutorial"]
    rename_host()
    os.makedirs(os.path.join(HERE, "pictures"), exist_ok=True)
    for build, loads, pictures in SCENES:
        pictures = [p for p in pictures if p.__name__ in wanted]
        if pictures:
            play(build, loads, pictures)
    if "tutorial" in wanted:
        tutorial()


main()
