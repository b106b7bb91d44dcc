// Quote cache: newest quotes per instrument, snapshots for the charts.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

type Quote struct {
	Bid, Ask float64
	Venue    *string
	Prev     *Quote
}

type Cache struct {
	mu    sync.RWMutex
	last  map[int]*Quote
	venue []string
}

var snapshots atomic.Int64

func (c *Cache) put(i int, bid float64) {
	q := &Quote{Bid: bid, Ask: bid + 0.01, Venue: &c.venue[i%len(c.venue)]}
	c.mu.Lock()
	old := c.last[i]
	q.Prev = old
	for d, p := 0, q; p != nil; d, p = d+1, p.Prev {
		if d == 20 {
			p.Prev = nil
		}
	}
	c.last[i] = q
	c.mu.Unlock()
}

func (c *Cache) snapshot(from int) []*Quote {
	out := make([]*Quote, 0, 100)
	c.mu.RLock()
	for i := from; i < from+100; i++ {
		if q := c.last[i]; q != nil {
			out = append(out, &Quote{Bid: q.Bid, Ask: q.Ask, Venue: q.Venue})
		}
	}
	c.mu.RUnlock()
	return out
}

func main() {
	c := &Cache{last: map[int]*Quote{}, venue: []string{"XETR", "XLON", "XPAR"}}
	const n = 90000
	for r := 0; r < 20; r++ {
		for i := 0; i < n; i++ {
			c.put(i, float64(i%400)+float64(r))
		}
	}
	for w := 0; w < 2; w++ {
		go func(k int) {
			for {
				k = (k + 7919) % (n - 100)
				if len(c.snapshot(k)) > 0 {
					snapshots.Add(1)
				}
			}
		}(w)
	}
	go func() {
		for i := 0; ; i = (i + 1) % n {
			c.put(i, float64(i%300))
			time.Sleep(time.Millisecond)
		}
	}()
	for {
		time.Sleep(time.Second)
		fmt.Println("done", snapshots.Load())
	}
}
