// Goroutines in known states: `units` with a number of idle workers.
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

var (
	lock sync.Mutex
	all  sync.WaitGroup
)

//go:noinline
func locked() {
	lock.Lock()
	time.Sleep(20 * time.Millisecond)
	lock.Unlock()
}

func takesTheLock() {
	for {
		locked()
	}
}

func works(tasks chan int) {
	for range tasks {
	}
}

func sleeps() {
	for {
		time.Sleep(time.Hour)
	}
}

func asks(peer string) {
	connection, err := net.Dial("tcp", peer)
	if err != nil {
		panic(err)
	}
	connection.Read(make([]byte, 1))
}

func spins() {
	for x := 1; x != 0; {
		x = x*31 + 7
	}
}

func main() {
	workers, _ := strconv.Atoi(os.Args[1])
	all.Add(1)
	tasks := make(chan int)
	for i := 0; i < workers; i++ {
		go works(tasks)
	}
	for i := 0; i < 4; i++ {
		go takesTheLock()
	}
	for i := 0; i < 2; i++ {
		go sleeps()
	}
	if len(os.Args) > 2 {
		for i := 0; i < 3; i++ {
			go asks(os.Args[2])
		}
	}
	for i := 0; i < 2; i++ {
		go spins()
	}
	fmt.Println("ready")
	all.Wait()
}
