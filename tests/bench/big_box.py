#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How flametop starts where processes map much debug information: programs and libraries with 1.1 GB of it,
and a program with 2 million symbols, all of them running.

    tests/bench/big_box.py PROGRAM [ROUNDS [FOLDER]]

FOLDER keeps what was compiled, 1.6 GB, for the next time; without it that goes at the end. Each round starts
the program in a pseudo-terminal of 120x40, without tables on disk (cold) and then with those of the start
before (warm). First data: from exec until a row with a share stands on the screen. Names: until the first row
with a name of the load. Key: the median and the longest times from a key that changes the screen to the next
output, ten a second from the first data on; "of" what passed, what is left without the time in which the main
thread was ready to run and had no CPU: six processes are busy, and whatever else there is. Echo: the same of
a program that does nothing but answer.
"""
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

FUNCTIONS, UNITS, LIBRARIES, SYMBOLS = 1000, 44, 10, 2000000
END_S, KEY_S = 15, 0.1
KEYS = [b"\x1b[B", b"2", b"1", b"\x1b[A", b"3", b"1", b"8", b"1"]

ECHO = "stty raw -echo; printf '9.9 9.9 9 '; exec cat"

FUNCTION = """
struct state_%(k)s { %(fields)s struct state_%(k)s *next_%(k)s; };
static inline uint64_t inner_%(k)s(uint64_t x, struct state_%(k)s *s)
{
    uint64_t a = x * %(n)d, b = a ^ s->field_%(k)s_3;
    for (uint64_t step = 0; step < (b & 3); step++) { uint64_t t = a + step; a ^= t << 7; b += a >> 3; }
    return a + b;
}
static inline uint64_t middle_%(k)s(uint64_t x, struct state_%(k)s *s)
{
    uint64_t c = inner_%(k)s(x + 1, s);
    s->field_%(k)s_7 = c;
    return c ^ inner_%(k)s(c, s);
}
__attribute__((noinline)) uint64_t work_%(k)s(uint64_t x)
{
    struct state_%(k)s s = { .field_%(k)s_3 = x };
    uint64_t p = middle_%(k)s(x, &s), q = middle_%(k)s(p + %(n)d, &s);
    return p ^ q;
}
"""
RUNNER = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    uint64_t x = 1;
    void (*runs[64])(uint64_t *);
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library || !(runs[i] = dlsym(library, "run_all")))
            return 1;
    }
    for (;;)
        for (int i = 1; i < argc; i++)
            runs[i](&x);
}
"""


def compiled(*argv):
    subprocess.run(argv, check=True)


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def unit(n):
    """Assembly of one unit; others have another number, which saves most of the compiler's time."""
    parts = ["#include <stdint.h>\n"]
    for i in range(FUNCTIONS):
        k = "u%d_%d" % (n, i)
        fields = " ".join("uint%d_t field_%s_%d;" % ((8, 16, 32, 64)[j % 4], k, j) for j in range(16))
        parts.append(FUNCTION % {"k": k, "n": i + 3, "fields": fields})
    parts.append("uint64_t (*const table_u%d_0[])(uint64_t) = { %s };\n" % (
        n, ", ".join("work_u%d_%d" % (n, i) for i in range(FUNCTIONS))))
    compiled("cc", "-O1", "-g", "-fPIC", "-S", "-o", "unit.s", write("unit.c", "".join(parts)))
    with open("unit.s") as f:
        return f.read()


def make_libraries():
    text = unit(0)
    objects = ["u%d.o" % u for u in range(UNITS)]
    for u in range(UNITS):
        compiled("as", "-o", objects[u], write("unit.s", text.replace("_u0_", "_u%d_" % u)))
    calls = "".join("    for (int i = 0; i < %d; i++) *x = table_u%d_0[i](*x);\n" % (FUNCTIONS, u)
                    for u in range(UNITS))
    tables = "".join("extern uint64_t (*const table_u%d_0[])(uint64_t);\n" % u for u in range(UNITS))
    run_all = "#include <stdint.h>\n%svoid run_all(uint64_t *x)\n{\n%s}\n" % (tables, calls)
    compiled("cc", "-O1", "-g", "-fPIC", "-c", "-o", "run_all.o", write("run_all.c", run_all))
    for n in range(LIBRARIES):
        compiled("cc", "-shared", "-Wl,--build-id=0x%040x" % (0xb16 + n), "-o", "libbig%d.so" % n,
                 "run_all.o", *objects)
    for name in objects:
        os.unlink(name)


def make_many_symbols():
    with open("many.s", "w") as f:
        f.write(".text\n")
        for i in range(SYMBOLS):
            f.write(".type symbol_number_%d,@function\nsymbol_number_%d:\nret\n.size symbol_number_%d,1\n" %
                    (i, i, i))
        f.write(".globl many_spin\n.type many_spin,@function\nmany_spin:\n.cfi_startproc\n"
                "1: dec %rdi\njnz 1b\nret\n.cfi_endproc\n.size many_spin,.-many_spin\n"
                ".section .note.GNU-stack\n")
    main = "void many_spin(unsigned long);\nint main(void) { for (;;) many_spin(1000000); }\n"
    compiled("cc", "-O1", "-o", "many_symbols", write("main.c", main), "many.s")
    os.unlink("many.s")


def make_box():
    if os.path.exists("done"):
        return
    make_libraries()
    make_many_symbols()
    compiled("cc", "-O1", "-o", "runner", write("runner.c", RUNNER), "-ldl")
    write("done", "")


def run_box():
    libraries = ["./libbig%d.so" % n for n in range(LIBRARIES)]
    commands = [["./runner", *libraries[i:i + 2]] for i in range(0, LIBRARIES, 2)] + [["./many_symbols"]]
    return [subprocess.Popen(c) for c in commands]


def waited_ms(pid):
    """How long the main thread was ready to run and had no CPU."""
    with open("/proc/%d/task/%d/schedstat" % (pid, pid)) as f:
        return int(f.read().split()[1]) / 1e6


def measure(argv, cache):
    began = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_CACHE_HOME=cache,
                          XDG_CONFIG_HOME="/nonexistent")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execvp(argv[0], argv)
    seen, data_s, names_s, asked, next_key, keys = b"", None, None, None, None, []
    while time.monotonic() - began < END_S:
        now = time.monotonic()
        if next_key and now >= next_key and not asked:
            asked, next_key, waited = now, now + KEY_S, waited_ms(pid)
            os.write(fd, KEYS[len(keys) % len(KEYS)])
        if not select.select([fd], [], [], 0.01)[0]:
            continue
        data = os.read(fd, 65536)
        if asked:
            took = 1000 * (time.monotonic() - asked)
            keys.append((took - waited_ms(pid) + waited, took, KEYS[len(keys) % len(KEYS)].decode()[-1],
                         asked - began))
            asked = None
        seen = (seen + data)[-100000:]
        if not data_s and re.search(rb"\d\.\d +\d+\.\d +\d+ ",
                                    re.sub(rb"\x1b\[[0-9;?>=]*[a-zA-Z]", b" ", seen)):
            data_s = time.monotonic() - began
            next_key = time.monotonic()
        if not names_s and (b"work_u" in seen or b"many_spin" in seen):
            names_s = time.monotonic() - began
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    return data_s, names_s, keys


def main():
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as own:
        folder = sys.argv[3] if len(sys.argv) > 3 else own
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        make_box()
        box = run_box()
        try:
            for n in range(rounds):
                for kind, argv in (("cold", [program, "--no-cache"]), ("fill", [program]),
                                   ("warm", [program]), ("echo", ["sh", "-c", ECHO])):
                    data_s, names_s, keys = measure(argv, own + "/cache%d" % n)
                    median = statistics.median(k[0] for k in keys) if keys else -1
                    longest = ", ".join("%.0f of %.0f ms (%s at %.1f s)" % k
                                        for k in sorted(keys, reverse=True)[:5])
                    print("%s: first data %.2f s, names %.2f s, %d keys: median %.0f ms, longest %s" % (
                        kind, data_s or -1, names_s or -1, len(keys), median, longest), flush=True)
        finally:
            for process in box:
                process.kill()
                process.wait()


main()
