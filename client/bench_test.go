package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/client"
)

// answer is a stream of n content events, as OpenAI sends it.
func answer(n int) string {
	const chunk = `data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"obfuscation":"aBcDeFgH"}` + "\n\n"
	var b strings.Builder
	fmt.Fprintf(&b, chunk, `{"role":"assistant","content":"","refusal":null}`, "null")
	for i := range n {
		fmt.Fprintf(&b, chunk, fmt.Sprintf(`{"content":" word%d"}`, i), "null")
	}
	fmt.Fprintf(&b, chunk, `{}`, `"stop"`)
	fmt.Fprintf(&b, `data: {"id":"chatcmpl-A","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4o-mini-2024-07-18","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", n, n+9)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

func cannedServer(tb testing.TB, events int) *httptest.Server {
	body := answer(events)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}))
	tb.Cleanup(srv.Close)
	return srv
}

// BenchmarkStream compares a streamed call of 32 events through the client with
// the same call through plain openai-go, from one local server without delay.
// All keep as many idle connections; metrics and trace are a client with a Registerer and
// with Trace. cpu-us/call is what the whole process
// spends, the server included.
func BenchmarkStream(b *testing.B) {
	srv := cannedServer(b, 32)
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 512
	b.Cleanup(base.CloseIdleConnections)
	plain := openai.NewClient(option.WithBaseURL(srv.URL+"/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: base}))
	cfg := client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: srv.URL + "/v1"}, {Name: "two", BaseURL: srv.URL + "/v1"}},
		Endpoints: chatBudget(),
	}
	routed := newRouted(b, cfg)
	cfg.Registerer = prometheus.NewRegistry()
	counted := newRouted(b, cfg)
	cfg.Registerer, cfg.Trace = nil, true
	traced := newRouted(b, cfg)
	for _, concurrent := range []int{1, 64} {
		for _, side := range []struct {
			name   string
			client *openai.Client
		}{{"plain", &plain}, {"ontime", routed}, {"metrics", counted}, {"trace", traced}} {
			b.Run(fmt.Sprintf("%s/%d", side.name, concurrent), func(b *testing.B) {
				benchmarkStream(b, side.client, concurrent)
			})
		}
	}
}

// newRouted returns the endpoint chat of a client.
func newRouted(b *testing.B, cfg client.Config) *openai.Client {
	c, err := client.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c.Endpoint("chat")
}

func benchmarkStream(b *testing.B, c *openai.Client, concurrent int) {
	params := question("hello")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	params.MaxCompletionTokens = openai.Int(100)
	call := func() {
		s := c.Chat.Completions.NewStreaming(context.Background(), params)
		for s.Next() {
			_ = s.Current()
		}
		if err := s.Err(); err != nil {
			b.Error(err)
		}
		_ = s.Close()
	}
	call()
	b.ReportAllocs()
	start, cpu := time.Now(), cpuTime()
	b.ResetTimer()
	var workers sync.WaitGroup
	for w := range concurrent {
		workers.Go(func() {
			for i := w; i < b.N; i += concurrent {
				call()
			}
		})
	}
	workers.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-us/call")
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "calls/s")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
