package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// httpError is a reply with a status, an error code and headers.
func httpError(status int, code string, headers ...string) upstream.Step {
	raw := &upstream.Raw{Status: status, Headers: map[string]string{"Content-Type": "application/json"}}
	for i := 0; i < len(headers); i += 2 {
		raw.Headers[headers[i]] = headers[i+1]
	}
	raw.Parts = []upstream.Part{{Data: fmt.Sprintf(`{"error":{"message":"m","type":"t","code":%q}}`, code)}}
	return upstream.Step{Raw: raw}
}

// preferring makes calls try the targets in this order, as long as they are well.
func preferring(names ...string) client.Config {
	cfg := client.Config{Endpoints: map[string]budget.Budget{"default": {TTFT: budget.Layers{50: time.Minute}}}}
	for i, name := range names {
		cfg.Targets = append(cfg.Targets, client.Target{Name: name, Price: router.Price{Output: float64(1 + 10*i)}})
	}
	return cfg
}

// status is what is known of one target.
func (f *fleet) status(t *testing.T, name string) router.RouteStatus {
	t.Helper()
	for _, s := range f.Snapshot().Routes {
		if s.Target == name {
			return s
		}
	}
	t.Fatalf("no route to %s", name)
	return router.RouteStatus{}
}

// Each kind of refusal: who answers in the end, and what becomes of the route.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name  string
		step  upstream.Step
		by    string // who answers; empty: the refusal is the caller's
		state string // of the target that refused
	}{
		{"408", httpError(408, "Timeout"), "two", router.StateOK},
		{"500", httpError(500, ""), "two", router.StateOK},
		{"rate limit", httpError(429, "rate_limit_exceeded"), "two", router.StateCooling},
		{"used-up quota", httpError(429, "insufficient_quota"), "two", router.StateKeyRefused},
		{"401", httpError(401, "invalid_api_key"), "two", router.StateKeyRefused},
		{"402", httpError(402, ""), "two", router.StateKeyRefused},
		{"403", httpError(403, ""), "two", router.StateKeyRefused},
		{"model not found", httpError(404, "model_not_found"), "two", router.StateOK},
		{"parameter", httpError(400, "unsupported_parameter"), "two", router.StateOK},
		{"context too long", httpError(400, "context_length_exceeded"), "two", router.StateOK},
		{"too large", httpError(413, "string_above_max_length"), "two", router.StateOK},
		{"bad request", httpError(400, "invalid_value"), "", router.StateOK},
		{"unprocessable", httpError(422, "unsupported_parameter"), "", router.StateOK},
		{"content filter", httpError(400, "content_filter"), "", router.StateOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, preferring("one", "two"), "one", "two")
				f.servers["one"].Script(tt.step, tt.step) // where our default cap may be to blame it is asked again without
				_, err := stream(t.Context(), &f.Client.Client, question("hi"))
				call := f.lastCall(t)
				if tt.by == "" {
					if err == nil || len(call.Attempts) != 1 {
						t.Errorf("error %v after %d attempts, want the refusal after 1", err, len(call.Attempts))
					}
				} else if err != nil || call.Target != tt.by {
					t.Errorf("answered by %q, error %v; want %s", call.Target, err, tt.by)
				}
				if got := f.status(t, "one").State; got != tt.state {
					t.Errorf("one is %s, want %s", got, tt.state)
				}
			})
		})
	}
}

// What one provider cannot serve is not asked of another target of the same.
func TestUnfitRequestsGoToAnotherProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		same := upstream.New("same", quick, 1)
		same.Script(httpError(404, "model_not_found"), httpError(404, "model_not_found"))
		other := upstream.New("other", quick, 2)
		var call middleware.Call
		cfg := preferring("a", "b", "c")
		cfg.Targets[0].BaseURL, cfg.Targets[1].BaseURL, cfg.Targets[2].BaseURL = "https://same.test/v1", "https://same.test/v1", "https://other.test/v1"
		cfg.Transport = upstream.Network{"same.test": same, "other.test": other}
		cfg.Observers = []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { call = c })}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := ask(t.Context(), &c.Client, question("hi")); err != nil || call.Target != "c" || len(call.Attempts) != 2 {
			t.Errorf("%s answered after %d attempts, error %v; want c after 2", call.Target, len(call.Attempts), err)
		}
		// Once is enough.
		other.Script(httpError(404, "model_not_found"))
		if _, err := ask(t.Context(), &c.Client, question("hi")); err == nil || len(call.Attempts) != 2 {
			t.Errorf("error %v after %d attempts, want the second refusal after 2", err, len(call.Attempts))
		}
	})
}

func TestAnotherKeyOfTheSameTarget(t *testing.T) {
	for _, step := range []upstream.Step{httpError(429, "rate_limit_exceeded"), httpError(401, "invalid_api_key")} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", APIKeys: []string{"a", "b"}}}}, "one")
			f.servers["one"].Script(step)
			if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil {
				t.Fatal(err)
			}
			first, second := f.seen["one"][0].Header.Get("Authorization"), f.seen["one"][1].Header.Get("Authorization")
			if call := f.lastCall(t); first == second || call.Total != 1 {
				t.Errorf("the keys were %q and %q, %v apart; want both, at once", first, second, call.Total)
			}
		})
	}
}

// When everything fails the extra attempts are a share of the calls, beside the
// one step to another healthy route.
func TestRetriesAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1}}, client.Config{}, "one")
		const calls = 500
		for range calls {
			_, _ = stream(t.Context(), &f.Client.Client, question("hi"))
		}
		// A fifth of the calls, and as many again as the burst of the last minutes.
		if got, most := f.requests("one"), calls+2*calls/5; got > most || got < calls+calls/5 {
			t.Errorf("%d calls made %d requests, want at most %d", calls, got, most)
		}
	})
}

func TestHealthIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		cfg := preferring("one", "two")
		cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
		f := newFleet(t, quick, cfg, "one", "two")
		f.servers["one"].Script(httpError(401, "invalid_api_key"))
		for range 5 {
			if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(out.String(), "llm target health"); n != 1 || !strings.Contains(out.String(), `state="key refused"`) || !strings.Contains(out.String(), "401 invalid_api_key") {
			t.Errorf("%d records of health in\n%s\nwant one, of the refused key", n, out.String())
		}
		if strings.Contains(out.String(), "key-of-one") {
			t.Error("the key is in the log")
		}
		if !f.Restore("one") || f.Restore("nobody") || f.status(t, "one").State != router.StateOK {
			t.Error("Restore did not bring one back")
		}
	})
}

// A request that is lost on a connection of the pool is sent once more.
func TestLostOnAReusedConnection(t *testing.T) {
	lost := errors.New("lost")
	for _, again := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			server := upstream.New("one", quick, 1)
			tries := 0
			base := roundTrip(func(r *http.Request) (*http.Response, error) {
				if tries++; tries == 1 || !again {
					gotConn(r, true)
					_ = r.Body.Close()
					return nil, lost
				}
				gotConn(r, false)
				return server.RoundTrip(r)
			})
			var call middleware.Call
			c, err := client.New(client.Config{
				Targets:   []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}},
				Transport: base, Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { call = c })},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err = ask(ctx, &c.Client, question("hi"))
			if again && (err != nil || len(call.Attempts) != 1) {
				t.Errorf("error %v after %d attempts, want none after 1", err, len(call.Attempts))
			}
			if !again && (call.Attempts[0].Outcome != middleware.Failed || tries != 2) {
				t.Errorf("%v after %d tries, want failed after 2", call.Attempts[0].Outcome, tries)
			}
		})
	}
}

// gotConn tells the request's trace which kind of connection it has.
func gotConn(r *http.Request, reused bool) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Reused: reused})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A target that does not have the model is asked less, whatever it would cost, and not
// forgotten: the model may come. What a call names that is absent is the call's own.
func TestATargetWithoutTheModelComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := preferring("one", "two")
		cfg.Endpoints = chatBudget()
		f := newFleet(t, quick, cfg, "one", "two")
		for range 200 {
			f.servers["one"].Script(httpError(404, "model_not_found"))
			f.answers(t, stream, f.chat(), "two")
			time.Sleep(time.Second)
		}
		if n := f.requests("one"); n == 0 || n > 20 {
			t.Errorf("it was asked %d times in 200 calls", n)
		}
		if s := f.status(t, "one"); s.State != router.StateOK {
			t.Errorf("it is %+v", s)
		}
	})
}
