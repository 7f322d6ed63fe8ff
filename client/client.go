package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client/internal/status"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

// APIKey is what another SDK has to be given as its API key when it uses
// [Client.HTTPClient]. It is no secret: a request that carries any other
// credential is refused, so that no provider's key goes astray.
const APIKey = "ontime"

// BaseURL is what another SDK is given as its base URL. The name does not
// exist, so that what bypasses the client reaches nothing.
const BaseURL = "https://ontime.invalid/v1/"

// Client is an openai.Client whose calls are measured, capped, routed and
// failed over. It is safe for concurrent use. Its endpoint is what the context
// names, or "default".
type Client struct {
	openai.Client

	transport *middleware.Transport
	router    atomic.Pointer[router.Router]
	base      *http.Transport  // nil if the application brought its own
	metrics   *metrics.Metrics // nil if there is no Registerer
	page      *status.Page     // notes nothing before Handler
	unshare   func()           // ends the exchange with other replicas, if there is one
	options   []option.RequestOption
	endpoints atomic.Pointer[map[string]*openai.Client] // copied to add one

	reloading sync.Mutex                // guards all below
	keep      func(*Config) router.Keep // by the configuration in force; a func, lest its keys be printed
}

// New returns a client for cfg, or an error that lists every problem of it.
// Nothing is sent. The options are those of openai.NewClient, and apply to all
// endpoints; a base URL, an HTTP client or a credential among them makes calls
// fail.
func New(cfg Config, options ...option.RequestOption) (*Client, error) {
	c := &Client{options: options}
	r, err := cfg.newRouter()
	if err != nil {
		return nil, err
	}
	c.router.Store(r)
	c.keep = keepFrom(&cfg)
	if err := c.register(&cfg); err != nil {
		return nil, err
	}
	base := cfg.Transport
	if base == nil {
		c.base = newBase()
		base = c.base
	}
	c.page = status.New(c.Snapshot)
	transport := cfg.transport(r, base)
	transport.Observers, transport.Explain = append(transport.Observers, c.page), c.page.Wants
	if c.transport, err = middleware.NewTransport(transport); err != nil {
		c.unregister()
		return nil, err
	}
	c.Client = c.bind(c.transport)
	c.addEndpoints(&cfg)
	c.unshare = exchange(r)
	return c, nil
}

// exchange has the router share with other replicas what it sees, until the returned
// function has been called.
func exchange(r *router.Router) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Share(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// addEndpoints binds a client to each endpoint of cfg that has none yet.
func (c *Client) addEndpoints(cfg *Config) {
	all := make(map[string]*openai.Client)
	if before := c.endpoints.Load(); before != nil {
		maps.Copy(all, *before)
	}
	add := func(name string) {
		if all[name] == nil {
			bound := c.bind(c.transport.Endpoint(name))
			all[name] = &bound
		}
	}
	for name := range cfg.Endpoints {
		add(name)
	}
	add(router.DefaultEndpoint) // exists without being configured
	c.endpoints.Store(&all)
}

// register has the client's metrics registered, and told of every call.
func (c *Client) register(cfg *Config) (err error) {
	if cfg.Registerer == nil {
		return nil
	}
	if c.metrics, err = metrics.New(cfg.Registerer, metrics.State(c.router.Load)); err != nil {
		return fmt.Errorf("ontime: registerer: %w", err)
	}
	cfg.Observers = append(slices.Clone(cfg.Observers), c.metrics)
	return nil
}

func (c *Client) unregister() {
	if c.metrics != nil {
		c.metrics.Unregister()
	}
}

// newRouter checks all of c: the router finds what is wrong with budgets.
func (c *Config) newRouter() (*router.Router, error) {
	found := c.check()
	r, err := router.New(c.routing())
	if err != nil {
		found = append(found, unjoin(err)...)
	}
	return r, fail(found)
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// routing is what the router has to know of c.
func (c *Config) routing() router.Config {
	targets := make([]router.Target, len(c.Targets))
	for i := range c.Targets {
		targets[i] = c.Targets[i].identity()
	}
	return router.Config{Targets: targets, Budgets: c.Endpoints, Seed: c.Seed, OnHealth: logHealth(c.Logger), Shared: c.Shared}
}

// transport is what the transport has to know of c, which has been checked.
func (c *Config) transport(r *router.Router, base http.RoundTripper) middleware.Config {
	origin, _ := url.Parse(BaseURL)
	mc := middleware.Config{
		Router: r, Home: c.home(), Shadow: c.Shadow, Base: base, Grace: c.Grace,
		Ceilings: maps.Clone(c.MaxOutput), Trace: c.Trace, TraceID: c.TraceID,
		Origin: origin, Placeholder: APIKey,
		Observers: append([]middleware.Observer(nil), c.Observers...),
	}
	if c.Logger != nil {
		mc.Observers = append(mc.Observers, middleware.Log(c.Logger))
	}
	for i := range c.Targets {
		mc.Upstreams = append(mc.Upstreams, c.Targets[i].upstream())
	}
	return mc
}

// bind makes an openai.Client over a face of the transport. The application's
// options come last: what would bypass or mislead the transport is refused
// there, not overwritten here.
func (c *Client) bind(rt http.RoundTripper) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(BaseURL),
		option.WithHTTPClient(httpClient(rt)),
		option.WithAPIKey(APIKey),
		option.WithAdminAPIKey(""),
		option.WithMaxRetries(0),
	}, append(withoutCustomHeaders(), c.options...)...)...)
}

// withoutCustomHeaders takes out the headers that openai-go reads from the
// environment: they were meant for OpenAI, and would go to every target, or be
// shown with a request that does not have them.
func withoutCustomHeaders() []option.RequestOption {
	without := []option.RequestOption{option.WithHeaderDel("OpenAI-Organization"), option.WithHeaderDel("OpenAI-Project")}
	for line := range strings.SplitSeq(os.Getenv("OPENAI_CUSTOM_HEADERS"), "\n") {
		if name, _, ok := strings.Cut(line, ":"); ok {
			without = append(without, option.WithHeaderDel(strings.TrimSpace(name)))
		}
	}
	return without
}

// Endpoint returns the client bound to one endpoint of the configuration: its
// calls belong to that endpoint whatever their context says (an empty name binds
// to none). Calls of an endpoint that is not in the configuration fail with
// [middleware.ErrUnknownEndpoint].
func (c *Client) Endpoint(name string) *openai.Client {
	if bound, ok := (*c.endpoints.Load())[name]; ok {
		return bound
	}
	unknown := c.bind(c.transport.Endpoint(name))
	return &unknown
}

// HTTPClient returns an http.Client for any other SDK. Give that SDK [BaseURL]
// or a target's base URL, and [APIKey] as its key. Inference is routed as
// usual; any other request must lie under one target's base URL and goes to
// that target. Redirects are not followed.
func (c *Client) HTTPClient() *http.Client { return httpClient(c.transport.Foreign()) }

func httpClient(rt http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Snapshot returns what the client knows of its routes and endpoints now.
func (c *Client) Snapshot() router.Snapshot { return c.router.Load().Snapshot() }

// Handler returns the status page: endpoints with what became of their promises,
// routes with their state and why, the last calls with their attempts, and why they
// went where they did. The page is kept up to date for as long as it is looked at. Calls
// are noted from the first Handler on; a client that is never asked for one pays nothing.
//
// It may be mounted at any path, with http.StripPrefix or without. It only reads, and
// shows no prompt, answer, credential or provider's message. It does show targets,
// endpoints, models, errors and costs, so that it belongs behind the application's own
// authentication.
//
// To a request with "Accept: application/json", or with ?format=json, it answers with
// the same as JSON. There a time is a number of milliseconds in a field that ends in
// _ms, "unbounded" if it is beyond all that was seen, and null if there is none; other
// fields mean what those of the same name do in router.Snapshot and middleware.Call.
// Fields may be added; "version", now 1, rises if one goes or changes its meaning. With
// ?format=stream the same comes once a second as server-sent events: "state" with the
// calls that are new, or "beat" if nothing is, and "closed" in the end.
//
// At most 16 may look at a time, each over a stream that Close ends, so that a server
// is shut down after the client is closed, or by http.Server.Close.
func (c *Client) Handler() http.Handler {
	c.page.Open()
	return c.page
}

// Restore says that a target is well again, such as after its account was topped
// up: refused keys, cooldowns and open breakers of it end at once. Without it a
// target comes back by itself, once a call that tries it is answered. It returns
// false if there is no such target.
func (c *Client) Restore(target string) bool { return c.router.Load().Restore(target) }

// Close refuses new calls, lets those under way end within [Config.Grace], ends the
// rest, and returns when nothing of any call is running any more. The client's metrics
// are taken out of [Config.Registerer]. Requests that are not inference are the
// application's to end.
func (c *Client) Close() error {
	c.page.Close()
	err := c.transport.Close()
	c.unshare()
	c.unregister()
	if c.base != nil {
		c.base.CloseIdleConnections()
	}
	return err
}
