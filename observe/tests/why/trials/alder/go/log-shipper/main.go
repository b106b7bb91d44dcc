// Log shipper: parses lines of the services of this host and ships them to the collector.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type Batch struct {
	service string
	lines   int
	body    []byte
}

var shipped atomic.Int64

func parseLine(service string, n int) string {
	f := strings.Fields(fmt.Sprintf("2026-01-02T03:04:05Z INFO %s request=%d status=%d ms=%d", service, n, 200+n%3, n%70))
	return f[0] + "|" + f[2] + "|" + strings.Join(f[3:], ",")
}

func parse(service string, out chan<- Batch) {
	var b bytes.Buffer
	for n := 1; ; n++ {
		b.WriteString(parseLine(service, n))
		b.WriteByte('\n')
		if n%50 == 0 {
			out <- Batch{service, 50, append([]byte(nil), b.Bytes()...)}
			b.Reset()
		}
	}
}

func upload(url string, in <-chan Batch) {
	client := &http.Client{Timeout: 10 * time.Second}
	for b := range in {
		resp, err := client.Post(url+b.service, "text/plain", bytes.NewReader(b.body))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		shipped.Add(int64(b.lines))
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	ch := make(chan Batch)
	for i := 0; i < 6; i++ {
		go parse(fmt.Sprintf("svc%d", i), ch)
	}
	for i := 0; i < n; i++ {
		go upload("http://127.0.0.1:"+os.Args[1]+"/ship/", ch)
	}
	for {
		time.Sleep(time.Second)
		fmt.Println("done", shipped.Load())
	}
}
