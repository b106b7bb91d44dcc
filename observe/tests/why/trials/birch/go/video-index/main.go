// video-index finds the scene changes in films by the histograms of their frames.
package main

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

const width, height = 320, 180

type frame [width * height]byte

func decode(f *frame, film, n uint32) {
	s := film*2654435761 + n/50*40503
	for i := range f {
		s ^= s << 13
		s ^= s >> 17
		s ^= s << 5
		f[i] = byte(s>>8)/2 + byte(i/width)
	}
}

func histogram(f *frame) (h [64]float64) {
	for _, p := range f {
		h[p>>2]++
	}
	return
}

func distance(a, b [64]float64) (d float64) {
	for i := range a {
		d += math.Abs(a[i]-b[i]) / (a[i] + b[i] + 1)
	}
	return
}

func main() {
	var frames, scenes atomic.Int64
	for w := uint32(0); w < 2; w++ {
		go func(film uint32) {
			var f frame
			var last [64]float64
			for n := uint32(0); ; n++ {
				decode(&f, film, n)
				h := histogram(&f)
				if distance(h, last) > 4 {
					scenes.Add(1)
				}
				last = h
				frames.Add(1)
			}
		}(w)
	}
	for range time.Tick(250 * time.Millisecond) {
		fmt.Println("done", frames.Load())
	}
}
