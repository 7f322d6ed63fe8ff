package router_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// dear returns a config with so many targets of different providers, each dearer than
// the one before.
func dear(n int, b budget.Budget) router.Config {
	c := router.Config{Budgets: map[string]budget.Budget{"chat": b}}
	for i := range n {
		name := string(rune('a' + i))
		price := 1 + 0.5*float64(i)
		c.Targets = append(c.Targets, router.Target{
			Name: name, Provider: name, Models: []string{"m"}, Price: router.Price{Input: price, Output: price},
		})
	}
	return c
}

// While there is demand the price makes the share of hedges what is allowed, within a
// tenth, over 10,000 calls; and in no minute there are more than its calls have earned
// and could be saved.
func TestHedgesAreWhatIsAllowed(t *testing.T) {
	for _, test := range []struct {
		rate, allowed, slow float64 // calls per second; shares
	}{
		{5, 0.08, 0.12},
		{50, 0.05, 0.1},
	} {
		b := tails
		b.Hedge = test.allowed
		t.Run(fmt.Sprint(test.rate, " calls a second"), func(t *testing.T) {
			t.Parallel()
			in(t, two(b), func(w world) {
				every := time.Duration(float64(time.Second) / test.rate)
				r := w.race(10000, every, chat, usually(400*ms, test.slow, 3*time.Second))
				if got := r.share(); got < 0.9*test.allowed || got > 1.1*test.allowed {
					t.Errorf("%.4f were hedged, want %v", got, test.allowed)
				}
				perMinute := 60 * test.rate
				burst := max(20, test.allowed*4*perMinute)
				most, limit := r.busiestMinute(), test.allowed*perMinute+burst
				if float64(most) > limit {
					t.Errorf("%d hedges in a minute, want %v at most", most, limit)
				}
				if s := w.Snapshot().Endpoints[0].Hedge; s.Started != uint64(r.hedges()) || s.Share != test.allowed {
					t.Errorf("%+v, want %d started", s, r.hedges())
				}
			})
		})
	}
}

// busiestMinute returns the most hedges that were started in any minute.
func (r *run) busiestMinute() (most int) {
	var at []time.Time
	for _, c := range r.calls {
		if c.hedge != "" {
			at = append(at, c.start.Add(c.hedgedAt))
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	first := 0
	for i := range at {
		for at[i].Sub(at[first]) >= time.Minute {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// With 30% slow calls a delay of p90 would send 13 to 22% twice, for nothing: at 3 s it is
// too late. Here what is allowed goes to where it helps.
func TestAThirdOfCallsSlow(t *testing.T) {
	in(t, two(tails), func(w world) {
		r := w.race(2000, 200*ms, chat, usually(400*ms, 0.3, 3*time.Second)).from(500)
		won, early := 0, 0
		for _, c := range r.calls {
			if c.won && c.ttft <= 1200*ms {
				won++
			}
			if c.hedge != "" && c.hedgedAt > 1 && c.hedgedAt < 450*ms { // a probe is hedged at once
				early++
			}
		}
		// The other one is slow as often, so that 70% can be won in time.
		if n := r.hedges(); r.share() > 0.055 || won < n*6/10 || early > n/10 {
			t.Errorf("%d hedged of %d, %d of them in time, %d before it was known to be slow", n, len(r.calls), won, early)
		}
	})
}

// The ratchet: if a hedge that wins were entered with its call's time instead of its own,
// its route would seem slower by the delay, the next one would seem to be in vain, and
// hedging would stop. This has to show, or the test shows nothing. (The promise is kept
// all the while: with debt everything is tried.)
func TestHedgesDoNotRatchet(t *testing.T) {
	share := func(recorded func(own, call time.Duration) time.Duration) (share float64) {
		in(t, two(budget.Budget{TTFT: budget.Layers{80: 1200 * ms}}), func(w world) {
			w.race(100, 200*ms, chat, usually(400*ms, 0, 0))
			took := usually(400*ms, 0.1, 2*time.Second)
			share = w.raceOf(2000, 200*ms, contender{w: w, req: chat, took: took, first: "a", recorded: recorded}).from(1000).share()
		})
		return share
	}
	right := share(honest)
	wrong := share(func(own, call time.Duration) time.Duration { return call })
	if right < 0.03 || wrong > 0.01 {
		t.Errorf("%.4f are hedged, and %.4f with wrong times: want 0.04, and next to none", right, wrong)
	}
}

// One failure domain: where both attempts of a call are slow together, k falls, and
// hedges are no longer thought to help.
func TestCorrelatedSlowness(t *testing.T) {
	c := two(tails)
	for i := range c.Targets {
		c.Targets[i].Provider, c.Targets[i].Region = "x", "eu"
	}
	together := func() draw {
		var slow sync.Map // by call
		return func(call *rand.Rand, target string) time.Duration {
			took := usually(400*ms, 0, 0)(call, target)
			is, _ := slow.LoadOrStore(call, call.Float64() < 0.1)
			if is.(bool) {
				took *= 8
			}
			return took
		}
	}
	run := func(b budget.Budget, took draw) (k, share float64) {
		c.Budgets = map[string]budget.Budget{"chat": b}
		in(t, c, func(w world) {
			share = w.race(2000, 200*ms, chat, took).from(1000).share()
			k = w.Snapshot().Pairs[0].Factor
		})
		return k, share
	}
	apart, often := run(tails, usually(400*ms, 0.1, 3200*ms))
	tied, _ := run(tails, together())
	_, seldom := run(budget.Budget{TTFT: budget.Layers{80: 1200 * ms}}, together()) // without debt
	if apart < 0.8 || often < 0.045 {
		t.Errorf("apart: k = %.2f, %.4f hedged; want about 1 from 0.5, and 0.05", apart, often)
	}
	if tied > 0.25 || seldom > 0.005 {
		t.Errorf("together: k = %.2f, %.4f hedged; want much less, and none", tied, seldom)
	}
}

// incident runs calls for two minutes as ever, and then for as many as given while
// something is wrong. It returns the latter.
func incident(t *testing.T, c router.Config, every time.Duration, n int, wrong draw) (r *run) {
	t.Helper()
	in(t, c, func(w world) {
		var from time.Time
		well := usually(400*ms, 0.02, 3*time.Second)
		took := func(call *rand.Rand, target string) time.Duration {
			if !from.IsZero() && !time.Now().Before(from) {
				return wrong(call, target)
			}
			return well(call, target)
		}
		w.race(int(2*time.Minute/every), every, chat, took)
		from = time.Now()
		r = w.race(n, every, chat, took)
	})
	return r
}

// If all are slow a second attempt would be slow as well, and add to the load.
func TestNoStormWhileTheWholeWorldIsSlow(t *testing.T) {
	for _, c := range []struct {
		name string
		c    router.Config
		most int
	}{
		{"one takes all", dear(2, tails), 60},
		{"they take turns", two(tails), 60},
		{"one of three takes all", dear(3, tails), 60},
	} {
		r := incident(t, c.c, 20*ms, 3000, usually(4*time.Second, 0, 0))
		// It shows after a second, 50 calls: when calls have taken longer than usual, and
		// the hedges beside them as well. From then on a few find out.
		if first, later := r.to(100).hedges(), r.from(100).hedges(); first > 60 || later > c.most {
			t.Errorf("%s: of 3000 calls %d were hedged at first and %d later, want 60 and %d at most", c.name, first, later, c.most)
		}
	}
}

// A route that hangs is not the whole world, however many attempts it holds.
func TestAHangOfOneRouteIsHedged(t *testing.T) {
	hang := func(hung string) draw {
		well := usually(400*ms, 0.02, 3*time.Second)
		return func(call *rand.Rand, target string) time.Duration {
			if slices.Contains(strings.Split(hung, ","), target) {
				return time.Hour
			}
			return well(call, target)
		}
	}
	outage := dear(3, tails) // of the provider of two targets of three
	outage.Targets[1].Provider = outage.Targets[0].Provider
	for _, test := range []struct {
		name, hung string
		c          router.Config
		every      time.Duration
	}{
		{"one of two, 50 calls/s", "a", dear(2, tails), 20 * ms},
		{"one of two, 5 calls/s", "a", dear(2, tails), 200 * ms},
		{"one of three", "a", dear(3, tails), 20 * ms},
		{"all of a provider", "a,b", outage, 20 * ms},
	} {
		r := incident(t, test.c, test.every, 50, hang(test.hung))
		won, hung := 0, 0
		for _, c := range r.calls {
			if strings.Contains(test.hung, c.first) {
				hung++
				if c.won && c.ttft < 1200*ms {
					won++
				}
			}
		}
		if won < hung/2 || hung < 4 {
			t.Errorf("%s: of %d calls that hang %d are rescued in time, want most; %.2f were late", test.name, hung, won, r.late(1200*ms))
		}
	}
}

// A route that hangs from the very first call on is known by nothing but that.
func TestAHangBeforeAnythingHasCompleted(t *testing.T) {
	in(t, dear(2, tails), func(w world) {
		r := w.race(15, 200*ms, chat, func(call *rand.Rand, target string) time.Duration {
			if target == "a" {
				return time.Hour
			}
			return usually(400*ms, 0, 0)(call, target)
		})
		// By what is built in one in 40 takes longer than 1.2 s, so that there is no hurry
		// before some have.
		if early, later := r.to(4).late(4*time.Second), r.from(4).late(1200*ms); early > 0 || later > 0 {
			t.Errorf("%.2f of the first 4 took more than 4 s, and %.2f of the others more than 1.2 s: %+v", early, later, r.calls)
		}
	})
}

// A cold route is hedged onto: it is expected to be like its relatives.
func TestAColdRouteIsHedgedOnto(t *testing.T) {
	in(t, dear(2, tails), func(w world) {
		for i := range 100 {
			w.record("a", chat, []time.Duration{400 * ms, 3 * time.Second}[i/90])
		}
		time.Sleep(300 * ms)
		if got := w.hedgeTo("a", chat, 700*ms); got != "b" {
			t.Errorf("hedge to %q, want b", got)
		}
	})
}

func TestAnEndpointWithoutPromisesIsNotHedged(t *testing.T) {
	in(t, two(budget.Budget{}), func(w world) {
		if n := w.race(200, 200*ms, chat, usually(400*ms, 0.3, 3*time.Second)).hedges(); n > 0 {
			t.Errorf("%d hedges, want none", n)
		}
	})
}
