package conformance

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// aimock is a running @copilotkit/aimock, which answers what testdata/aimock.json has.
type aimock struct {
	url   string // without the version
	plain *http.Client
}

// TestAimock needs ONTIME_AIMOCK, the llmock command of the npm package: .ci/run conformance installs it, and so does
//
//	npm install --prefix /tmp/aimock @copilotkit/aimock
//	ONTIME_AIMOCK=/tmp/aimock/node_modules/.bin/llmock go test ./tools/conformance
func TestAimock(t *testing.T) {
	command := os.Getenv("ONTIME_AIMOCK")
	if command == "" {
		t.Skip("ONTIME_AIMOCK does not name the llmock command of @copilotkit/aimock: nothing is tried against it")
	}
	m := aimock{url: startAimock(t, command), plain: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(m.plain.CloseIdleConnections)
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			t.Run("answers", func(t *testing.T) { m.answers(t, s) })
			t.Run("tools", func(t *testing.T) { m.tools(t, s) })
			t.Run("errors", func(t *testing.T) { m.errors(t, s) })
			t.Run("chaos", func(t *testing.T) { m.chaos(t, s) })
			if s.streamed {
				t.Run("cut", func(t *testing.T) { m.cut(t, s) })
				t.Run("cancel", func(t *testing.T) { m.cancel(t, s) })
			}
		})
	}
	t.Run("other formats", m.otherFormats)
}

// startAimock returns the URL of a server that ends with the test.
func startAimock(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command(command, "--port", "0", "--fixtures", "testdata/aimock.json", "--validate-on-load", "--strict")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed, which is no news
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return url
		}
	}
	t.Fatal("aimock ended before it listened")
	return ""
}

// client is ours over targets of aimock, in order of preference, each with headers of its own.
func (m aimock) client(t *testing.T, headers ...map[string]string) *client.Client {
	t.Helper()
	cfg := client.Config{Endpoints: map[string]budget.Budget{"default": {
		TTFT: budget.Layers{95: 10 * time.Second}, Total: budget.Layers{95: time.Minute}, Hedge: -1,
	}}}
	for i, h := range headers {
		name := []string{"one", "two"}[i]
		cfg.Targets = append(cfg.Targets, client.Target{
			Name: name, BaseURL: m.url + "/v1", APIKey: "key-of-" + name, Headers: h, Price: router.Price{Output: float64(i + 1)},
		})
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// both asks without the client and through it, and returns both answers without their ids.
func (m aimock) both(t *testing.T, c *client.Client, s sdk, q question) (direct, ours answer, errs [2]error) {
	t.Helper()
	direct, errs[0] = s.ask(t.Context(), m.plain, m.url+s.path, q)
	ours, errs[1] = s.ask(t.Context(), c.HTTPClient(), s.base(), q)
	direct.ID, ours.ID = "", ""
	return direct, ours, errs
}

func (m aimock) answers(t *testing.T, s sdk) {
	c := m.client(t, nil)
	for prompt, want := range map[string]string{"hello": "Hello! How can I help you today?", "think": "42"} {
		direct, ours, errs := m.both(t, c, s, question{prompt: prompt})
		if diff := cmp.Diff(direct, ours); diff != "" || errs != [2]error{} || ours.Text != want {
			t.Errorf("%s: %v, without the client (-) and with it (+):\n%s", prompt, errs, diff)
		}
	}
	ctx, call := middleware.WithCall(t.Context())
	if _, err := s.ask(ctx, c.HTTPClient(), s.base(), question{prompt: "hello"}); err != nil {
		t.Fatal(err)
	}
	if call.Outcome != middleware.Completed || (call.TTFT > 0) != s.streamed || call.Usage.Estimated || call.Usage.Output != 9 {
		t.Errorf("the call is %+v, want 9 tokens of output, and TTFT of a stream", call)
	}
}

func (m aimock) tools(t *testing.T, s sdk) {
	c, q := m.client(t, nil), question{prompt: "what is the weather?", tool: true}
	direct, ours, errs := m.both(t, c, s, q)
	if diff := cmp.Diff(direct, ours); diff != "" || errs != [2]error{} || len(ours.Calls) != 1 {
		t.Fatalf("%v:\n%s", errs, diff)
	}
	q.called, q.result = &ours.Calls[0], "18 degrees"
	if direct, ours, errs = m.both(t, c, s, q); ours.Text != "It is 18 degrees in Paris." {
		t.Errorf("%v:\n%s", errs, cmp.Diff(direct, ours))
	}
}

func (m aimock) errors(t *testing.T, s sdk) {
	for prompt, status := range map[string]int{"wrong": 400, "nobody knows": 503} {
		// Another client each, since the one before has learned from what it met.
		ctx, call := middleware.WithCall(t.Context())
		_, err := s.ask(ctx, m.client(t, nil).HTTPClient(), s.base(), question{prompt: prompt})
		if got, ok := s.read(err); !ok || got.Status != status || got.Type != "invalid_request_error" || got.Message == "" {
			t.Errorf("%s: %+v, %v", prompt, got, err)
		}
		if failed, ok := errors.AsType[*middleware.ProviderError](call.Err); !ok || failed.Status != status {
			t.Errorf("%s: the call says %v", prompt, call.Err)
		}
	}
}

// chaos has the preferred target do what aimock can do to a request; the other one does not.
func (m aimock) chaos(t *testing.T, s sdk) {
	for _, kind := range []string{"Drop", "Malformed", "Disconnect", "Ratelimit"} {
		c := m.client(t, map[string]string{"X-Aimock-Chaos-" + kind: "1"}, nil)
		ctx, call := middleware.WithCall(t.Context())
		got, err := s.ask(ctx, c.HTTPClient(), s.base(), question{prompt: "hello"})
		if err != nil || got.Text != "Hello! How can I help you today?" || call.Target != "two" || len(call.Attempts) != 2 {
			t.Errorf("%s: %q, %v, %+v", kind, got.Text, err, call)
		}
	}
}

func (m aimock) cut(t *testing.T, s sdk) {
	got, err := s.ask(t.Context(), m.client(t, nil).HTTPClient(), s.base(), question{prompt: "cut"})
	if ours, ok := errors.AsType[*middleware.Error](err); !ok || ours.Target != "one" || !strings.HasPrefix(got.Text, "This wil") {
		t.Errorf("%q, %v, want the beginning and an error of ours", got.Text, err)
	}
}

func (m aimock) cancel(t *testing.T, s sdk) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx, call := middleware.WithCall(ctx)
	c := m.client(t, nil)
	h := c.HTTPClient()
	h.Transport = cancelling{h.Transport, cancel}
	_, err := s.ask(ctx, h, s.base(), question{prompt: "slow"})
	// The Anthropic SDK leaves the body open of a response that comes as its context ends. The call ends by itself, a moment
	// later than the SDK says so.
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !errors.Is(err, context.Canceled) || call.Outcome != middleware.Cancelled {
		t.Errorf("%v, %+v", err, call)
	}
}

// cancelling cancels a call once there is a response, which means that there is content.
type cancelling struct {
	http.RoundTripper
	cancel context.CancelFunc
}

func (c cancelling) RoundTrip(r *http.Request) (*http.Response, error) {
	defer c.cancel()
	return c.RoundTripper.RoundTrip(r)
}

// otherFormats are those that the client's own SDK knows besides.
func (m aimock) otherFormats(t *testing.T) {
	c := m.client(t, nil)
	params := responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hello")}}
	response, err := c.Responses.New(t.Context(), params)
	if err != nil || response.OutputText() != "Hello! How can I help you today?" {
		t.Errorf("responses: %v", err)
	}
	stream, text := c.Responses.NewStreaming(t.Context(), params), ""
	for stream.Next() {
		if stream.Current().Type == "response.output_text.delta" {
			text += stream.Current().Delta
		}
	}
	stream.Close()
	if stream.Err() != nil || text != "Hello! How can I help you today?" {
		t.Errorf("responses, streamed: %q, %v", text, stream.Err())
	}
	vectors, err := c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hello")},
	})
	if err != nil || len(vectors.Data) != 1 || len(vectors.Data[0].Embedding) != 3 {
		t.Errorf("embeddings: %v", err)
	}
}
