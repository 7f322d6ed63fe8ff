package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

// samples are the streams in testdata, made in the likeness of what providers send.
// How fast they are read, beside openai-go, is measured in sdktest.
var samples = map[string]dialect.Dialect{
	"chat": dialect.Chat, "tools": dialect.Chat, "completions": dialect.Completions,
	"responses": dialect.Responses, "messages": dialect.Messages,
}

// Framing and reading an event allocate nothing once buffers have grown.
func TestReadAllocatesNothing(t *testing.T) {
	for name, d := range samples {
		stream := testdata(t, name+".sse")
		var sc sse.Scanner
		var block sse.Block
		var ev dialect.Event
		r := d.NewReader()
		allocs := testing.AllocsPerRun(100, func() {
			sc.Wrote(copy(sc.Space(len(stream)), stream))
			for sc.Next(&block) {
				r.Read(block.Name, block.Data, &ev)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations for a stream, want 0", name, allocs)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		body := []byte(`{"model":"gpt-5-mini","stream":true,"max_completion_tokens":200,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"` +
			strings.Repeat(`a word or \"two\", `, size/18) + `"}]}`)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dialect.Chat.Request(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
