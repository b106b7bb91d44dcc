package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

type photo struct {
	name string
	data []byte
}

type entry struct {
	name  string
	print uint64
}

type index struct {
	mu      sync.Mutex
	entries map[uint64][]entry
}

func (ix *index) add(e entry) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	list := append(ix.entries[e.print>>48], e)
	if len(list) > 64 {
		list = append([]entry(nil), list[32:]...)
	}
	ix.entries[e.print>>48] = list
}

// fingerprint is the average hash of a photo: one bit for each of 64 cells, light or dark.
func fingerprint(img image.Image) uint64 {
	b := img.Bounds()
	var cells [64]uint64
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			cells[(y*8/b.Dy())*8+x*8/b.Dx()] += uint64(299*r+587*g+114*bl) / 1000
		}
	}
	var sum, print uint64
	for _, c := range cells {
		sum += c / 64
	}
	for i, c := range cells {
		if c > sum {
			print |= 1 << i
		}
	}
	return print
}

func work(ix *index, in <-chan photo, done *atomic.Int64) {
	for p := range in {
		img, err := jpeg.Decode(bytes.NewReader(p.data))
		if err != nil {
			log.Print(p.name, err)
			continue
		}
		ix.add(entry{p.name, fingerprint(img)})
		done.Add(1)
	}
}

func sample(n int) photo {
	img := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := 0; y < 240; y++ {
		for x := 0; x < 320; x++ {
			v := uint8(bits.Reverse8(uint8(x*n/50)) ^ uint8(y*3))
			img.Set(x, y, color.RGBA{v, uint8(x + n), uint8(y), 255})
		}
	}
	var buf bytes.Buffer
	jpeg.Encode(&buf, img, nil)
	return photo{fmt.Sprintf("img-%04d.jpg", n), buf.Bytes()}
}

func main() {
	var samples []photo
	for n := 0; n < 32; n++ {
		samples = append(samples, sample(n))
	}
	ix := &index{entries: map[uint64][]entry{}}
	in := make(chan photo, 16)
	var done atomic.Int64
	for i := 0; i < 4; i++ {
		go work(ix, in, &done)
	}
	go func() {
		for range time.Tick(200 * time.Millisecond) {
			fmt.Println("indexed", done.Load())
		}
	}()
	for i := 0; ; i++ {
		in <- samples[i%len(samples)]
	}
}
