// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that are inlined three deep into the leaf, and two deep into the middle of the path.
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.first;main.second;=main.intoOne;=main.intoTwo;main.third;main.leaf;=main.inOne;=main.inTwo;=main.inThree
 * truth: ~runtime\.(clone|rt0_go|mstart|mcall|morestack)(\.abi0)?;*
 */
package main

import "fmt"

const long = 10000000

func inThree(x uint64, n int) uint64 {
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func inTwo(x uint64, n int) uint64 { return inThree(x, n) + 1 }

func inOne(x uint64, n int) uint64 { return inTwo(x, n) + 1 }

//go:noinline
func leaf(x uint64, n int) uint64 { return inOne(x, n) + 1 }

//go:noinline
func third(x uint64) uint64 { return leaf(x, long) + 1 }

func intoTwo(x uint64) uint64 { return third(x) + 1 }

func intoOne(x uint64) uint64 { return intoTwo(x) + 1 }

//go:noinline
func second(x uint64) uint64 { return intoOne(x) + 1 }

//go:noinline
func first(x uint64) uint64 { return second(x) + 1 }

func main() {
	fmt.Println("ready")
	for x := uint64(1); ; {
		x = first(x)
	}
}
