// Package failsafe has failsafe-go's HTTP transport as released, set up to hedge.
package failsafe

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

const (
	percentile = 0.95
	remembered = 200 // executions, as in our model
	warmup     = 20
)

// Transport is one way to set it up.
type Transport struct {
	Name string
	// Make returns the transport over a network with such targets.
	Make func(network http.RoundTripper, targets []sim.Target) http.RoundTripper
}

// Transports hedge at the p95 of what they have seen (https://failsafe-go.dev/hedge): to
// the host of the request, as it is used; to the next target, as it could be; and so with
// failsafe-go's HTTP retries around it.
func Transports() []Transport {
	return []Transport{
		{"failsafe-go", func(network http.RoundTripper, _ []sim.Target) http.RoundTripper {
			return failsafehttp.NewRoundTripper(network, hedge())
		}},
		{"failsafe-go, next target", func(network http.RoundTripper, targets []sim.Target) http.RoundTripper {
			return counted{failsafehttp.NewRoundTripper(&spread{network, targets}, hedge())}
		}},
		{"failsafe-go, next target, retries", func(network http.RoundTripper, targets []sim.Target) http.RoundTripper {
			retry := failsafehttp.NewRetryPolicyBuilder().Build()
			return counted{failsafehttp.NewRoundTripper(&spread{network, targets}, retry, hedge())}
		}},
	}
}

func hedge() hedgepolicy.HedgePolicy[*http.Response] {
	return hedgepolicy.NewBuilderWithDelayQuantile[*http.Response](percentile, remembered, warmup).Build()
}

type countKey struct{}

// counted gives every call a counter of its requests.
type counted struct{ next http.RoundTripper }

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.next.RoundTrip(r.WithContext(context.WithValue(r.Context(), countKey{}, new(atomic.Int64))))
}

// spread sends the nth request of a call to the nth target, around and around.
type spread struct {
	next    http.RoundTripper
	targets []sim.Target
}

func (s *spread) RoundTrip(r *http.Request) (*http.Response, error) {
	n := r.Context().Value(countKey{}).(*atomic.Int64).Add(1) - 1
	r = r.Clone(r.Context())
	r.URL.Host = s.targets[int(n)%len(s.targets)].Name
	return s.next.RoundTrip(r)
}
