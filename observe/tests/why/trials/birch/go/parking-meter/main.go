// parking-meter takes payments for parking and frees the places when the time is over.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

type lot struct {
	mu    sync.Mutex
	until map[string]time.Time
	free  chan string
}

func (l *lot) pay(w http.ResponseWriter, r *http.Request) {
	plate := r.FormValue("plate")
	l.mu.Lock()
	l.until[plate] = time.Now().Add(time.Hour)
	n := len(l.until)
	l.mu.Unlock()
	fmt.Fprintf(w, "{\"plate\":%q,\"parked\":%d}\n", plate, n)
}

func (l *lot) place(number int) {
	for {
		select {
		case <-l.free:
		case <-time.After(time.Duration(20+number%40) * time.Second):
		}
	}
}

func main() {
	l := &lot{until: map[string]time.Time{}, free: make(chan string)}
	for i := 0; i < 3000; i++ {
		go l.place(i)
	}
	go func() {
		for now := range time.Tick(time.Second) {
			l.mu.Lock()
			for p, t := range l.until {
				if now.After(t) {
					delete(l.until, p)
				}
			}
			l.mu.Unlock()
		}
	}()
	http.HandleFunc("/pay", l.pay)
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
