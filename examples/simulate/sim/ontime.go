package sim

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

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
		{Name: "ontime"},
		{Name: "ontime, cost ignored", CostWeight: -1},
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
// one goroutine per call, which streams an answer through the SDK. bubble runs a
// function under testing/synctest, so that an hour takes a moment.
func RunOurs(w *World, way Way, bubble func(func())) ([]Outcome, error) {
	p := &play{world: w, outcomes: make([]Outcome, len(w.calls)), prompts: newPrompts(w.calls)}
	var err error
	bubble(func() { err = p.run(way) })
	return p.outcomes, err
}

// play is one run of our client.
type play struct {
	world    *World
	client   *client.Client
	network  *network
	prompts  *prompts
	outcomes []Outcome
}

func (p *play) run(way Way) error {
	p.network = newNetwork(p.world)
	promise := p.world.Budget()
	promise.CostWeight, promise.Hedge = way.CostWeight, way.Hedge
	c, err := client.New(client.Config{
		Targets:   p.targets(),
		Endpoints: map[string]budget.Budget{endpoint: promise},
		Transport: p.network,
		Seed:      p.world.seed,
	})
	if err != nil {
		return fmt.Errorf("our client: %w", err)
	}
	p.client = c
	var calls sync.WaitGroup
	chat := c.Endpoint(endpoint)
	for i := range p.world.calls {
		call := &p.world.calls[i]
		time.Sleep(call.At - p.network.age())
		messages := p.prompts.of(call)
		calls.Go(func() { p.outcomes[i] = p.ask(chat, call, messages) })
	}
	calls.Wait()
	return c.Close()
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

// ask is what an application does.
func (p *play) ask(chat *openai.Client, c *Call, messages []openai.ChatCompletionMessageParamUnion) Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), Deadline)
	defer cancel()
	ctx, call := middleware.WithCall(ctx)
	stream := chat.Chat.Completions.NewStreaming(ctx,
		openai.ChatCompletionNewParams{Model: model, Messages: messages},
		option.WithHeader(numberHeader, strconv.Itoa(c.Number)))
	for stream.Next() {
	}
	stream.Close()
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

var _ http.RoundTripper = (*network)(nil)
