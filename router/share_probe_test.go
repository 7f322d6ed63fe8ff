package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// opened has every replica's breaker of target a open, each of its own accord.
func opened(replicas []world) {
	for _, w := range replicas {
		w.quick("b", chat, 200*ms)
		w.fails("a", 5)
	}
}

// tries has each replica plan a call a second, and starts those that would be probes.
func tries(replicas []world, seconds int, then func(w world, f *router.Flight)) (probes int) {
	for range seconds {
		for _, w := range replicas {
			c := w.Plan(chat).Choices[0]
			if !c.Probe() {
				continue
			}
			if f, err := w.Start(c, chat); err == nil {
				probes++
				then(w, f)
			}
		}
		time.Sleep(time.Second)
	}
	return probes
}

// One replica probes, and what it finds out holds for all.
func TestOneProbeForAll(t *testing.T) {
	for name, test := range map[string]struct {
		then  func(w world, f *router.Flight)
		state string
	}{
		"well":   {func(w world, f *router.Flight) { f.Content(200 * ms); w.Report(router.Report{Flight: f}) }, router.StateOK},
		"failed": {func(w world, f *router.Flight) { w.Report(router.Report{Flight: f, Outcome: router.Failed}) }, router.StateOpen},
		"hung":   {func(world, *router.Flight) {}, router.StateHalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(f fleet) {
				var replicas []world
				for range 8 {
					replicas = append(replicas, f.add(two(tailBudget)))
				}
				time.Sleep(2 * time.Second)
				opened(replicas)
				time.Sleep(17 * time.Second) // openings are 15 to 16.5 s
				if probes := tries(replicas, 10, test.then); probes != 1 {
					t.Errorf("there were %d probes, want 1", probes)
				}
				for i, w := range replicas {
					if s := w.status("a"); s.State != test.state {
						t.Errorf("for replica %d the route is %q (%s), want %q", i, s.State, s.Why, test.state)
					}
				}
			})
		})
	}
}

// A replica that may probe and has no call for it keeps the others from it for a while only.
func TestProbeOfOneThatIsGone(t *testing.T) {
	inFleet(t, func(f fleet) {
		replicas := []world{f.add(two(tailBudget)), f.add(two(tailBudget))}
		time.Sleep(2 * time.Second)
		opened(replicas)
		time.Sleep(17 * time.Second)
		replicas[0].Plan(chat) // asks, and never comes back
		time.Sleep(time.Second)
		well := func(w world, f *router.Flight) { f.Content(200 * ms); w.Report(router.Report{Flight: f}) }
		if probes := tries(replicas[1:], 10, well); probes != 0 {
			t.Errorf("the other probed %d times within 10 s", probes)
		}
		if probes := tries(replicas[1:], 10, well); probes != 1 {
			t.Errorf("the other probed %d times within the next 10 s, want 1", probes)
		}
		replicas[0].state("a", router.StateOK)
	})
}

// Without the store everybody probes for himself.
func TestProbesWithoutStore(t *testing.T) {
	inFleet(t, func(f fleet) {
		replicas := []world{f.add(two(tailBudget)), f.add(two(tailBudget))}
		time.Sleep(2 * time.Second)
		opened(replicas)
		f.store.set(func(m *memory) { m.gone = true })
		time.Sleep(17 * time.Second)
		well := func(w world, f *router.Flight) { f.Content(200 * ms); w.Report(router.Report{Flight: f}) }
		if probes := tries(replicas, 2, well); probes != 2 {
			t.Errorf("there were %d probes, want one of each replica", probes)
		}
	})
}

// A route that is open elsewhere is not opened here, but what others have seen of its
// failures counts.
func TestOpeningIsNotShared(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		time.Sleep(2 * time.Second)
		opened([]world{a})
		time.Sleep(8 * time.Second)
		a.state("a", router.StateOpen)
		b.state("a", router.StateNoData)
		b.always("b", chat)
	})
}
