package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

// shared returns a path among the collected wire cases and recordings, which lie
// beside the repository on the machines that have them.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			path := filepath.Join(append([]string{filepath.Dir(root), "shared"}, elem...)...)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("skipped: the recorded cases are not on this machine: %v", err)
			}
			return path
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the test")
		}
	}
}

type block = sse.Block

// readStream reads a stream through framing and dialect, in pieces of that size,
// and gives each dispatched event to see, with the rest that no blank line ended.
func readStream(d dialect.Dialect, stream []byte, size int, see func(b *block, ev *dialect.Event)) {
	var s sse.Scanner
	var b sse.Block
	var ev dialect.Event
	r := d.NewReader()
	for rest := stream; len(rest) > 0; {
		n := min(size, len(rest))
		s.Wrote(copy(s.Space(n), rest[:n]))
		rest = rest[n:]
		for s.Next(&b) {
			if b.HasData {
				r.Read(b.Name, b.Data, &ev)
				see(&b, &ev)
			}
		}
	}
	if s.Rest(&b) && b.HasData {
		r.Read(b.Name, b.Data, &ev)
		see(&b, &ev)
	}
}

// tally is what the events of one stream come to.
type tally struct {
	First, FirstAnswer int // index of the event among those with data, [DONE] left out; -1: none
	Contents           int
	Finish, FinishRaw  string
	Usage              dialect.Usage
	HasUsage           bool
	Terminal           bool
	Noise              int
	Err                dialect.ErrorInfo // before a finish
	LateErr            bool              // after it
	Reasoning          bool
	Tokens             []int // of the events with content
	events             int
}

func newTally() *tally { return &tally{First: -1, FirstAnswer: -1} }

func (s *tally) see(b *block, ev *dialect.Event) {
	if ev.Terminal && string(b.Data) == "[DONE]" {
		s.Terminal = true
		return
	}
	if ev.Content {
		s.Contents++
		s.Tokens = append(s.Tokens, ev.Tokens)
		if s.First < 0 {
			s.First = s.events
		}
		if ev.Answer && s.FirstAnswer < 0 {
			s.FirstAnswer = s.events
		}
	}
	if ev.Noise {
		s.Noise++
	}
	if ev.Err.Present {
		if s.Finish == "" {
			s.Err = ev.Err
			s.Err.Message = nil
		} else {
			s.LateErr = true
		}
	}
	if s.Finish == "" && ev.Finish != "" {
		s.Finish, s.FinishRaw = ev.Finish, string(ev.FinishRaw)
	}
	if ev.HasUsage {
		s.HasUsage, s.Usage = true, ev.Usage
	}
	s.Terminal = s.Terminal || ev.Terminal
	s.Reasoning = s.Reasoning || ev.ReasoningText
	s.events++
}

func mustUnmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
