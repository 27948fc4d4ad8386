// SPDX-License-Identifier: GPL-2.0-or-later
// Methods so small that a good part of the samples falls on their first and last instructions; and collections, text,
// exceptions, and a pattern.
import java.util.*;

public class Small {
    interface Shape { long area(); }
    record Square(long n) implements Shape { public long area() { return n * n; } }
    record Ring(long n) implements Shape { public long area() { return one(n) * 3; } }

    static long one(long x) { return x ^ x << 13; }
    static long two(long x) { return one(x) ^ x >>> 7; }
    static long three(long x) { return two(x) + one(x + 1); }
    static long shapes(Shape[] all) { long sum = 0; for (Shape s : all) sum += s.area(); return sum; }
    static long words(int n) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < n; i++) counts.merge("word" + i % 17, 1, Integer::sum);
        return counts.values().stream().mapToLong(v -> two(v)).sum();
    }
    static long thrown(int n) {
        try { if (n % 3 == 0) throw new IllegalStateException("three"); return n; }
        catch (IllegalStateException e) { return e.getMessage().length(); }
    }
    static long deep(int n) { return n == 0 ? 1 : deep(n - 1) + one(n); }

    public static void main(String[] args) {
        Shape[] all = { new Square(3), new Ring(4), new Square(5) };
        System.out.println("ready");
        for (long x = 1; ; ) {
            for (int i = 0; i < 100; i++) x += three(x) + shapes(all);
            x += words(50) + thrown((int) (x & 7)) + deep(40) + String.format("%d", x).replaceAll("[0-4]+", "a").length();
        }
    }
}
