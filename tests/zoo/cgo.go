// SPDX-License-Identifier: GPL-2.0-or-later
/* Go that calls C, which computes with the frame pointer in use for other things, or calls Go back, which calls C again.
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.outward;~main\._Cfunc_ahead(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_ahead;ahead;chot
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.around;~main\._Cfunc_through(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_through;through;back;crosscall2;~runtime\.cgocallback(\.abi0)?;~runtime\.cgocallbackg(\.abi0)?+;runtime.cgocallbackg1;~_cgoexp_\w+_back;main.back;main.hot
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.around;~main\._Cfunc_through(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_through;through;back;crosscall2;~runtime\.cgocallback(\.abi0)?;~runtime\.cgocallbackg(\.abi0)?+;runtime.cgocallbackg1;~_cgoexp_\w+_back;main.back;main.inward;~main\._Cfunc_ahead(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_ahead;ahead;chot
 * Go's bookkeeping around calls of C, and its signals:
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.outward;~main\._Cfunc_ahead(\.abi0)?;runtime.cgocall;~runtime\.(entersyscall|exitsyscall);*
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.around;~main\._Cfunc_through(\.abi0)?;runtime.cgocall;~runtime\.(entersyscall|exitsyscall);*
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.around;~main\._Cfunc_through(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_through;through;back;crosscall2;~runtime\.cgocallback(\.abi0)?;~runtime\.cgocallbackg(\.abi0)?+;runtime.cgocallbackg1;~_cgoexp_\w+_back;main.back;main.inward;~main\._Cfunc_ahead(\.abi0)?;runtime.cgocall;~runtime\.(entersyscall|exitsyscall);*
 * truth: ~runtime\.goexit(\.abi0)?;runtime.main;main.main;main.around;~main\._Cfunc_through(\.abi0)?;runtime.cgocall;~runtime\.asmcgocall(\.abi0)?;~_cgo_\w+_Cfunc_through;through;back;crosscall2;~runtime\.cgocallback(\.abi0)?;~runtime\.cgocallbackg(\.abi0)?+;runtime.cgocallbackg1;~_cgoexp_\w+_back;main.back;main.hot;~(runtime\.asyncPreempt(\.abi0)?|__restore_rt)|libc\.so\.6\+0x[0-9a-f]+;*
 * truth: ~runtime\.(clone|rt0_go|mstart|mcall|morestack)(\.abi0)?;*
 * truth: start_thread;*
 */
package main

/*
#include <stdint.h>
extern uint64_t back(uint64_t);

__attribute__((noinline)) static uint64_t chot(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("mov $1, %%ebp" ::: "rbp");
	}
	return x;
}

__attribute__((noinline)) static uint64_t ahead(uint64_t x, int n) { return chot(x, n) + 1; }
__attribute__((noinline)) static uint64_t through(uint64_t x) { return back(x) + 1; }
*/
import "C"

import "fmt"

const long = 500000

//export back
func back(x C.uint64_t) C.uint64_t { return C.uint64_t(hot(uint64(x), long)) + inward(x) }

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
func inward(x C.uint64_t) C.uint64_t { return C.ahead(x, long) + 1 }

//go:noinline
func outward(x uint64) uint64 { return uint64(C.ahead(C.uint64_t(x), long)) + 1 }

//go:noinline
func around(x uint64) uint64 { return uint64(C.through(C.uint64_t(x))) + 1 }

func main() {
	fmt.Println("ready")
	for x := uint64(1); ; {
		x = around(outward(x))
	}
}
