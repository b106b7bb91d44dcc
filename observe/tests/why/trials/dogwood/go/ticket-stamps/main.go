package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"strings"
)

type ticket struct {
	Number string
	From   string
	To     string
	Fare   float64
}

type stamper struct{ key *ecdsa.PrivateKey }

func (s *stamper) stamp(t ticket) (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	sig, err := ecdsa.SignASN1(rand.Reader, s.key, sum[:])
	return base64.StdEncoding.EncodeToString(sig), err
}

func (s *stamper) serve(w http.ResponseWriter, r *http.Request) {
	var batch []ticket
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stamps := make([]string, 0, len(batch))
	for _, t := range batch {
		st, err := s.stamp(t)
		if err != nil {
			log.Print(err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		stamps = append(stamps, st)
	}
	w.Write([]byte(strings.Join(stamps, "\n")))
}

func main() {
	addr := flag.String("addr", "", "where to listen")
	flag.Parse()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	s := &stamper{key: key}
	http.HandleFunc("/stamp", s.serve)
	log.Fatal(http.ListenAndServe(*addr, nil))
}
