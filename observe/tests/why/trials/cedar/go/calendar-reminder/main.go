package main

import (
	"container/heap"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

type reminder struct {
	who int
	at  time.Time
	day string
}

type byTime []reminder

func (b byTime) Len() int           { return len(b) }
func (b byTime) Less(i, j int) bool { return b[i].at.Before(b[j].at) }
func (b byTime) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *byTime) Push(x any)        { *b = append(*b, x.(reminder)) }
func (b *byTime) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}

var (
	mu      sync.Mutex
	pending byTime
	planned atomic.Int64
)

func plan(z *zones, first int) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for n := first; ; n += 3 {
		meeting := start.Add(time.Duration(n%5000) * 17 * time.Minute)
		due := make([]reminder, 0, 12)
		for who := 0; who < 12; who++ {
			local, err := z.localTime(meeting, n+who)
			if err != nil {
				panic(err)
			}
			before := 15 * time.Minute
			if local.Hour() < 8 || local.Hour() > 18 {
				before = 12 * time.Hour
			}
			due = append(due, reminder{who, local.Add(-before), local.Format("Mon 2 Jan 15:04 MST")})
			planned.Add(1)
		}
		mu.Lock()
		heap.Push(&pending, due[n%12])
		for len(pending) > 1000 {
			heap.Pop(&pending)
		}
		mu.Unlock()
	}
}

func main() {
	keep := flag.Bool("keep", false, "")
	flag.Parse()
	for w := 0; w < 3; w++ {
		go plan(newZones(*keep), w)
	}
	fmt.Println("ready")
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("total", planned.Load())
	}
}
