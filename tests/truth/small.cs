// SPDX-License-Identifier: GPL-2.0-or-later
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

static class Small {
    [MethodImpl(MethodImplOptions.NoInlining)] static long One(long x) { return x ^ (x << 13); }
    [MethodImpl(MethodImplOptions.NoInlining)] static long Two(long x) { return One(x) ^ (x >> 7); }
    [MethodImpl(MethodImplOptions.NoInlining)] static long Three(long x) { return Two(x) + One(x + 1); }
    static int Words(int n) {
        var counts = new Dictionary<string, int>();
        for (int i = 0; i < n; i++) { string key = "word" + (i % 17); counts[key] = counts.ContainsKey(key) ? counts[key] + 1 : 1; }
        var keys = new List<string>(counts.Keys);
        keys.Sort((a, b) => string.CompareOrdinal(a, b));
        return string.Join(",", keys).Length;
    }
    static void Main() {
        Console.WriteLine("ready");
        Console.Out.Flush();
        for (long x = 1; ; ) {
            for (int i = 0; i < 1000; i++) x += Three(x);
            x += Words(50);
        }
    }
}
