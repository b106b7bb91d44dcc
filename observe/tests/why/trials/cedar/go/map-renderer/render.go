package main

import (
	"math"
	"runtime/debug"
)

type tile struct {
	pixels []byte
}

func draw(t *tile, a, b *node) {
	for s := 0.0; s < 1; s += 0.05 {
		x := int(math.Abs(a.x*(1-s)+b.x*s)*31) % 256
		y := int(math.Abs(a.y*(1-s)+b.y*s)*31) % 256
		t.pixels[y*256+x]++
	}
}

// render draws a batch of eight tiles.
func render(network []*node, batch int, tidy bool) {
	done := make([]*tile, 0, 8)
	for i := 0; i < 8; i++ {
		t := &tile{make([]byte, 256*256*4)}
		from := (batch*8 + i) * 2477 % len(network)
		for k := 0; k < 900; k++ {
			n := network[(from+k)%len(network)]
			for _, m := range n.next {
				draw(t, n, m)
			}
		}
		done = append(done, t)
	}
	tiles.Add(int64(len(done)))
	if tidy {
		debug.FreeOSMemory()
	}
}
