package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// Over a real socket: an answer, a broken one, and a hang that is given up. Nothing keeps the server from closing.
func TestRealSocket(t *testing.T) {
	s := upstream.New("eu", upstream.Behaviour{Output: upstream.Length{Median: 2}}, 1)
	srv := httptest.NewServer(s)
	client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("test"), option.WithMaxRetries(0), option.WithHTTPClient(srv.Client()))
	s.Script(upstream.Step{}, upstream.Step{Fault: upstream.Reset}, upstream.Step{Fault: upstream.Hang})
	read := func(ctx context.Context) (text string, err error) {
		stream := client.Chat.Completions.NewStreaming(ctx, hello())
		defer stream.Close()
		for stream.Next() {
			if c := stream.Current().Choices; len(c) > 0 {
				text += c[0].Delta.Content
			}
		}
		return text, stream.Err()
	}
	if text, err := read(t.Context()); text != "eu 2" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := read(t.Context()); text != "eu" || err == nil {
		t.Errorf("reset: %q, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.OnRequest(func(*http.Request, []byte) { cancel() })
	if text, err := read(ctx); text != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("hang: %q, %v", text, err)
	}
	srv.Close()
	if got := s.Stats(); got.Requests != 3 || got.Answered != 1 || got.Failed != 1 || got.CancelledBefore != 1 || got.InFlight != 0 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkStream(b *testing.B) {
	s := upstream.New("eu", upstream.Behaviour{Output: upstream.Length{Median: 32}}, 1)
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequest("POST", "http://eu.test/v1/chat/completions", strings.NewReader(streamed))
		if err != nil {
			b.Fatal(err)
		}
		res, err := s.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
	}
}
