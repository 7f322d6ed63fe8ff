package sse_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/ontime-llm/ontime/internal/sse"
)

// FuzzSplit reads an input in pieces, whose sizes are the bytes of cuts.
func FuzzSplit(f *testing.F) {
	for _, input := range []string{
		"data: a\n\n", "event: n\r\ndata: a\r\n\r\n", "\xEF\xBB\xBFdata:a\r\rdata\n\n: c\n\ndata: b",
	} {
		f.Add([]byte(input), []byte{1})
		f.Add([]byte(input), []byte{7, 2, 255})
	}
	f.Fuzz(func(t *testing.T, input, cuts []byte) {
		i := 0
		checkSplit(t, t, input, func(left int) int {
			if len(cuts) == 0 {
				return left
			}
			i++
			return int(cuts[i%len(cuts)])
		})
	})
}

type fataler interface{ Fatalf(string, ...any) }

// checkSplit compares a way to split the input with reading it at once, with a
// slow reader of the grammar, and with what openai-go makes of the blocks.
func checkSplit(f fataler, t testing.TB, input []byte, size func(int) int) {
	blocks := split(t, input, size)
	want, rest := slowly(string(input))
	if diff := cmp.Diff(want, dispatched(blocks)); diff != "" {
		f.Fatalf("events (-want +got):\n%s", diff)
	}
	if got := raw(blocks); got != string(input) {
		f.Fatalf("Raws make up %q, want %q", got, input)
	}
	var last *event
	if n := len(blocks); n > 0 && blocks[n-1].Unterminated && blocks[n-1].HasData {
		last = &event{string(blocks[n-1].Name), string(blocks[n-1].Data)}
	}
	if diff := cmp.Diff(rest, last); diff != "" {
		f.Fatalf("rest (-want +got):\n%s", diff)
	}
	if rest != nil {
		want = append(want, *rest)
	}
	if diff := cmp.Diff(want, bySDK(t, blocks)); diff != "" {
		f.Fatalf("openai-go sees (-want +got):\n%s", diff)
	}
}

// slowly reads the whole input as the grammar says: the events, and the one that
// the input's end leaves open, if there is one.
func slowly(input string) (events []event, rest *event) {
	input = strings.TrimPrefix(input, "\xEF\xBB\xBF")
	input = strings.ReplaceAll(strings.ReplaceAll(input, "\r\n", "\n"), "\r", "\n")
	name, data := "", []string(nil)
	take := func() {
		if data != nil {
			events = append(events, event{name, strings.Join(data, "\n")})
		}
		name, data = "", nil
	}
	lines := strings.Split(input, "\n")
	for i, line := range lines {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && i < len(lines)-1:
			take()
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	terminated := len(events)
	if take(); len(events) > terminated {
		rest = &events[terminated]
	}
	if terminated == 0 {
		return nil, rest
	}
	return events[:terminated:terminated], rest
}

// bySDK passes the blocks on, as they are if they are clean and reframed if not,
// and returns what openai-go's decoder reads.
func bySDK(t testing.TB, blocks []sse.Block) (events []event) {
	var sent []byte
	for _, b := range blocks {
		if b.Clean {
			sent = append(sent, b.Raw...)
		} else {
			sent = b.AppendTo(sent)
		}
	}
	decoder := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(bytes.NewReader(sent))})
	for decoder.Next() {
		e := decoder.Event()
		events = append(events, event{e.Type, strings.TrimSuffix(string(e.Data), "\n")})
	}
	if err := decoder.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}
