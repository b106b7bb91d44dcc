// Webhook sender of the shop: takes events and posts them to the endpoint of the customer.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

type Event struct {
	ID       int64  `json:"id"`
	Kind     string `json:"kind"`
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

type Sender struct {
	client *http.Client
	port   string
	sent   atomic.Int64
}

func NewSender(dns, port string) *Sender {
	res := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", dns)
	}}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Resolver: res}
	tr := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	return &Sender{client: &http.Client{Transport: tr, Timeout: 10 * time.Second}, port: port}
}

func (s *Sender) deliver(e Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://%s.hooks.example.org.:%s/in", e.Customer, s.port)
	resp, err := s.client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp.Body.Close()
	s.sent.Add(1)
	return nil
}

func main() {
	s := NewSender(os.Args[1], os.Args[2])
	events := make(chan Event, 100)
	go func() {
		for i := int64(1); ; i++ {
			events <- Event{i, "order.paid", fmt.Sprintf("c%d", i%40), i * 17 % 10000}
		}
	}()
	for w := 0; w < 8; w++ {
		go func() {
			for e := range events {
				if err := s.deliver(e); err != nil {
					fmt.Fprintln(os.Stderr, err)
					time.Sleep(50 * time.Millisecond)
				}
			}
		}()
	}
	for {
		time.Sleep(time.Second)
		fmt.Println("done", s.sent.Load())
	}
}
