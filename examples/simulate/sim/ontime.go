package sim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// Way is a way to set up our own client.
type Way struct {
	Name string
	// CostWeight and Hedge are as in budget.Budget.
	CostWeight, Hedge float64
}

// OurWays are the ways in which our client is compared.
func OurWays() []Way {
	return []Way{
		{Name: Ours},
		{Name: OursFast, CostWeight: -1},
		{Name: "ontime, no hedge", Hedge: -1},
	}
}

const (
	model    = "sim"
	endpoint = "chat"
	// numberHeader tells the simulated network which call a request is for.
	numberHeader = "X-Sim-Call"
)

// RunOurs plays the calls of a world through our own client, as applications use it:
// one goroutine per call, which streams an answer. bubble runs a function under
// testing/synctest, so that an hour takes a moment.
func RunOurs(w *World, way Way, bubble func(func())) ([]Outcome, error) {
	p := &play{world: w, outcomes: make([]Outcome, len(w.calls)), bodies: newBodies()}
	var err error
	bubble(func() { err = p.run(way) })
	return p.outcomes, err
}

// play is one run of our client.
type play struct {
	world    *World
	network  *network
	bodies   *bodies
	outcomes []Outcome
}

func (p *play) run(way Way) error {
	p.network = newNetwork(p.world)
	c, err := p.newClient(way, nil)
	if err != nil {
		return err
	}
	app := c.HTTPClient()
	p.ask(func(int) *http.Client { return app })
	return c.Close()
}

// newClient makes a client of the world, one of several if they share a store.
func (p *play) newClient(way Way, shared router.Store) (*client.Client, error) {
	promise := p.world.Budget()
	promise.CostWeight, promise.Hedge = way.CostWeight, way.Hedge
	c, err := client.New(client.Config{
		Targets:   p.targets(),
		Endpoints: map[string]budget.Budget{endpoint: promise},
		Transport: p.network,
		Seed:      p.world.seed,
		Shared:    shared,
	})
	if err != nil {
		return nil, fmt.Errorf("our client: %w", err)
	}
	return c, nil
}

// ask has every call made when it is due, by the application that it is of.
func (p *play) ask(app func(call int) *http.Client) {
	var calls sync.WaitGroup
	for i := range p.world.calls {
		call := &p.world.calls[i]
		time.Sleep(call.At - p.network.age())
		body := p.bodies.of(call)
		calls.Go(func() { p.outcomes[i] = p.askOne(app(i), call, body) })
	}
	calls.Wait()
}

func (p *play) targets() []client.Target {
	var targets []client.Target
	for _, t := range p.world.Targets() {
		targets = append(targets, client.Target{
			Name: t.Name, Provider: t.Provider, Region: t.Region,
			BaseURL: "https://" + t.Name + "/v1", APIKey: "simulated",
			Models: map[string]string{model: model},
			Price:  router.Price{Input: t.Input, CachedInput: t.Cached, Output: t.Output},
		})
	}
	return targets
}

// askOne is what an application does, without an SDK: decoding would take most of the time
// of a run.
func (p *play) askOne(app *http.Client, c *Call, body []byte) Outcome {
	ctx, cancel := context.WithTimeout(budget.With(context.Background(), endpoint), Deadline)
	defer cancel()
	ctx, call := middleware.WithCall(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, client.BaseURL+"chat/completions", bytes.NewReader(body))
	if err != nil {
		return Outcome{Failed: true, Target: -1}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+client.APIKey)
	r.Header.Set(numberHeader, strconv.Itoa(c.Number))
	if resp, err := app.Do(r); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return p.outcome(c, call)
}

// outcome is what the client says of a call; what it cost is what the network saw.
func (p *play) outcome(c *Call, call *middleware.Call) Outcome {
	o := Outcome{
		TTFT: call.TTFT, TPOT: call.TPOT, Hedged: call.Hedged,
		Failed: call.Outcome != middleware.Completed, Target: -1,
	}
	o.Requests, o.Cost = p.network.account(c)
	if o.TTFT > 0 {
		o.Target = p.network.targets[call.Target]
	}
	if !o.Failed {
		o.Total = call.Total
	}
	return o
}
