// SPDX-License-Identifier: GPL-2.0-or-later
/* A path of compiled methods in a thread of its own; java needs -XX:-Inline, so that each keeps a frame.
 * truth: @thread;..;@java begin;@java first;@java second;@java third;@java fourth;@java fifth;@java sixth;@java hot
 */
public class Steam {
    static final int LONG = 200000;
    static volatile long result;

    static long hot(long x, int n) {
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long sixth(long x, int n) { return hot(x, n) + 1; }
    static long fifth(long x, int n) { return sixth(x, n) + 1; }
    static long fourth(long x, int n) { return fifth(x, n) + 1; }
    static long third(long x, int n) { return fourth(x, n) + 1; }
    static long second(long x, int n) { return third(x, n) + 1; }
    static long first(long x, int n) { return second(x, n) + 1; }

    static long begin(long x, int n) {
        for (int i = 0; i < 10; i++)
            x = first(x, n);
        return x;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 20000; i++)
            result = begin(result + 1, 20);
        for (int i = 0; i < 100; i++)
            result = begin(result + 1, LONG);
        System.out.println("ready");
        for (;;)
            result = begin(result + 1, LONG);
    }
}
