// journal-writer is the order intake of a warehouse: each order is in the journal before it is confirmed.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type journal struct {
	mu      sync.Mutex
	f       *os.File
	waiting []chan error
	buf     []byte
	group   bool
}

func (j *journal) append(rec []byte) error {
	if j.group {
		c := make(chan error, 1)
		j.mu.Lock()
		j.buf = append(j.buf, rec...)
		j.waiting = append(j.waiting, c)
		j.mu.Unlock()
		return <-c
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.f.Write(rec); err != nil {
		return err
	}
	return j.f.Sync()
}

func (j *journal) committer() {
	for {
		j.mu.Lock()
		b, ws := j.buf, j.waiting
		j.buf, j.waiting = nil, nil
		j.mu.Unlock()
		if len(ws) == 0 {
			time.Sleep(200 * time.Microsecond)
			continue
		}
		_, err := j.f.Write(b)
		if err == nil {
			err = j.f.Sync()
		}
		for _, w := range ws {
			w <- err
		}
	}
}

func main() {
	f, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	j := &journal{f: f, group: os.Args[2] == "group"}
	if j.group {
		go j.committer()
	}
	var done atomic.Int64
	for scanner := 0; scanner < 32; scanner++ {
		go func(s int) {
			for n := 0; ; n++ {
				body := fmt.Sprintf("order %d-%d sku %d qty %d", s, n, n*7919%100000, n%9+1)
				rec := fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE([]byte(body)), body)
				if err := j.append([]byte(rec)); err != nil {
					panic(err)
				}
				done.Add(1)
			}
		}(scanner)
	}
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("done", done.Load())
	}
}
