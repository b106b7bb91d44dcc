package main

import (
	"flag"
	"fmt"
	"sync/atomic"
	"time"
)

type node struct {
	x, y  float64
	next  []*node
	names map[string]string
}

var tiles atomic.Int64

// load builds the road network: a grid of crossings.
func load(side int) []*node {
	all := make([]*node, side*side)
	for i := range all {
		all[i] = &node{x: float64(i % side), y: float64(i / side), names: map[string]string{"de": fmt.Sprint("Weg ", i)}}
	}
	for i, n := range all {
		for _, d := range []int{1, -1, side, -side} {
			if j := i + d; j >= 0 && j < len(all) {
				n.next = append(n.next, all[j])
			}
		}
	}
	return all
}

func main() {
	tidy := flag.Bool("tidy", false, "keep the memory small")
	flag.Parse()
	network := load(550)
	for w := 0; w < 2; w++ {
		go func() {
			for batch := w; ; batch += 2 {
				render(network, batch, *tidy)
			}
		}()
	}
	fmt.Println("ready")
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("total", tiles.Load())
	}
}
