// Package progress tells on a terminal how far a long run is. Examples use it; it knows
// nothing of what is run.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Bar tells how far it is: with a bar on a terminal, with a line now and then
// elsewhere. Safe for concurrent use.
type Bar struct {
	mu    sync.Mutex
	out   io.Writer
	live  bool
	what  string
	start time.Time
	shown time.Time
	done  int
	all   int
}

// New returns a bar on out, whose steps are called what.
func New(out *os.File, what string) *Bar {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	return NewOn(out, terminal, what)
}

// NewOn returns a bar on any writer; live redraws one line.
func NewOn(out io.Writer, live bool, what string) *Bar {
	return &Bar{out: out, live: live, what: what}
}

// Begin says how many steps there will be.
func (b *Bar) Begin(all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.start, b.shown = all, time.Now(), time.Now()
}

const width = 40

// Step says that one more is done.
func (b *Bar) Step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	every := 10 * time.Second
	if b.live {
		every = 100 * time.Millisecond
	}
	if time.Since(b.shown) < every {
		return
	}
	b.shown = time.Now()
	left := time.Since(b.start) * time.Duration(b.all-b.done) / time.Duration(b.done)
	text := fmt.Sprintf("%d of %d %s, %v left", b.done, b.all, b.what, left.Round(time.Second))
	if !b.live {
		fmt.Fprintln(b.out, text)
		return
	}
	full := width * b.done / b.all
	fmt.Fprintf(b.out, "\r[%s%s] %s\x1b[K", strings.Repeat("#", full), strings.Repeat(".", width-full), text)
}

// End takes the bar away.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
