package client_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// config completes the targets of a configuration as newFleet does.
func config(cfg client.Config, names ...string) client.Config {
	targets := append([]client.Target(nil), cfg.Targets...)
	for _, name := range names {
		targets = withTarget(targets, name)
	}
	cfg.Targets = targets
	return cfg
}

func (f *fleet) reload(t *testing.T, cfg client.Config) {
	t.Helper()
	if err := f.Reload(cfg); err != nil {
		t.Fatal(err)
	}
}

// without takes targets out of a configuration.
func without(cfg client.Config, name string) client.Config {
	var rest []client.Target
	for _, t := range cfg.Targets {
		if t.Name != name {
			rest = append(rest, t)
		}
	}
	cfg.Targets = rest
	return cfg
}

func TestReloadSwapsTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := preferring("one", "two", "three")
		f := newFleet(t, quick, cfg, "one", "two", "three")
		f.answers(t, stream, &f.Client.Client, "one")
		f.reload(t, without(config(cfg, "one", "two", "three"), "one"))
		f.answers(t, stream, &f.Client.Client, "two")
		if n := f.requests("one"); n != 1 {
			t.Errorf("one got %d requests, want the first alone", n)
		}
		if _, err := f.Models.List(t.Context()); err != nil {
			t.Error(err)
		}
		if r, _ := f.last(t, "two"); r.URL.Path != "/v1/models" {
			t.Errorf("two got %s, want what goes home", r.URL.Path)
		}
	})
}

// A call goes to its end under the configuration by which it came, on a target that
// is gone too, and what it came to is known.
func TestReloadLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := preferring("one", "two")
		cfg.Endpoints["default"] = budget.Budget{Total: budget.Layers{50: time.Minute}}
		f := newFleet(t, slow, cfg, "one", "two")
		var calls sync.WaitGroup
		for name, say := range ways {
			calls.Go(func() {
				text, err := say(t.Context(), &f.Client.Client, question("hello"))
				if want := f.servers["one"].Text(16); err != nil || text != want {
					t.Errorf("%s: %q, %v, want %q", name, text, err, want)
				}
			})
		}
		time.Sleep(3 * time.Second) // one has begun, the other waits for the whole
		f.reload(t, without(config(cfg, "one", "two"), "one"))
		f.answers(t, stream, &f.Client.Client, "two")
		calls.Wait()
		for _, s := range f.Snapshot().Routes {
			if s.Target == "one" {
				t.Error("one is still listed")
			}
		}
	})
}

func TestReloadKeepsStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := preferring("one", "two")
		f := newFleet(t, slow, cfg, "one", "two")
		for range 3 {
			f.answers(t, stream, &f.Client.Client, "one")
		}
		before := f.Snapshot()

		next := config(cfg, "two", "one")
		next.Targets[0].Price.Output = 1.5 // nothing that matters to what was seen
		next.Targets[0].Headers = map[string]string{"X-New": "yes"}
		next.Targets[0].APIKey = "key-of-one-again"
		f.reload(t, next)
		if diff := cmp.Diff(before.Endpoints, f.Snapshot().Endpoints); diff != "" {
			t.Errorf("debts have changed:\n%s", diff)
		}
		f.answers(t, stream, &f.Client.Client, "one")
		if s := f.status(t, "one"); s.Attempts.Completed != 4 {
			t.Errorf("one has completed %d attempts, want 4", s.Attempts.Completed)
		}
		if r, _ := f.last(t, "one"); r.Header.Get("X-New") != "yes" || r.Header.Get("Authorization") != "Bearer key-of-one-again" {
			t.Errorf("one was sent %v", r.Header)
		}
	})
}

// Another upstream of the same name is another one.
func TestReloadForgetsStatistics(t *testing.T) {
	for name, change := range map[string]func(*client.Target){
		"base URL": func(t *client.Target) { t.BaseURL = "https://one.test/v2" },
		"provider": func(t *client.Target) { t.Provider = "groq" },
		"model":    func(t *client.Target) { t.Models = map[string]string{"gpt-4o-mini": "another"} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := preferring("one", "two")
				f := newFleet(t, quick, cfg, "one", "two")
				f.answers(t, stream, &f.Client.Client, "one")
				next := config(cfg, "one", "two")
				change(&next.Targets[0])
				f.reload(t, next)
				f.answers(t, stream, &f.Client.Client, "one")
				if s := f.status(t, "one"); s.Attempts.Completed != 1 {
					t.Errorf("one has completed %d attempts, want the one since", s.Attempts.Completed)
				}
			})
		})
	}
}

func TestReloadSwapsEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := client.Config{Endpoints: map[string]budget.Budget{"chat": {}, "old": {}}}
		f := newFleet(t, quick, cfg, "one")
		chat, old, early := f.Endpoint("chat"), f.Endpoint("old"), f.Endpoint("new")
		_, err := stream(t.Context(), early, question("hello"))
		mustBe(t, err, middleware.ErrUnknownEndpoint)

		next := config(cfg, "one")
		next.Endpoints = map[string]budget.Budget{"chat": {MaxTokens: budget.MaxTokens{Limit: 7}}, "new": {}}
		f.reload(t, next)
		_, err = stream(t.Context(), old, question("hello"))
		mustBe(t, err, middleware.ErrUnknownEndpoint)
		for _, c := range []string{"new", "chat", "default"} {
			if _, err := stream(t.Context(), f.Endpoint(c), question("hello")); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
		if _, err := stream(t.Context(), early, question("hello")); err != nil {
			t.Error(err) // it was bound before there was such an endpoint
		}
		if fresh := f.Endpoint("new"); f.Endpoint("chat") != chat || f.Endpoint("new") != fresh {
			t.Error("an endpoint's client is not always the same")
		}
		if _, err := stream(t.Context(), chat, question("hello")); err != nil {
			t.Fatal(err)
		}
		if got := f.lastCall(t).MaxTokens; got != 7 {
			t.Errorf("the cap is %d, want the new one, 7", got)
		}
		f.reload(t, config(cfg, "one"))
		if _, err := stream(t.Context(), old, question("hello")); err != nil {
			t.Error(err) // it is back
		}
	})
}

func TestReloadOfAnInvalidConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := preferring("one", "two")
		f := newFleet(t, quick, cfg, "one", "two")
		bad := config(cfg, "two")
		bad.Home = "three"
		bad.Endpoints = map[string]budget.Budget{"new": {Hedge: 5}}
		wantProblems(t, f.Reload(bad),
			[2]string{"home", "there is no target"}, [2]string{"endpoints.new.hedge", "more than all calls"},
		)
		f.answers(t, stream, &f.Client.Client, "one")
		_, err := stream(t.Context(), f.Endpoint("new"), question("hello"))
		mustBe(t, err, middleware.ErrUnknownEndpoint)
	})
}

// What was stored with a target that is gone is looked for at home.
func TestReloadAndStoredState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, id := storedAtTwo(t, false)
		cfg := client.Config{Targets: inOrder("one", "two", "three"), Endpoints: chatBudget()}
		f.reload(t, without(config(cfg, "one", "two", "three"), "two"))
		_, _ = respond(t, f.chat(), id, false) // which home does not know either
		if got := f.lastCall(t).Target; got != "one" {
			t.Errorf("it went to %s, want home", got)
		}
		_, _ = f.Responses.Get(t.Context(), id, responses.ResponseGetParams{})
		if r, _ := f.last(t, "one"); !strings.HasSuffix(r.URL.Path, id) {
			t.Errorf("home got %s last", r.URL.Path)
		}
	})
}

func TestReloadAfterClose(t *testing.T) {
	f := newFleet(t, quick, client.Config{}, "one")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mustBe(t, f.Reload(config(client.Config{}, "one")), middleware.ErrClosed)
}

// Calls never notice. Of use under -race.
func TestReloadConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := client.Config{Targets: inOrder("one", "two", "three"), Endpoints: chatBudget()}
		f := newFleet(t, upstream.Behaviour{TTFT: upstream.Latency{Median: 20 * ms}}, cfg, "one", "two", "three")
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				for range 25 {
					if _, err := stream(t.Context(), f.chat(), question("hello")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range 3 {
			calls.Go(func() {
				for range 10 {
					next := without(config(cfg, "one", "two", "three"), []string{"one", "two", "three"}[i])
					next.Endpoints = chatBudget()
					next.Endpoints[fmt.Sprint("e", i)] = budget.Budget{}
					if err := f.Reload(next); err != nil {
						t.Error(err)
					}
					f.Endpoint(fmt.Sprint("e", i))
					f.Snapshot()
					time.Sleep(7 * ms)
				}
			})
		}
		calls.Wait()
		f.reload(t, config(cfg, "one", "two", "three"))
		for _, s := range f.Snapshot().Routes {
			if s.InFlight != 0 {
				t.Errorf("%s has %d attempts in flight, want none", s.Target, s.InFlight)
			}
		}
	})
}
