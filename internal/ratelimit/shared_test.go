package ratelimit_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// shared reads one of the collected wire cases and recordings, which lie beside the
// repository on the machines that have them.
func shared(t *testing.T, elem ...string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for root := dir; root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(append([]string{filepath.Dir(root), "shared"}, elem...)...))
		if err != nil {
			t.Skipf("skipped: the recorded cases are not on this machine: %v", err)
		}
		return data
	}
	t.Fatal("no go.mod above the test")
	return nil
}

func TestQuirks(t *testing.T) {
	var quirks []struct {
		ID       string
		Response struct {
			Status  int
			Headers map[string]string
		}
		Expect struct {
			RetryAfterMs *int64 `json:"retry_after_ms"`
		}
	}
	if err := json.Unmarshal(shared(t, "quirks.json"), &quirks); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, q := range quirks {
		h := http.Header{}
		for name, value := range q.Response.Headers {
			h[name] = []string{value}
		}
		info := ratelimit.Read(h, q.Response.Status, now)
		if q.Expect.RetryAfterMs == nil {
			if info.Told {
				t.Errorf("%s: told %v, want nothing", q.ID, info.RetryAfter)
			}
			continue
		}
		told++
		if want := time.Duration(*q.Expect.RetryAfterMs) * time.Millisecond; !info.Told || info.RetryAfter != want {
			t.Errorf("%s: %v, %t, want %v", q.ID, info.RetryAfter, info.Told, want)
		}
	}
	if told == 0 {
		t.Error("no case tells a delay")
	}
	t.Logf("%d cases, %d of them tell a delay", len(quirks), told)
}

// sent is what a recording says of its buckets, read in the obvious way.
type sent struct {
	limits, remainders map[string]int64
	resets             []string
	delay              bool // Retry-After
}

func readSent(t *testing.T, h http.Header) sent {
	s := sent{limits: map[string]int64{}, remainders: map[string]int64{}}
	for name, values := range h {
		name = strings.ToLower(name)
		s.delay = s.delay || name == "retry-after"
		if !strings.Contains(name, "ratelimit-") {
			continue
		}
		_, bucket, _ := strings.Cut(name, "ratelimit-")
		number := func() int64 {
			n, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return n
		}
		switch {
		case strings.Contains(bucket, "limit"):
			s.limits[strings.Trim(strings.Replace(bucket, "limit", "", 1), "-")] = number()
		case strings.Contains(bucket, "remaining"):
			s.remainders[strings.Trim(strings.Replace(bucket, "remaining", "", 1), "-")] = number()
		case strings.Contains(bucket, "reset"):
			s.resets = append(s.resets, values[0])
		}
	}
	return s
}

// check compares with the tightest bucket of that kind.
func (s sent) check(t *testing.T, file, kind string, b ratelimit.Bucket) {
	t.Helper()
	found, least := false, 2.0
	for name, n := range s.remainders {
		if !strings.HasSuffix(name, kind) {
			continue
		}
		found = true
		if limit := s.limits[name]; limit > 0 {
			least = min(least, float64(n)/float64(limit))
		} else if b.Limit != 0 || b.Remaining != n {
			t.Errorf("%s: %s %+v, want %d of an unknown limit", file, kind, b, n)
		}
	}
	if b.Known != found {
		t.Errorf("%s: %s known: %t, want %t", file, kind, b.Known, found)
	}
	if share := float64(b.Remaining) / float64(max(b.Limit, 1)); b.Limit > 0 && share != least {
		t.Errorf("%s: %s %+v, a share of %v, want %v", file, kind, b, share, least)
	}
	if b.Reset > 21*time.Minute { // the longest that was recorded is 20m52.666s
		t.Errorf("%s: %s full in %v", file, kind, b.Reset)
	}
}

func TestRecordings(t *testing.T) {
	files, limited := 0, 0
	for line := range bytes.Lines(shared(t, "streams", "INDEX.jsonl")) {
		var row struct {
			File    string
			Headers http.Header
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if len(row.Headers) == 0 {
			continue
		}
		files++
		s := readSent(t, row.Headers)
		at := now // no recording kept its Date: instants are taken a second after it
		for _, reset := range s.resets {
			if instant, err := time.Parse(time.RFC3339, reset); err == nil && (at.Equal(now) || instant.Before(at.Add(time.Second))) {
				at = instant.Add(-time.Second)
			}
		}
		info := ratelimit.Read(row.Headers, http.StatusOK, at)
		s.check(t, row.File, "requests", info.Requests)
		s.check(t, row.File, "tokens", info.Tokens)
		if info.Told || info.ShouldRetry {
			t.Errorf("%s: %+v on an answer", row.File, info)
		}
		if info.Requests.Known || info.Tokens.Known {
			limited++
		}
		refused := ratelimit.Read(row.Headers, http.StatusTooManyRequests, at)
		if refused.Told != s.delay {
			t.Errorf("%s: a 429 would tell %v, %t; Retry-After was sent: %t", row.File, refused.RetryAfter, refused.Told, s.delay)
		}
	}
	if limited == 0 {
		t.Error("no recording has limits")
	}
	t.Logf("%d header sets, %d of them with limits", files, limited)
}
