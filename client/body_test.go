package client_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// An answer that is copied is read to its end like any other, and with that its
// call is over.
func TestACopiedAnswerEndsItsCall(t *testing.T) {
	for name, body := range map[string]string{"whole": askBody, "streamed": streamBody} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{}, "one")
			ctx, call := middleware.WithCall(t.Context())
			resp, err := f.HTTPClient().Transport.RoundTrip(newRequest(t, ctx, client.BaseURL+"chat/completions", io.NopCloser(strings.NewReader(body))))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n == 0 {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
			if call.Outcome != middleware.Completed || call.Target != "one" {
				t.Errorf("%s: the call is %+v, want it completed before Close", name, call)
			}
		})
	}
}

// A caller who goes away while its own request is still being read is not kept,
// though its body never ends.
func TestCancelWhileTheRequestIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		_, err := ask(t.Context(), &f.Client.Client, question("hello"),
			option.WithRequestBody("application/json", endless{}), option.WithRequestTimeout(1250*ms))
		if err == nil || f.requests("one") != 0 {
			t.Errorf("error %v after %d requests, want the timeout and none", err, f.requests("one"))
		}
		if call := f.lastCall(t); call.Outcome != middleware.TimedOut || call.Total != 1500*ms {
			t.Errorf("the call is %v after %v, want timed out by the read that ends at 1.5s", call.Outcome, call.Total)
		}
	})
}

// endless is a body of white space, a byte every half second.
type endless struct{}

func (endless) Read(p []byte) (int, error) { p[0] = ' '; sleeper(500 * ms).Read(nil); return 1, nil }

// A header that cannot be sent is the application's mistake: no target is tried,
// and none is blamed.
func TestAHeaderThatCannotBeSentBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		for name, value := range map[string]string{"X-Line": "a\nb", "X-Nul": "\x00", "X Space": "secret"} {
			r := newRequest(t, nil, client.BaseURL+"chat/completions", io.NopCloser(strings.NewReader(askBody)))
			r.Header[name] = []string{"good", value}
			_, err := f.HTTPClient().Transport.RoundTrip(r)
			mustBe(t, err, middleware.ErrBadRequest)
			if e := ours(t, err); len(e.Attempts) != 0 || strings.Contains(e.Error(), value) {
				t.Errorf("%s: %v after %d attempts, want it refused without one", name, e, len(e.Attempts))
			}
		}
		for _, r := range f.Snapshot().Routes {
			if r.Attempts.Failed != 0 {
				t.Errorf("%s is blamed %d times", r.Target, r.Attempts.Failed)
			}
		}
		if f.allRequests() != 0 {
			t.Errorf("%d requests were sent", f.allRequests())
		}
	})
}
