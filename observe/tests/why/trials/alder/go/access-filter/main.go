// Access filter: decides for each request of the proxy whether a rule forbids it.
package main

import (
	"fmt"
	"os"
	"regexp"
	"sync/atomic"
	"time"
)

type Rule struct {
	name    string
	pattern string
	re      *regexp.Regexp
}

type Filter struct {
	rules []Rule
}

func Load(prepare bool) *Filter {
	f := &Filter{}
	for i := 0; i < 12; i++ {
		r := Rule{name: fmt.Sprintf("rule-%d", i),
			pattern: fmt.Sprintf(`^/(?:api|internal)/v%d/(?:users|groups)/[0-9]{1,8}/(?:keys|tokens)(?:/[a-z-]+)?$`, i)}
		if prepare {
			r.re = regexp.MustCompile(r.pattern)
		}
		f.rules = append(f.rules, r)
	}
	return f
}

func (f *Filter) allowed(path string) bool {
	for i := range f.rules {
		r := &f.rules[i]
		re := r.re
		if re == nil {
			re = regexp.MustCompile(r.pattern)
		}
		if re.MatchString(path) {
			return false
		}
	}
	return true
}

func main() {
	f := Load(os.Args[1] == "prepare")
	var seen, denied atomic.Int64
	requests := make(chan string, 256)
	go func() {
		for i := 0; ; i++ {
			requests <- fmt.Sprintf("/api/v%d/users/%d/keys", i%20, i%100000)
		}
	}()
	for w := 0; w < 2; w++ {
		go func() {
			for p := range requests {
				if !f.allowed(p) {
					denied.Add(1)
				}
				seen.Add(1)
			}
		}()
	}
	for {
		time.Sleep(time.Second)
		fmt.Println("done", seen.Load(), "denied", denied.Load())
	}
}
