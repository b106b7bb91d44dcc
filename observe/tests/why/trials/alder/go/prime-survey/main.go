package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

func primes(from, to int) (n int64) {
	for x := from | 1; x < to; x += 2 {
		ok := true
		for d := 3; d*d <= x; d += 2 {
			if x%d == 0 {
				ok = false
				break
			}
		}
		if ok {
			n++
		}
	}
	return
}

func main() {
	var tested, found atomic.Int64
	ranges := make(chan int, 8)
	for w := 0; w < runtime.NumCPU(); w++ {
		go func() {
			for r := range ranges {
				found.Add(primes(r, r+20000))
				tested.Add(20000)
			}
		}()
	}
	go func() {
		for r := 10_000_000; ; r += 20000 {
			if r > 40_000_000 {
				r = 10_000_000
			}
			ranges <- r
		}
	}()
	for {
		time.Sleep(time.Second)
		fmt.Println("done", tested.Load(), found.Load())
	}
}
