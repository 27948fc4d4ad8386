// SPDX-License-Identifier: GPL-2.0-or-later
/* The main goroutine and another one run alternately, with a method, an interface and a closure on the path.
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.begin;main.(*solid).act;main.first;main.call;main.first.func1;main.second;main.third;main.fourth;main.hot
 * truth: ~runtime\.goexit(\.abi0)?;main.main.func1;main.begin;main.(*solid).act;main.first;main.call;main.first.func1;main.second;main.third;main.fourth;main.hot
 * A goroutine wakes the other one, and Go's signal interrupts it:
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;~runtime\.(chansend1|chanrecv1);*
 * truth: ~runtime\.goexit(\.abi0)?;main.main.func1;~runtime\.(chansend1|chanrecv2);*
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.begin;main.(*solid).act;main.first;main.call;main.first.func1;main.second;main.third;main.fourth;main.hot;~runtime\.(sigreturn|asyncPreempt)(\.abi0)?;*
 * truth: ~runtime\.goexit(\.abi0)?;main.main.func1;main.begin;main.(*solid).act;main.first;main.call;main.first.func1;main.second;main.third;main.fourth;main.hot;~runtime\.(sigreturn|asyncPreempt)(\.abi0)?;*
 * truth: ~runtime\.(clone|rt0_go|mstart|mcall|morestack)(\.abi0)?;*
 */
package main

import "fmt"

const long = 10000000

//go:noinline
func hot(x uint64, n int) uint64 {
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func fourth(x uint64) uint64 { return hot(x, long) + 1 }

//go:noinline
func third(x uint64) uint64 { return fourth(x) + 1 }

//go:noinline
func second(x uint64) uint64 { return third(x) + 1 }

//go:noinline
func first(x uint64) uint64 {
	more := x & 1
	f := func() uint64 { return second(x) + more }
	return call(f) + 1
}

//go:noinline
func call(f func() uint64) uint64 { return f() }

type thing interface{ act(uint64) uint64 }
type solid struct{ more uint64 }

//go:noinline
func (s *solid) act(x uint64) uint64 { return first(x) + s.more }

//go:noinline
func begin(t thing, x uint64) uint64 { return t.act(x) + 1 }

func main() {
	fmt.Println("ready")
	turn, back := make(chan uint64), make(chan uint64)
	go func() {
		for x := range turn {
			back <- begin(&solid{2}, x)
		}
	}()
	for x := uint64(1); ; {
		turn <- begin(&solid{1}, x)
		x = <-back
	}
}
