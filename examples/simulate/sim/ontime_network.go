package sim

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// network is an http.RoundTripper that answers from a world. It is to be made inside
// the bubble.
type network struct {
	world   *World
	start   time.Time
	targets map[string]int

	mu    sync.Mutex
	state *State
	sent  [][]*exchange // of each call
}

// exchange is one request and its answer.
type exchange struct {
	net    *network
	call   *Call
	target int
	sent   time.Duration
	reply  Reply
	ended  time.Duration // age; 0: it goes on
}

func newNetwork(w *World) *network {
	n := &network{
		world: w, start: time.Now(), targets: make(map[string]int),
		state: w.NewState(), sent: make([][]*exchange, len(w.calls)),
	}
	for i, t := range w.Targets() {
		n.targets[t.Name] = i
	}
	return n
}

// age is the time since the start of the run.
func (n *network) age() time.Duration { return time.Since(n.start) }

// RoundTrip answers a request with what the world has for it, at the times that it has
// for it.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	x, err := n.meet(r)
	if err != nil {
		return nil, err
	}
	b := &answer{exchange: x, ctx: r.Context(), closed: make(chan struct{})}
	headers := x.reply.Headers
	if headers == 0 {
		headers = math.MaxInt64
	}
	if err := b.wait(headers); err != nil {
		x.end()
		return nil, err
	}
	resp := &http.Response{
		Status: strconv.Itoa(x.reply.Status), StatusCode: x.reply.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: b, ContentLength: -1, Request: r,
	}
	if x.reply.Limit > 0 {
		x.reply.tellLimit(resp.Header)
	}
	if x.reply.Status != http.StatusOK {
		x.end()
		refuse(resp, &x.reply)
	}
	return resp, nil
}

// tellLimit sets the headers in which OpenAI tells of a rate limit.
func (r *Reply) tellLimit(h http.Header) {
	h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(r.Limit))
	h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(r.Left))
	h.Set("X-Ratelimit-Reset-Requests", (r.Reset - r.Headers).Round(time.Millisecond).String())
	if r.Status == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.Reset.Seconds()))))
	}
}

// refuse makes a response one that reports an error.
func refuse(resp *http.Response, r *Reply) {
	resp.Header.Set("Content-Type", "application/json")
	kind, code := "server_error", "null"
	switch r.Status {
	case http.StatusTooManyRequests:
		kind, code = "requests", `"rate_limit_exceeded"`
	case http.StatusNotFound:
		kind, code = "invalid_request_error", `"model_not_found"`
	}
	body := fmt.Sprintf(`{"error":{"message":"simulated","type":%q,"code":%s}}`, kind, code)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

// meet takes a request to its target.
func (n *network) meet(r *http.Request) (*exchange, error) {
	number, err := strconv.Atoi(r.Header.Get(numberHeader))
	target, known := n.targets[r.URL.Host]
	if err != nil || !known {
		return nil, fmt.Errorf("sim: no call, or no target: %s", r.URL)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	nth := 0
	for _, x := range n.sent[number] {
		if x.target == target {
			nth++
		}
	}
	c := &n.world.calls[number]
	x := &exchange{net: n, call: c, target: target, sent: n.age()}
	x.reply = n.state.Meet(c, target, nth, x.sent)
	n.sent[number] = append(n.sent[number], x)
	return x, nil
}

func (x *exchange) age() time.Duration { return x.net.age() - x.sent }

// end notes that the request has ended, if that is not known.
func (x *exchange) end() {
	x.net.mu.Lock()
	defer x.net.mu.Unlock()
	if x.ended == 0 {
		x.ended = max(x.age(), 1)
	}
}

// account is how many requests a call has had, and what they cost.
func (n *network) account(c *Call) (requests int, cost float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range n.sent[c.Number] {
		ended := x.ended
		if ended == 0 {
			ended = x.age()
		}
		cost += n.world.Cost(c, x.target, &x.reply, ended)
	}
	return len(n.sent[c.Number]), cost
}
