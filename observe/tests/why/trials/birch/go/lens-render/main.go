// lens-render traces rays through the lenses of a camera and writes spot diagrams.
package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type surface struct{ radius, z, index float64 }

var lens = []surface{{50, 0, 1.52}, {-80, 6, 1.0}, {-60, 9, 1.67}, {90, 11, 1.0}, {40, 18, 1.62}, {-45, 24, 1.0}}

func trace(h, a float64) float64 {
	n := 1.0
	for _, s := range lens {
		sag := h * h / (2 * s.radius)
		h += math.Tan(a) * (3 + sag)
		in := a + math.Asin(math.Max(-0.99, math.Min(0.99, h/s.radius)))
		out := math.Asin(math.Max(-0.99, math.Min(0.99, math.Sin(in)*n/s.index)))
		a += out - in
		n = s.index
	}
	return h + math.Tan(a)*40
}

type tile struct {
	field int
	spots []float64
}

func main() {
	tiles := make(chan int, 64)
	results := make(chan tile, 64)
	var done atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < runtime.NumCPU(); w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for f := range tiles {
				t := tile{f, make([]float64, 0, 4000)}
				for i := 0; i < 4000; i++ {
					t.spots = append(t.spots, trace(float64(i%200-100)/20, float64(f%50)*0.004))
				}
				results <- t
			}
		}()
	}
	go func() {
		for f := 0; ; f++ {
			tiles <- f
		}
	}()
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			fmt.Println("done", done.Load())
		}
	}()
	sum := 0.0
	for t := range results {
		sum += t.spots[t.field%len(t.spots)]
		done.Add(1)
	}
}
