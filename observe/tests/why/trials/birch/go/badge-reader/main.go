// badge-reader decides for the doors of an office whether a badge may enter.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type site struct {
	mu     sync.RWMutex
	inside map[int]time.Time
	count  map[string]int
}

func (s *site) enter(w http.ResponseWriter, r *http.Request) {
	badge, err := strconv.Atoi(r.FormValue("badge"))
	if err != nil {
		http.Error(w, "badge?", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	last, back := s.inside[badge]
	s.inside[badge] = time.Now()
	s.count[r.FormValue("door")]++
	s.mu.Unlock()
	fmt.Fprintf(w, "{\"open\":true,\"back\":%v,\"last\":%d}\n", back, last.Unix())
}

func (s *site) forget() {
	for range time.Tick(5 * time.Second) {
		s.mu.Lock()
		for b, t := range s.inside {
			if time.Since(t) > 12*time.Hour {
				delete(s.inside, b)
			}
		}
		s.mu.Unlock()
	}
}

func main() {
	s := &site{inside: map[int]time.Time{}, count: map[string]int{}}
	go s.forget()
	http.HandleFunc("/enter", s.enter)
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
