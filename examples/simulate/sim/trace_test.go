package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, text string) (*Trace, error) {
	t.Helper()
	tr := new(Trace)
	file := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return tr, tr.Read(file)
}

func TestReadTimes(t *testing.T) {
	var b strings.Builder
	b.WriteString("time_utc,provider,model,run,ttft_s,tpot_s\n")
	for i := range 60 {
		fmt.Fprintf(&b, "2025-08-24,openai,gpt-4o,%d,%g,0.01\n", i, 0.3+float64(i)/1000)
		fmt.Fprintf(&b, "2025-08-24,azure,gpt-4o-mini,%d,%g,\n", i, 0.2)
		fmt.Fprintf(&b, "2025-08-24,openai,unknown,%d,1,0.01\n", i)
	}
	b.WriteString("2025-08-24,openai,gpt-4o,61,,0.01\n") // failed
	tr, err := read(t, b.String())
	if err != nil {
		t.Fatal(err)
	}
	w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 1, Rate: 1, Length: time.Hour, Trace: tr})
	var names []string
	for _, x := range w.Targets() {
		names = append(names, x.Name)
	}
	if diff := cmp.Diff([]string{"azure-gpt-4o-mini", "openai-gpt-4o"}, names); diff != "" {
		t.Fatal(diff)
	}
	seen := make(map[time.Duration]bool)
	for i := range w.calls {
		c := w.calls[i]
		c.Prompt, c.Output = 0, 2
		if r := w.Reply(&c, 0, 0, c.At, 0); r.TTFT != 200*ms || r.Total != 215*ms {
			t.Fatalf("azure: %+v, want 200 ms, and 15 ms for a token where the file has none", r)
		}
		r := w.Reply(&c, 1, 0, c.At, 0)
		if r.TTFT < 299*ms || r.TTFT > 360*ms || (r.Total-r.TTFT).Round(ms) != 10*ms {
			t.Fatalf("openai: %+v", r)
		}
		seen[r.TTFT] = true
	}
	if len(seen) != 60 {
		t.Errorf("%d of 60 measured times were met", len(seen))
	}
}

func TestReadUnlistedTimes(t *testing.T) {
	rows := "provider_size,ttft_s,itl_s\n" + strings.Repeat("mine_1,0.5,0.01\nmine_2,0.6,0.01\nmine_2,0.6,0.01\n", leastSeries)
	tr, err := read(t, rows+"few,0.1,0.01\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Target{
		{Name: "mine-2", Provider: "compatible", Input: 1, Cached: 1, Output: 3},
		{Name: "mine-1", Provider: "compatible", Input: 1, Cached: 1, Output: 3},
	}
	if diff := cmp.Diff(want, NewWorld(Scenario{}, Conditions{Rate: 1, Trace: tr}).Targets()); diff != "" {
		t.Error(diff)
	}
}

func TestReadCalls(t *testing.T) {
	files := map[string]string{
		"azure":    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.5,300,40\n2023-11-16 18:15:47.5,400,50\n2023-11-16 18:15:49.5,500,60\n",
		"mooncake": "timestamp_ms,input_length,output_length,n_hash_ids\n0,300,40,1\n1000,400,50,1\n3000,500,60,1\n",
	}
	for name, text := range files {
		tr, err := read(t, text)
		if err != nil {
			t.Fatal(err)
		}
		// Gaps of 1 s and 2 s, over a mean of 1 s with the first call's own.
		want := []ask{{0, 300, 40}, {1, 400, 50}, {2, 500, 60}}
		if diff := cmp.Diff(want, tr.asked, cmp.AllowUnexported(ask{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 1, Rate: 5, Length: time.Minute, Trace: tr})
		if last := w.calls[299]; len(w.calls) != 300 || last.At < 59*time.Second || last.At > 61*time.Second {
			t.Errorf("%s: %d calls until %v", name, len(w.calls), w.calls[299].At)
		}
	}
}

func TestReadUnknown(t *testing.T) {
	tests := map[string]string{
		"a,b\n1,2\n": "the columns a,b are not known",
		"":           "there is no header",
		"provider\n": "there is no header",
		"a,b\n1\n":   "wrong number of fields",
		"TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,1,2\n": "row 1: ",
		"timestamp_ms,input_length,output_length\n5,1,2\n":    "all calls come at once",
		"provider_size,ttft_s,itl_s\nx,1,1\n":                 "it takes two series",
	}
	for text, want := range tests {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := new(Trace).Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file was read that there is not")
	}
}
