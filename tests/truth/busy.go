// SPDX-License-Identifier: GPL-2.0-or-later
// Typical work of Go programs: maps, strings, sorting, allocation and its collection, channels between goroutines, deferred calls.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type node struct {
	left, right *node
	value       int
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{value: 1}
	}
	return &node{tree(depth - 1), tree(depth - 1), depth}
}

func (n *node) sum() int {
	if n.left == nil {
		return n.value
	}
	return n.left.sum() + n.right.sum() + n.value
}

func words(n int) (total int) {
	defer func() { total += len(recovered(n)) }()
	counts := make(map[string]int)
	for i := 0; i < n; i++ {
		counts[fmt.Sprintf("word%d", i%97)]++
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return len(strings.Join(keys, ","))
}

func recovered(n int) (text string) {
	defer func() {
		if why := recover(); why != nil {
			text = fmt.Sprint(why)
		}
	}()
	return fmt.Sprint([]int{1, 2, 3}[n%4])
}

func worker(in <-chan int, out chan<- int) {
	for n := range in {
		out <- words(n) + tree(8).sum()
	}
}

func main() {
	in, out := make(chan int), make(chan int)
	for i := 0; i < 2; i++ {
		go worker(in, out)
	}
	go func() {
		for i := 0; ; i++ {
			in <- 100 + i%100
		}
	}()
	fmt.Println("ready")
	for sum := 0; ; sum += <-out {
	}
}
