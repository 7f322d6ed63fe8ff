package client_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// chunks counts what the SDK yields, and how many chunks of it bring usage.
func chunks(t *testing.T, c *openai.Client, p openai.ChatCompletionNewParams) (all, withUsage int) {
	t.Helper()
	s := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer s.Close()
	for s.Next() {
		all++
		if s.Current().Usage.TotalTokens > 0 {
			withUsage++
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all, withUsage
}

// Usage is asked for on the caller's behalf, and the caller does not see it.
func TestUsageIsAskedForAndTakenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		p := question("hi")
		all, withUsage := chunks(t, &f.Client.Client, p)
		// The role, 16 tokens, the finish.
		if all != 18 || withUsage != 0 {
			t.Errorf("the caller got %d chunks, %d with usage; want 18 without", all, withUsage)
		}
		if call := f.lastCall(t); call.Usage != (middleware.Usage{Input: 1, Output: 16}) {
			t.Errorf("usage is %+v, want 1 token in, 16 out", call.Usage)
		}
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		if all, withUsage := chunks(t, &f.Client.Client, p); all != 19 || withUsage != 1 {
			t.Errorf("the caller who asked got %d chunks, %d with usage; want 19, 1", all, withUsage)
		}
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeObfuscation: openai.Bool(false)}
		if all, _ := chunks(t, &f.Client.Client, p); all != 18 {
			t.Errorf("the caller with other options got %d chunks, want 18", all)
		}
		if body := f.body["one"][2]; !strings.Contains(body, `"include_obfuscation":false`) || !strings.Contains(body, `"include_usage":true`) {
			t.Errorf("the target got %s, want both options", body)
		}
	})
}

// A target that refuses a parameter of ours is spoken to otherwise, at once and
// from then on, and it is no failure of its.
func TestRefusedParametersAreSwapped(t *testing.T) {
	for _, tt := range []struct {
		name, refused string
		ask           func(*openai.ChatCompletionNewParams)
		want          string // in what is sent in the end
	}{
		{"usage", "stream_options", func(*openai.ChatCompletionNewParams) {}, `"max_tokens":4096`},
		{"old cap", "max_tokens", func(p *openai.ChatCompletionNewParams) { p.MaxTokens = openai.Int(7) }, `"max_completion_tokens":7`},
		{"new cap", "max_completion_tokens", func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = openai.Int(7) }, `"max_tokens":7`},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, upstream.Behaviour{Reject: []string{tt.refused}}, client.Config{}, "one")
			p := question("hi")
			tt.ask(&p)
			for range 3 {
				if _, err := stream(t.Context(), &f.Client.Client, p); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				if call := f.lastCall(t); len(call.Attempts) != 1 || call.Outcome != middleware.Completed {
					t.Errorf("%s: %v after %d attempts, want completed after 1", tt.name, call.Outcome, len(call.Attempts))
				}
			}
			if got := f.requests("one"); got != 4 { // one is refused, then three are taken
				t.Errorf("%s: %d requests, want 4", tt.name, got)
			}
			for _, body := range f.body["one"][1:] {
				if strings.Contains(body, `"`+tt.refused+`"`) || !strings.Contains(body, tt.want) {
					t.Errorf("%s: the target got %s, want %s in it and no %s", tt.name, body, tt.want, tt.refused)
				}
			}
			if failures := f.Snapshot().Routes; len(failures) == 1 && failures[0].Attempts.Failed != 0 {
				t.Errorf("%s: the route has %d failures, want none", tt.name, failures[0].Attempts.Failed)
			}
		})
	}
}

// A default that is more than the model can write fails no call: it is left out, from
// then on, or for one call if it was too much for its prompt.
func TestADefaultThatIsTooHighIsLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		refusal string
		sent    []int // caps; 0: none
	}{
		"for the model":  {`{"error":{"message":"m","param":"max_tokens","code":"invalid_value"}}`, []int{4096, 0, 0, 9}},
		"for the prompt": {`{"error":{"message":"m","param":"messages","code":"context_length_exceeded"}}`, []int{4096, 0, 4096, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{}, "one")
				f.servers["one"].Script(raw(400, "application/json", tt.refusal))
				own := question("hi")
				own.MaxTokens = openai.Int(9)
				for _, p := range []openai.ChatCompletionNewParams{question("hi"), question("hi"), own} {
					if _, err := stream(t.Context(), &f.Client.Client, p); err != nil {
						t.Error(err)
					}
				}
				var sent []int
				for _, body := range f.body["one"] {
					sent = append(sent, int(gjson.Get(body, "max_tokens").Int()))
				}
				if !slices.Equal(sent, tt.sent) {
					t.Errorf("sent caps of %v, want %v", sent, tt.sent)
				}
				f.servers["one"].Script(raw(400, "application/json", tt.refusal))
				if _, err := stream(t.Context(), &f.Client.Client, own); err == nil {
					t.Error("the caller's own cap was not refused")
				}
			})
		})
	}
}

// What the caller itself asks for is the caller's to have refused.
func TestTheCallersOwnParameterIsNotSwapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{Reject: []string{"stream_options"}}, client.Config{}, "one")
		p := question("hi")
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		_, err := stream(t.Context(), &f.Client.Client, p)
		if err == nil || f.requests("one") != 1 {
			t.Errorf("error %v after %d requests, want the target's refusal after 1", err, f.requests("one"))
		}
	})
}

// A finished stream whose connection stays open ends by itself.
func TestAnOpenConnectionDoesNotHoldAFinishedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{Tail: time.Hour}, client.Config{}, "one")
		start := time.Now()
		if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil || time.Since(start) != 0 {
			t.Errorf("with an end marker: %v after %v, want no error after 0s", err, time.Since(start))
		}
		f.servers["one"].Set(func(b *upstream.Behaviour) { b.NoDone = true })
		if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("without one: %v after %v, want no error after 5s", err, time.Since(start))
		}
		if call := f.lastCall(t); call.Outcome != middleware.Completed || call.Total != 1 {
			t.Errorf("the call is %v after %v, want completed after 1ns", call.Outcome, call.Total)
		}
	})
}
