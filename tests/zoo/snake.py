# SPDX-License-Identifier: GPL-2.0-or-later
"""Python calls through C (sorted, map, reduce) that the interpreter's stack shows, unlike its own calls.

truth: @start;Py_BytesMain;Py_RunMain;..;PyEval_EvalCode;_PyEval_EvalFrameDefault;..;_PyFunction_Vectorcall;_PyEval_EvalFrameDefault;..;_PyFunction_Vectorcall;_PyEval_EvalFrameDefault;..;_PyFunction_Vectorcall;_PyEval_EvalFrameDefault;*
"""
import functools


def hot(x, n):
    for _ in range(n):
        x = x * 6364136223846793005 + 1 & 0xFFFFFFFFFFFFFFFF
    return x


def third(x):
    return functools.reduce(lambda a, b: hot(a, 20000) + b, (x, 1, 2))


def second(x):
    return sorted([x, x + 1], key=third)[0]


def first(x):
    return list(map(second, [x, x + 1]))[0]


X = 1
print("ready", flush=True)
while True:
    X = first(X) & 0xFFFF
