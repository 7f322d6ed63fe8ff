package middleware_test

import (
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// configured is a Transport's configuration with one target, "one", and a deadline.
func configured(t *testing.T) middleware.Config {
	t.Helper()
	r, err := router.New(router.Config{
		Targets: []router.Target{{Name: "one"}},
		Budgets: map[string]budget.Budget{"default": {Deadline: time.Minute}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return middleware.Config{
		Router: r, Home: "one", Grace: -1,
		Upstreams: []middleware.Upstream{{Name: "one", BaseURL: &url.URL{Scheme: "https", Host: "one.test", Path: "/v1"}}},
		Origin:    &url.URL{Scheme: "https", Host: "ontime.invalid", Path: "/v1/"},
		Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}),
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call may be anywhere on its way in when Close ends it: the race detector sees to it.
func TestCloseWhileCallsComeIn(t *testing.T) {
	for range 50 {
		tr, err := middleware.NewTransport(configured(t))
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				body := io.NopCloser(strings.NewReader(`{"model":"m","messages":[]}`))
				r, _ := http.NewRequest(http.MethodPost, "https://ontime.invalid/v1/chat/completions", body)
				if _, err := tr.RoundTrip(r); err == nil {
					t.Error("a call was answered, by nobody")
				}
			})
			runtime.Gosched()
		}
		tr.Close()
		calls.Wait()
	}
}

func TestUpstreamsHaveABaseURL(t *testing.T) {
	cfg := configured(t)
	cfg.Upstreams = append(cfg.Upstreams, middleware.Upstream{Name: "home"})
	cfg.Home = "home"
	if _, err := middleware.NewTransport(cfg); err == nil || !strings.Contains(err.Error(), `"home"`) {
		t.Errorf("%v, want an error that names the upstream", err)
	}
}
