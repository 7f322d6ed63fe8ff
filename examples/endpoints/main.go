// Endpoints is one program with three promises: a chat that must begin soon, an
// extraction that must be done soon, and a batch that must be cheap. Half way the
// vendor of the large model refuses everything for a while: the chat falls back to
// the small one, since its budget says so, and returns to the large one by itself.
//
//	go run ./examples/endpoints
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const (
	rounds = 45 // each of one call per endpoint
	pause  = 100 * time.Millisecond
)

// The vendors, with the models that each serves.
var vendors = []struct {
	name, model string
	price       router.Price
	is          upstream.Behaviour
}{
	{"lyra", "large", router.Price{Input: 2.5, Output: 10}, vendor(120*time.Millisecond, 4*time.Millisecond)},
	{"mira", "small", router.Price{Input: 0.15, Output: 0.6}, vendor(60*time.Millisecond, 2*time.Millisecond)},
}

func vendor(ttft, pace time.Duration) upstream.Behaviour {
	return upstream.Behaviour{
		TTFT:   upstream.Latency{Median: ttft, Sigma: 0.2},
		Pace:   upstream.Latency{Median: pace, Sigma: 0.1},
		Output: upstream.Length{Median: 20},
	}
}

// endpoints are the promises. Those from package budget are a start: change what
// differs.
func endpoints() map[string]budget.Budget {
	chat := budget.Chat()
	chat.Models = []string{"large", "small"} // the second while the first cannot be had
	extract := budget.Extract()
	extract.Total = budget.Layers{95: time.Second}
	return map[string]budget.Budget{"chat": chat, "extract": extract, "batch": budget.Batch()}
}

// models is what each part of the program asks for.
var models = map[string]string{"chat": "large", "extract": "small", "batch": "small"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	cfg := client.Config{Endpoints: endpoints()}
	var seen tally
	cfg.Observers = []middleware.Observer{middleware.CallFunc(seen.add)}
	servers := make(map[string]*upstream.Server)
	for i, v := range vendors {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		servers[v.name] = upstream.New(v.name, v.is, uint64(i))
		server := &http.Server{Handler: servers[v.name]}
		defer server.Close()
		go server.Serve(listener)
		cfg.Targets = append(cfg.Targets, client.Target{
			Name: v.name, BaseURL: "http://" + listener.Addr().String() + "/v1",
			Models: map[string]string{v.model: v.model}, Price: v.price,
		})
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := play(c, servers["lyra"], &seen); err != nil {
		return err
	}
	return seen.report(c.Snapshot())
}

// play calls each endpoint in turn, while lyra turns its back for a third of the time.
func play(c *client.Client, lyra *upstream.Server, seen *tally) error {
	phases := map[int]struct {
		name   string
		refuse float64
	}{
		0:              {"all is well", 0},
		rounds / 3:     {"lyra refuses everything", 1},
		2 * rounds / 3: {"lyra is back", 0},
	}
	fmt.Println("                            chat was answered by")
	for n := range rounds {
		if phase, ok := phases[n]; ok {
			seen.phase(phase.name)
			lyra.Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: phase.refuse, Status: 429} })
		}
		if err := callAll(c); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// callAll makes one call at each endpoint, at the same time.
func callAll(c *client.Client) error {
	errs := make(chan error, len(models))
	for endpoint := range models {
		go func() { errs <- ask(c.Endpoint(endpoint), models[endpoint]) }()
	}
	for range models {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// ask is ordinary openai-go: the endpoint is a property of the client.
func ask(c *openai.Client, model string) error {
	stream := c.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why is the sky blue?")},
	})
	defer stream.Close()
	for stream.Next() {
	}
	return stream.Err()
}

// tally is what the calls came to.
type tally struct {
	mu    sync.Mutex
	calls []middleware.Call
	first int    // of the phase
	name  string // of the phase
}

func (t *tally) add(c middleware.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
}

// phase ends a phase, and begins another.
func (t *tally) phase(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.name != "" {
		by := map[string]int{}
		for _, c := range t.calls[t.first:] {
			if c.Endpoint == "chat" {
				by[c.Target]++
			}
		}
		fmt.Printf("%-26s  lyra (large) %2d, mira (small) %2d\n", t.name, by["lyra"], by["mira"])
	}
	t.first, t.name = len(t.calls), name
}

// report prints how each promise was kept, and what it cost.
func (t *tally) report(s router.Snapshot) error {
	t.phase("")
	cost, fallbacks := map[string]float64{}, 0
	for _, c := range t.calls {
		cost[c.Endpoint] += c.Cost
		if c.Fallback != "" {
			fallbacks++
		}
	}
	fmt.Println()
	for _, e := range s.Endpoints {
		if _, ours := models[e.Name]; !ours {
			continue
		}
		fmt.Printf("%-8s  %.4f USD\n", e.Name, cost[e.Name])
		for _, l := range e.Layers {
			fmt.Printf("          %-18v  kept by %.1f%% of %d calls\n", l.Layer, 100*l.Attainment(), l.Calls)
		}
	}
	if fallbacks == 0 {
		return fmt.Errorf("no call fell back to the small model")
	}
	fmt.Printf("\nall %d calls were answered, %d of them by a fallback\n", len(t.calls), fallbacks)
	return nil
}
