package sse_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/sse"
)

// event is a dispatched event.
type event struct{ Name, Data string }

// split reads input in pieces of the sizes that size returns and gives all blocks.
func split(t testing.TB, input []byte, size func(left int) int) []sse.Block {
	t.Helper()
	var s sse.Scanner
	var b sse.Block
	var blocks []sse.Block
	keep := func() {
		b.Name, b.Data, b.Raw = bytes.Clone(b.Name), bytes.Clone(b.Data), bytes.Clone(b.Raw)
		blocks = append(blocks, b)
	}
	buffered := 0
	for rest := input; len(rest) > 0; {
		n := min(max(1, size(len(rest))), len(rest))
		room := s.Space(n)
		if len(room) < n {
			t.Fatalf("Space(%d) has room for %d bytes", n, len(room))
		}
		s.Wrote(copy(room, rest[:n]))
		rest = rest[n:]
		buffered += n
		for s.Next(&b) {
			buffered -= len(b.Raw)
			keep()
		}
		if got := s.Buffered(); got != buffered {
			t.Fatalf("Buffered() = %d, want %d", got, buffered)
		}
	}
	if s.Rest(&b) {
		keep()
	}
	if s.Buffered() != 0 || s.Next(&b) {
		t.Fatal("something is left after Rest")
	}
	return blocks
}

func whole(left int) int   { return left }
func oneByte(left int) int { return 1 }

// dispatched returns the events of those blocks that a blank line ended.
func dispatched(blocks []sse.Block) (events []event) {
	for _, b := range blocks {
		if b.HasData && !b.Unterminated {
			events = append(events, event{string(b.Name), string(b.Data)})
		}
	}
	return events
}

func raw(blocks []sse.Block) string {
	var all strings.Builder
	for _, b := range blocks {
		all.Write(b.Raw)
	}
	return all.String()
}

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	tests := []struct {
		name, input string
		want        []event
	}{
		{"nothing", "", nil},
		{"one event", "data: a\n\n", []event{{"", "a"}}},
		{"several", "data: a\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}},
		{"CRLF", "event: n\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{"n", "a"}, {"", "b"}}},
		{"bare CR", "event: n\rdata: a\r\rdata: b\r\r", []event{{"n", "a"}, {"", "b"}}},
		{"line ends mixed", "data: a\r\ndata: b\rdata: c\n\r\n", []event{{"", "a\nb\nc"}}},
		{"LF CR is two ends", "data: a\n\rdata: b\n\n", []event{{"", "a"}, {"", "b"}}},
		{"byte order mark", "\xEF\xBB\xBFdata: a\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}},
		{"byte order mark once only", "\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\ndata: b\n\n", []event{{"", "b"}}},
		{"byte order mark later", "data: b\n\n\xEF\xBB\xBFdata: a\n\n", []event{{"", "b"}}},
		{"no space", "data:a\n\n", []event{{"", "a"}}},
		{"one space goes", "data:  a\n\n", []event{{"", " a"}}},
		{"tab stays", "data:\ta\n\n", []event{{"", "\ta"}}},
		{"several data lines", "data: {\ndata:\ndata: }\n\n", []event{{"", "{\n\n}"}}},
		{"comments", ": hi\n\n:\n\ndata: a\n: x\n\n", []event{{"", "a"}}},
		{"no colon", "data\n\ndata\ndata\n\n", []event{{"", ""}, {"", "\n"}}},
		{"empty data is data", "data:\n\n", []event{{"", ""}}},
		{"name without data", "event: ping\n\ndata: a\n\n", []event{{"", "a"}}},
		{"last name counts", "event: a\nevent: b\ndata: c\n\n", []event{{"b", "c"}}},
		{"an empty name takes it back", "event: a\nevent\ndata: c\n\n", []event{{"", "c"}}},
		{"other fields", "id: 1\nretry: 3\nx-foo: bar\nDATA: no\n data: no\ndata : no\ndata: a\n\n", []event{{"", "a"}}},
		{"colon in the value", "data: a:b\n\n", []event{{"", "a:b"}}},
		{"no blank line at the end", "data: a\n\ndata: b\n", []event{{"", "a"}}},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []event{{"", "a"}}},
		{"not UTF-8", "data: \xff\xfe\n\n", []event{{"", "\xff\xfe"}}},
		{"UTF-8", "data: 日本🙂\n\n", []event{{"", "日本🙂"}}},
		{"NUL", "data: a\x00b\n\n", []event{{"", "a\x00b"}}},
		{"long line", "data: " + long + "\n\ndata: a\n\n", []event{{"", long}, {"", "a"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for way, size := range map[string]func(int) int{
				"at once": whole, "byte by byte": oneByte, "in threes": func(int) int { return 3 },
			} {
				blocks := split(t, []byte(test.input), size)
				if diff := cmp.Diff(test.want, dispatched(blocks)); diff != "" {
					t.Errorf("%s: events (-want +got):\n%.500s", way, diff)
				}
				if raw(blocks) != test.input {
					t.Errorf("%s: Raws do not make up the input", way)
				}
			}
		})
	}
}

func TestRest(t *testing.T) {
	tests := []struct {
		name, input, raw string
		want             event
		hasData, left    bool
	}{
		{"nothing", "data: a\n\n", "", event{}, false, false},
		{"no blank line", "data: a\n\nevent: n\ndata: b\n", "event: n\ndata: b\n", event{"n", "b"}, true, true},
		{"no line end", "event: n\ndata: b", "event: n\ndata: b", event{"n", "b"}, true, true},
		{"CR at the end", "data: b\r", "data: b\r", event{"", "b"}, true, true},
		{"several lines", "data: a\ndata: b", "data: a\ndata: b", event{"", "a\nb"}, true, true},
		{"a comment", "data: a\n\n: x", ": x", event{}, false, true},
		{"a part of a field", "dat", "dat", event{}, false, true},
		{"a part of a byte order mark", "\xEF\xBB", "\xEF\xBB", event{}, false, true},
		{"a byte order mark", "\xEF\xBB\xBF", "\xEF\xBB\xBF", event{}, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			blocks := split(t, []byte(test.input), oneByte)
			var last sse.Block
			left := false
			if n := len(blocks); n > 0 && blocks[n-1].Unterminated {
				last, left = blocks[n-1], true
			}
			if left != test.left {
				t.Fatalf("Rest() = %t, want %t", left, test.left)
			}
			if got := (event{string(last.Name), string(last.Data)}); got != test.want || last.HasData != test.hasData {
				t.Errorf("rest is %q (data: %t), want %q (%t)", got, last.HasData, test.want, test.hasData)
			}
			if string(last.Raw) != test.raw || last.Clean {
				t.Errorf("Raw = %q, clean %t; want %q, unclean", last.Raw, last.Clean, test.raw)
			}
		})
	}
}

// The slices of one read's blocks stay valid until the next Space.
func TestBlocksOfOneRead(t *testing.T) {
	var s sse.Scanner
	input := "data: a\ndata: b\n\ndata: c\n\ndata: d\ndata: e\n\ndata: f\ndata: g"
	s.Wrote(copy(s.Space(len(input)), input))
	var blocks []sse.Block
	for b := (sse.Block{}); s.Next(&b); {
		blocks = append(blocks, b)
	}
	want := []event{{"", "a\nb"}, {"", "c"}, {"", "d\ne"}}
	if diff := cmp.Diff(want, dispatched(blocks)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.Wrote(copy(s.Space(2), "\n\n"))
	var b sse.Block
	if !s.Next(&b) || string(b.Data) != "f\ng" {
		t.Errorf("the block that goes on in the next read has data %q, want %q", b.Data, "f\ng")
	}
}

// The buffer grows with the longest block, not with the stream.
func TestSpaceIsBounded(t *testing.T) {
	var s sse.Scanner
	var b sse.Block
	most := 0
	for i := range 10000 {
		room := s.Space(512)
		most = max(most, len(room))
		s.Wrote(copy(room, fmt.Sprintf("data: %d\n\ndata: half of a", i)))
		for s.Next(&b) {
		}
		s.Wrote(copy(s.Space(16), "n event\n\n"))
		for s.Next(&b) {
		}
	}
	if most > 2048 {
		t.Errorf("room for %d bytes, want at most 2048", most)
	}
}

// A line has no limit, and is read in linear time.
func TestMegabytes(t *testing.T) {
	line := strings.Repeat("x", 8<<20)
	blocks := split(t, []byte("data: "+line+"\n\ndata: a\n\n"), func(int) int { return 4096 })
	if got := dispatched(blocks); len(got) != 2 || got[0].Data != line || got[1].Data != "a" {
		t.Errorf("%d events, want a long and a short one", len(got))
	}
}

// Many line ends, in one read or many, are read in linear time: at the square of it
// this test would take many seconds.
func TestManyLines(t *testing.T) {
	for _, line := range []string{"\r", "\n", "a\r", "a\n", "data: a\r"} {
		input := bytes.Repeat([]byte(line), 1<<19/len(line))
		for _, size := range []int{1, 4096, len(input)} {
			var s sse.Scanner
			var b sse.Block
			got := 0
			for piece := range slices.Chunk(input, size) {
				s.Wrote(copy(s.Space(size), piece))
				for s.Next(&b) {
					got += len(b.Raw)
				}
			}
			if got += s.Buffered(); got != len(input) {
				t.Errorf("%q: %d bytes came out, want %d", line, got, len(input))
			}
		}
	}
}

// However it is split, a stream has the same events, and its bytes are all there.
func TestSplit(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"data", "event", "id", ":", " ", "a", "b", "日", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\r\r",
		"data: x\n", "data: y\r\n", "event: z\r", ": c\n", "\xEF\xBB\xBF", "\xEF", "\x00",
	})
	rapid.Check(t, func(rt *rapid.T) {
		input := []byte(strings.Join(rapid.SliceOf(piece).Draw(rt, "pieces"), ""))
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 20).Draw(rt, "sizes")
		i := 0
		checkSplit(rt, t, input, func(int) int { i++; return sizes[i%len(sizes)] })
	})
}
