package router

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
)

func TestHits(t *testing.T) {
	h := newHits()
	h.add(0, 4000, &Report{PromptTokens: 1000, CachedTokens: 1000}) // nothing was expected
	wantFloat(t, "before anything", h.expected(), 0.5)
	h.add(4000, 8000, &Report{PromptTokens: 1000, CachedTokens: 400}) // of 500: 0.5 + (0.8-0.5)/3
	wantFloat(t, "after 400 of 500 tokens", h.expected(), 0.6)
	h.add(8000, 8000, &Report{PromptTokens: 1000, CachedTokens: 2000}) // counts as all: 0.6 + 0.4/4
	wantFloat(t, "after more than all", h.expected(), 0.7)

	// 0.5 of 2, and then nothing: 1/(2+n), below a tenth from the ninth on.
	h = newHits()
	for n := 1; n <= 9; n++ {
		h.add(4000, 8000, &Report{PromptTokens: 1000})
		wantFloat(t, fmt.Sprintf("after %d times nothing", n), h.share, 1/float64(2+n))
	}
	wantFloat(t, "no cache", h.expected(), 0)
	for range 100 { // a provider that begins to cache is found out all the same
		h.add(4000, 8000, &Report{PromptTokens: 1000, CachedTokens: 500})
	}
	if h.expected() < 0.9 {
		t.Errorf("%v after 100 times all, want more than 0.9", h.expected())
	}
}

func TestUncachedTokens(t *testing.T) {
	f := &forecast{bytesPerToken: 4, hits: 0.75}
	wantFloat(t, "cached of 4000 bytes", f.cached(4000), 750)
	wantFloat(t, "uncached of 10000", f.uncached(10000, 4000), 2500-750)
	wantFloat(t, "uncached of fewer than are known", f.uncached(1000, 40000), 0)
}

// Routes are named by their scores in percent of the best; those with a * have the
// longest prefix, those with a + a shorter one.
func TestKeep(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string // that may be first; none: as if nothing was cached
	}{
		{"100 101 102", nil},
		{"100 104* 105", []string{"104*"}},
		{"100 105* 110", []string{"105*"}},
		{"100 106* 110", nil},
		{"100+ 104* 110", []string{"104*"}},
		{"100* 104+ 110", []string{"100*"}},
		{"100 101* 103* 104*", []string{"101*", "103*", "104*"}}, // within 3% of their best
		{"100 101* 105*", []string{"101*"}},
		{"100* 101* 103* 104*", []string{"100*", "101*", "103*"}},
		{"100 106+ 107*", nil},
	} {
		var list []ranked
		names := make(map[float64]string)
		for _, name := range strings.Fields(c.list) {
			digits := strings.TrimRight(name, "*+")
			score, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatal(err)
			}
			x := ranked{score: float64(score) / 100, known: map[string]int32{"*": 8000, "+": 4000}[name[len(digits):]]}
			names[x.score] = name
			list = append(list, x)
		}
		r := &Router{lasting: new(lasting)}
		firsts := make(map[string]bool)
		for range 100 {
			own := slices.Clone(list)
			if kept := r.keep(own, closeScore); kept != (c.want != nil) {
				t.Errorf("%s: kept %t", c.list, kept)
			} else if kept {
				firsts[names[own[0].score]] = true
			}
		}
		want := make(map[string]bool)
		for _, name := range c.want {
			want[name] = true
		}
		if diff := cmp.Diff(want, firsts); diff != "" {
			t.Errorf("%s: first (-want +got):\n%s", c.list, diff)
		}
	}
}

// Of 10,000 tokens 9,000 should be cached and 90% of those are: 8,100 at a tenth of the
// price.
func TestCachedTokensCostLess(t *testing.T) {
	targets := []Target{
		{Name: "a", Price: Price{Input: 2, CachedInput: 0.2}}, {Name: "b", Price: Price{Input: 2}}, {Name: "c", Price: Price{Input: 2}},
	}
	e := newEndpoint("e", 0, budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}, targets)
	req := Request{Streamed: true, PromptBytes: 40000, Prefixes: []Prefix{{1, 36000}}}
	q := newQuestion(e, &req, time.Now(), nil)
	q.known = []int32{36000, 36000, 0}
	r := &Router{targets: targets}
	g := &group{router: r}
	o := &outlook{}
	for i := range targets {
		f := fixed()
		f.hits = 0.9
		g.routes = append(g.routes, &route{group: g, target: i, price: targets[i].Price})
		o.routes = append(o.routes, f)
	}
	list := q.rank(g, o, nil)
	for i, want := range []float64{(1900*2 + 8100*0.2) / 1e6, 0.02, 0.02} {
		wantFloat(t, "cost of "+targets[i].Name, list[i].cost, want)
	}
	for i, want := range []float64{1900, 1900, 10000} {
		wantFloat(t, "tokens of "+targets[i].Name, list[i].tokens, want)
	}
}

func TestPrefixesOfRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrefixes(3)
		all := []Prefix{{11, 5000}, {12, 6000}, {13, 7000}}
		known := func(model string, want ...int32) {
			t.Helper()
			got := p.knownAt(&Request{Model: model, Prefixes: all}, time.Now(), make([]int32, 16))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
			for target, bytes := range want {
				if got := p.knownTo(target, &Request{Model: model, Prefixes: all}, time.Now()); got != bytes {
					t.Errorf("known to %d: %d bytes, want %d", target, got, bytes)
				}
			}
		}
		known("m", 0, 0, 0)
		p.remember(0, "m", all[:1], time.Now())
		p.remember(2, "m", all[:2], time.Now())
		known("m", 5000, 0, 6000)
		known("n", 0, 0, 0)
		time.Sleep(4 * time.Minute)
		p.remember(2, "m", all, time.Now())
		known("m", 5000, 0, 7000)
		time.Sleep(61 * time.Second) // the first is over 5 minutes old, what was used since is not
		known("m", 0, 0, 7000)
		time.Sleep(239 * time.Second)
		known("m", 0, 0, 7000)
		time.Sleep(time.Millisecond)
		known("m", 0, 0, 0)
	})
}

// There are never more than 32,768 prefixes; what is old makes room.
func TestPrefixesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrefixes(2)
		next := uint64(0)
		add := func(n int) (known int) {
			for range n {
				one := []Prefix{{next * 0x9e3779b97f4a7c15, 5000}}
				next++
				p.remember(0, "m", one, time.Now())
				if p.knownTo(0, &Request{Model: "m", Prefixes: one}, time.Now()) > 0 {
					known++
				}
			}
			return known
		}
		if got := add(50000); got > prefixShards*mostInShard || got < 30000 {
			t.Errorf("%d of 50000 are known, want about 32768", got)
		}
		if got := add(1000); got > 0 {
			t.Errorf("%d of 1000 more are known, want none", got)
		}
		time.Sleep(6*time.Minute + time.Millisecond)
		if got := add(1000); got != 1000 {
			t.Errorf("%d of 1000 are known once the others have expired, want all", got)
		}
		total := 0
		for i := range p.shards {
			total += p.shards[i].cache.ItemCount()
		}
		if total > 1000+prefixShards*mostInShard/2 {
			t.Errorf("%d are kept", total)
		}
	})
}

// Looking up allocates nothing.
func TestLookingUpPrefixesAllocatesNothing(t *testing.T) {
	p := newPrefixes(10)
	req := &Request{Model: "m"}
	for i := range 16 {
		req.Prefixes = append(req.Prefixes, Prefix{uint64(i) * 0x9e3779b97f4a7c15, 4096 * (i + 1)})
	}
	now := time.Now()
	p.remember(3, "m", req.Prefixes[:2], now)
	buf := make([]int32, 16)
	if n := testing.AllocsPerRun(100, func() {
		clear(buf)
		p.knownAt(req, now, buf)
		p.knownTo(3, req, now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { p.remember(3, "m", req.Prefixes[:2], now) }); n != 0 {
		t.Errorf("%v allocations to remember what is known", n)
	}
	if k := prefixKey(0x0102030405060708); k.name() != string(binary.LittleEndian.AppendUint64(nil, uint64(k))) {
		t.Error("name")
	}
}
