package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sort"
	"strconv"
)

type seat struct {
	Row, Number int
	Block       string
	Price       float64
	Holder      *string
	next        *seat
}

type event struct {
	id    int
	first *seat
	byKey map[string]*seat
}

type inventory struct{ events []*event }

func load(events, seats int) *inventory {
	inv := &inventory{}
	for e := 0; e < events; e++ {
		ev := &event{id: e, byKey: make(map[string]*seat, seats)}
		for s := 0; s < seats; s++ {
			holder := fmt.Sprintf("guest-%d-%d", e, s)
			st := &seat{Row: s / 40, Number: s % 40, Block: string(rune('A' + s%7)), Price: 20 + float64(s%90),
				Holder: &holder, next: ev.first}
			ev.first = st
			ev.byKey[strconv.Itoa(s)] = st
		}
		inv.events = append(inv.events, ev)
	}
	return inv
}

type offer struct {
	Label string
	Price float64
	Seats []*seat
}

// offers groups neighbouring seats of an event into offers, cheapest first.
func (e *event) offers(size int) []*offer {
	var list []*offer
	group := make([]*seat, 0, size)
	sum := 0.0
	for s := e.first; s != nil; s = s.next {
		group = append(group, s)
		sum += s.Price
		if len(group) == size {
			label := s.Block + "-" + strconv.Itoa(s.Row) + "/" + strconv.Itoa(s.Number)
			list = append(list, &offer{Label: label, Price: sum, Seats: append([]*seat(nil), group...)})
			group, sum = group[:0], 0
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Price < list[j].Price })
	return list
}

func (inv *inventory) serve(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.URL.Query().Get("event"))
	e := inv.events[id%len(inv.events)]
	best := e.offers(4)[:5]
	json.NewEncoder(w).Encode(map[string]any{"event": e.id, "label": best[0].Label, "price": best[0].Price})
}

func main() {
	addr := flag.String("addr", "", "where to listen")
	flag.Parse()
	inv := load(400, 3000)
	http.HandleFunc("/offers", inv.serve)
	log.Fatal(http.ListenAndServe(*addr, nil))
}
