package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// foreign is another SDK over HTTPClient: an openai.Client of its own.
func (f *fleet) foreign(baseURL string) openai.Client {
	return openai.NewClient(option.WithHTTPClient(f.HTTPClient()), option.WithBaseURL(baseURL),
		option.WithAPIKey(client.APIKey), option.WithMaxRetries(0))
}

func TestHTTPClientRoutesInference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: inOrder("one", "two"), Endpoints: map[string]budget.Budget{"default": chatBudget()["chat"]}}, "one", "two")
		for _, base := range []string{client.BaseURL, "https://one.test/v1", "https://two.test/v1/"} {
			c := f.foreign(base)
			for _, say := range ways {
				f.answers(t, say, &c, "one") // the cheaper one, whoever it is addressed to
			}
		}
		if n := len(f.observed()); n != 6 {
			t.Errorf("%d calls were measured, want 6", n)
		}
	})
}

func TestHTTPClientSendsOtherRequestsUnderABaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{
			Targets: []client.Target{{Name: "three", BaseURL: "https://two.test/v1/eu"}},
		}, "one", "two", "three")
		for base, want := range map[string]string{
			"https://one.test/v1":        "key-of-one",
			"https://TWO.test:443/v1":    "key-of-two",
			"https://two.test/v1/eu":     "key-of-three", // the longest base URL
			"https://two.test/v1/europe": "key-of-two",
		} {
			c := f.foreign(base)
			if _, err := c.Models.List(t.Context()); err != nil {
				t.Errorf("%s: %v", base, err)
				continue
			}
			name := strings.ToLower(base[len("https://"):][:3])
			f.mu.Lock()
			r := f.seen[name][len(f.seen[name])-1]
			f.mu.Unlock()
			if got := r.Header.Get("Authorization"); got != "Bearer "+want {
				t.Errorf("%s came with %q, want the key %q", base, got, want)
			}
		}
		f.seen = nil // target three lies on two's host: what two got is not all its own
	})
}

func TestHTTPClientRefusesWhatIsUnderNoBaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := []client.Target{
			{Name: "one", BaseURL: "https://one.test/v1"},
			{Name: "two", BaseURL: "https://shared.test/v1"},
			{Name: "three", BaseURL: "https://shared.test/v1"},
		}
		f := newFleet(t, quick, client.Config{Targets: targets}, "one", "two", "three")
		for name, base := range map[string]string{
			"our own origin":   client.BaseURL, // home would be handed its credential for it
			"unknown origin":   "https://api.openai.com/v1",
			"other path":       "https://one.test/v2",
			"longer segment":   "https://one.test/v1beta",
			"other scheme":     "http://one.test/v1",
			"other port":       "https://one.test:8443/v1",
			"longer host":      "https://one.test.evil.test/v1",
			"two targets'":     "https://shared.test/v1",
			"user information": "https://u:p@one.test/v1",
		} {
			c := f.foreign(base)
			_, err := c.Models.List(t.Context())
			if want := middleware.ErrForeignOrigin; name == "user information" {
				mustBe(t, err, middleware.ErrForeignCredential)
			} else if mustBe(t, err, want); t.Failed() {
				t.Errorf("%s: %v", name, err)
			}
			ours(t, err)
		}
		if n := f.allRequests(); n != 0 {
			t.Errorf("targets got %d requests, want none", n)
		}
	})
}

// A path that would leave the base URL at the target is under none.
func TestHTTPClientRefusesAPathThatStepsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		for _, url := range []string{"https://one.test/v1/../v2/models", "https://one.test/v1/%2e%2e/v2/models", "https://one.test/v1/a/.%2E/models"} {
			_, err := f.HTTPClient().Get(url)
			mustBe(t, err, middleware.ErrForeignOrigin)
		}
		if n := f.allRequests(); n != 0 {
			t.Errorf("the target got %d requests, want none", n)
		}
	})
}

// Inference does not mind which of two targets it is addressed to.
func TestHTTPClientRoutesInferenceToASharedBaseURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{
			{Name: "one", BaseURL: "https://one.test/v1"}, {Name: "two", BaseURL: "https://one.test/v1"},
		}}, "one")
		c := f.foreign("https://one.test/v1")
		f.answers(t, stream, &c, "one")
		f.seen = nil // both targets' requests
	})
}

func TestHTTPClientRefusesCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		c := f.foreign("https://one.test/v1")
		for _, header := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
			_, err := c.Models.List(t.Context(), option.WithHeader(header, "sk-secret"))
			mustBe(t, err, middleware.ErrForeignCredential)
			_, err = stream(t.Context(), &c, question("hello"), option.WithHeader(header, "sk-secret"))
			mustBe(t, err, middleware.ErrForeignCredential)
		}
		if n := f.allRequests(); n != 0 {
			t.Errorf("the target got %d requests, want none", n)
		}
	})
}

func TestHTTPClientFollowsNoRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one", "two")
		for _, code := range []int{301, 302, 303, 307, 308} {
			step := raw(code, "text/plain", "over there")
			step.Raw.Headers["Location"] = "https://two.test/v1/models"
			f.servers["one"].Script(step)
			resp, err := f.HTTPClient().Get("https://one.test/v1/models")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != code || string(body) != "over there" || resp.Header.Get("Location") == "" {
				t.Errorf("response is %d %q, want the redirect itself", resp.StatusCode, body)
			}
		}
		if f.requests("one") != 5 || f.requests("two") != 0 {
			t.Errorf("%d requests, and %d to where it led; want 5 and 0", f.requests("one"), f.requests("two"))
		}
	})
}

// The embedded client follows none either: its credential would go along.
func TestHomeRedirectIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one", "two")
		step := raw(302, "text/plain", "over there")
		step.Raw.Headers["Location"] = "https://ontime.invalid/v1/models/m"
		f.servers["one"].Script(step)
		var resp *http.Response
		if err := f.Get(t.Context(), "models", nil, &resp); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 302 || f.allRequests() != 1 {
			t.Errorf("status %d after %d requests, want 302 after 1", resp.StatusCode, f.allRequests())
		}
	})
}

// Over real sockets, with the transport that the client makes itself.
func TestRealSockets(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close() // nobody listens there any more
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key-of-live" || r.Header.Get("Accept-Encoding") != "gzip" {
			http.Error(w, "not the headers that were expected", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{delta("over "), delta("a socket"), finish, done} {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	defer live.Close()
	c, err := client.New(client.Config{Targets: []client.Target{
		{Name: "dead", BaseURL: dead.URL + "/v1", APIKey: "key-of-dead"},
		{Name: "live", BaseURL: live.URL + "/v1", APIKey: "key-of-live"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 10 {
		if text, err := stream(t.Context(), &c.Client, question("hello")); err != nil || text != "over a socket" {
			t.Errorf("answer is %q, %v", text, err)
		}
	}
}
