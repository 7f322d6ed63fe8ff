package conformance

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ontime-llm/ontime/client"
)

// With the preset, the SDK needs no other address than its own: what is not routed reaches the target that it lies under, with
// that target's key, and so do the headers of features that are still in beta.
func TestAnthropicsOwnAddress(t *testing.T) {
	const message = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	var sent []*http.Request
	provider := roundTrip(func(r *http.Request) string {
		sent = append(sent, r)
		switch r.URL.Path {
		case "/v1/messages/count_tokens":
			return `{"input_tokens":7}`
		case "/v1/models":
			return `{"data":[{"id":"claude","type":"model","display_name":"Claude","created_at":"2026-01-01T00:00:00Z"}],"has_more":false}`
		}
		return message
	})
	c, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "anthropic", Provider: "anthropic", APIKey: "the-key"}},
		Transport: provider,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	llm := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithHTTPClient(c.HTTPClient()), option.WithAPIKey(client.APIKey))
	hello := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))}

	m, err := llm.Messages.New(t.Context(), anthropic.MessageNewParams{Model: model, MaxTokens: 9, Messages: hello},
		option.WithHeader("Anthropic-Beta", "a-feature"))
	if err != nil || m.Content[0].Text != "hi" {
		t.Errorf("a message: %v", err)
	}
	count, err := llm.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: model, Messages: hello})
	if err != nil || count.InputTokens != 7 {
		t.Errorf("counting tokens: %v", err)
	}
	models, err := llm.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(models.Data) != 1 || models.Data[0].ID != "claude" {
		t.Errorf("listing models: %v", err)
	}

	paths := []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/models"}
	if len(sent) != len(paths) {
		t.Fatalf("%d requests came, want %d", len(sent), len(paths))
	}
	for i, r := range sent {
		if r.URL.Host != "api.anthropic.com" || r.URL.Path != paths[i] || r.Header.Get("X-Api-Key") != "the-key" ||
			r.Header.Get("Anthropic-Version") == "" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s came with %v", r.URL, r.Header)
		}
	}
	if got := sent[0].Header.Get("Anthropic-Beta"); got != "a-feature" {
		t.Errorf("the feature asked for is %q", got)
	}
}

// roundTrip is a provider that answers with JSON.
type roundTrip func(*http.Request) string

func (answer roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer(r))), Request: r,
	}, nil
}
