// geo-tiles serves vector tiles cut from an index of places in memory.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"strconv"
)

type place struct {
	Name string
	X, Y int
	Tags map[string]string
	Next *place
}

var cells [4096]*place

func load(n int) {
	rnd := rand.New(rand.NewSource(3))
	for i := 0; i < n; i++ {
		p := &place{Name: fmt.Sprint("place-", i), X: rnd.Intn(4096), Y: rnd.Intn(4096)}
		if i%4 == 0 {
			p.Tags = map[string]string{"kind": "shop", "no": strconv.Itoa(i)}
		}
		c := p.X/64*64 + p.Y/64
		p.Next = cells[c]
		cells[c] = p
	}
}

type feature struct {
	Name string   `json:"n"`
	At   [2]int   `json:"p"`
	Tags []string `json:"t,omitempty"`
}

func tile(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	x, _ := strconv.Atoi(q.Get("x"))
	y, _ := strconv.Atoi(q.Get("y"))
	var fs []feature
	for p := cells[x/64*64+y/64]; p != nil && len(fs) < 150; p = p.Next {
		f := feature{Name: p.Name, At: [2]int{p.X - x, p.Y - y}}
		for k, v := range p.Tags {
			f.Tags = append(f.Tags, k+"="+v)
		}
		fs = append(fs, f)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(fs)
}

func main() {
	load(950_000)
	http.HandleFunc("/tile", tile)
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
