package middleware

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

func TestBound(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, choices int
		want           bound
	}{
		"none":                              {0, 1, bound{}},
		"16*(100+64), 16*(32768+64)":        {100, 1, bound{2624, 525312}},
		"16*(3*100+64), 16*(3*32768+64)":    {100, 3, bound{5824, 1573888}},
		"above: 16*(40000+64), both":        {40_000, 0, bound{641024, 641024}},
		"beyond reckoning":                  {1 << 40, 1, bound{}},
		"so many choices that none matters": {10, 1 << 40, bound{}},
	} {
		if got := boundOf(tt.limit, tt.choices); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestPast(t *testing.T) {
	event := func(bytes, tokens int, answer bool) dialect.Event {
		return dialect.Event{Content: true, Answer: answer, TextBytes: bytes, Tokens: tokens}
	}
	for name, tt := range map[string]struct {
		events []dialect.Event
		want   bool
	}{
		"16*65 bytes: 1 token and 64":           {[]dialect.Event{event(1040, 0, true)}, false},
		"one byte more":                         {[]dialect.Event{event(1040, 0, true), event(1, 0, true)}, true},
		"1+64 told tokens, the first not":       {[]dialect.Event{event(0, 9000, true), event(9, 65, true)}, false},
		"one more":                              {[]dialect.Event{event(0, 9000, true), event(9, 65, true), event(9, 1, true)}, true},
		"as much reasoning is nothing":          {[]dialect.Event{event(1041, 0, false), event(1, 0, true)}, false},
		"16*(32768+64) bytes of reasoning":      {[]dialect.Event{event(525312, 0, false)}, false},
		"one byte more of them":                 {[]dialect.Event{event(525312, 0, false), event(1, 0, false)}, true},
		"text that is not told counts by bytes": {[]dialect.Event{event(5, 0, true), event(5, 60, true), event(76, 0, true)}, true}, // 5 + 960 + 76
	} {
		m := meter{start: time.Unix(0, 0), choices: 1, bound: boundOf(1, 1)}
		for i := range tt.events {
			m.event(&tt.events[i], m.start.Add(time.Second))
		}
		if got := m.past(); got != tt.want {
			t.Errorf("%s: past is %v, want %v", name, got, tt.want)
		}
	}
}

// No recorded answer would have been cut off under a cap of just the tokens that it
// has, even if none were let pass beyond it.
func TestNoRecordedAnswerIsPast(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "streams")
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.jsonl"))
	if err != nil {
		t.Skipf("no recorded streams here: %v", err)
	}
	families := map[string]dialect.Dialect{
		"chat": dialect.Chat, "completions": dialect.Completions, "responses": dialect.Responses, "anthropic": dialect.Messages,
	}
	played, most := 0, 0
	for line := range strings.Lines(string(index)) {
		var row struct{ File, Family string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		d := families[row.Family]
		if d == nil {
			continue
		}
		contents, err := os.ReadFile(filepath.Join(dir, row.File))
		if err != nil {
			t.Fatal(err)
		}
		m := readAllOf(d, contents)
		if m.usage.Output == 0 {
			continue
		}
		played++
		most = max(most, m.answered/m.usage.Output)
		if m.answered > mostBytes*m.usage.Output {
			t.Errorf("%s: %d bytes are past the cap of %d tokens", row.File, m.answered, m.usage.Output)
		}
	}
	t.Logf("%d streams, of at most %d bytes a token", played, most)
}

// readAllOf measures a recorded stream.
func readAllOf(d dialect.Dialect, contents []byte) *meter {
	var (
		scan  sse.Scanner
		block sse.Block
		ev    dialect.Event
	)
	m := &meter{start: time.Unix(0, 0)}
	reader := d.NewReader()
	scan.Wrote(copy(scan.Space(len(contents)), contents))
	for scan.Next(&block) {
		if block.HasData {
			reader.Read(block.Name, block.Data, &ev)
			m.event(&ev, m.start.Add(time.Second))
		}
	}
	return m
}
