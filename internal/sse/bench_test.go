package sse_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/ontime-llm/ontime/internal/sse"
)

// BenchmarkNext frames a stream of 1,000 events of 340 bytes from reads of 1 KiB,
// and of a million bytes, beside openai-go's framing of the same.
func BenchmarkNext(b *testing.B) {
	var stream []byte
	for i := range 1000 {
		stream = fmt.Appendf(stream, "data: {\"n\":%d,\"text\":%q}\n\n", i, bytes.Repeat([]byte("x"), 320))
	}
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("ontime/%dKiB", size>>10), func(b *testing.B) {
			var s sse.Scanner
			var block sse.Block
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			events := 0
			for b.Loop() {
				for rest := stream; len(rest) > 0; {
					n := copy(s.Space(size)[:size], rest)
					s.Wrote(n)
					rest = rest[n:]
					for s.Next(&block) {
						events++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
	b.Run("openai-go", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(stream)))
		events := 0
		for b.Loop() {
			d := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(bytes.NewReader(stream))})
			for d.Next() {
				events++
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	})
}
