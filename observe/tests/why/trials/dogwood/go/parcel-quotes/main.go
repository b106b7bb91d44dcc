package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
)

type carrier struct {
	base string
	plan string
	once sync.Once
	http *http.Client
}

type offer struct {
	Service string  `json:"service"`
	Price   float64 `json:"price"`
	Days    int     `json:"days"`
}

// client hands out the client for the carrier's interface, which wants our company certificate pool.
func (c *carrier) client() (*http.Client, func()) {
	if c.plan == "b" {
		c.once.Do(func() { c.http = newClient() })
		return c.http, func() {}
	}
	h := newClient()
	return h, h.CloseIdleConnections
}

func newClient() *http.Client {
	tr := &http.Transport{TLSClientConfig: tlsConfig(), MaxIdleConnsPerHost: 64}
	return &http.Client{Transport: tr}
}

func (c *carrier) offers(zone string, grams int) ([]offer, error) {
	h, release := c.client()
	defer release()
	resp, err := h.Get(fmt.Sprintf("%s/offers?zone=%s&grams=%d", c.base, url.QueryEscape(zone), grams))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var out []offer
	return out, json.Unmarshal(data, &out)
}

type quotes struct{ carriers []*carrier }

func (q *quotes) best(zone string, grams int) (offer, error) {
	best := offer{Price: 1e9}
	for _, c := range q.carriers {
		list, err := c.offers(zone, grams)
		if err != nil {
			return best, err
		}
		for _, o := range list {
			if o.Price < best.Price {
				best = o
			}
		}
	}
	return best, nil
}

func (q *quotes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	grams, _ := strconv.Atoi(r.URL.Query().Get("grams"))
	o, err := q.best(r.URL.Query().Get("zone"), grams)
	if err != nil {
		log.Print(err)
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(o)
}

func main() {
	addr := flag.String("addr", "", "where to listen")
	partner := flag.String("carrier", "", "address of the carrier")
	plan := flag.String("plan", "a", "a or b")
	flag.Parse()
	if *partner == "" {
		log.Fatal(serveCarrier(*addr))
	}
	q := &quotes{carriers: []*carrier{{base: "https://" + *partner, plan: *plan}}}
	http.Handle("/quote", q)
	fmt.Fprintln(os.Stderr, "quotes on", *addr)
	log.Fatal(http.ListenAndServe(*addr, nil))
}
