package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// cost is what a call takes, on average.
type cost struct{ cpu, rate, allocs, bytes float64 } // us, calls/s, number, KiB

// measureCalls is what a short call costs, at several numbers at once.
func measureCalls(s *server, p plan) (tables []table, err error) {
	for _, concurrent := range slices.Sorted(maps.Keys(p.calls)) {
		t := table{
			title:   fmt.Sprintf("A streamed call of %d events without delay, %d at once; in brackets: of openai-go's", shortEvents, concurrent),
			command: "calls", head: []string{"client", "CPU µs/call", "calls/s", "allocations", "KiB"},
		}
		costs, err := inRounds(s, short, p.rounds, clients(), func(name string, call caller) (cost, error) {
			progress("%d at once: %s", concurrent, name)
			return spend(call, concurrent, p.calls[concurrent])
		})
		if err != nil {
			return nil, err
		}
		base := medianOf(costs[0])
		for i, subject := range clients() {
			c := medianOf(costs[i])
			t.add(subject.name, against("%.0f", c.cpu, base.cpu), against("%.0f", c.rate, base.rate),
				against("%.0f", c.allocs, base.allocs), against("%.0f", c.bytes, base.bytes))
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// measureEvents is what an event costs: the difference between a long and a short call.
func measureEvents(s *server, p plan) ([]table, error) {
	t := table{
		title:   "CPU of one event more, one call at a time; in brackets: of openai-go's",
		command: "events", head: []string{"client", "ns/event"},
	}
	calls := max(20, p.calls[1]/10)
	one := func(what string, calls int) ([][]cost, error) {
		return inRounds(s, what, p.rounds, clients(), func(name string, call caller) (cost, error) {
			progress("events: %s", name)
			return spend(call, 1, calls)
		})
	}
	brief, err := one(short, calls*10)
	if err != nil {
		return nil, err
	}
	whole, err := one(long, calls)
	if err != nil {
		return nil, err
	}
	each := func(i int) float64 {
		return (medianOf(whole[i]).cpu - medianOf(brief[i]).cpu) * 1000 / (longEvents - shortEvents)
	}
	for i, subject := range clients() {
		t.add(subject.name, against("%.0f", each(i), each(0)))
	}
	return []table{t}, nil
}

// inRounds lets the subjects take turns, and returns what each came to in each round.
func inRounds[T any](s *server, what string, rounds int, subjects []subject, one func(name string, call caller) (T, error)) ([][]T, error) {
	all := make([][]T, len(subjects))
	for range rounds {
		for i, subject := range subjects {
			call, end, err := subject.dial(s.base(what))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", subject.name, err)
			}
			v, err := one(subject.name, call)
			end()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", subject.name, err)
			}
			all[i] = append(all[i], v)
		}
	}
	return all, nil
}

// spend makes calls and measures what this process spends on them. The first few are not
// counted: connections are made, and buffers grow.
func spend(call caller, concurrent, calls int) (cost, error) {
	if err := repeat(call, concurrent, concurrent+calls/20); err != nil {
		return cost{}, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	err := repeat(call, concurrent, calls)
	took, spent := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	n := float64(calls)
	return cost{
		cpu: float64(spent.Microseconds()) / n, rate: n / took.Seconds(),
		allocs: float64(after.Mallocs-before.Mallocs) / n, bytes: float64(after.TotalAlloc-before.TotalAlloc) / n / 1024,
	}, err
}

// repeat makes so many calls, some at once. The error is the first.
func repeat(call caller, concurrent, calls int) error {
	errs := make(chan error, concurrent)
	var workers sync.WaitGroup
	for w := range concurrent {
		workers.Go(func() {
			for i := w; i < calls; i += concurrent {
				if err := call(context.Background(), func() {}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	workers.Wait()
	close(errs)
	return <-errs
}

func medianOf(costs []cost) cost {
	of := func(part func(cost) float64) float64 {
		var all []float64
		for _, c := range costs {
			all = append(all, part(c))
		}
		return median(all)
	}
	return cost{
		of(func(c cost) float64 { return c.cpu }), of(func(c cost) float64 { return c.rate }),
		of(func(c cost) float64 { return c.allocs }), of(func(c cost) float64 { return c.bytes }),
	}
}

// cpuTime is what this process has spent.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
