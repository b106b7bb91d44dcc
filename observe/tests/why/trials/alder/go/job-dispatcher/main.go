// Job dispatcher: jobs pass validate, price, reserve and confirm; customers wait for the end.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type Job struct {
	id    int64
	trail uint32
	done  chan struct{}
}

type Queue struct {
	mu    sync.Mutex
	jobs  []*Job
	ready chan struct{}
}

func NewQueue() *Queue { return &Queue{ready: make(chan struct{}, 1)} }

func (q *Queue) put(j *Job) {
	q.mu.Lock()
	q.jobs = append(q.jobs, j)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *Queue) take() []*Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.jobs
	q.jobs = nil
	return j
}

var finished atomic.Int64

func station(name string, in, out *Queue, notified bool) {
	for {
		jobs := in.take()
		if len(jobs) == 0 {
			if notified {
				<-in.ready
			} else {
				time.Sleep(20 * time.Millisecond)
			}
			continue
		}
		for _, j := range jobs {
			j.trail = crc32.ChecksumIEEE([]byte(fmt.Sprint(name, j.id, j.trail)))
			if out == nil {
				close(j.done)
				finished.Add(1)
			} else {
				out.put(j)
			}
		}
	}
}

func main() {
	notified := os.Args[1] == "notify"
	names := []string{"validate", "price", "reserve", "confirm"}
	queues := make([]*Queue, len(names)+1)
	for i := range names {
		queues[i] = NewQueue()
	}
	for i, n := range names {
		go station(n, queues[i], queues[i+1], notified)
	}
	var ids atomic.Int64
	for c := 0; c < 10; c++ {
		go func() {
			for {
				j := &Job{id: ids.Add(1), done: make(chan struct{})}
				queues[0].put(j)
				<-j.done
			}
		}()
	}
	for {
		time.Sleep(time.Second)
		fmt.Println("done", finished.Load())
	}
}
