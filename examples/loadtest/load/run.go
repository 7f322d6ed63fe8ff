package load

import (
	"context"
	"hash/fnv"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Run makes all calls of a plan and reports. It calls step, which may be nil, after each
// call, warm-up included; calls end on several goroutines.
//
// If ctx ends, the report has the series that were complete by then, and the error is
// ctx's.
func Run(ctx context.Context, p Plan, step func()) (*Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if step == nil {
		step = func() {}
	}
	t := &test{Plan: p, step: step, begun: time.Now(), series: make(map[place]*measured)}
	t.mark = strconv.FormatInt(t.begun.UnixNano(), 36)
	err := t.run(ctx)
	return t.report(), err
}

// place is what one series is of.
type place struct{ subject, load int }

// measured is what was observed at one place, in all rounds.
type measured struct {
	all  []observation
	took time.Duration // from the first call's start to the last one's end, all rounds
}

type test struct {
	Plan
	step   func()
	begun  time.Time
	mark   string // of this run, in prompts that no cache may know
	series map[place]*measured
}

// run goes through rounds, loads and subjects. Each round begins with another subject:
// what follows a heavy load may still feel it.
func (t *test) run(ctx context.Context) error {
	for round := range t.Rounds {
		for l := range t.Loads {
			for i := range t.Subjects {
				at := place{(i + round) % len(t.Subjects), l}
				if err := t.round(ctx, at, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// round makes the calls of one place in one round.
func (t *test) round(ctx context.Context, at place, round int) error {
	s := &series{test: t, subject: t.Subjects[at.subject], load: t.Loads[at.load], round: round}
	s.warm(ctx, t.warmup(s.load))
	s.begun = time.Now()
	s.all = make([]observation, t.Calls)
	if s.load.Open() {
		s.open(ctx, Arrivals(t.Calls, s.load.Rate, s.seed()))
	} else {
		s.closed(ctx, t.Calls, s.load.Concurrency, func(n int, o observation) { s.all[n] = o })
	}
	if ctx.Err() != nil {
		return ctx.Err() // what is cut short would look quick
	}
	m := t.series[at]
	if m == nil {
		m = new(measured)
		t.series[at] = m
	}
	m.all = append(m.all, s.all...)
	m.took += time.Since(s.begun)
	return nil
}

// series is the calls of one place in one round.
type series struct {
	*test
	subject *Subject
	load    Load
	round   int
	begun   time.Time
	all     []observation
}

// seed is the same for all subjects: they meet the same arrivals.
func (s *series) seed() uint64 {
	h := fnv.New64a()
	h.Write(strconv.AppendUint(nil, s.Seed, 10))
	h.Write([]byte(s.load.String() + " in round " + strconv.Itoa(s.round)))
	return h.Sum64()
}

// warm makes calls that do not count.
func (s *series) warm(ctx context.Context, calls int) {
	streams := s.load.Concurrency
	if s.load.Open() {
		streams = calls
	}
	s.begun = time.Now()
	s.closed(ctx, calls, streams, func(int, observation) {})
}

// closed makes calls on so many streams, each as soon as the last one has ended.
func (s *series) closed(ctx context.Context, calls, streams int, keep func(int, observation)) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(streams, calls) {
		running.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= calls || ctx.Err() != nil {
					return
				}
				keep(n, s.one(ctx, n, time.Now()))
			}
		})
	}
	running.Wait()
}

// open makes each call when its time has come, whatever became of those before.
func (s *series) open(ctx context.Context, arrivals []time.Duration) {
	var running sync.WaitGroup
	defer running.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n, at := range arrivals {
		intended := s.begun.Add(at)
		timer.Reset(time.Until(intended))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		running.Go(func() { s.all[n] = s.one(ctx, n, intended) })
	}
}

// one makes call n.
func (s *series) one(ctx context.Context, n int, intended time.Time) observation {
	defer s.step()
	mark := ""
	if s.Bust {
		mark = s.test.mark + "-" + strconv.FormatInt(time.Since(s.test.begun).Nanoseconds(), 36) + "-" + strconv.Itoa(n)
	}
	body := s.body(s.subject.model, s.Prompts.of(n, mark))
	call := s.subject.call(ctx, body, s.timeout())
	o := observe(call, intended, !s.subject.Routed())
	o.Round, o.Start = s.round+1, Span(intended.Sub(s.begun))
	return o
}
