package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"
)

type price struct {
	cents int
	seen  time.Time
}

type book struct {
	mu     sync.RWMutex
	prices map[int]price
}

func (b *book) put(id, cents int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prices[id] = price{cents, time.Now()}
}

// expire forgets prices that nobody has confirmed for a minute.
func (b *book) expire() {
	for range time.Tick(2 * time.Second) {
		b.mu.Lock()
		for id, p := range b.prices {
			if time.Since(p.seen) > time.Minute {
				delete(b.prices, id)
			}
		}
		b.mu.Unlock()
	}
}

func main() {
	supplier := flag.String("supplier", "", "base of the interface")
	drain := flag.Bool("drain", false, "")
	flag.Parse()
	b := &book{prices: map[int]price{}}
	s := newSupplier(*supplier, *drain)
	go b.expire()
	var done atomic.Int64
	for w := 0; w < 8; w++ {
		go func() {
			for n := w; ; n += 8 {
				cents, err := s.fetch(n % 4000)
				if err != nil {
					log.Println(err)
					time.Sleep(100 * time.Millisecond)
					continue
				}
				b.put(n%4000, cents)
				done.Add(1)
			}
		}()
	}
	fmt.Println("ready")
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("total", done.Load())
	}
}
