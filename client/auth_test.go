package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// Each preset finds its key where the provider's own SDK does.
func TestEnvironmentOfAPreset(t *testing.T) {
	for _, test := range []struct {
		provider, region string
		env              map[string]string
	}{
		{"openai", "", map[string]string{"OPENAI_API_KEY": "want"}},
		{"azure", "", map[string]string{"AZURE_OPENAI_API_KEY": "want"}},
		{"anthropic", "", map[string]string{"ANTHROPIC_API_KEY": "want"}},
		{"gemini", "", map[string]string{"GEMINI_API_KEY": "want"}},
		{"gemini", "", map[string]string{"GOOGLE_API_KEY": "want"}},
		{"gemini", "", map[string]string{"GOOGLE_API_KEY": "want", "GEMINI_API_KEY": "other"}}, // as in Google's
		{"bedrock", "us-east-1", map[string]string{"AWS_BEARER_TOKEN_BEDROCK": "want"}},
		{"openrouter", "", map[string]string{"OPENROUTER_API_KEY": "want"}},
		{"groq", "", map[string]string{"GROQ_API_KEY": "want"}},
		{"together", "", map[string]string{"TOGETHER_API_KEY": "want"}},
		{"fireworks", "", map[string]string{"FIREWORKS_API_KEY": "want"}},
		{"mistral", "", map[string]string{"MISTRAL_API_KEY": "want"}},
		{"deepseek", "", map[string]string{"DEEPSEEK_API_KEY": "want"}},
		{"xai", "", map[string]string{"XAI_API_KEY": "want"}},
		{"cerebras", "", map[string]string{"CEREBRAS_API_KEY": "want"}},
		{"nvidia", "", map[string]string{"NVIDIA_API_KEY": "want"}},
		{"ollama", "", map[string]string{"OPENAI_API_KEY": "other"}},
		{"vllm", "", map[string]string{"OPENAI_API_KEY": "other"}},
	} {
		t.Run(fmt.Sprint(test.provider, test.env), func(t *testing.T) {
			for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
				t.Setenv(name, "")
			}
			want := ""
			for name, value := range test.env {
				t.Setenv(name, value)
				if value == "want" {
					want = value
				}
			}
			target := client.Target{Provider: test.provider, Region: test.region}
			if test.provider == "azure" {
				target.BaseURL = "https://res.openai.azure.com/openai/v1"
			}
			synctest.Test(t, func(t *testing.T) {
				if got := credentialOf(t, target); strings.TrimPrefix(got, "Bearer ") != want {
					t.Errorf("it was sent %q, want the key %q", got, want)
				}
			})
		})
	}
}

// credentialOf is what a target is sent as its credential.
func credentialOf(t *testing.T, target client.Target) (got string) {
	t.Helper()
	server := upstream.New("one", quick, 1)
	server.OnRequest(func(r *http.Request, _ []byte) {
		got = r.Header.Get("Authorization") + r.Header.Get("Api-Key") + r.Header.Get("X-Api-Key")
	})
	target.Name = "one"
	c, err := client.New(client.Config{Targets: []client.Target{target}, Transport: server})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := ask(t.Context(), &c.Client, question("hello")); err != nil {
		t.Fatal(err)
	}
	return got
}

// Beside its OpenAI-compatible chat Anthropic wants its own header, and a version,
// which the caller may choose.
func TestAnthropicsOwnAPI(t *testing.T) {
	for name, auth := range map[string]func(*http.Request) error{
		"a key":  nil,
		"a func": func(r *http.Request) error { r.Header.Set("X-Api-Key", "k"); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := client.Target{Name: "one", Provider: "anthropic", BaseURL: "https://one.test/v1", Auth: auth}
				if auth == nil {
					target.APIKey = "k"
				}
				f := newFleet(t, quick, client.Config{Targets: []client.Target{target}}, "one")
				for _, path := range []string{"models", "messages/batches?limit=2", "messages"} {
					for _, version := range []string{"", "2099-01-01"} {
						r, _ := http.NewRequestWithContext(t.Context(), "POST", "https://one.test/v1/"+path, strings.NewReader(asked["messages"].body))
						if version != "" {
							r.Header.Set("anthropic-version", version)
						}
						resp, err := f.HTTPClient().Do(r)
						if err != nil {
							t.Fatal(err)
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
						got, _ := f.last(t, "one")
						want := version
						if want == "" {
							want = "2023-06-01"
						}
						if v := got.Header.Values("Anthropic-Version"); len(v) != 1 || v[0] != want || got.Header.Get("X-Api-Key") != "k" || got.Header.Get("Authorization") != "" {
							t.Errorf("%s: headers %v, want the key in X-Api-Key alone and the version %s", path, got.Header, want)
						}
					}
				}
			})
		})
	}
}

// The error of an Auth is typed, and nothing that is made of it shows what its cause
// says.
func TestAuthErrorTellsNoToken(t *testing.T) {
	for name, test := range map[string]struct {
		auth func(*http.Request) error
		text string
	}{
		"it fails": {func(*http.Request) error { return errToken }, "Auth failed"},
		"it moves": {func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer sk-secret")
			r.URL.Host = "evil.test"
			return nil
		}, "changed where the request goes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Auth: test.auth}}}, "one")
				_, called := ask(t.Context(), &f.Client.Client, question("hello"))
				_, passed := f.Models.List(t.Context())
				for _, err := range []error{called, passed} {
					e, ok := errors.AsType[*middleware.AuthError](err)
					if !ok || e.Target != "one" {
						t.Fatalf("error is %v, want an *AuthError of one", err)
					}
					data, _ := json.Marshal(e)
					for _, text := range []string{err.Error(), fmt.Sprintf("%v %+v %s", e, e, e), string(data), fmt.Sprintf("%+v", f.lastCall(t))} {
						if strings.Contains(text, "sk-secret") {
							t.Errorf("it tells the token: %s", text)
						}
					}
					if !strings.Contains(e.Error(), test.text) {
						t.Errorf("error is %q, want it to say %q", e, test.text)
					}
				}
				if f.allRequests() != 0 {
					t.Error("something was sent")
				}
			})
		})
	}
}

// A signature covers the body: Auth may read it, and all of it is sent.
func TestAuthMayReadTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var signed []string
		sign := func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			signed = append(signed, string(body))
			return err
		}
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Auth: sign}}}, "one")
		f.answers(t, stream, &f.Client.Client, "one")
		f.servers["one"].Script(raw(200, "application/json", `{"id":"x"}`))
		if _, err := f.Moderations.New(t.Context(), openai.ModerationNewParams{Input: openai.ModerationNewParamsInputUnion{OfString: openai.String("hi")}}); err != nil {
			t.Fatal(err)
		}
		for i, want := range f.body["one"] {
			if signed[i] != want || want == "" {
				t.Errorf("request %d: %q was signed and %q sent", i, signed[i], want)
			}
		}
	})
}

// An Auth that the deadline interrupts is no failure of its target.
func TestAuthInterruptedByTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(r *http.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		}
		f := newFleet(t, quick, client.Config{
			Targets:   []client.Target{{Name: "one", Auth: slow}},
			Endpoints: map[string]budget.Budget{"default": {Deadline: 50 * ms}},
		}, "one")
		start := time.Now()
		_, err := ask(t.Context(), &f.Client.Client, question("hello"))
		mustBe(t, err, middleware.ErrDeadline)
		if call := f.lastCall(t); call.Attempts[0].Outcome != middleware.TimedOut || time.Since(start) != 50*ms {
			t.Errorf("the attempt %v after %v, want it timed out after 50ms", call.Attempts[0].Outcome, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		_, err = f.Models.List(ctx)
		mustBe(t, err, context.DeadlineExceeded)
	})
}

// An access token that expires is fetched anew by whoever needs it.
func TestTokensThatExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		born := time.Now()
		token := func(r *http.Request) error {
			r.Header.Set("Authorization", fmt.Sprintf("Bearer token-%d", time.Since(born)/time.Hour))
			return nil
		}
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Auth: token}}}, "one")
		for want := range 3 {
			f.answers(t, stream, &f.Client.Client, "one")
			if r, _ := f.last(t, "one"); r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", want) {
				t.Errorf("hour %d: it was sent %q", want, r.Header.Get("Authorization"))
			}
			time.Sleep(time.Hour)
		}
	})
}
