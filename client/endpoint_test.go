package client_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// threeEndpoints have a target each, so that the target tells the endpoint.
func threeEndpoints(t *testing.T) *fleet {
	return newFleet(t, quick, client.Config{Endpoints: map[string]budget.Budget{
		"default": {Targets: []string{"one"}},
		"chat":    {Targets: []string{"two"}},
		"batch":   {Targets: []string{"three"}},
	}}, "one", "two", "three")
}

func TestEndpointIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Endpoints: chatBudget()}, "one")
		for _, name := range []string{"chat", "default"} {
			if first := f.Endpoint(name); f.Endpoint(name) != first {
				t.Errorf("Endpoint(%q) returns another client each time", name)
			}
		}
		if f.Endpoint("chat") == f.Endpoint("default") {
			t.Error("two endpoints share a client")
		}
	})
}

func TestEndpointPrecedence(t *testing.T) {
	plain := func(f *fleet) *openai.Client { return &f.Client.Client }
	chat := func(f *fleet) *openai.Client { return f.Endpoint("chat") }
	batch := func(f *fleet) *openai.Client { return f.Endpoint("batch") }
	def := func(f *fleet) *openai.Client { return f.Endpoint("default") }
	for _, test := range []struct {
		name           string
		client         func(*fleet) *openai.Client
		with           string // in the context; empty: nothing
		target, wanted string
	}{
		{"plain", plain, "", "one", "default"},
		{"context", plain, "chat", "two", "chat"},
		{"client", chat, "", "two", "chat"},
		{"client before context", batch, "chat", "three", "batch"},
		{"default by name before context", def, "chat", "one", "default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := threeEndpoints(t)
				ctx := context.Context(t.Context())
				if test.with != "" {
					ctx = budget.With(ctx, test.with)
				}
				for _, say := range ways {
					ctx, call := middleware.WithCall(ctx)
					if _, err := say(ctx, test.client(f), question("hello")); err != nil {
						t.Fatal(err)
					}
					if call.Target != test.target || call.Endpoint != test.wanted {
						t.Errorf("call went to %s for endpoint %s, want %s for %s", call.Target, call.Endpoint, test.target, test.wanted)
					}
				}
			})
		})
	}
}

func TestHTTPClientTakesTheEndpointFromTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeEndpoints(t)
		foreign := f.foreign(client.BaseURL)
		f.answers(t, stream, &foreign, "one")
		if _, err := ask(budget.With(t.Context(), "batch"), &foreign, question("hello")); err != nil || f.requests("three") != 1 {
			t.Errorf("%v, and %d requests to the endpoint's target, want 1", err, f.requests("three"))
		}
	})
}

func TestUnknownEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeEndpoints(t)
		for _, say := range ways {
			for _, try := range []func() error{
				func() error { _, err := say(t.Context(), f.Endpoint("nope"), question("hello")); return err },
				func() error {
					_, err := say(budget.With(t.Context(), "nope"), &f.Client.Client, question("hello"))
					return err
				},
			} {
				err := try()
				mustBe(t, err, middleware.ErrUnknownEndpoint)
				if e := ours(t, err); e.Endpoint != "nope" || len(e.Attempts) > 0 || !strings.Contains(err.Error(), "nope") {
					t.Errorf("error is %+v, want it to name the endpoint", e)
				}
				if call := f.lastCall(t); call.Endpoint != "nope" || call.Outcome != middleware.Failed {
					t.Errorf("call is %+v", call)
				}
			}
		}
		_, err := ask(t.Context(), f.Endpoint("line\nbreak"), question("hello"))
		if want := `ontime: endpoint "line\nbreak": unknown endpoint: the configuration has batch, chat, default`; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if f.allRequests() != 0 {
			t.Errorf("targets got %d requests, want none", f.allRequests())
		}
	})
}

// Requests that are not inference belong to no endpoint.
func TestUnknownEndpointDoesNotConcernOtherRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := threeEndpoints(t)
		if _, err := f.Endpoint("nope").Models.List(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
