package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress tells how far it is: with a bar on a terminal, with a line now and then
// elsewhere. Safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	live  bool
	start time.Time
	shown time.Time
	done  int
	all   int
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	return &progress{out: out, live: terminal}
}

// begin says how many steps there will be.
func (p *progress) begin(all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all, p.start, p.shown = all, time.Now(), time.Now()
}

const barWidth = 40

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	every := 10 * time.Second
	if p.live {
		every = 100 * time.Millisecond
	}
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	left := time.Since(p.start) * time.Duration(p.all-p.done) / time.Duration(p.done)
	text := fmt.Sprintf("%d of %d runs, %v left", p.done, p.all, left.Round(time.Second))
	if !p.live {
		fmt.Fprintln(p.out, text)
		return
	}
	full := barWidth * p.done / p.all
	fmt.Fprintf(p.out, "\r[%s%s] %s\x1b[K", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), text)
}

// end takes the bar away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
