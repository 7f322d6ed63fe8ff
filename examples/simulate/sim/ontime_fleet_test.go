package sim

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/router"
)

var fleetSeeds = flag.Int("fleet", 0, "seeds of the table of TestFleet; 0: a short run of one, without the table")

const (
	replicas   = 16
	eachAsks   = 0.1 // calls per second
	firstFleet = 901 // seed
)

// TestFleet compares replicas that see few calls each, with and without what the others
// see, against one process that sees all. The same calls meet the same luck in each. The
// table of README.md is made by
//
//	go test ./examples/simulate/sim -run TestFleet -v -fleet 5 -timeout 2h
func TestFleet(t *testing.T) {
	if *fleetSeeds == 0 {
		w := NewWorld(scenarioOf(t, "hang"), Conditions{Seed: 1, Rate: replicas * eachAsks, Early: true, Length: 2 * time.Minute})
		for i, o := range runFleet(t, w, 4, true) {
			checkOutcome(t, w, i, &o)
		}
		return
	}
	t.Log("| scenario | later than 1.2 s: alone / shared / one process | gain of sharing | later than 2.5 s: alone / shared / one process | gain of sharing |")
	t.Log("|---|---|---|---|---|")
	for _, name := range []string{"calm", "spike", "brownout", "hang", "errors", "cold"} {
		var late, tail contrast
		for seed := range *fleetSeeds {
			w := NewWorld(scenarioOf(t, name), Conditions{Seed: firstFleet + uint64(seed), Rate: replicas * eachAsks, Early: true, Length: 40 * time.Minute})
			alone, shared, one := runFleet(t, w, replicas, false), runFleet(t, w, replicas, true), runFleet(t, w, 1, false)
			late.add(w, 95, alone, shared, one)
			tail.add(w, 99, alone, shared, one)
		}
		t.Logf("| %s | %s | %s |", name, &late, &tail)
	}
}

// contrast is how the three do by one layer.
type contrast struct{ alone, shared, one, gain spread }

func (c *contrast) add(w *World, percentile float64, alone, shared, one []Outcome) {
	a, s := missShare(w, percentile, alone), missShare(w, percentile, shared)
	c.alone.add(a)
	c.shared.add(s)
	c.one.add(missShare(w, percentile, one))
	c.gain.add(a - s)
}

func (c *contrast) String() string {
	return fmt.Sprintf("%s / %s / %s | %.2f ± %.2f", c.alone, c.shared, c.one, 100*c.gain.mean(), 100*c.gain.interval())
}

// missShare is the share of the calls that missed the TTFT layer of that percentile.
func missShare(w *World, percentile float64, outcomes []Outcome) float64 {
	n := 0
	for _, l := range promises(w.Budget()) {
		for i := range outcomes {
			if l.Percentile == percentile && missed(l, &outcomes[i]) {
				n++
			}
		}
	}
	return float64(n) / float64(len(outcomes))
}

// runFleet plays a world through so many clients, to which its calls fall by chance.
func runFleet(t *testing.T, w *World, clients int, share bool) []Outcome {
	t.Helper()
	p := &play{world: w, outcomes: make([]Outcome, len(w.calls)), bodies: newBodies()}
	bubble(t)(func() {
		p.network = newNetwork(w)
		var store router.Store
		if share {
			store = new(shelf)
		}
		var apps []*http.Client
		var all []*client.Client
		for range clients {
			c, err := p.newClient(OurWays()[0], store)
			if err != nil {
				t.Error(err)
				return
			}
			all, apps = append(all, c), append(apps, c.HTTPClient())
		}
		p.ask(func(call int) *http.Client {
			l := luckOf(w.seed, uint64(call), 'f')
			return apps[l.next()%uint64(clients)]
		})
		for _, c := range all {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return p.outcomes
}

// spread is the mean of the shares of several seeds, in percent.
type spread struct{ n, sum, squares float64 }

func (s *spread) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

func (s spread) mean() float64 { return s.sum / s.n }

func (s spread) String() string { return fmt.Sprintf("%.2f%%", 100*s.mean()) }

// interval is half the width of the mean's interval of 95%, by Student's t.
func (s spread) interval() float64 {
	t95 := []float64{0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}
	df := int(s.n) - 1
	t := 2.0
	if df < len(t95) {
		t = t95[df]
	}
	mean := s.mean()
	return t * math.Sqrt(max(0, s.squares/s.n-mean*mean)/max(1, s.n-1))
}

// shelf is a store in this process.
type shelf struct {
	mu    sync.Mutex
	blobs []router.Blob
	keys  map[string]time.Time
}

func (s *shelf) Publish(_ context.Context, data []byte) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs = append(s.blobs, router.Blob{At: time.Now(), Data: append([]byte(nil), data...)})
	return time.Now(), nil
}

func (s *shelf) Fetch(_ context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, _ := strconv.Atoi(cursor)
	to := min(from+limit, len(s.blobs))
	return s.blobs[from:to:to], strconv.Itoa(to), nil
}

func (s *shelf) Claim(_ context.Context, key string, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.keys[key]) {
		return false, nil
	}
	if s.keys == nil {
		s.keys = make(map[string]time.Time)
	}
	s.keys[key] = time.Now().Add(ttl)
	return true, nil
}
