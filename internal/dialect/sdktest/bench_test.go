package sdktest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

// formats are the streams in testdata, made in the likeness of what providers send.
var formats = map[string]struct {
	dialect dialect.Dialect
	sdk     func(b *testing.B, stream []byte) (events int)
}{
	"chat":        {dialect.Chat, decodeSDK[openai.ChatCompletionChunk]},
	"tools":       {dialect.Chat, decodeSDK[openai.ChatCompletionChunk]},
	"completions": {dialect.Completions, decodeSDK[openai.Completion]},
	"responses":   {dialect.Responses, decodeSDK[responses.ResponseStreamEventUnion]},
	"messages":    {dialect.Messages, nil},
}

// BenchmarkEvents reads streams as the meter does (framing and dialect) and as
// openai-go does, in turns, so that both see the same machine. It reports the time
// per event of each, and ours in percent of the SDK's. There is no SDK for
// Anthropic's format here.
func BenchmarkEvents(b *testing.B) {
	for name, f := range formats {
		stream, err := os.ReadFile(filepath.Join("..", "testdata", name+".sse"))
		if err != nil {
			b.Fatal(err)
		}
		stream = bytes.Repeat(withoutEnd(stream), 20)
		b.Run(name, func(b *testing.B) { compare(b, f.dialect, stream, f.sdk) })
	}
}

// BenchmarkRecordings does the same with every recorded stream, family by family.
func BenchmarkRecordings(b *testing.B) {
	for folder, name := range map[string]string{
		"chat": "chat", "completions": "completions", "responses": "responses", "anthropic": "messages",
	} {
		files, err := filepath.Glob(filepath.Join(shared(b, "streams", folder), "*.sse"))
		if err != nil {
			b.Fatal(err)
		}
		var all []byte
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, withoutEnd(data)...)
		}
		f := formats[name]
		b.Run(name, func(b *testing.B) { compare(b, f.dialect, all, f.sdk) })
	}
}

func compare(b *testing.B, d dialect.Dialect, stream []byte, sdk func(*testing.B, []byte) int) {
	const turns = 10 // of ours for one of the SDK's, which takes far longer
	var ours, theirs time.Duration
	var ourEvents, theirEvents int
	for b.Loop() {
		start := time.Now()
		for range turns {
			ourEvents += decodeOurs(d, stream)
		}
		mid := time.Now()
		ours += mid.Sub(start)
		if sdk != nil {
			theirEvents += sdk(b, stream)
			theirs += time.Since(mid)
		}
	}
	perEvent := float64(ours.Nanoseconds()) / float64(ourEvents)
	b.ReportMetric(perEvent, "ours-ns/event")
	if sdk != nil {
		sdkPerEvent := float64(theirs.Nanoseconds()) / float64(theirEvents)
		b.ReportMetric(sdkPerEvent, "sdk-ns/event")
		b.ReportMetric(100*perEvent/sdkPerEvent, "%-of-sdk")
	}
}

// decodeOurs returns the number of events.
func decodeOurs(d dialect.Dialect, stream []byte) (events int) {
	var s sse.Scanner
	var block sse.Block
	var ev dialect.Event
	r := d.NewReader()
	for rest := stream; len(rest) > 0; {
		n := copy(s.Space(1024)[:1024], rest)
		s.Wrote(n)
		rest = rest[n:]
		for s.Next(&block) {
			r.Read(block.Name, block.Data, &ev)
			events++
		}
	}
	return events
}

func decodeSDK[T any](b *testing.B, stream []byte) (events int) {
	s := ssestream.NewStream[T](ssestream.NewDecoder(&http.Response{Body: io.NopCloser(bytes.NewReader(stream))}), nil)
	for s.Next() {
		events++
	}
	if s.Err() != nil {
		b.Fatal(s.Err())
	}
	return events
}

// withoutEnd leaves out the events at which openai-go would stop, so that streams
// can be read one after the other.
func withoutEnd(stream []byte) (out []byte) {
	var s sse.Scanner
	var b sse.Block
	s.Wrote(copy(s.Space(len(stream)), stream))
	for s.Next(&b) {
		if json.Valid(b.Data) && !gjson.GetBytes(b.Data, "error").Exists() {
			out = b.AppendTo(out)
		}
	}
	return out
}

// shared returns a path among the recordings, which lie beside the repository on the
// machines that have them.
func shared(b *testing.B, elem ...string) string {
	root, err := filepath.Abs("../../..")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(append([]string{filepath.Dir(root), "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		b.Skipf("skipped: the recordings are not on this machine: %v", err)
	}
	return path
}
