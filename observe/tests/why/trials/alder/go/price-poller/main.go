// Price poller: asks the partner for hotel prices, four workers.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

type Price struct {
	Hotel string
	Cents int
}

var polled, total atomic.Int64
var shared *http.Client

func newClient(pool *x509.CertPool) *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 8}}
}

func fetch(addr string, hotel int, pool *x509.CertPool) (p Price, err error) {
	c := shared
	if c == nil {
		c = newClient(pool)
		defer c.CloseIdleConnections()
	}
	resp, err := c.Get(fmt.Sprintf("https://%s/price?hotel=%d", addr, hotel))
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return p, json.Unmarshal(b, &p)
}

func partner(addr chan<- string, certOut chan<- *x509.CertPool) {
	key, _ := rsa.GenerateKey(rand.Reader, 2048)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partner"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}}
	der, _ := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	cert, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		log.Fatal(err)
	}
	addr <- l.Addr().String()
	certOut <- pool
	pem := x509.MarshalPKCS1PrivateKey(key)
	_ = pem
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(Price{r.URL.Query().Get("hotel"), 9900})
	}))
}

func main() {
	if os.Args[1] == "partner" {
		a, c := make(chan string, 1), make(chan *x509.CertPool, 1)
		go partner(a, c)
		fmt.Println(<-a)
		select {}
	}
	// the certificate of the partner is pinned on first use
	conn, err := tls.Dial("tcp", os.Args[1], &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(conn.ConnectionState().PeerCertificates[0])
	conn.Close()
	if os.Args[2] == "shared" {
		shared = newClient(pool)
	}
	for w := 0; w < 4; w++ {
		go func(h int) {
			for ; ; h++ {
				if p, err := fetch(os.Args[1], h%500, pool); err == nil {
					polled.Add(1)
					total.Add(int64(p.Cents))
				}
			}
		}(w * 100)
	}
	for {
		time.Sleep(time.Second)
		fmt.Println("done", polled.Load())
	}
}
