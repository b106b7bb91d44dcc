package main

import (
	"crypto/sha512"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type result struct {
	block int
	sum   [64]byte
}

var (
	mu       sync.Mutex
	known    = map[int][64]byte{}
	verified atomic.Int64
	doubtful = make(chan result, 16)
)

func verify(block int, data []byte) {
	for i := range data[:512] {
		data[i] = byte(block + i)
	}
	sum := sha512.Sum512(data)
	mu.Lock()
	before, seen := known[block]
	known[block] = sum
	mu.Unlock()
	if seen && before != sum {
		doubtful <- result{block, sum}
	}
	verified.Add(1)
}

func report() {
	for r := range doubtful {
		fmt.Printf("block %d is doubtful: %x\n", r.block, r.sum[:4])
	}
}

func main() {
	go report()
	workers := runtime.NumCPU()
	for w := 0; w < workers; w++ {
		go func() {
			data := make([]byte, 256<<10)
			for n := w; ; n += workers {
				verify(n%20000, data)
			}
		}()
	}
	fmt.Println("ready")
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("total", verified.Load())
	}
}
