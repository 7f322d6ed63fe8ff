package sse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/sse"
)

func TestClean(t *testing.T) {
	tests := []struct {
		name, input string
		cut         int // bytes in the first read; 0: all
		want        []bool
	}{
		{"LF", "data: a\n\ndata: b\n\n", 0, []bool{true, true}},
		{"CRLF", "data: a\r\n\r\n", 0, []bool{true}},
		{"bare CR", "data: a\r\rdata: b\n\n", 0, []bool{false, true}},
		{"CR before CRLF", "data: a\r\r\n", 0, []bool{false}},
		{"byte order mark", "\xEF\xBB\xBFdata: a\n\ndata: b\n\n", 0, []bool{false, true}},
		{"several lines", ": x\ndata: a\ndata: b\n\n", 0, []bool{true}},
		{"CRLF cut inside a line", "data: a\r\n\r\n", 8, []bool{true}},
		{"CRLF cut at the end", "data: a\r\n\r\ndata: b\r\n\r\n", 10, []bool{false, true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cut := test.cut
			blocks := split(t, []byte(test.input), func(left int) int {
				n := cut
				cut = 0
				return max(n, 0) + left*bit(n == 0)
			})
			var got []bool
			for _, b := range blocks {
				got = append(got, b.Clean)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Clean (-want +got):\n%s", diff)
			}
		})
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAppendTo(t *testing.T) {
	tests := []struct {
		name  string
		block sse.Block
		want  string
	}{
		{"data", sse.Block{Data: []byte("a"), HasData: true}, "x\ndata: a\n\n"},
		{"name", sse.Block{Name: []byte("n"), Data: []byte("a"), HasData: true}, "x\nevent: n\ndata: a\n\n"},
		{"lines", sse.Block{Data: []byte("a\n\nb"), HasData: true}, "x\ndata: a\ndata: \ndata: b\n\n"},
		{"empty data", sse.Block{HasData: true}, "x\ndata: \n\n"},
		{"a comment", sse.Block{Raw: []byte(": hi\r\r")}, "x\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(test.block.AppendTo([]byte("x\n"))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
