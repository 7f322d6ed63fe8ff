package conformance

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// pair is a client over two simulated targets, of which one is asked first, and a third provider that is one's twin: an SDK that
// asks the twin without our client has to see the same.
type pair struct {
	*client.Client
	one, two, twin *upstream.Server
	plain          *http.Client // reaches the twin
	twinURL        string       // without the version

	mu    sync.Mutex
	calls []middleware.Call
}

// wires are how the three are reached.
type wires struct {
	one, two, twin string // URLs without the version
	transport      http.RoundTripper
}

// inMemory reaches them without sockets, in the virtual time of a bubble.
func inMemory(_ *testing.T, p *pair) wires {
	network := upstream.Network{"one.test": p.one, "two.test": p.two, "twin.test": p.twin}
	return wires{"https://one.test", "https://two.test", "https://twin.test", network}
}

// overSockets reaches them over the loopback, with the client's own transport.
func overSockets(t *testing.T, p *pair) wires {
	var urls []string
	for _, s := range []*upstream.Server{p.one, p.two, p.twin} {
		web := httptest.NewServer(s)
		t.Cleanup(web.Close)
		urls = append(urls, web.URL)
	}
	return wires{one: urls[0], two: urls[1], twin: urls[2]}
}

// everywhere runs a test with every SDK, in memory and over sockets.
func everywhere(t *testing.T, b upstream.Behaviour, test func(*testing.T, sdk, *pair)) {
	t.Helper()
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			t.Run("in memory", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(t, s, newPair(t, b, inMemory)) })
			})
			t.Run("over sockets", func(t *testing.T) { test(t, s, newPair(t, b, overSockets)) })
		})
	}
}

// bubble runs a test with every SDK in memory, where waiting costs nothing.
func bubble(t *testing.T, b upstream.Behaviour, test func(*testing.T, sdk, *pair)) {
	t.Helper()
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, s, newPair(t, b, inMemory)) })
		})
	}
}

func newPair(t *testing.T, b upstream.Behaviour, wire func(*testing.T, *pair) wires) *pair {
	t.Helper()
	p := &pair{one: upstream.New("one", b, 1), two: upstream.New("two", b, 2), twin: upstream.New("one", b, 1)}
	w := wire(t, p)
	p.twinURL, p.plain = w.twin, &http.Client{Transport: w.transport}
	if w.transport == nil {
		p.plain.Transport = &http.Transport{}
		t.Cleanup(p.plain.CloseIdleConnections)
	}
	var err error
	p.Client, err = client.New(client.Config{
		Targets: []client.Target{
			{Name: "one", BaseURL: w.one + "/v1", APIKey: "key-of-one", Price: router.Price{Output: 1}},
			{Name: "two", BaseURL: w.two + "/v1", APIKey: "key-of-two", Price: router.Price{Output: 2}},
		},
		Endpoints: map[string]budget.Budget{"default": {
			TTFT: budget.Layers{95: 2 * time.Second}, Total: budget.Layers{99: time.Minute}, Hedge: -1,
		}},
		Transport: w.transport,
		Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.calls = append(p.calls, c)
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	return p
}

// end checks what has to hold whatever the test was about.
func (p *pair) end(t *testing.T) {
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, s := range []*upstream.Server{p.one, p.two} {
		if st := s.Stats(); st.OpenBodies != 0 {
			t.Errorf("a target is left with %d open bodies", st.OpenBodies)
		}
	}
}

// ours asks through the client, direct asks the twin.
func (p *pair) ours(t *testing.T, s sdk, q question) (answer, error) {
	return s.ask(t.Context(), p.HTTPClient(), s.base(), q)
}

func (p *pair) direct(t *testing.T, s sdk, q question) (answer, error) {
	return s.ask(t.Context(), p.plain, p.twinURL+s.path, q)
}

// base is the SDK's base URL where it asks through the client.
func (s sdk) base() string { return strings.TrimSuffix(client.BaseURL, "/v1/") + s.path }

// script has the client's preferred target and the twin reply alike.
func (p *pair) script(step upstream.Step) {
	p.one.Script(step)
	p.twin.Script(step)
}

// call is the only one that was observed.
func (p *pair) call(t *testing.T) middleware.Call {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) != 1 {
		t.Fatalf("%d calls were observed, want 1", len(p.calls))
	}
	return p.calls[0]
}
