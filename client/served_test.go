package client_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// What a provider calls its model reaches observers only as far as it may be a name.
func TestServedModelIsAName(t *testing.T) {
	long := strings.Repeat("m", 128)
	for said, want := range map[string]string{
		"gpt-4o-mini-2024-07-18":            "gpt-4o-mini-2024-07-18",
		"accounts/f/models/Llama_3":         "accounts/f/models/Llama_3",
		"us.anthropic.claude-v1:0@20260101": "us.anthropic.claude-v1:0@20260101",
		"meta/llama-3":                      "meta/llama-3",
		long + "more":                       long,
		"you asked: hello":                  "",
		`a\nb`:                              "",
		"modèle":                            "",
	} {
		chunk := `data: {"id":"c","model":"` + said + `","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"
		whole := fmt.Sprintf(`{"id":"c","model":"%s","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`, said)
		synctest.Test(t, func(t *testing.T) {
			f := newOrdered(t, quick, "one")
			f.servers["one"].Script(events(chunk, done), raw(200, "application/json", whole))
			for i, say := range []func() error{
				func() error { _, err := stream(t.Context(), f.chat(), question("hello")); return err },
				func() error { _, err := ask(t.Context(), f.chat(), question("hello")); return err },
			} {
				if err := say(); err != nil {
					t.Fatal(err)
				}
				if got := f.lastCall(t).Attempts[0].ServedModel; got != want {
					t.Errorf("%d: %q is told as %q, want %q", i, said, got, want)
				}
			}
		})
	}
}
