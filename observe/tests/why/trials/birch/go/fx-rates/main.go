// fx-rates converts amounts of a travel agency's bookings by the rates of its bank.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

type bank struct {
	client *http.Client
	base   string
}

func (b *bank) rates(day int) (map[string]float64, error) {
	resp, err := b.client.Get(fmt.Sprintf("%s/rates/%d", b.base, day))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	m := map[string]float64{}
	return m, json.NewDecoder(resp.Body).Decode(&m)
}

func main() {
	conns, _ := strconv.Atoi(os.Args[2])
	b := &bank{base: "http://127.0.0.1:" + os.Args[1], client: &http.Client{Timeout: 30 * time.Second,
		Transport: &http.Transport{MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns, IdleConnTimeout: time.Minute}}}
	var done atomic.Int64
	bookings := make(chan int, 16)
	go func() {
		for i := 0; ; i++ {
			bookings <- i
		}
	}()
	for w := 0; w < 40; w++ {
		go func() {
			total := 0.0
			for n := range bookings {
				r, err := b.rates(n % 365)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					continue
				}
				total += float64(n%5000) * r["EURUSD"]
				done.Add(1)
			}
		}()
	}
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("done", done.Load())
	}
}
