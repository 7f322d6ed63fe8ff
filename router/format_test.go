package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// spoken has a target for each way of taking formats: some, one, any.
func spoken() router.Config {
	return router.Config{
		Targets: []router.Target{
			{Name: "both", Formats: []string{"chat", "messages"}, Models: []string{"m", "n"}},
			{Name: "chat", Formats: []string{"chat"}},
			{Name: "any", Models: []string{"m"}},
		},
		Budgets: map[string]budget.Budget{"eu": {Targets: []string{"chat", "both"}}},
	}
}

func TestPlanKeepsToTheFormat(t *testing.T) {
	tests := []struct {
		name string
		req  router.Request
		want []string
	}{
		{"none asked for", router.Request{Model: "m"}, []string{"any", "both", "chat"}},
		{"two name it", router.Request{Model: "m", Format: "chat"}, []string{"any", "both", "chat"}},
		{"one names it", router.Request{Model: "m", Format: "messages"}, []string{"any", "both"}},
		{"nobody names it", router.Request{Model: "m", Format: "unheard-of"}, []string{"any"}},
		{"an endpoint's own targets", router.Request{Endpoint: "eu", Model: "m", Format: "messages"}, []string{"both"}},
		{"a model's own targets", router.Request{Model: "n", Format: "messages"}, []string{"both"}},
		{"a model that no config names", router.Request{Model: "x", Format: "chat"}, []string{"chat"}},
		{"not for this model", router.Request{Model: "x", Format: "messages"}, nil},
		{"pinned", router.Request{Model: "m", Format: "messages", Pin: "both"}, []string{"both"}},
		{"a pin does not change what a target takes", router.Request{Model: "m", Format: "messages", Pin: "chat"}, nil},
	}
	in(t, spoken(), func(w world) {
		for _, test := range tests {
			got := targets(w.Plan(test.req))
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	})
}

func TestTakes(t *testing.T) {
	in(t, spoken(), func(w world) {
		for _, test := range []struct {
			target, format string
			want           bool
		}{
			{"both", "messages", true}, {"chat", "messages", false}, {"any", "messages", true},
			{"chat", "", true}, {"any", "unheard-of", true}, {"both", "unheard-of", false}, {"nobody", "chat", false},
		} {
			if got := w.Takes(test.target, test.format); got != test.want {
				t.Errorf("%s takes %q: %v, want %v", test.target, test.format, got, test.want)
			}
		}
	})
	in(t, router.Config{Targets: []router.Target{{Name: "a"}}}, func(w world) {
		if !w.Takes("a", "chat") || w.Takes("b", "chat") {
			t.Error("where no target names a format, each takes any")
		}
	})
}

// Why there is no route is said for what it is: the format, only where that is it.
func TestNoRouteInTheFormat(t *testing.T) {
	tests := []struct {
		name   string
		req    router.Request
		format string // of the error
		say    string
	}{
		{"the format", router.Request{Model: "x", Format: "messages"}, "messages", `model "x" in the format "messages"`},
		{"the format, at the pinned target", router.Request{Model: "m", Format: "messages", Pin: "chat"}, "messages", `in the format "messages"`},
		{"the model, in any", router.Request{Endpoint: "eu", Model: "x", Format: "chat", Pin: "any"}, "", `model "x": name the model`},
	}
	in(t, spoken(), func(w world) {
		for _, test := range tests {
			start := time.Now()
			_, err := w.Wait(context.Background(), test.req)
			none, ok := errors.AsType[*router.NoRouteError](err)
			if !ok || none.Format != test.format || len(none.Refused) > 0 || !strings.Contains(err.Error(), test.say) {
				t.Errorf("%s: error %v, want one about the format %q that says %q", test.name, err, test.format, test.say)
			}
			if time.Since(start) > 0 {
				t.Errorf("%s: it was waited for in vain", test.name)
			}
			reason := w.Plan(test.req).Reason()
			if says := strings.Contains(reason, "format"); says != (test.format != "") {
				t.Errorf("%s: reason %q", test.name, reason)
			}
		}
	})
}

// A target that is not available is refused in its formats only, and is the last
// resort in one that nobody else takes.
func TestRefusalsKeepToTheFormat(t *testing.T) {
	c := router.Config{Targets: []router.Target{
		{Name: "a", Formats: []string{"chat", "messages"}}, {Name: "b", Formats: []string{"chat"}}, {Name: "c", Formats: []string{"chat"}},
	}}
	in(t, c, func(w world) {
		w.fails("a", 5)
		messages, plain := chat, chat
		messages.Format, plain.Format = "messages", "chat"
		if p := w.Plan(plain); len(p.Choices) != 2 || len(p.Refused) != 1 || p.Refused[0].Target != "a" {
			t.Errorf("chat: %v, refused %v; want b and c, a refused", targets(p), p.Refused)
		}
		if p := w.Plan(messages); len(p.Choices) != 1 || p.Choices[0].Target != "a" || !p.Choices[0].LastResort() || len(p.Refused) != 0 {
			t.Errorf("messages: %v, refused %v; want a as the last resort", targets(p), p.Refused)
		}
		f := w.start("b", plain)
		w.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: time.Minute})
		if p := w.Plan(messages); len(p.Choices) != 1 || len(p.Refused) != 0 {
			t.Errorf("messages: %v, refused %v; want a, whatever becomes of b", targets(p), p.Refused)
		}
	})
}

// A call that waits for one format does not hold up those of another.
func TestWaitersOfOtherFormats(t *testing.T) {
	c := router.Config{Targets: []router.Target{
		{Name: "a", Formats: []string{"messages"}, Limits: router.Limits{Concurrent: 1}},
		{Name: "b", Formats: []string{"chat"}, Limits: router.Limits{Concurrent: 1}},
	}}
	in(t, c, func(w world) {
		messages, plain := chat, chat
		messages.Format, plain.Format = "messages", "chat"
		onA, onB := w.start("a", messages), w.start("b", plain)
		got := make(chan string, 2)
		for _, req := range []router.Request{messages, plain} {
			go func() {
				p, err := w.Wait(context.Background(), req)
				if err != nil {
					t.Error(err)
				}
				got <- strings.Join(targets(p), " ")
				p.Release()
			}()
			synctest.Wait()
		}
		w.Report(router.Report{Flight: onB})
		if first := <-got; first != "b" {
			t.Errorf("%q was served, want b: its place is free", first)
		}
		w.Report(router.Report{Flight: onA})
		if second := <-got; second != "a" {
			t.Errorf("%q was served, want a", second)
		}
	})
}

// Whatever the config, a plan lists all targets that take the format, and no other.
func TestPlanListsThoseThatTakeTheFormat(t *testing.T) {
	names := []string{"chat", "responses", "messages", "embeddings"}
	rapid.Check(t, func(rt *rapid.T) {
		c := router.Config{}
		for i := range rapid.IntRange(1, 6).Draw(rt, "targets") {
			target := router.Target{Name: fmt.Sprint("t", i)}
			if rapid.Bool().Draw(rt, "some") {
				target.Formats = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(rt, "formats")
			}
			c.Targets = append(c.Targets, target)
		}
		r, err := router.New(c)
		if err != nil {
			rt.Fatal(err)
		}
		for _, format := range append(names, "", "other") {
			var want []string
			for _, target := range c.Targets {
				if format == "" || target.Formats == nil || slices.Contains(target.Formats, format) {
					want = append(want, target.Name)
				}
			}
			got := targets(r.Plan(router.Request{Model: "m", Format: format}))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Errorf("%q (-want +got):\n%s", format, diff)
			}
		}
	})
}
