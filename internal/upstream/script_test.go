package upstream_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/upstream"
)

func TestScriptTakesOneStepEach(t *testing.T) {
	both(t, upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1}, Output: upstream.Length{Median: 2}}, func(r rig) {
		r.server.Script(
			upstream.Step{}, // good, whatever the shares
			upstream.Step{Fault: upstream.Empty},
			upstream.Step{Set: func(b *upstream.Behaviour) { b.Output.Median = 3; b.TTFT.Median = 70 * ms }},
		)
		r.server.Script(upstream.Step{Raw: &upstream.Raw{Status: 418, Headers: map[string]string{"X-Tea": "green"}, Parts: []upstream.Part{{Data: "short"}}}})
		var seen []string
		for range 5 {
			g := r.must("/v1/chat/completions", streamed)
			text := ""
			for _, l := range g.lines {
				if _, rest, ok := strings.Cut(l.Text, `"delta":{"content":"`); ok {
					word, _, _ := strings.Cut(rest, `"`)
					text += word
				}
			}
			seen = append(seen, time.Duration(g.status).String()+" "+text+" "+g.header.Get("X-Tea")+" "+g.end.String())
		}
		want := []string{"200ns eu 2  0s", "200ns   0s", "200ns eu 2 3  70ms", "418ns  green 0s", "503ns   0s"}
		if d := cmp.Diff(want, seen); d != "" {
			r.Error(d)
		}
	})
}

func TestRaw(t *testing.T) {
	two := []upstream.Part{{After: 20 * ms, Data: "a\n"}, {Data: "b\n"}, {After: 30 * ms, Data: "c"}}
	for name, test := range map[string]struct {
		raw     upstream.Raw
		lines   []line
		headers time.Duration
		end     time.Duration // a second: the caller gave up
		broken  bool
		noReply bool
		stats   [4]int
	}{
		"zero":   {upstream.Raw{}, nil, 0, 0, false, false, [4]int{1, 0, 0, 0}},
		"parts":  {upstream.Raw{Delay: 10 * ms, Parts: two}, []line{{30 * ms, "a"}, {30 * ms, "b"}, {60 * ms, "c"}}, 10 * ms, 60 * ms, false, false, [4]int{1, 0, 0, 0}},
		"stall":  {upstream.Raw{Parts: two[:1], End: upstream.Stall}, []line{{20 * ms, "a"}}, 0, time.Second, true, false, [4]int{0, 0, 0, 1}},
		"silent": {upstream.Raw{End: upstream.Stall}, nil, 0, time.Second, true, false, [4]int{0, 0, 1, 0}},
		"reset":  {upstream.Raw{Parts: two[:1], End: upstream.Reset}, []line{{20 * ms, "a"}}, 0, 20 * ms, true, false, [4]int{0, 1, 0, 0}},
		"refuse": {upstream.Raw{Delay: 10 * ms, End: upstream.Refused}, nil, 0, 0, false, true, [4]int{0, 1, 0, 0}},
		"hang":   {upstream.Raw{End: upstream.Hang}, nil, time.Second, 0, false, true, [4]int{0, 0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, upstream.Behaviour{}, func(r rig) {
				r.server.Script(upstream.Step{Raw: &test.raw})
				ctx, cancel := context.WithTimeout(r.Context(), time.Second)
				defer cancel()
				g, err := r.post(ctx, "/anything/at/all", "no JSON")
				if (err != nil) != test.noReply || (g.err != nil) != test.broken || g.headers != test.headers || g.end != test.end {
					r.Errorf("headers at %v, end at %v, errors %v, %v", g.headers, g.end, err, g.err)
				}
				if d := cmp.Diff(test.lines, g.lines); d != "" {
					r.Error(d)
				}
				s := r.settled()
				if d := cmp.Diff(test.stats, [4]int{s.Answered, s.Failed, s.CancelledBefore, s.CancelledAfter}); d != "" {
					r.Error(d)
				}
			})
		})
	}
}
