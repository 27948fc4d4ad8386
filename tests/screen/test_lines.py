#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Source lines and inlined functions of random addresses, for every place of debug information, compared with
addr2line -i on the program as compiled. FLAMETOP_LINES_ADDRESSES: the number of addresses for each."""
import functools
import os
import random
import re
import shutil

import machine as m
import perfdata_maker as maker
from ptyscreen import run

ADDRESSES = int(os.environ.get("FLAMETOP_LINES_ADDRESSES", "150"))
BASE = 0x500000000000
SOURCE = r"""
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace shapes {
struct shape { virtual ~shape() = default; virtual double area() const = 0; };
template <int N> struct polygon : shape {
    double side;
    explicit polygon(double s) : side(s) {}
    double area() const override { return scaled(side * side) / 4; }
    static constexpr double scaled(double x) { return x * N + bias(x); }
    static constexpr double bias(double x) { return x > N ? x - N : N - x; }
};
template <class T, int N> struct chain { static T run(T x) { return chain<T, N - 1>::run(x * 3 + N); } };
template <class T> struct chain<T, 0> { static T run(T x) { return x ^ x >> 3; } };
}
static std::map<std::string, std::vector<long>> groups;
static std::unordered_map<long, std::string> names;
__attribute__((noinline)) long collect(long n)
{
    for (long i = 0; i < n; i++) {
        groups["group " + std::to_string(i % 7)].push_back(shapes::chain<long, 12>::run(i));
        names[i * i] = std::string(static_cast<size_t>(i % 40), 'x');
    }
    for (auto &group : groups)
        std::sort(group.second.begin(), group.second.end(), [](long a, long b) { return (a ^ 5) < (b ^ 5); });
    return std::accumulate(groups.begin(), groups.end(), 0L,
                           [](long sum, const auto &g) { return sum + g.second.size(); });
}
__attribute__((noinline)) double measure(int n)
{
    std::vector<std::unique_ptr<shapes::shape>> all;
    for (int i = 0; i < n; i++)
        i % 2 ? all.push_back(std::make_unique<shapes::polygon<3>>(i))
              : all.push_back(std::make_unique<shapes::polygon<5>>(i));
    std::stable_sort(all.begin(), all.end(),
                     [](const auto &a, const auto &b) { return a->area() < b->area(); });
    std::ostringstream text;
    for (const auto &s : all)
        text << s->area() << ' ';
    return static_cast<double>(text.str().size());
}
int main(int argc, char **) { return collect(argc * 100) + measure(argc * 10) > 1000; }
"""


def tool(*argv):
    return m.tool(*argv, cwd=m.path("lines"))


@functools.lru_cache(None)
def original():
    """The program as compiled, from which all variants are made."""
    m.need_tools("g++", "addr2line", "objcopy", "readelf")
    os.makedirs(m.path("lines"), exist_ok=True)
    m.write("lines/program.cc", SOURCE)
    return compiled("original")


def compiled(name, *options):
    tool("g++", "-O2", "-g", "-std=c++17", "-Wl,--build-id=0x%s" % ("5a" * 20), *options, "-c", "-o",
         name + ".o", "program.cc")
    tool("g++", "-Wl,--build-id=0x%s" % ("5a" * 20), "-o", name, name + ".o")
    return m.path("lines/" + name)


@functools.lru_cache(None)
def code():
    """(address, size) of .text, and the difference between addresses and offsets."""
    _, address, offset, size = re.search(r" (\.text) +PROGBITS +(\w+) (\w+) (\w+)",
                                         tool("readelf", "-SW", original())).groups()
    return int(address, 16), int(size, 16), int(address, 16) - int(offset, 16)


@functools.lru_cache(None)
def addresses():
    """random addresses in functions, without the padding between functions"""
    start, size, _ = code()
    symbols = re.findall(r"^(\w+) (\w+) [tTwW] ", tool("nm", "-S", original()), re.M)
    inside = [at for first, n in symbols if start <= int(first, 16) < start + size
              for at in range(int(first, 16), int(first, 16) + int(n, 16))]
    return sorted(random.Random(17).sample(sorted(set(inside)), ADDRESSES))


def short(name):
    """the part of a name that two demanglers and the DWARF name share"""
    depth, out = 0, ""
    name = re.sub(r"\[abi:\w+\]| \(\.[^)]*\)| \[clone [^]]*\]", "", name)
    name = re.sub(r"\boperator *(\(\)|\[\]|->|<=>|[-+&|<>=]{2}|[-+*/%^&|~!<>]=?)(?=[<(]|$)", "operator", name)
    for c in re.sub(r"\(anonymous namespace\)|\{lambda[^}]*\}|->", "", name):
        depth += c in "<("
        out += c if not depth else ""
        depth -= c in ">)"
    return re.sub(r" const$", "", out.strip()).split("::")[-1].split(" ")[-1]


def chains(argv, block, line):
    """[[(function, file, line)]], innermost first, from a tool that reads addresses"""
    text = m.tool(*argv, "-e", original(), input="\n".join(hex(a) for a in addresses()) + "\n")
    found = []
    for lines in (part.strip().split("\n") for part in re.split(block, text, flags=re.M)[1:]):
        frames = [(f, *re.match(line, at).groups()) for f, at in zip(lines[::2], lines[1::2])]
        found.append([(short(f), "??", "?") if number in "0?" else (short(f), file, number)
                      for f, file, number in frames])
    return found


@functools.lru_cache(None)
def by_addr2line():
    return chains(["addr2line", "-i", "-f", "-C", "-a"], r"^0x[\da-f]+\n", r"(?:.*/)?([^/]*):(\d+|\?)")


@functools.lru_cache(None)
def by_llvm():
    return chains(["llvm-symbolizer", "-i", "-f", "-C", "-a"], r"^0x[\da-f]+\n",
                  r"(?:.*/)?([^/]*?):(\d+):\d+$")


def write_samples(program):
    """a recording of this machine with one sample at each address"""
    f = maker.Maker()
    f.attr([1], sample_type=maker.BASIC | maker.CALLCHAIN)
    uname = os.uname()
    f.features = {number: f.pack("I", 64) + text.encode().ljust(64, b"\0") for number, text in
                  ((3, uname.nodename), (6, uname.machine))}
    f.comm(100, 100, "program", 1000, 1)
    f.mmap(100, BASE, 0x1000000, program, 1000, 1)
    for i, address in enumerate(addresses()):
        at = BASE + address - code()[2]
        f.sample(100, 100, 2000 + i, 1, at, more=f.pack("QQQ", 2, 0xfffffffffffffe00, at))
    return m.write("lines.data", f.file())


def by_flametop(program, *options):
    text = m.flametop("-i", write_samples(program), "--export", "script", "-o", "-", "--fields",
                      "time,ip,sym,srcline", *options,
                      env={"XDG_CACHE_HOME": m.path("cache-" + os.path.basename(program))})[1]
    found = []
    for block in re.split(r"^ *\d+\.\d+: *\n?", text, flags=re.M)[1:]:
        frames = re.findall(r"^\t? *[\da-f]+ (.*)\n  (?:([^\s:]+):(\d+)|(.*))$", block, re.M)
        found.append([(short(f.replace(" (inlined)", "")), file or "??", line or "?")
                      for f, file, line, _ in frames])
    return found


def same_names(mine, by_llvm, by_bfd):
    """llvm's demangler leaves some of libstdc++'s names as they are, and calls inherited constructors after
    the heir; of the innermost function addr2line prints the name of the symbol that it is inlined into"""
    return len(mine) == len(by_llvm) and all(frame[0] in (llvm[0], bfd[0]) or llvm[0].startswith("_Z")
                                             for frame, llvm, bfd in zip(mine, by_llvm, by_bfd))


def same(program, *options):
    mine = by_flametop(program, *options)
    assert len(mine) == ADDRESSES, len(mine)
    odd = [pair for pair in zip(mine, by_addr2line())
           if [frame[1:] for frame in pair[0]] != [frame[1:] for frame in pair[1]]]
    assert not odd, "%d of %d: %s" % (len(odd), ADDRESSES, odd[:3])
    if shutil.which("llvm-symbolizer"):
        odd = [all_three for all_three in zip(mine, by_llvm(), by_addr2line()) if not same_names(*all_three)]
        assert not odd, "%d of %d: %s" % (len(odd), ADDRESSES, odd[:3])
    assert max(len(chain) for chain in mine) >= 4, mine


def debug_file(*options):
    """A stripped copy of the program, and its debug file."""
    shutil.copy(original(), m.path("lines/program"))
    tool("objcopy", "--only-keep-debug", "program", "program.debug")
    tool("strip", *options, "program")
    return m.path("lines/program"), m.path("lines/program.debug")


def in_the_program():
    """debug information in the program itself is read"""
    same(original())


def by_debuglink():
    """a debug file named by .gnu_debuglink is found, with and without a build-id in both files"""
    for options in ((), ("-R", ".note.gnu.build-id")):
        program, _ = debug_file(*options)
        tool("objcopy", "--add-gnu-debuglink=program.debug", "program")
        same(program)


def by_build_id():
    """a debug file is found by its build-id under another root"""
    program, debug = debug_file()
    root = m.path("root")
    place = os.path.join(root, "usr/lib/debug/.build-id/5a")
    os.makedirs(place)
    os.makedirs(os.path.join(root, "bin"))
    shutil.move(debug, os.path.join(place, "5a" * 19 + ".debug"))
    shutil.move(program, os.path.join(root, "bin/program"))
    same("/bin/program", "--symfs", root)


def by_dwz():
    """a debug file that shares a part with others (dwz) is read"""
    m.need_tools("dwz")
    program, debug = debug_file()
    shutil.copy(debug, m.path("lines/other.debug"))
    tool("dwz", "-m", "common.debug", "-M", "common.debug", "program.debug", "other.debug")
    assert ".gnu_debugaltlink" in tool("readelf", "-SW", "program.debug")
    tool("objcopy", "--add-gnu-debuglink=program.debug", "program")
    same(program)


def split():
    """split units (.dwo) of DWARF 4 and 5 are read"""
    for version in ("-gdwarf-4", "-gdwarf-5"):
        name = "split" + version
        program = compiled(name, "-gsplit-dwarf", version)
        assert os.path.exists(program + ".dwo")
        for file in (original(), program):
            tool("objcopy", "-O", "binary", "-j", ".text", file, file + ".text")
        with open(original() + ".text", "rb") as one, open(program + ".text", "rb") as other:
            assert one.read() == other.read(), "the compiler made other code with " + name
        same(program)


run(in_the_program, by_debuglink, by_build_id, by_dwz, split)
