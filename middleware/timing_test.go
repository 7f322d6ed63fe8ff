package middleware_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/middleware"
)

// slowWay is a transport that tells of its way as net/http does, and answers with what
// it is given.
type slowWay struct {
	reused bool
	header http.Header
	body   string
}

func (w slowWay) RoundTrip(r *http.Request) (*http.Response, error) {
	if h := httptrace.ContextClientTrace(r.Context()); h != nil {
		w.tell(h)
	}
	time.Sleep(100 * ms)
	header := w.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(w.body)), ContentLength: -1}, nil
}

// tell takes 3 ms for a name, 40 ms for the second of two addresses, 20 ms for TLS and
// 2 ms to write; or 7 ms until there is a connection from the pool, of which another
// that is dialled meanwhile takes nothing away.
func (w slowWay) tell(h *httptrace.ClientTrace) {
	all := h.WroteRequest != nil
	if all {
		h.DNSStart(httptrace.DNSStartInfo{})
		time.Sleep(3 * ms)
		h.DNSDone(httptrace.DNSDoneInfo{})
		h.ConnectStart("tcp", "[2001:db8::1]:443")
		time.Sleep(4 * ms)
	}
	if !w.reused && all {
		h.ConnectStart("tcp", "192.0.2.1:443")
		h.ConnectDone("tcp", "[2001:db8::1]:443", errors.New("no route"))
		time.Sleep(36 * ms)
		h.ConnectDone("tcp", "192.0.2.1:443", nil)
		h.TLSHandshakeStart()
		time.Sleep(20 * ms)
		h.TLSHandshakeDone(tls.ConnectionState{}, nil)
	}
	h.GotConn(httptrace.GotConnInfo{Reused: w.reused})
	if all {
		time.Sleep(2 * ms)
		h.ConnectDone("tcp", "192.0.2.1:443", nil)
		h.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

const briefAnswer = `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2%s}}`

// attemptVia sends a call through the transport and returns its attempt.
func attemptVia(t *testing.T, next http.RoundTripper, opts ...middleware.Option) middleware.Attempt {
	t.Helper()
	ctx, call := middleware.WithCall(t.Context())
	rt := middleware.MeterTransport(next, opts...)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://one.test/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return call.Attempts[0]
}

func TestTiming(t *testing.T) {
	for name, test := range map[string]struct {
		way  slowWay
		opts []middleware.Option
		want middleware.Timing
	}{
		"not asked for": {slowWay{}, nil, middleware.Timing{}},
		// 3 + 40 + 20 = 63
		"a new connection": {slowWay{}, []middleware.Option{middleware.Trace()},
			middleware.Timing{Conn: 63 * ms, Wrote: 65 * ms, DNS: 3 * ms, Connect: 40 * ms, TLS: 20 * ms}},
		"one from the pool": {slowWay{reused: true}, []middleware.Option{middleware.Trace()},
			middleware.Timing{Reused: true, Conn: 7 * ms, Wrote: 9 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.way.body = strings.Replace(briefAnswer, "%s", "", 1)
				a := attemptVia(t, test.way, test.opts...)
				if diff := cmp.Diff(test.want, a.Timing); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if total := max(test.want.Wrote, 0) + 100*ms; a.Total != total && test.opts != nil {
					t.Errorf("total %v, want %v", a.Total, total)
				}
			})
		})
	}
}

func TestServerTiming(t *testing.T) {
	head := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for name, test := range map[string]struct {
		header http.Header
		usage  string
		want   middleware.ServerTiming
	}{
		"nothing":       {nil, "", middleware.ServerTiming{}},
		"OpenAI":        {head("openai-processing-ms", "56", "x-envoy-upstream-service-time", "36"), "", middleware.ServerTiming{Headers: 56 * ms}},
		"Envoy":         {head("x-envoy-upstream-service-time", "573"), "", middleware.ServerTiming{Headers: 573 * ms}},
		"Google":        {head("server-timing", "gfet4t7; dur=477"), "", middleware.ServerTiming{Headers: 477 * ms}},
		"Cloudflare":    {head("server-timing", "x-originResponse;dur=1526.5, cfL4;desc=x"), "", middleware.ServerTiming{Headers: 1526500 * time.Microsecond}},
		"no duration":   {head("server-timing", "cache;desc=hit", "openai-processing-ms", "soon"), "", middleware.ServerTiming{}},
		"out of bounds": {head("openai-processing-ms", "1e99", "x-envoy-upstream-service-time", "-3", "server-timing", "a;dur=NaN"), "", middleware.ServerTiming{}},
		"Fireworks": {head("fireworks-prefill-queue-duration", "0.25", "fireworks-prefill-duration", "0.05", "fireworks-server-time-to-first-token", "0.32"), "",
			middleware.ServerTiming{Queue: 250 * ms, Prefill: 50 * ms, TTFT: 320 * ms}},
		"Groq": {head("x-envoy-upstream-service-time", "99"), `,"queue_time":0.07,"prompt_time":0.03,"completion_time":0.0625`,
			middleware.ServerTiming{Queue: 70 * ms, Prefill: 30 * ms, Decode: 62500 * time.Microsecond, Headers: 99 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := attemptVia(t, slowWay{header: test.header, body: strings.Replace(briefAnswer, "%s", test.usage, 1)})
				if diff := cmp.Diff(test.want, a.Server, cmpopts.EquateComparable()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		})
	}
}
