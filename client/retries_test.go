package client_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// down makes every answer of every target fail with a status.
func (f *fleet) down(status int) {
	for _, s := range f.servers {
		s.Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: 1, Status: status} })
	}
}

// The statuses that the SDK would retry: our answer tells it not to.
func TestPerCallRetriesDoNotMultiplyAttempts(t *testing.T) {
	for _, status := range []int{408, 409, 429, 500, 503} {
		for way, say := range ways {
			t.Run(http.StatusText(status)+" "+way, func(t *testing.T) {
				var attempts [2]int
				var took [2]time.Duration
				for i, retries := range []int{0, 5} {
					synctest.Test(t, func(t *testing.T) {
						f := newOrdered(t, quick, "one", "two")
						f.down(status)
						start := time.Now()
						_, err := say(t.Context(), f.chat(), question("hello"), option.WithMaxRetries(retries))
						theirs(t, err, status)
						attempts[i], took[i] = f.allRequests(), time.Since(start)
						if n := len(f.observed()); n != 1 {
							t.Errorf("%d calls were observed, want 1", n)
						}
					})
				}
				if attempts[0] != attempts[1] || took[0] != took[1] {
					t.Errorf("%v attempts in %v: retries of the SDK's change them", attempts, took)
				}
			})
		}
	}
}

func TestPerCallRetriesOfWhatIsNotRouted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		for i, status := range []int{408, 409, 429, 500, 503} {
			f.servers["one"].Script(raw(status, "application/json", `{"error":{"message":"no"}}`))
			_, err := f.Models.List(t.Context(), option.WithMaxRetries(5))
			theirs(t, err, status)
			if n := f.requests("one"); n != i+1 {
				t.Errorf("%d: %d requests were sent in all, want %d", status, n, i+1)
			}
		}
	})
}

// What cannot be prevented: where there is no response the SDK retries. Each of
// its tries is a call of its own.
func TestPerCallRetriesOfATransportError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, upstream.Behaviour{Faults: upstream.Faults{Refused: 1}}, "one")
		_, err := ask(t.Context(), f.chat(), question("hello"), option.WithMaxRetries(1))
		ours(t, err)
		calls := f.observed()
		if len(calls) != 2 || len(calls[0].Attempts) != 3 || len(calls[1].Attempts) != 3 {
			t.Errorf("calls are %+v, want 2 with 3 attempts each", calls)
		}
	})
}

// A context holds one call: the first under it claims it.
func TestCallBelongsToTheFirstUnderItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		ctx, call := middleware.WithCall(t.Context())
		if _, err := stream(ctx, f.chat(), question("hello")); err != nil {
			t.Fatal(err)
		}
		first := call.Start
		time.Sleep(time.Second)
		if _, err := ask(ctx, f.chat(), question("hello")); err != nil {
			t.Fatal(err)
		}
		if !call.Start.Equal(first) || !call.Streamed || call.Target != "one" {
			t.Errorf("call is %+v, want the first one", call)
		}
		if n := len(f.observed()); n != 2 {
			t.Errorf("%d calls were observed, want 2", n)
		}
	})
}

// Nor do targets that cannot be taken: the one that is left is tried three times in all.
func TestRefusedTargetsDoNotMultiplyAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"one", "two", "three", "four", "five", "six", "seven"}
		f := newFleet(t, quick, client.Config{}, names...)
		for _, name := range names[1:] {
			f.servers[name].Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: 1, Status: 401} })
		}
		for range 20 {
			_, _ = stream(t.Context(), &f.Client.Client, question("hi")) // until their keys are known to be refused
		}
		f.servers["one"].Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: 1, Status: 503} })
		_, err := stream(t.Context(), &f.Client.Client, question("hi"))
		if call := f.lastCall(t); err == nil || call.Total != 1500*ms || len(call.Attempts) != 3 {
			t.Errorf("error %v after %v and %d attempts, want one after 1.5s and 3", err, call.Total, len(call.Attempts))
		}
	})
}
