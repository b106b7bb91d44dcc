// Ticker: price lines for all subscribers.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

type Subscriber struct {
	conn net.Conn
	name string
}

type Hub struct {
	mu   sync.Mutex
	subs []*Subscriber
}

func (h *Hub) add(s *Subscriber) {
	h.mu.Lock()
	h.subs = append(h.subs, s)
	h.mu.Unlock()
}

func (h *Hub) broadcast(line []byte) {
	h.mu.Lock()
	subs := append([]*Subscriber(nil), h.subs...)
	h.mu.Unlock()
	for _, s := range subs {
		if _, err := s.conn.Write(line); err != nil {
			h.remove(s)
		}
	}
}

func (h *Hub) remove(s *Subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, x := range h.subs {
		if x == s {
			h.subs = append(h.subs[:i:i], h.subs[i+1:]...)
			s.conn.Close()
			return
		}
	}
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	h := &Hub{}
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.(*net.TCPConn).SetWriteBuffer(8192)
			h.add(&Subscriber{c, fmt.Sprint("sub", n)})
		}
	}()
	pad := fmt.Sprintf("%0400d", 0)
	for n := 1; ; n++ {
		h.broadcast([]byte(fmt.Sprintf("tick %d ABC %d.%02d %s\n", n, 100+n%7, n%100, pad)))
		if n%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
