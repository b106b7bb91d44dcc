package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"
)

type signal struct {
	Berth string
	Level float64
	reply chan int
}

type board struct {
	mu     sync.Mutex
	levels map[string]float64
	counts map[string]int
}

func (b *board) record(s signal) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.levels[s.Berth] = 0.9*b.levels[s.Berth] + 0.1*s.Level
	b.counts[s.Berth]++
	return b.counts[s.Berth]
}

// watcher takes signals from the queue; there are many, for the hours when a fleet comes in.
func watcher(b *board, queue <-chan signal) {
	for s := range queue {
		s.reply <- b.record(s)
	}
}

func (b *board) tidy(every time.Duration) {
	for range time.Tick(every) {
		b.mu.Lock()
		for k, v := range b.levels {
			if v < 0.01 {
				delete(b.levels, k)
			}
		}
		b.mu.Unlock()
	}
}

func main() {
	addr := flag.String("addr", "", "where to listen")
	flag.Parse()
	b := &board{levels: map[string]float64{}, counts: map[string]int{}}
	queue := make(chan signal, 64)
	for i := 0; i < 400; i++ {
		go watcher(b, queue)
	}
	go b.tidy(500 * time.Millisecond)
	http.HandleFunc("/signal", func(w http.ResponseWriter, r *http.Request) {
		s := signal{reply: make(chan int, 1)}
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		queue <- s
		fmt.Fprintf(w, `{"count":%d}`, <-s.reply)
	})
	log.Fatal(http.ListenAndServe(*addr, nil))
}
