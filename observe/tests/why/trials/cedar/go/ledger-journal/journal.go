package main

import (
	"os"
	"sync"
)

const limit = 32 << 20

// Journal is an append-only file; it starts anew when it is full.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

func open(name string, group bool) (journal, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f}
	if !group {
		return j, nil
	}
	g := &grouped{j: j, in: make(chan entry, 128)}
	go g.loop()
	return g, nil
}

func (j *Journal) write(b []byte) error {
	n, err := j.file.WriteAt(b, j.size)
	j.size += int64(n)
	if j.size > limit {
		j.size = 0
	}
	return err
}

func (j *Journal) Append(line []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(line); err != nil {
		return err
	}
	return j.file.Sync()
}

type entry struct {
	line []byte
	done chan error
}

type grouped struct {
	j  *Journal
	in chan entry
}

func (g *grouped) Append(line []byte) error {
	e := entry{line, make(chan error, 1)}
	g.in <- e
	return <-e.done
}

func (g *grouped) loop() {
	for first := range g.in {
		batch := []entry{first}
		text := append([]byte(nil), first.line...)
		for more := true; more && len(batch) < 128; {
			select {
			case e := <-g.in:
				batch = append(batch, e)
				text = append(text, e.line...)
			default:
				more = false
			}
		}
		err := g.j.write(text)
		if err == nil {
			err = g.j.file.Sync()
		}
		for _, e := range batch {
			e.done <- err
		}
	}
}
