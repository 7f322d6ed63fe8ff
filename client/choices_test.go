package client_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// chunkOf is one chunk of one of several choices.
func chunkOf(choice int, text, finish string) string {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", choice, text, reason)
}

// An answer of several choices is whole when each of them has ended, not when
// the first has.
func TestSeveralChoicesEndOneByOne(t *testing.T) {
	begin := []string{chunkOf(0, "a", ""), chunkOf(1, "one ", ""), chunkOf(0, "", "stop"), chunkOf(0, "", "stop")}
	for name, tt := range map[string]struct {
		step  upstream.Step
		whole bool
	}{
		"cut after the first":       {events(begin...), false},
		"an error after the first":  {events(append(begin, `data: {"error":{"code":500,"message":"x"}}`+"\n\n")...), false},
		"whole":                     {events(append(begin, chunkOf(1, "two", "stop"), "data: [DONE]\n\n")...), true},
		"whole, with no end marker": {events(append(begin, chunkOf(1, "two", "stop"))...), true},
		"a pause before the second": {func() upstream.Step {
			s := events(append(begin, chunkOf(1, "two", "stop"), "data: [DONE]\n\n")...)
			s.Raw.Parts[4].After = time.Minute
			return s
		}(), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one")
				f.servers["one"].Script(tt.step)
				p := question("x")
				p.N = openai.Int(2)
				_, err := stream(t.Context(), f.chat(), p)
				if call := f.lastCall(t); (err == nil) != tt.whole || (call.Outcome == middleware.Completed) != tt.whole {
					t.Errorf("error %v, %v; want a whole answer: %v", err, call.Outcome, tt.whole)
				}
			})
		})
	}
}

func TestErrorAfterTheFinishIsAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		f.servers["one"].Script(events(chunkOf(0, "a", "length"), `data: {"choices":[],"error":{"code":400,"message":"limit"}}`+"\n\n", "data: [DONE]\n\n"))
		if _, err := stream(t.Context(), f.chat(), question("x")); err != nil {
			t.Error(err)
		}
		if a := f.lastCall(t).Attempts[0]; a.Warning != "error after the finish reason" || a.Outcome != middleware.Completed {
			t.Errorf("%v with the warning %q, want completed with one", a.Outcome, a.Warning)
		}
	})
}

// A whole answer without any content or finish reason is as empty as a stream
// without.
func TestEmptyWholeAnswersFailOver(t *testing.T) {
	for _, body := range []string{`{"id":"c","choices":[]}`, `{"id":"c","choices":null}`, `{"choices":[{"index":0,"message":null,"finish_reason":null}]}`} {
		for _, speak := range []func(*testing.T, *fleet) (string, error){
			func(t *testing.T, f *fleet) (string, error) { return ask(t.Context(), f.chat(), question("x")) },
			func(t *testing.T, f *fleet) (string, error) { return stream(t.Context(), f.chat(), question("x")) },
		} {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(raw(200, "application/json", body))
				if _, err := speak(t, f); err != nil || f.lastCall(t).Target != "two" {
					t.Errorf("%s: answered by %s, error %v; want two", body, f.lastCall(t).Target, err)
				}
			})
		}
	}
}
