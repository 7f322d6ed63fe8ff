package sim

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/middleware"
)

// RunTransport plays the calls of a world through an http.RoundTripper over its
// simulated network, where https://NAME is the target of that name: for a rival that is
// a transport itself. Every call is a streamed one to the first target. over is called
// inside the bubble, in which RunOurs runs as well. Hedged tells of a call that it has
// had more than one request.
func RunTransport(w *World, over func(network http.RoundTripper) http.RoundTripper, bubble func(func())) []Outcome {
	outcomes := make([]Outcome, len(w.calls))
	bubble(func() {
		n := newNetwork(w)
		app := &http.Client{Transport: middleware.MeterTransport(over(n))}
		var calls sync.WaitGroup
		for i := range w.calls {
			c := &w.calls[i]
			time.Sleep(c.At - n.age())
			calls.Go(func() { outcomes[i] = n.ask(app, c) })
		}
		calls.Wait()
	})
	return outcomes
}

func (n *network) ask(app *http.Client, c *Call) Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), Deadline)
	defer cancel()
	ctx, call := middleware.WithCall(ctx)
	body := strings.NewReader(`{"model":"` + model + `","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	url := "https://" + n.world.sites[0].Name + "/v1/chat/completions"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return Outcome{Failed: true, Target: -1}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(numberHeader, strconv.Itoa(c.Number))
	if resp, err := app.Do(r); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	o := Outcome{TTFT: call.TTFT, TPOT: call.TPOT, Failed: call.Outcome != middleware.Completed, Target: -1}
	o.Requests, o.Cost = n.account(c)
	o.Hedged = o.Requests > 1
	if !o.Failed {
		o.Total = call.Total
	}
	return o
}
