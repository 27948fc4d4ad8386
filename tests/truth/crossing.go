// SPDX-License-Identifier: GPL-2.0-or-later
// Go calls C, which calls Go.
package main

/*
#include <stdint.h>

extern uint64_t fromC(uint64_t x);

static uint64_t spin(uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}
static uint64_t cLeaf(uint64_t x) { return spin(x, 3000); }
static uint64_t cBack(uint64_t x) { return fromC(spin(x, 1000)) + 1; }
*/
import "C"

import "fmt"

//go:noinline
func inGo(x uint64) uint64 {
	for i := 0; i < 2000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//export fromC
func fromC(x C.uint64_t) C.uint64_t {
	return C.uint64_t(inGo(uint64(x)))
}

//go:noinline
func crossing(x uint64) uint64 {
	x = uint64(C.cLeaf(C.uint64_t(x)))
	x = uint64(C.cBack(C.uint64_t(x)))
	return inGo(x)
}

func main() {
	fmt.Println("ready")
	go func() {
		for x := uint64(2); ; {
			x = crossing(x)
		}
	}()
	for x := uint64(1); ; {
		x = crossing(x)
	}
}
