package dialect_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

// family is a wire format with both of its readers.
type family struct {
	dialect dialect.Dialect
	slow    func() slowReader
}

var families = map[string]family{
	"chat":        {dialect.Chat, newSlowChoices},
	"completions": {dialect.Completions, newSlowChoices},
	"responses":   {dialect.Responses, newSlowResponses},
	"anthropic":   {dialect.Messages, newSlowMessages},
}

// Every recorded stream: each event reads as encoding/json and a slow look at it
// read it, and the whole comes to what the recording's index says.
func TestRecordings(t *testing.T) {
	index, err := os.Open(shared(t, "streams", "INDEX.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	replayed := 0
	lines := bufio.NewScanner(index)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			File, Family     string
			Finish           any
			CompletionTokens *int `json:"completion_tokens"`
			PayloadChunks    *int `json:"payload_chunks"`
		}
		mustUnmarshal(t, lines.Bytes(), &row)
		fam, ok := families[row.Family]
		if !ok {
			continue
		}
		replayed++
		stream, err := os.ReadFile(shared(t, "streams", filepath.FromSlash(row.File)))
		if err != nil {
			t.Fatal(err)
		}
		got := compareStream(t, row.File, fam, stream)
		if want := firstFinish(row.Finish); want != "" && got.FinishRaw != strings.TrimPrefix(want, "response.") {
			t.Errorf("%s: finish %q, indexed %q", row.File, got.FinishRaw, want)
		}
		// The index counts tool calls without name and arguments too, which OpenRouter
		// sends, and does not see legacy completions among the chats.
		if n := row.PayloadChunks; row.Family == "chat" && n != nil && *n > 0 && got.Contents != *n &&
			!(got.Contents < *n && bytes.Contains(stream, []byte(`"arguments":""`))) {
			t.Errorf("%s: %d events with content, indexed %d", row.File, got.Contents, *n)
		}
		if n := row.CompletionTokens; n != nil && got.Usage.Output != *n && got.Usage.Output-got.Usage.Reasoning != *n {
			t.Errorf("%s: %d output tokens, indexed %d", row.File, got.Usage.Output, *n)
		}
	}
	if replayed < 358 {
		t.Errorf("%d recordings were replayed, want 358", replayed)
	}
}

// firstFinish returns the index's finish reason: one, or a list of all in the stream.
func firstFinish(v any) string {
	if all, ok := v.([]any); ok && len(all) > 0 {
		v = all[0]
	}
	return str(v)
}

// compareStream reads a stream both ways.
func compareStream(t *testing.T, file string, fam family, stream []byte) *tally {
	slow, got, n := fam.slow(), newTally(), 0
	readStream(fam.dialect, stream, 1000, func(b *sse.Block, ev *dialect.Event) {
		want, noise := slowly(slow, string(b.Name), b.Data)
		if ev.Noise != noise || noise {
			t.Errorf("%s: event %d: noise %t, want %t: %.100s", file, n, ev.Noise, noise, b.Data)
		}
		if diff := cmp.Diff(want, seenIn(ev)); diff != "" {
			t.Errorf("%s: event %d (-slow +ours):\n%s%.300s", file, n, diff, b.Data)
		}
		got.see(b, ev)
		n++
	})
	return got
}

// seenIn returns what our reader saw, in the slow reader's terms.
func seenIn(ev *dialect.Event) seen {
	s := seen{
		Content: ev.Content, Answer: ev.Answer, Finish: string(unescape(ev.FinishRaw)),
		Terminal: ev.Terminal, Error: ev.Err.Present,
	}
	if ev.HasUsage {
		s.Usage = &ev.Usage
	}
	return s
}

// unescape undoes the escapes of the inside of a JSON string.
func unescape(raw []byte) []byte {
	if !bytes.Contains(raw, []byte{'\\'}) {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(raw)+`"`), &s) != nil {
		return nil
	}
	return []byte(s)
}
