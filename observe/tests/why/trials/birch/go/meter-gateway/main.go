// meter-gateway sends the readings of heat meters to the hub of the utility by HTTPS.
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

type reading struct {
	Meter int       `json:"meter"`
	KWh   float64   `json:"kwh"`
	At    time.Time `json:"at"`
}

func hub(port string) {
	key, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		panic(err)
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, _ := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	s := &http.Server{Addr: "127.0.0.1:" + port, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	s.ErrorLog = nil
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b []reading
		json.NewDecoder(r.Body).Decode(&b)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "{\"accepted\":%d}\n", len(b))
	})
	panic(s.ListenAndServeTLS("", ""))
}

type uplink struct {
	client *http.Client
	url    string
	drain  bool
}

func (u *uplink) send(batch []reading) error {
	body, _ := json.Marshal(batch)
	resp, err := u.client.Post(u.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if u.drain {
		io.Copy(io.Discard, resp.Body)
	}
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("hub: %s", resp.Status)
	}
	return nil
}

func main() {
	if os.Args[1] == "hub" {
		hub(os.Args[2])
	}
	u := &uplink{url: "https://127.0.0.1:" + os.Args[2] + "/readings", drain: os.Args[3] == "drain",
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 8}}}
	var done atomic.Int64
	for line := 0; line < 6; line++ {
		go func(line int) {
			for n := 0; ; n++ {
				batch := make([]reading, 20)
				for i := range batch {
					batch[i] = reading{line*1000 + i, float64(n) * 0.01, time.Now()}
				}
				if err := u.send(batch); err != nil {
					fmt.Fprintln(os.Stderr, err)
					time.Sleep(time.Second)
				}
				done.Add(1)
			}
		}(line)
	}
	for range time.Tick(500 * time.Millisecond) {
		fmt.Println("done", done.Load())
	}
}
