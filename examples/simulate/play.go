package main

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
	"github.com/ontime-llm/ontime/internal/progress"
)

// contestant is one of those that are compared.
type contestant struct {
	sim.Series // without runs
	play       func(*sim.World, uint64) (sim.Numbers, error)
}

// contestants returns all that are to be played, ours first.
func contestants(o *options, bubble func(func())) []contestant {
	var all []contestant
	for _, way := range sim.OurWays() {
		if way.Hedge < 0 && !o.full && !slices.Contains(o.policies, way.Name) {
			continue
		}
		all = append(all, contestant{
			sim.Series{Policy: way.Name, Kind: sim.KindOurs, Hedges: way.Hedge >= 0},
			func(w *sim.World, _ uint64) (sim.Numbers, error) {
				outcomes, err := sim.RunOurs(w, way, bubble)
				return sim.Measure(w.Budget(), outcomes), err
			},
		})
	}
	for _, r := range sim.Rivals() {
		all = append(all, contestant{
			sim.Series{Policy: r.Name, Kind: sim.KindPeer, Hedges: r.Hedges},
			func(w *sim.World, seed uint64) (sim.Numbers, error) {
				policy, hedge := r.Make(sim.Setting{Targets: w.Targets(), Budget: w.Budget(), Seed: seed})
				return sim.Measure(w.Budget(), sim.Run(w, policy, hedge)), nil
			},
		})
	}
	all = append(all, oracles()...)
	return slices.DeleteFunc(all, func(c contestant) bool { return !o.wants(c.Policy) })
}

func oracles() []contestant {
	oracle := func(name string, play func(*sim.World, uint64) sim.Numbers) contestant {
		return contestant{
			sim.Series{Policy: name, Kind: sim.KindOracle},
			func(w *sim.World, seed uint64) (sim.Numbers, error) { return play(w, seed), nil },
		}
	}
	return []contestant{
		oracle(sim.OracleClairvoyant, func(w *sim.World, _ uint64) sim.Numbers { return sim.Clairvoyant(w) }),
		oracle(sim.OracleRegime, func(w *sim.World, seed uint64) sim.Numbers {
			policy, hedge := sim.Regime(w, seed)
			return sim.Measure(w.Budget(), sim.Run(w, policy, hedge))
		}),
		oracle(sim.OracleStatic, func(w *sim.World, seed uint64) sim.Numbers {
			return sim.Measure(w.Budget(), sim.BestStatic(w, seed))
		}),
	}
}

// match is everything that is played at one place.
type match struct {
	place    sim.Place
	scenario sim.Scenario
	series   []sim.Series
}

// play plays everything on all cores.
func play(o options, bubble func(func()), show *progress.Bar) ([]sim.Result, error) {
	all := contestants(&o, bubble)
	matches := o.matches(all)
	show.Begin(len(matches) * o.seeds * len(all))
	defer show.End()

	jobs := make(chan func() error)
	var workers sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for job := range jobs {
				if err := job(); err != nil {
					once.Do(func() { failed = err })
				}
				show.Step()
			}
		})
	}
	for _, m := range matches {
		for n := range o.seeds {
			seed := o.first + uint64(n)
			world := sync.OnceValue(func() *sim.World { return o.world(m, seed) })
			for i, c := range all {
				jobs <- func() (err error) {
					m.series[i].Runs[n], err = c.play(world(), seed)
					return err
				}
			}
		}
	}
	close(jobs)
	workers.Wait()
	return compare(matches), failed
}

// matches returns one for each place.
func (o *options) matches(all []contestant) []*match {
	var matches []*match
	for _, s := range o.scenarios {
		for _, rate := range o.rates {
			for _, early := range o.early {
				m := &match{sim.Place{Scenario: s.Name, Rate: rate, Early: early}, s, nil}
				for _, c := range all {
					c.Runs = make([]sim.Numbers, o.seeds)
					m.series = append(m.series, c.Series)
				}
				matches = append(matches, m)
			}
		}
	}
	return matches
}

// world makes the world of one seed, which is the same for all contestants.
func (o *options) world(m *match, seed uint64) *sim.World {
	return sim.NewWorld(m.scenario, sim.Conditions{
		Seed: seed, Rate: m.place.Rate, Early: m.place.Early, Trace: &o.trace,
		Length: time.Duration(float64(o.calls) / m.place.Rate * float64(time.Second)),
	})
}

func compare(matches []*match) []sim.Result {
	var results []sim.Result
	for _, m := range matches {
		results = append(results, sim.Compare(m.place, m.scenario.Promise(), m.series)...)
	}
	return results
}
