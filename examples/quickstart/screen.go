package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// screen shows a text that changes: redrawn in place on a terminal, printed anew
// elsewhere. Not safe for concurrent use.
type screen struct {
	out   io.Writer
	live  bool
	lines int // of the text that stands there
}

func newScreen(out *os.File, plain bool) *screen {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	return &screen{out: out, live: terminal && !plain}
}

// draw shows text, which ends with a line's end, in place of what it drew
// before. A line that the terminal wraps would be left standing.
func (s *screen) draw(text string) {
	if !s.live {
		s.print(text)
		return
	}
	if s.lines > 0 {
		text = fmt.Sprintf("\x1b[%dA", s.lines) + text // up
	}
	s.print(strings.ReplaceAll(text, "\n", "\x1b[K\n")) // clear what is left of each line
	s.lines = strings.Count(text, "\n")
}

// print adds text below.
func (s *screen) print(text string) {
	s.lines = 0
	fmt.Fprint(s.out, text)
}
