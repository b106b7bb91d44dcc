package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

type Cache struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (c *Cache) get(k string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.m[k]
	if b == nil {
		b = make([]byte, 4096)
		copy(b, k)
		c.m[k] = b
		go c.expire(k, 10*time.Second)
	}
	return b
}

func (c *Cache) expire(k string, d time.Duration) {
	time.Sleep(d)
	c.mu.Lock()
	delete(c.m, k)
	c.mu.Unlock()
}

func main() {
	c := &Cache{m: map[string][]byte{}}
	stop := make(chan struct{})
	for i := 0; i < 2000; i++ { // subscribers of map changes
		go func() {
			select {
			case <-stop:
			case <-time.After(time.Hour):
			}
		}()
	}
	n := 0
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Write(c.get(fmt.Sprint(r.URL.Path, n%50)))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
