package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// A target's secret may be in a header of any name: its own, or one that Auth sets.
// What is the application's, short, or known to be plain stays.
func TestQuotedHeadersAreTakenOut(t *testing.T) {
	const quote = "pass-in-headers set-by-auth-1 from-the-caller 2023-06-01 agent-of-mine/1.0 org-of-one-too"
	const want = "[redacted] [redacted] from-the-caller 2023-06-01 agent-of-mine/1.0 org-of-one-too"
	body := `{"error":{"message":"you sent ` + quote + `","code":"bad"}}`
	target := client.Target{
		Name: "one",
		Headers: map[string]string{
			"X-Gateway": "Token pass-in-headers", "X-Version": "2023-06-01", "User-Agent": "agent-of-mine/1.0",
			"OpenAI-Organization": "org-of-one-too",
		},
		Auth: func(r *http.Request) error { r.Header.Set("X-Signed", "set-by-auth-1"); return nil },
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{target}}, "one")
		step := raw(400, "application/json", body)
		step.Raw.Headers["X-Echo"] = quote
		f.servers["one"].Script(step, step, events(chunkOf(0, "a", ""), "data: "+body+"\n\n"))
		mine := option.WithHeader("X-Mine", "from-the-caller")
		_, called := ask(t.Context(), &f.Client.Client, question("x"), mine)
		_, passed := f.Models.List(t.Context(), mine)
		for _, err := range []error{called, passed} {
			sdk := theirs(t, err, 400)
			if sdk.Message != "you sent "+want || sdk.Response.Header.Get("X-Echo") != want {
				t.Errorf("the caller got %q, %q; want %q", sdk.Message, sdk.Response.Header.Get("X-Echo"), want)
			}
			if text := fmt.Sprint(sdk.RawJSON(), string(sdk.DumpResponse(true))); strings.Contains(text, "pass-in") {
				t.Errorf("the secret reached the caller: %s", text)
			}
		}
		_, err := stream(t.Context(), &f.Client.Client, question("x"), mine)
		if e, ok := errors.AsType[*middleware.ProviderError](err); !ok || e.Message != "you sent "+want {
			t.Errorf("the stream ended with %v, want the message without the secrets", err)
		}
	})
}
