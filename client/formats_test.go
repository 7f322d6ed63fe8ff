package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// post sends a call of any format.
func (f *fleet) post(t *testing.T, path, body string) (int, error) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", client.BaseURL+path, strings.NewReader(body))
	resp, err := f.HTTPClient().Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return resp.StatusCode, err
}

// spoken is a fleet in which two speaks what one does not, and costs more.
func spoken(t *testing.T, home string) *fleet {
	targets := inOrder("one", "two", "three")
	targets[0].Formats = []string{"chat", "responses", "embeddings"}
	targets[1].Formats = []string{"chat", "messages"}
	targets[2].Formats = []string{"completions"}
	endpoints := chatBudget()
	endpoints["default"] = endpoints["chat"]
	return newFleet(t, quick, client.Config{Targets: targets, Endpoints: endpoints, Home: home}, "one", "two", "three")
}

func TestCallsGoWhereTheirFormatIsSpoken(t *testing.T) {
	for format, want := range map[string]string{
		"chat": "one", "responses": "one", "embeddings": "one", "messages": "two", "completions": "three",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := spoken(t, "one")
			if status, err := f.post(t, asked[format].path, asked[format].body); status != 200 || err != nil {
				t.Errorf("%s: status %d, %v", format, status, err)
			}
			if f.requests(want) != 1 || f.allRequests() != 1 {
				t.Errorf("%s: %d requests went to %s of %d, want the only one", format, f.requests(want), want, f.allRequests())
			}
		})
	}
}

// What fails stays among those that speak the format, down to the last error.
func TestFailoverStaysInTheFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spoken(t, "one")
		for range 3 {
			f.servers["two"].Script(raw(529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`))
		}
		if status, err := f.post(t, "messages", asked["messages"].body); status != 529 || err != nil {
			t.Errorf("status %d, %v; want the provider's own 529", status, err)
		}
		if f.requests("two") == 0 || f.requests("two") != f.allRequests() {
			t.Errorf("%d of %d requests went to two, want all", f.requests("two"), f.allRequests())
		}
		f.servers["one"].Script(upstream.Step{Fault: upstream.Refused})
		if status, err := f.post(t, "chat/completions", asked["chat"].body); status != 200 || err != nil || f.lastCall(t).Target != "two" {
			t.Errorf("chat: status %d by %s, %v; want two's answer", status, f.lastCall(t).Target, err)
		}
	})
}

func TestFormatThatNobodySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Formats: []string{"chat"}}}}, "one")
		_, err := f.post(t, "messages", asked["messages"].body)
		mustBe(t, err, middleware.ErrNoTarget)
		if text := ours(t, err).Error(); !strings.Contains(text, `in the format "messages"`) {
			t.Errorf("error is %q", text)
		}
		if f.allRequests() != 0 {
			t.Error("something was sent")
		}
	})
}

// A call that names state which nobody is known to have made goes home, unless home
// does not speak its format.
func TestStateOfUnknownOriginInAFormat(t *testing.T) {
	for name, test := range map[string]struct{ home, path, body, want string }{
		"home speaks it":     {"two", "messages", `{"model":"m","max_tokens":7,"messages":[],"container":"c-1"}`, "two"},
		"home does not":      {"one", "messages", `{"model":"m","max_tokens":7,"messages":[],"container":"c-1"}`, "two"},
		"a response at home": {"one", "responses", `{"model":"m","input":"x","previous_response_id":"r-1"}`, "one"},
		"a response abroad":  {"three", "responses", `{"model":"m","input":"x","previous_response_id":"r-1"}`, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := spoken(t, test.home)
				if _, err := f.post(t, test.path, test.body); err != nil || f.lastCall(t).Target != test.want {
					t.Errorf("it went to %q, %v; want %s", f.lastCall(t).Target, err, test.want)
				}
			})
		})
	}
}

// What a model is called elsewhere says nothing of one that stands in for it.
func TestCapSpeltForAStandIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", Models: map[string]string{"gpt-5": "llama-4"}}}}, "one")
		if _, err := f.post(t, "chat/completions", `{"model":"gpt-5","messages":[]}`); err != nil {
			t.Fatal(err)
		}
		if _, sent := f.last(t, "one"); !gjson.Get(sent, "max_tokens").Exists() {
			t.Errorf("sent %s, want max_tokens", sent)
		}
	})
}

// Where neither the caller nor the provider says how a cap is spelt, the model does.
func TestCapSpeltAsTheModelTakesIt(t *testing.T) {
	const newer, older = "max_completion_tokens", "max_tokens"
	for _, test := range []struct{ model, asks, want string }{
		{"gpt-4o-mini", "", older}, {"gpt-4.1", "", older}, {"gpt-oss-120b", "", older}, {"claude-haiku-4-5", "", older}, {"o", "", older}, {"olmo-2", "", older},
		{"o1", "", newer}, {"o3-mini", "", newer}, {"openai/o4-mini", "", newer}, {"gpt-5", "", newer}, {"openai/GPT-5.6-luna", "", newer}, {"gpt-6-luna", "", newer},
		{"gpt-5", older, older}, {"gpt-4o", newer, newer},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{}, "one")
			body := `{"model":"` + test.model + `","messages":[]}`
			if test.asks != "" {
				body = `{"` + test.asks + `":9,` + body[1:]
			}
			if _, err := f.post(t, "chat/completions", body); err != nil {
				t.Fatal(err)
			}
			_, sent := f.last(t, "one")
			for _, name := range []string{newer, older} {
				if gjson.Get(sent, name).Exists() != (name == test.want) {
					t.Errorf("%s asked with %q: sent %s, want only %s", test.model, test.asks, sent, test.want)
				}
			}
		})
	}
}

// In Azure's dated API the cap is spelt as the model takes it, which either of its names
// may tell: no stable version knows the newer spelling, and reasoning models refuse the
// older.
func TestCapSpeltForDeployments(t *testing.T) {
	const newer, older = "max_completion_tokens", "max_tokens"
	for model, want := range map[string]string{"gpt-4o": older, "o3": newer, "fast": newer, "plain": older} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{Targets: []client.Target{{
				Name: "one", Provider: "azure", APIKey: "k", BaseURL: "https://one.test/openai/deployments/{model}?api-version=2024-10-21",
				Models: map[string]string{"gpt-4o": "mine", "o3": "my-reasoner", "fast": "gpt-5-mini", "plain": "own"},
			}}}, "one")
			if _, err := f.post(t, "chat/completions", `{"model":"`+model+`","messages":[]}`); err != nil {
				t.Fatal(err)
			}
			_, sent := f.last(t, "one")
			for _, name := range []string{newer, older} {
				if gjson.Get(sent, name).Exists() != (name == want) {
					t.Errorf("%s: sent %s, want only %s", model, sent, want)
				}
			}
		})
	}
}
