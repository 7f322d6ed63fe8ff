package router

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
)

// sample of every kind of item, as a blob.
func fullBlob(tb testing.TB) []byte {
	tb.Helper()
	end := time.Unix(1000, 0)
	n := newNews()
	n.times[ttft].Record(0.2, 3)
	n.times[ttft].Censor(0.2, 1)
	n.times[total].Censor(400, 2)
	n.share = tally{well: 5, failed: 2}
	n.samples = []sample{{tokens: 1000, seconds: 0.25}, {tokens: 70000, seconds: 3.5}}
	n.sizes, n.ratios = sum{sum: 6.5, n: 1}, sum{sum: 8, n: 2}
	n.cooling = []newCooling{{key: 1, until: end.Add(1500 * time.Millisecond)}}
	n.probe = newProbe{result: probeFailed, until: end.Add(30 * time.Second), openings: 2}
	w := new(writer)
	w.header(header{replica: 1 << 60, seq: 7, ended: 2500, span: 5000})
	*w = append(*w, kindRoute)
	w.route("azure-eu", "gpt-4o", n, end)
	*w = append(*w, kindLayer)
	w.layer(&saidLayer{endpoint: "chat", layer: budget.Layer{Metric: budget.TTFT, Percentile: 99.9, Limit: time.Second}, calls: 9, missed: 1})
	*w = append(*w, kindPairs)
	w.pairs(&[kinships]saidPair{{won: 1, predicted: 0.5}})
	return *w
}

func TestBlobComesBackAsItWas(t *testing.T) {
	in := reader{left: fullBlob(t)}
	if h := in.header(); h != (header{replica: 1 << 60, seq: 7, ended: 2500, span: 5000}) {
		t.Errorf("header %+v", h)
	}
	in.take(1)
	want := said{
		target: "azure-eu", model: "gpt-4o",
		// log2(0.2*1024)*16 = 122.9, log2(400*1024)*16 = 298.3
		counts:  []saidCount{{ttft, 122, false, 3}, {ttft, 122, true, 1}, {total, 298, true, 2}},
		share:   tally{well: 5, failed: 2},
		samples: []sample{{tokens: 1000, seconds: 0.25}, {tokens: 70000, seconds: 3.5}},
		sizes:   sum{sum: 6.5, n: 1}, ratios: sum{sum: 8, n: 2},
		cooling: []saidCooling{{key: 1, millis: 1500}},
		probe:   saidProbe{result: probeFailed, millis: 30000, openings: 2},
	}
	opt := cmp.AllowUnexported(said{}, saidCount{}, tally{}, sample{}, sum{}, saidCooling{}, saidProbe{})
	if diff := cmp.Diff(want, in.route(), opt, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("route (-want +got):\n%s", diff)
	}
	in.take(1)
	l := saidLayer{endpoint: "chat", layer: budget.Layer{Metric: budget.TTFT, Percentile: 99.9, Limit: time.Second}, calls: 9, missed: 1}
	if got := in.layer(); got != l {
		t.Errorf("layer %+v, want %+v", got, l)
	}
	in.take(1)
	if got := in.pairs(); got[0] != (saidPair{won: 1, predicted: 0.5}) || in.bad || len(in.left) > 0 {
		t.Errorf("pairs %+v, bad %t, %d bytes left", got, in.bad, len(in.left))
	}
}

// An interval of one route at a few calls a second takes little more than a hundred bytes.
func TestBlobIsSmall(t *testing.T) {
	if n := len(fullBlob(t)); n > 150 {
		t.Errorf("%d bytes", n)
	}
}

// Whatever a store answers, nothing panics, nothing grows beyond its bounds, and what is
// merged is finite and not negative.
func FuzzReadBlob(f *testing.F) {
	whole := fullBlob(f)
	f.Add(whole)
	f.Add(whole[:40])
	f.Add(slices.Concat(whole, []byte{9}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := New(Config{
			Targets: []Target{{Name: "azure-eu", Models: []string{"gpt-4o"}, Keys: 2}, {Name: "any"}},
			Budgets: map[string]budget.Budget{"chat": {TTFT: budget.Layers{99.9: time.Second}}},
			Shared:  struct{ Store }{},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := r.sharing
		now := time.Now()
		s.read(r, data, now, now)
		for rt, h := range s.heard {
			for m := range h.times {
				if n := mass(&h.times[m].slow); !(n >= 0 && n < math.MaxInt64) {
					t.Errorf("metric %d of %s has a mass of %v", m, rt.group.model, n)
				}
			}
		}
		s.release()
		r.Snapshot()
		if s.state.Ignored+s.state.Merged > 1 || len(s.replicas) > 1 {
			t.Errorf("one blob was counted as %+v", s.state)
		}
	})
}
