package middleware_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/middleware"
)

func TestPhases(t *testing.T) {
	traced := middleware.Timing{Conn: 30 * ms, Wrote: 35 * ms}
	streamed := middleware.Attempt{Headers: 200 * ms, TTFT: 300 * ms, LastContent: 800 * ms, Total: 810 * ms, Timing: traced}
	whole := middleware.Attempt{Headers: 790 * ms, Total: 800 * ms, Timing: traced}
	for name, test := range map[string]struct {
		of     middleware.Attempt
		server middleware.ServerTiming
		want   middleware.Phases
	}{
		"the provider says nothing": {streamed, middleware.ServerTiming{},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Wait: 265 * ms, Decode: 500 * ms}},
		// 300 - 35 - 70 - 29 = 166
		"queue and prefill": {streamed, middleware.ServerTiming{Queue: 70 * ms, Prefill: 29 * ms, Decode: 450 * ms},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Queue: 70 * ms, Prefill: 29 * ms, Network: 166 * ms, Decode: 500 * ms}},
		// 230 of its own, of which 128 + 33 are accounted for; 300 - 35 - 230 = 35
		"all in all": {streamed, middleware.ServerTiming{Queue: 128 * ms, Prefill: 33 * ms, TTFT: 230 * ms},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Queue: 128 * ms, Prefill: 33 * ms, Wait: 69 * ms, Network: 35 * ms, Decode: 500 * ms}},
		// 140 until its headers, which took 200 - 35 here: 25 are the network's; the
		// 100 from there to the first token are waited for.
		"until its headers": {streamed, middleware.ServerTiming{Headers: 140 * ms},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Wait: 240 * ms, Network: 25 * ms, Decode: 500 * ms}},
		"more than there was": {streamed, middleware.ServerTiming{Queue: 100 * ms, Prefill: time.Second},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Queue: 100 * ms, Prefill: 165 * ms, Decode: 500 * ms}},
		"whole": {whole, middleware.ServerTiming{},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Wait: 765 * ms}},
		// 800 - 35 - 650 = 115
		"whole, in parts": {whole, middleware.ServerTiming{Queue: 50 * ms, Prefill: 100 * ms, Decode: 500 * ms},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Queue: 50 * ms, Prefill: 100 * ms, Decode: 500 * ms, Network: 115 * ms}},
		"whole, in one": {whole, middleware.ServerTiming{Headers: 700 * ms},
			middleware.Phases{Connect: 30 * ms, Send: 5 * ms, Wait: 700 * ms, Network: 65 * ms}},
		"no answer": {middleware.Attempt{Total: 500 * ms, Timing: middleware.Timing{Conn: 30 * ms}}, middleware.ServerTiming{},
			middleware.Phases{Connect: 30 * ms, Wait: 470 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			test.of.Server = test.server
			if diff := cmp.Diff(test.want, test.of.Phases()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPhasesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(0, 100).Draw(t, name)) * ms
		}
		a := middleware.Attempt{
			Headers: d("headers"), TTFT: d("ttft"), LastContent: d("last"), Total: d("total"),
			Timing: middleware.Timing{Conn: d("conn"), Wrote: d("wrote")},
			Server: middleware.ServerTiming{Queue: d("queue"), Prefill: d("prefill"), Decode: d("decode"), TTFT: d("server"), Headers: d("processing")},
		}
		p := a.Phases()
		got := p.Connect + p.Send + p.Network + p.Queue + p.Prefill + p.Wait
		want := a.TTFT
		if want == 0 {
			got, want = got+p.Decode, a.Total
		}
		if got != want || min(p.Connect, p.Send, p.Network, p.Queue, p.Prefill, p.Wait, p.Decode) < 0 {
			t.Errorf("%+v adds up to %v, want %v", p, got, want)
		}
	})
}
