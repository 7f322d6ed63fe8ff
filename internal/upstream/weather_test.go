package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// synctestRun runs a test through RoundTrip in a bubble of its own.
func synctestRun(t *testing.T, name string, b upstream.Behaviour, seed uint64, test func(rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := upstream.New(name, b, seed)
		test(rig{T: t, server: s, http: &http.Client{Transport: s}})
	})
}

// send posts a plain call, without a bubble.
func send(t interface{ Fatal(...any) }, s *upstream.Server) (int, string) {
	req, err := http.NewRequest("POST", "http://eu.test/v1/chat/completions", strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestSetAppliesToLaterRequests(t *testing.T) {
	both(t, slowly, func(r rig) {
		time.AfterFunc(50*ms, func() {
			r.server.Set(func(b *upstream.Behaviour) { b.TTFT.Median *= 8; b.Slow = upstream.Slow{Share: 1, Pace: 2} })
		})
		if g := r.must("/v1/chat/completions", streamed); g.end != 190*ms { // under way when it changed
			r.Errorf("first answer took %v", g.end)
		}
		if g := r.must("/v1/chat/completions", streamed); g.end != 980*ms { // 800 + 9 x 20
			r.Errorf("second answer took %v", g.end)
		}
	})
}

func TestCapacity(t *testing.T) {
	b := slowly
	b.Capacity = 2
	both(t, b, func(r rig) {
		ends := make([]time.Duration, 4)
		for i := range ends {
			go func() {
				g, _ := r.post(r.Context(), "/v1/chat/completions", streamed)
				ends[i] = g.end
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		// The third of two is 1.5 times as slow, the fourth twice.
		if d := cmp.Diff([]time.Duration{190 * ms, 190 * ms, 285 * ms, 380 * ms}, ends); d != "" {
			r.Error(d)
		}
	})
}

func TestEvenSpells(t *testing.T) {
	b := upstream.Behaviour{TTFT: median(100 * ms), Output: upstream.Length{Median: 1}, Spells: upstream.Spells{
		Good: 10 * time.Second, Bad: 5 * time.Second, Even: true, Slow: upstream.Slow{Share: 1, TTFT: 4},
		Faults: upstream.Faults{Empty: 1},
	}}
	synctestRun(t, "eu", b, 1, func(r rig) {
		start := time.Now()
		for _, test := range []struct {
			at, took time.Duration
			bad      bool
		}{
			{0, 100 * ms, false}, {9 * time.Second, 100 * ms, false}, {10 * time.Second, 400 * ms, true},
			{14 * time.Second, 400 * ms, true}, {15 * time.Second, 100 * ms, false}, {3*time.Hour + 11*time.Second, 400 * ms, true},
		} {
			time.Sleep(time.Until(start.Add(test.at)))
			g := r.must("/v1/chat/completions", streamed)
			if g.end != test.took || (g.body == "") != test.bad {
				r.Errorf("at %v: took %v, want %v; body %q", test.at, g.end, test.took, g.body)
			}
		}
	})
}

// Random spells depend on seed and time, not on the requests: asking often or seldom sees the same, and servers with the same seed
// are bad together.
func TestRandomSpells(t *testing.T) {
	see := func(name string, spells upstream.Spells, every time.Duration) string {
		var out strings.Builder
		b := upstream.Behaviour{TTFT: median(100 * ms), Output: upstream.Length{Median: 1}, Spells: spells}
		b.Spells.Good, b.Spells.Bad, b.Spells.Slow = time.Minute, 20*time.Second, upstream.Slow{Share: 1, TTFT: 5}
		synctestRun(t, name, b, 1, func(r rig) {
			start := time.Now()
			for at := time.Duration(0); at < time.Hour; at += every {
				time.Sleep(time.Until(start.Add(at)))
				g := r.must("/v1/chat/completions", streamed)
				if at%(10*time.Second) != 0 {
					continue
				}
				if g.end > 100*ms {
					out.WriteByte('x')
				} else {
					out.WriteByte('.')
				}
			}
		})
		return out.String()
	}
	own := see("eu", upstream.Spells{}, 10*time.Second)
	if own != see("eu", upstream.Spells{}, time.Second) {
		t.Error("the spells depend on the requests")
	}
	if bad := strings.Count(own, "x"); bad < 50 || bad > 130 { // a quarter of 360
		t.Errorf("%d of %d in bad spells", bad, len(own))
	}
	if own == see("us", upstream.Spells{}, 10*time.Second) {
		t.Error("two servers have the same spells without being told to")
	}
	if see("eu", upstream.Spells{Seed: 9}, 10*time.Second) != see("us", upstream.Spells{Seed: 9}, 10*time.Second) {
		t.Error("two servers with the same seed of spells differ")
	}
}
