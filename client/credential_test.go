package client_test

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

func TestCredentialOfAPreset(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key-of-openai")
	t.Setenv("AZURE_OPENAI_API_KEY", "key-of-azure")
	for provider, want := range map[string][2]string{
		"openai": {"Authorization", "Bearer key-of-openai"},
		"azure":  {"Api-Key", "key-of-azure"},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := upstream.New(provider, quick, 1)
			var got http.Header
			server.OnRequest(func(r *http.Request, _ []byte) { got = r.Header.Clone() })
			c, err := client.New(client.Config{
				Targets:   []client.Target{{Name: "one", Provider: provider, BaseURL: "https://one.test/v1"}},
				Transport: server,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := stream(t.Context(), &c.Client, question("hello")); err != nil {
				t.Fatal(err)
			}
			for _, header := range []string{"Authorization", "Api-Key"} {
				if header == want[0] && got.Get(header) != want[1] || header != want[0] && got.Get(header) != "" {
					t.Errorf("%s: %s is %q, want %s in %s", provider, header, got.Get(header), want[1], want[0])
				}
			}
		})
	}
}

// The configuration's own key wins over the environment's, and a compatible
// server gets none that was not meant for it.
func TestEnvironmentKeyIsThePresetsAlone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-environment")
	for provider, want := range map[string]string{"openai": "Bearer own", "compatible": ""} {
		synctest.Test(t, func(t *testing.T) {
			server := upstream.New("one", quick, 1)
			var got string
			server.OnRequest(func(r *http.Request, _ []byte) { got = r.Header.Get("Authorization") })
			target := client.Target{Name: "one", Provider: provider, BaseURL: "https://one.test/v1"}
			if want != "" {
				target.APIKey = "own"
			}
			c, err := client.New(client.Config{Targets: []client.Target{target}, Transport: server})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := ask(t.Context(), &c.Client, question("hello")); err != nil || got != want {
				t.Errorf("%s got %q (%v), want %q", provider, got, err, want)
			}
		})
	}
}

// With nothing known of their limits the keys of a target share its calls evenly.
func TestKeysInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", APIKeys: []string{"a", "b", "c"}}}}, "one")
		for range 6 {
			f.answers(t, stream, &f.Client.Client, "one")
		}
		used := map[string]int{}
		for _, r := range f.seen["one"] {
			used[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]++
		}
		if want := map[string]int{"a": 2, "b": 2, "c": 2}; !maps.Equal(used, want) {
			t.Errorf("the keys were used %v times, want %v", used, want)
		}
	})
}

func TestAuthSignsEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turn atomic.Int32
		targets := inOrder("one", "two")
		for i := range targets {
			name := targets[i].Name
			targets[i].Auth = func(r *http.Request) error {
				if r.URL.Host != name+".test" || r.Header.Get("OpenAI-Organization") != "org-of-"+name || r.Method == "POST" && (r.Body == nil || r.ContentLength <= 0) {
					t.Errorf("Auth got an incomplete request: %s %v", r.URL, r.Header)
				}
				turn.Add(1)
				r.Header.Set("Authorization", "Signed key-of-"+name)
				return nil
			}
		}
		f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: chatBudget()}, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError})
		f.answers(t, stream, f.chat(), "two")
		if _, err := f.Models.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, requests := range f.seen {
			for _, r := range requests {
				if got := r.Header.Get("Authorization"); got != "Signed key-of-"+name {
					t.Errorf("%s got %q", name, got)
				}
			}
		}
		if turn.Load() != 3 {
			t.Errorf("Auth ran %d times, want 3", turn.Load())
		}
	})
}

var errToken = errors.New("no token for sk-secret")

// An Auth that fails, or that sends the request elsewhere, fails its attempt:
// nothing leaves, another target answers.
func TestAuthThatFails(t *testing.T) {
	for name, auth := range map[string]func(*http.Request) error{
		"error":       func(*http.Request) error { return errToken },
		"other host":  func(r *http.Request) error { r.URL.Host = "evil.test"; return nil },
		"Host header": func(r *http.Request) error { r.Host = "evil.test"; return nil },
		"scheme":      func(r *http.Request) error { r.URL.Scheme = "http"; return nil },
		"port":        func(r *http.Request) error { r.URL.Host = "one.test:8443"; return nil },
		"other URL":   func(r *http.Request) error { r.URL = r.URL.JoinPath("x"); r.URL.Host = "two.test"; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				targets := inOrder("one", "two")
				targets[0].Auth = auth
				f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: chatBudget()}, "one", "two")
				f.answers(t, stream, f.chat(), "two")
				call := f.lastCall(t)
				if len(call.Attempts) != 2 || call.Attempts[0].Outcome != middleware.Failed {
					t.Fatalf("attempts are %+v", call.Attempts)
				}
				if name == "error" {
					mustBe(t, call.Attempts[0].Err, errToken)
				}
				if text := call.Attempts[0].Err.Error(); !strings.Contains(text, "Auth") || strings.Contains(text, "secret") {
					t.Errorf("the attempt's error is %q", text)
				}
				_, err := f.Models.List(t.Context()) // home is one
				if e := ours(t, err); e.Target != "one" || strings.Contains(err.Error(), "secret") {
					t.Errorf("error is %v", err)
				}
				if f.requests("one") != 0 || f.requests("two") != 1 {
					t.Errorf("%d and %d requests, want 0 and 1", f.requests("one"), f.requests("two"))
				}
			})
		})
	}
}

func TestModelsAreMapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := inOrder("one", "two", "three")
		targets[0].Models = map[string]string{"other": "x"}
		targets[1].Models = map[string]string{"gpt-4o-mini": `deploy"ment/é`, "other": "y"}
		f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: chatBudget()}, "one", "two", "three")
		f.servers["two"].Script(upstream.Step{Fault: upstream.HTTPError})
		f.answers(t, stream, f.chat(), "three") // one does not serve it at all
		if f.requests("one") != 0 {
			t.Error("a target got a model that it does not serve")
		}
		for name, want := range map[string]string{"two": `deploy"ment/é`, "three": "gpt-4o-mini"} {
			if _, body := f.last(t, name); gjson.Get(body, "model").Str != want {
				t.Errorf("%s got %s, want the model %s", name, body, want)
			}
		}
		call := f.lastCall(t)
		if call.Model != "gpt-4o-mini" || call.Attempts[0].Model != `deploy"ment/é` || call.Attempts[1].Model != "gpt-4o-mini" {
			t.Errorf("call is %+v", call)
		}
	})
}

func TestModelThatNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Models: map[string]string{"m": "m"}}}}, "one")
		for _, say := range ways {
			_, err := say(t.Context(), &f.Client.Client, question("hello"))
			mustBe(t, err, middleware.ErrNoTarget)
			if e := ours(t, err); e.Model != "gpt-4o-mini" || e.Endpoint != "default" {
				t.Errorf("error is %+v", e)
			}
		}
		if f.allRequests() != 0 {
			t.Error("something was sent")
		}
	})
}
