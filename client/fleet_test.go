package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fleet is a client over simulated targets: one for each name, at
// https://name.test/v1, with the key "key-of-name" and the organisation
// "org-of-name". It keeps what every target was sent, and every call that was
// observed.
//
// When the test is over it checks what has to hold whatever the test was about:
// no body is open, nothing is under way, and no target has seen a credential or
// an organisation that is not its own.
type fleet struct {
	*client.Client
	servers map[string]*upstream.Server

	mu    sync.Mutex
	seen  map[string][]*http.Request
	body  map[string][]string
	calls []middleware.Call
}

// quick answers at once: most tests are about who answers, not when.
var quick = upstream.Behaviour{}

// newFleet makes the targets that are named. Those that cfg has already are
// completed, not replaced.
func newFleet(t *testing.T, b upstream.Behaviour, cfg client.Config, names ...string) *fleet {
	t.Helper()
	f := &fleet{servers: map[string]*upstream.Server{}, seen: map[string][]*http.Request{}, body: map[string][]string{}}
	network := upstream.Network{}
	for i, name := range names {
		f.servers[name] = upstream.New(name, b, uint64(i+1))
		f.servers[name].OnRequest(f.record(name))
		network[name+".test"] = f.servers[name]
		cfg.Targets = withTarget(cfg.Targets, name)
	}
	if cfg.Transport == nil {
		cfg.Transport = network
	}
	cfg.Observers = append(cfg.Observers, middleware.CallFunc(func(c middleware.Call) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls = append(f.calls, c)
	}))
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Client = c
	t.Cleanup(func() { f.end(t) })
	return f
}

// withTarget completes the target of that name, or adds it.
func withTarget(targets []client.Target, name string) []client.Target {
	at := len(targets)
	for i := range targets {
		if targets[i].Name == name {
			at = i
		}
	}
	if at == len(targets) {
		targets = append(targets, client.Target{Name: name})
	}
	t := &targets[at]
	if t.BaseURL == "" {
		t.BaseURL = "https://" + name + ".test/v1"
	}
	if t.APIKey == "" && t.APIKeys == nil && t.Auth == nil {
		t.APIKey = "key-of-" + name
	}
	if t.Headers == nil {
		t.Headers = map[string]string{"OpenAI-Organization": "org-of-" + name}
	}
	return targets
}

// newOrdered is a fleet whose endpoint "chat" tries the targets in their order:
// the earlier ones are cheaper.
func newOrdered(t *testing.T, b upstream.Behaviour, names ...string) *fleet {
	t.Helper()
	return newFleet(t, b, client.Config{Targets: inOrder(names...), Endpoints: chatBudget()}, names...)
}

func inOrder(names ...string) []client.Target {
	targets := make([]client.Target, len(names))
	for i, name := range names {
		targets[i] = client.Target{Name: name, Price: router.Price{Output: float64(i + 1)}}
	}
	return targets
}

func chatBudget() map[string]budget.Budget {
	return map[string]budget.Budget{
		"chat": {TTFT: budget.Layers{50: 300 * ms, 95: 600 * ms}, Total: budget.Layers{99: time.Minute}},
	}
}

// chat is the client of the endpoint "chat".
func (f *fleet) chat() *openai.Client { return f.Endpoint("chat") }

func (f *fleet) record(name string) func(*http.Request, []byte) {
	return func(r *http.Request, body []byte) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen[name] = append(f.seen[name], r.Clone(context.Background()))
		f.body[name] = append(f.body[name], string(body))
	}
}

func (f *fleet) end(t *testing.T) {
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for name, s := range f.servers {
		if st := s.Stats(); st.OpenBodies != 0 || st.InFlight != 0 {
			t.Errorf("%s is left with %d open bodies and %d requests under way", name, st.OpenBodies, st.InFlight)
		}
		for _, r := range f.seen[name] {
			f.checkRequest(t, name, r)
		}
	}
}

// checkRequest looks for what is another target's, or nobody's, in a request
// that a target got.
func (f *fleet) checkRequest(t *testing.T, name string, r *http.Request) {
	t.Helper()
	sent := r.URL.String() + "\n" + r.Host
	for header, values := range r.Header {
		sent += "\n" + header + ": " + strings.Join(values, ", ")
	}
	for other := range f.servers {
		if other != name && strings.Contains(sent, "-of-"+other) {
			t.Errorf("%s was sent what is %s's:\n%s", name, other, sent)
		}
	}
	if r.Header.Get("Authorization") == "Bearer "+client.APIKey || strings.Contains(sent, "ontime.invalid") {
		t.Errorf("%s was sent a placeholder:\n%s", name, sent)
	}
}

func (f *fleet) requests(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen[name])
}

// allRequests are those of every target.
func (f *fleet) allRequests() int {
	n := 0
	for name := range f.servers {
		n += f.requests(name)
	}
	return n
}

// last is the latest request of a target, and its body.
func (f *fleet) last(t *testing.T, name string) (*http.Request, string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.seen[name])
	if n == 0 {
		t.Fatalf("%s was sent nothing", name)
	}
	return f.seen[name][n-1], f.body[name][n-1]
}

func (f *fleet) observed() []middleware.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]middleware.Call(nil), f.calls...)
}

func (f *fleet) lastCall(t *testing.T) middleware.Call {
	t.Helper()
	calls := f.observed()
	if len(calls) == 0 {
		t.Fatal("no call was observed")
	}
	return calls[len(calls)-1]
}

func question(words ...string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Join(words, " "))},
	}
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}

// ours is the error as this library's own.
func ours(t *testing.T, err error) *middleware.Error {
	t.Helper()
	e, ok := errors.AsType[*middleware.Error](err)
	if !ok {
		t.Fatalf("error is %v (%T), want a *middleware.Error", err, err)
	}
	return e
}

// theirs is the error as openai-go's own, with that status.
func theirs(t *testing.T, err error, status int) *openai.Error {
	t.Helper()
	e, ok := errors.AsType[*openai.Error](err)
	if !ok || e.StatusCode != status {
		t.Fatalf("error is %v (%T), want an *openai.Error with status %d", err, err, status)
	}
	return e
}
