# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that reports where it spends its time: Python 3.8 to 3.13.
Each call of burn() adds its CPU time to the stack that called it, as sys._getframe() and the thread's clock
report them. At the end of its input the program prints JSON: {"burnt": [[[[function, file, line], ...],
seconds], ...], "lines": {function: [line, ...]}, "waited": {function: seconds}}: stacks from the root, all
lines of its functions, and how long they waited. Until then it calls burn() through plain calls, recursion,
generators, callbacks of C functions, exceptions, methods, class bodies and comprehensions, and in the threads
named by its argument; with "waits", it only waits, in two other threads."""
import dis
import functools
import hashlib
import json
import os
import re
import sys
import threading
import time

BURNT = {}
WAITED = {"pause": 0, "receive": 0}
PIPE = os.pipe()
LOCK = threading.Lock()
OVER = threading.Event()


def burn(n):
    began = time.thread_time()
    total = 0
    for i in range(n * 2000):
        total += i * i
    note(time.thread_time() - began, sys._getframe(1))
    return total


def shown(path):
    """The last part of a file name; packages are distinguished by their folders."""
    parts = path.split("/")
    return "/".join(parts[-2:] if parts[-1] in ("__init__.py", "__main__.py") else parts[-1:])


def note(seconds, frame):
    stack = []
    while frame:
        stack.append((frame.f_code.co_name, shown(frame.f_code.co_filename), frame.f_lineno))
        frame = frame.f_back
    stack = tuple(reversed(stack))
    with LOCK:
        BURNT[stack] = BURNT.get(stack, 0) + seconds


def plain():
    return inner(1) + \
        inner(3)


def inner(n):
    return burn(n)


def recurse(n):
    if n:
        return recurse(n - 1)
    return burn(2)


def generate():
    for i in range(3):
        yield burn(1)


def consume():
    return sum(generate())


def delegate():
    yield from generate()


def key(x):
    burn(1)
    return -x


def callbacks():
    sorted([1, 2], key=key)
    functools.reduce(lambda a, b: burn(1), [1, 2, 3])
    re.sub("a", lambda match: str(burn(1)), "aa")
    return list(map(burn, [1, 1]))


def fail(n):
    if not n:
        burn(1)
        raise ValueError(n)
    fail(n - 1)


def catch():
    try:
        fail(4)
    except ValueError:
        burn(1)
    finally:
        burn(1)


class Thing:
    def __init__(self, n):
        self.n = n
        burn(1)

    def __lt__(self, other):
        burn(1)
        return self.n < other.n

    def __enter__(self):
        burn(1)
        return self

    def __exit__(self, *why):
        burn(1)


def objects():
    with min(Thing(1), Thing(2)):
        return [burn(1) for _ in range(2)]


def body():
    class Local:
        value = burn(1)
    return Local


def passing():
    """Code that is freed a moment later."""
    exec("burn(1)", {"burn": burn})


def once():
    plain()
    recurse(20)
    consume()
    list(delegate())
    callbacks()
    catch()
    objects()
    body()


def other_thread():
    while not OVER.is_set():
        recurse(3)
        consume()


def passing_thread():
    while not OVER.is_set():
        passing()


def hash_without_lock(data):
    return hashlib.sha256(data).digest()


def hashing_thread():
    data = bytes(1 << 22)
    while not OVER.is_set():
        hash_without_lock(data)


def brief_thread():
    data = bytes(1 << 22)
    for _ in range(10):
        hash_without_lock(data)


def starting_thread():
    while not OVER.is_set():
        brief = threading.Thread(target=brief_thread)
        brief.start()
        brief.join()


def pause():
    began = time.monotonic()
    time.sleep(0.01)
    WAITED["pause"] += time.monotonic() - began


def pausing_thread():
    while not OVER.is_set():
        pause()


def receive():
    began = time.monotonic()
    more = os.read(PIPE[0], 1)
    WAITED["receive"] += time.monotonic() - began
    return more


def receiving_thread():
    while receive():
        pass


def send():
    while not OVER.wait(0.02):
        os.write(PIPE[1], b"x")
    os.close(PIPE[1])


def lines_of(code, found):
    lines = found.setdefault(code.co_name, set())
    lines.update(line for _, line in dis.findlinestarts(code) if line)
    lines.add(code.co_firstlineno)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            lines_of(constant, found)


THREADS = {"none": [], "gil": [other_thread], "hash": [other_thread, hashing_thread],
           "brief": [other_thread, starting_thread],
           "passing": [passing_thread], "waits": [pausing_thread, receiving_thread]}


def main():
    threads = [threading.Thread(target=t) for t in THREADS[sys.argv[1]]]
    for thread in threads:
        thread.start()
    threading.Thread(target=lambda: (sys.stdin.read(), OVER.set())).start()
    print("ready", flush=True)
    if sys.argv[1] == "waits":
        send()
    while not OVER.is_set():
        once()
    for thread in threads:
        thread.join()


main()
FOUND = {}
with open(__file__, encoding="utf-8") as source:
    lines_of(compile(source.read(), __file__, "exec"), FOUND)
print(json.dumps({"burnt": sorted(BURNT.items()), "waited": WAITED,
                  "lines": {name: sorted(lines) for name, lines in FOUND.items()}}))
