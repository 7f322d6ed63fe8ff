package load

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/ontime-llm/ontime/client"
)

// exchange sends a request and reads the answer away: what came of it the client knows.
// No SDK decodes the events, which would be most of the work on a machine that has to be
// quicker than what it measures.
func exchange(ctx context.Context, c *http.Client, body []byte) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, client.BaseURL+"chat/completions", bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+client.APIKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body) // its error is in the call
}

// body is the request of one call.
func (p *Plan) body(model, prompt string) []byte {
	members := map[string]any{
		"model":      model,
		"messages":   []map[string]string{{"role": "user", "content": prompt}},
		"max_tokens": p.Output,
	}
	if p.Stream {
		members["stream"] = true
	}
	maps.Copy(members, p.Extra)
	data, _ := json.Marshal(members) // strings and numbers
	return data
}

// plain sends to one target as if there were no router, which is told nothing that would
// make it wait or try again.
type plain struct{ http.RoundTripper }

// RoundTrip hides limits from the client above.
func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for name := range resp.Header {
		if lower := strings.ToLower(name); strings.Contains(lower, "ratelimit") || strings.HasPrefix(lower, "retry-after") {
			resp.Header.Del(name)
		}
	}
	resp.Header.Set("X-Should-Retry", "false")
	return resp, nil
}
