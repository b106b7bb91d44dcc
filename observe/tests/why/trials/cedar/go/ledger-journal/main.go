package main

import (
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"time"
)

type journal interface {
	Append(line []byte) error
}

type account struct {
	balance atomic.Int64
}

var accounts [500]account
var posted atomic.Int64

func teller(j journal, n int) {
	for i := n; ; i += 64 {
		from, to, cents := i*7%500, i*13%500, int64(i%9000)
		line := fmt.Sprintf("%d;%d;%d;%d;%d\n", time.Now().UnixMicro(), n, from, to, cents)
		if err := j.Append([]byte(line)); err != nil {
			log.Fatal(err)
		}
		accounts[from].balance.Add(-cents)
		accounts[to].balance.Add(cents)
		posted.Add(1)
	}
}

func main() {
	file := flag.String("file", "", "the journal")
	group := flag.Bool("group", false, "")
	flag.Parse()
	j, err := open(*file, *group)
	if err != nil {
		log.Fatal(err)
	}
	for n := 0; n < 64; n++ {
		go teller(j, n)
	}
	fmt.Println("ready")
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("total", posted.Load())
	}
}
