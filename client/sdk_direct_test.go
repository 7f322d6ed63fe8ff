package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// The files sdk_*_test.go hold this client against openai-go's own: what its
// tests promise its users of retries, timeouts, options, pages, raw responses and
// errors stays as it is, or is different on purpose, which the test then says.

// pair is this client and a plain one, each over a target of its own that
// answers just as the other's does.
type pair struct {
	*fleet
	plain  openai.Client
	server *upstream.Server
	sent   *http.Request // the plain client's last request, and its body
	body   string
}

func newPair(t *testing.T, b upstream.Behaviour) *pair {
	t.Helper()
	p := &pair{server: upstream.New("one", b, 1)}
	p.fleet = newFleet(t, b, client.Config{
		Targets:   []client.Target{{Name: "one", Headers: map[string]string{}}},
		Endpoints: map[string]budget.Budget{"default": {MaxTokens: budget.MaxTokens{Default: -1}}}, // no cap of ours
	}, "one")
	p.server.OnRequest(func(r *http.Request, body []byte) { p.sent, p.body = r.Clone(r.Context()), string(body) })
	p.plain = openai.NewClient(option.WithBaseURL("https://one.test/v1/"), option.WithAPIKey("key-of-one"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: upstream.Network{"one.test": p.server}}))
	return p
}

// script has both targets answer with the same.
func (p *pair) script(steps ...upstream.Step) {
	p.server.Script(steps...)
	p.servers["one"].Script(steps...)
}

// same runs something with the plain client and with this one, and compares what
// comes of it.
func same[T any](t *testing.T, p *pair, what string, run func(c *openai.Client) T) {
	t.Helper()
	if diff := cmp.Diff(run(&p.plain), run(&p.Client.Client)); diff != "" {
		t.Errorf("%s: -plain openai-go +here\n%s", what, diff)
	}
}

// checkSent compares what the two targets were sent last.
func (p *pair) checkSent(t *testing.T, what string) {
	t.Helper()
	r, body := p.last(t, "one")
	if diff := cmp.Diff(p.body, body); diff != "" {
		t.Errorf("%s: the body: -plain openai-go +here\n%s", what, diff)
	}
	line := func(r *http.Request) string { return r.Method + " " + r.URL.String() }
	if diff := cmp.Diff(line(p.sent), line(r)); diff != "" {
		t.Errorf("%s: the request: -plain openai-go +here\n%s", what, diff)
	}
	if diff := cmp.Diff(p.sent.Header, r.Header); diff != "" {
		t.Errorf("%s: the headers: -plain openai-go +here\n%s", what, diff)
	}
}

// A target is sent what the SDK alone would send it, to the byte, with whatever
// options: as long as no cap, no model and no usage has to be seen to.
func TestSDKRequestIsSentAsItIs(t *testing.T) {
	asked := question("hello, \u00e9\u2028 <b>&")
	asked.StreamOptions.IncludeUsage = openai.Bool(true)
	extra := asked
	extra.SetExtraFields(map[string]any{"top_k": 5, "nested": map[string]any{"a": []int{1}}})
	extra.Temperature = param.Null[float64]()
	for name, test := range map[string]struct {
		params openai.ChatCompletionNewParams
		opts   []option.RequestOption
	}{
		"plain":            {params: asked},
		"extra fields":     {params: extra},
		"JSON set":         {params: asked, opts: []option.RequestOption{option.WithJSONSet("metadata.a", "b"), option.WithJSONSet("n", 1)}},
		"JSON deleted":     {params: extra, opts: []option.RequestOption{option.WithJSONDel("top_k"), option.WithJSONDel("messages.0")}},
		"query":            {params: asked, opts: []option.RequestOption{option.WithQuery("a", "1 2"), option.WithQueryAdd("a", "3&4"), option.WithQueryAdd("z", "")}},
		"query deleted":    {params: asked, opts: []option.RequestOption{option.WithQuery("a", "1"), option.WithQueryDel("a")}},
		"headers":          {params: asked, opts: []option.RequestOption{option.WithHeader("X-One", "a"), option.WithHeaderAdd("X-One", "b"), option.WithHeader("User-Agent", "mine/1")}},
		"headers deleted":  {params: asked, opts: []option.RequestOption{option.WithHeaderDel("User-Agent"), option.WithHeaderDel("X-Stainless-Lang")}},
		"body of its own":  {params: asked, opts: []option.RequestOption{option.WithRequestBody("application/json; charset=utf-8", []byte(askBody+"\n"))}},
		"body as a reader": {params: asked, opts: []option.RequestOption{reading(askBody)}},
		"request timeout":  {params: asked, opts: []option.RequestOption{option.WithRequestTimeout(1e9)}},
		"idempotency":      {params: asked, opts: []option.RequestOption{option.WithHeader("Idempotency-Key", "k")}},
	} {
		for way, say := range ways {
			if way == "streamed" && strings.HasPrefix(name, "body") {
				continue // those bodies do not ask for a stream
			}
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, params := newPair(t, quick), test.params
					if way == "whole" {
						params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
					}
					same(t, p, "answer", func(c *openai.Client) string {
						text, err := say(t.Context(), c, params, test.opts...)
						if err != nil {
							t.Error(err)
						}
						return text
					})
					p.checkSent(t, name)
				})
			})
		}
	}
}

// reading is a body that can be read once, made anew for each request.
func reading(body string) option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
		return next(r)
	})
}

// The same for what is not routed.
func TestSDKOtherRequestsAreSentAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, quick)
		for name, run := range map[string]func(c *openai.Client) error{
			"list": func(c *openai.Client) error {
				_, err := c.Files.List(t.Context(), openai.FileListParams{Limit: openai.Int(3), After: openai.String("file a/b")})
				return err
			},
			"get":    func(c *openai.Client) error { _, err := c.Batches.Get(t.Context(), "batch/1 2"); return err },
			"delete": func(c *openai.Client) error { _, err := c.Files.Delete(t.Context(), "file-1"); return err },
			"post": func(c *openai.Client) error {
				_, err := c.Batches.New(t.Context(), openai.BatchNewParams{InputFileID: "file-1", Endpoint: "/v1/responses", CompletionWindow: "24h"})
				return err
			},
			"upload": func(c *openai.Client) error {
				_, err := c.Files.New(t.Context(), openai.FileNewParams{File: strings.NewReader("{}\n"), Purpose: openai.FilePurposeBatch},
					option.WithRequestBody("application/x-mine", []byte("as it is")))
				return err
			},
		} {
			p.script(raw(200, "application/json", `{"id":"x","data":[]}`))
			same(t, p, name, func(c *openai.Client) string {
				if err := run(c); err != nil {
					return err.Error()
				}
				return ""
			})
			p.checkSent(t, name)
		}
	})
}
