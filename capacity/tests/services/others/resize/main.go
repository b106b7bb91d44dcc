// Picture service in Go: handlers hand the work over a channel to a few resizers.
//
//	resize --port N --threads N --hash N --resizers N --pictures PORT --store PORT
//	resize --calibrate
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// job is one picture for a resizer.
type job struct {
	picture string
	done    chan string
}

var block = make([]byte, 1024)

// hash signs rounds KiB.
func hash(rounds int) byte {
	digest := sha256.New()
	for i := 0; i < rounds; i++ {
		digest.Write(block)
	}
	return digest.Sum(nil)[0]
}

func calibrate() {
	best := 0.0
	for i := 0; i < 300; i++ {
		start := time.Now()
		hash(500)
		best = max(best, 500/(time.Since(start).Seconds()*1000))
	}
	fmt.Printf("{\"go.hash\": %.2f}\n", best)
}

// remote is another service over HTTP.
type remote struct {
	client *http.Client
	url    string
}

func newRemote(port int) remote {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	return remote{&http.Client{Transport: transport}, fmt.Sprintf("http://127.0.0.1:%d/", port)}
}

func (r remote) call() string {
	answer, err := r.client.Get(r.url)
	if err != nil {
		log.Print(err)
		return ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}

func resizer(jobs <-chan job, store remote) {
	for j := range jobs {
		j.done <- j.picture + store.call()
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--calibrate" {
		calibrate()
		return
	}
	port := flag.Int("port", 0, "port to listen on")
	flag.Int("threads", 0, "not used: a goroutine a request")
	rounds := flag.Int("hash", 0, "KiB that a request signs")
	resizers := flag.Int("resizers", 1, "resizers behind the channel")
	picturesPort := flag.Int("pictures", 0, "port of the pictures")
	storePort := flag.Int("store", 0, "port of the store")
	flag.Parse()
	pictures, store := newRemote(*picturesPort), newRemote(*storePort)
	jobs := make(chan job)
	for i := 0; i < *resizers; i++ {
		go resizer(jobs, store)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		j := job{pictures.call(), make(chan string, 1)}
		signature := hash(*rounds)
		jobs <- j
		fmt.Fprintf(w, "%s %d", <-j.done, signature)
	})
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ready %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
