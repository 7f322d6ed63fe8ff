package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// model is the model's name in the application; each target may have its own.
const model = "small"

const question = "In one sentence: why is the sky blue?"

// load is a steady stream of calls, each made by every application at the same
// instant. A call starts when its time has come, whether or not those before it
// have ended: users do not wait for each other.
type load struct {
	calls    int
	every    time.Duration
	client   *client.Client
	screen   *screen
	apps     []*app // the first one uses the client
	periods  []period
	options  func(n int) []option.RequestOption // of call n
	incident *incident                          // nil: none
}

// period is a part of the calls: those from the one number to before the other.
type period struct {
	name     string
	from, to int
}

// incident is what happens to the targets before call number at.
type incident struct {
	at    int
	words string
	begin func()
}

// app is one application with its own way of choosing a client for a call.
type app struct {
	name   string
	choose func(n int) *openai.Client
	ledger *budget.Ledger // judges what the application itself saw

	mu      sync.Mutex
	answers []answer // in the order in which they ended
}

// answer is what an application saw of call n.
type answer struct {
	n            int
	first, total time.Duration // to the first text, to the end
	text         string
	err          error
	call         *middleware.Call // what the client says of it; empty for a plain openai.Client
}

func newApp(name string, promise budget.Budget, choose func(n int) *openai.Client) *app {
	return &app{name: name, choose: choose, ledger: budget.NewLedger(promise)}
}

// run makes all calls, shows the table meanwhile and the summary at the end. It
// returns an error if a layer was missed.
func (l *load) run(ctx context.Context) error {
	watched, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { l.watch(watched) })
	l.start(ctx)
	stop()
	watching.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.screen.draw(l.table())
	l.screen.print(l.summary())
	return l.conclude()
}

// start starts each call in its time and waits until all have ended.
func (l *load) start(ctx context.Context) {
	var calls sync.WaitGroup
	defer calls.Wait()
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for n := range l.calls {
		if l.incident != nil && n == l.incident.at {
			l.incident.begin()
		}
		for _, a := range l.apps {
			calls.Go(func() { a.take(ctx, n, l.options(n)) })
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// take makes call n and enters what became of it.
func (a *app) take(ctx context.Context, n int, opts []option.RequestOption) {
	ctx, call := middleware.WithCall(ctx)
	got := ask(ctx, a.choose(n), question, opts...)
	got.n, got.call = n, call
	if got.err == nil && got.text == "" {
		got.err = errors.New("the answer was empty") // to openai-go a stream that was cut off is complete
	}
	judge(a.ledger, got)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = append(a.answers, got)
}

func judge(ledger *budget.Ledger, got answer) {
	tally := ledger.Tally(true)
	if got.err != nil {
		tally.Failed()
		return
	}
	tally.Content(got.first)
	tally.Completed(0, got.total) // no TPOT: an application does not count tokens
}

// seen returns the answers so far.
func (a *app) seen() []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.answers)
}
