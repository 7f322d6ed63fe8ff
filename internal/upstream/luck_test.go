package upstream_test

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// random has a bit of everything.
var random = upstream.Behaviour{
	TTFT:   upstream.Latency{Median: 500 * ms, Sigma: 0.3, StragglerShare: 0.1, StragglerFactor: 6},
	Pace:   upstream.Latency{Median: 10 * ms, Sigma: 0.3},
	Output: upstream.Length{Median: 20, Sigma: 0.5},
	Faults: upstream.Faults{HTTPError: 0.1, Cut: 0.1, LateError: 0.1, Empty: 0.1, ErrorEvent: 0.1, After: 3 * ms},
}

// fate is what one request met.
type fate struct {
	Status       int
	Headers, End time.Duration
	Lines        int
}

func (r rig) fate(draw string) fate {
	g, err := r.post(r.Context(), "/v1/chat/completions", streamed, upstream.DrawHeader, draw)
	if err != nil {
		r.Error(err)
	}
	return fate{g.status, g.headers, g.end, len(g.lines)}
}

// The same calls meet the same luck, one after the other or all at once, in either order, through either face.
func TestDrawsDoNotDependOnOrder(t *testing.T) {
	const calls = 40
	var runs [][]fate
	both(t, random, func(r rig) {
		one, all := make([]fate, calls), make([]fate, calls)
		for i := range calls {
			one[i] = r.fate("one-by-one-" + strconv.Itoa(i))
		}
		var wg sync.WaitGroup
		for i := calls - 1; i >= 0; i-- {
			wg.Go(func() { all[i] = r.fate("one-by-one-" + strconv.Itoa(i)) }) // for the second time: new luck
		}
		wg.Wait()
		runs = append(runs, one, all)
		if cmp.Equal(one, all) {
			r.Error("the second attempts of the same calls met the same luck as the first")
		}
	})
	both(t, random, func(r rig) {
		all := make([]fate, calls)
		var wg sync.WaitGroup
		for i := calls - 1; i >= 0; i-- {
			wg.Go(func() { all[i] = r.fate("one-by-one-" + strconv.Itoa(i)) })
		}
		wg.Wait()
		runs = append(runs, all)
	})
	for i, want := range map[int][]fate{2: runs[0], 3: runs[1], 4: runs[0], 5: runs[0]} {
		if d := cmp.Diff(want, runs[i]); d != "" {
			t.Errorf("run %d: %s", i, d)
		}
	}
}

func TestSeeds(t *testing.T) {
	fates := func(name string, seed uint64) (out []fate) {
		synctestRun(t, name, random, seed, func(r rig) {
			for range 20 {
				out = append(out, r.fate(""))
			}
		})
		return out
	}
	first := fates("eu", 7)
	if d := cmp.Diff(first, fates("eu", 7)); d != "" {
		t.Error(d)
	}
	if cmp.Equal(first, fates("eu", 8)) || cmp.Equal(first, fates("us", 7)) {
		t.Error("another seed or another name made no difference")
	}
	if first[0] == first[1] && first[1] == first[2] {
		t.Error("all requests met the same luck")
	}
}

// A change of one thing leaves the luck of the others alone.
func TestDrawsDoNotDependOnBehaviour(t *testing.T) {
	run := func(change func(*upstream.Behaviour)) (ends []time.Duration) {
		b := random
		b.Faults = upstream.Faults{}
		change(&b)
		synctestRun(t, "eu", b, 1, func(r rig) {
			for range 30 {
				g := r.must("/v1/chat/completions", streamed)
				ends = append(ends, g.end)
			}
		})
		return ends
	}
	plainly := run(func(*upstream.Behaviour) {})
	for name, change := range map[string]func(*upstream.Behaviour){
		"early headers": func(b *upstream.Behaviour) { b.EarlyHeaders = 0.5 },
		"usage":         func(b *upstream.Behaviour) { b.Usage = upstream.UsageAlways },
		"a spike of x1": func(b *upstream.Behaviour) { b.Slow = upstream.Slow{Share: 1, TTFT: 1} },
	} {
		if d := cmp.Diff(plainly, run(change)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	spike := run(func(b *upstream.Behaviour) { b.Slow = upstream.Slow{Share: 0.35, TTFT: 8} })
	slower := 0
	for i := range spike {
		if spike[i] > plainly[i] {
			slower++
		} else if spike[i] < plainly[i] {
			t.Errorf("call %d became faster", i)
		}
	}
	if slower == 0 || slower == len(spike) {
		t.Errorf("%d of %d calls slower, want about a third", slower, len(spike))
	}
}

// The quantiles of the presets' first tokens are those published.
func TestPresets(t *testing.T) {
	for name, test := range map[string]struct {
		b             upstream.Behaviour
		p50, p95, p99 float64 // ms
		early         float64
	}{
		"gpt-4o-mini":      {upstream.GPT4oMini(), 536, 844, 4461, 0.39},
		"gemini-2.5-flash": {upstream.Gemini25Flash(), 477, 776, 1309, 0.49},
		"claude-haiku-4.5": {upstream.ClaudeHaiku45(), 541, 1591, 4117, 0.16},
	} {
		t.Run(name, func(t *testing.T) {
			const calls = 6000
			var ttft []float64
			early := 0
			test.b.Prefill = 0
			test.b.Output = upstream.Length{Median: 1}
			synctestRun(t, "eu", test.b, 3, func(r rig) {
				for range calls {
					g := r.must("/v1/chat/completions", streamed)
					ttft = append(ttft, float64(g.end)/float64(ms))
					if g.headers < g.end {
						early++
					}
				}
			})
			for _, q := range []struct{ p, at float64 }{{0.5, test.p50}, {0.95, test.p95}, {0.99, test.p99}} {
				within := 0
				for _, t := range ttft {
					if t <= q.at {
						within++
					}
				}
				// Four standard deviations of the share.
				if share := float64(within) / calls; math.Abs(share-q.p) > 4*math.Sqrt(q.p*(1-q.p)/calls) {
					t.Errorf("%.4f of the times are within %.0f ms, published are %v", share, q.at, q.p)
				}
			}
			if share := float64(early) / calls; math.Abs(share-test.early) > 0.02 {
				t.Errorf("early headers %.2f, want %.2f", share, test.early)
			}
		})
	}
}

// Faults come as often as their shares say.
func TestFaultShares(t *testing.T) {
	want := upstream.Faults{HTTPError: 0.3, Empty: 0.2, HTML: 0.05}
	s := upstream.New("eu", upstream.Behaviour{Faults: want, Output: upstream.Length{Median: 1}}, 5)
	const calls = 4000
	var got upstream.Faults
	for range calls {
		switch status, body := send(t, s); {
		case status == 503:
			got.HTTPError += 1.0 / calls
		case body == "":
			got.Empty += 1.0 / calls
		case strings.HasPrefix(body, "<!DOCTYPE html>"):
			got.HTML += 1.0 / calls
		}
	}
	// Four standard deviations of a share of 0.3 are 0.03.
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.03)); d != "" {
		t.Error(d)
	}
}
