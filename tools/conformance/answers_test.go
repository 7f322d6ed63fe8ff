package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// steady begins after 20 ms, has 16 tokens, and ends 15 ms later.
var steady = upstream.Behaviour{TTFT: upstream.Latency{Median: 20 * ms}, Pace: upstream.Latency{Median: ms}}

// quirks are ways of providers that an SDK knows to read.
var quirks = map[string]func(*upstream.Behaviour){
	"early headers":  func(b *upstream.Behaviour) { b.EarlyHeaders = 1 },
	"no preamble":    func(b *upstream.Behaviour) { b.Preamble = upstream.NoPreamble },
	"keep-alives":    func(b *upstream.Behaviour) { b.EarlyHeaders, b.KeepAlive = 1, 5*ms },
	"reasoning":      func(b *upstream.Behaviour) { b.Reasoning, b.ShowReasoning = 4, true },
	"large events":   func(b *upstream.Behaviour) { b.TokensPerEvent, b.EventsPerBurst = 3, 2 },
	"usage unasked":  func(b *upstream.Behaviour) { b.Usage = upstream.UsageFinish },
	"stays open":     func(b *upstream.Behaviour) { b.Tail = 50 * ms },
	"ends with text": func(b *upstream.Behaviour) { b.Output = upstream.Length{Median: 1} },
}

// An SDK sees through the client what it sees without.
func TestAnswersAreTheSame(t *testing.T) {
	everywhere(t, steady, answersAreTheSame)
	for quirk, change := range quirks {
		t.Run(quirk, func(t *testing.T) {
			b := steady
			change(&b)
			bubble(t, b, answersAreTheSame)
		})
	}
}

func answersAreTheSame(t *testing.T, s sdk, p *pair) {
	want, err := p.direct(t, s, question{prompt: "hello"})
	if err != nil {
		t.Fatalf("without the client: %v", err)
	}
	got, err := p.ours(t, s, question{prompt: "hello"})
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v, without the client (-) and with it (+):\n%s", err, cmp.Diff(want, got))
	}
	if call := p.call(t); call.Outcome != middleware.Completed || call.Target != "one" || call.Streamed != s.streamed {
		t.Errorf("the call is %+v", call)
	}
}

// Whatever the SDK, its call is measured.
func TestCallsAreMeasured(t *testing.T) {
	bubble(t, steady, func(t *testing.T, s sdk, p *pair) {
		if _, err := p.ours(t, s, question{prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
		call := p.call(t)
		got := []time.Duration{call.TTFT, call.TPOT, call.Total}
		want := []time.Duration{20 * ms, ms, 35 * ms}
		if !s.streamed {
			want = []time.Duration{0, 0, 35 * ms}
		}
		if diff := cmp.Diff(want, got); diff != "" || call.Usage.Output != 16 || call.Usage.Input != 2 {
			t.Errorf("TTFT, TPOT and total:\n%s\ntokens are %+v, want 2 and 16", diff, call.Usage)
		}
	})
}

// toolReplies call for the tool, in an answer of each format and in a stream of it.
var toolReplies = map[string]map[bool]string{
	"chat": {
		false: `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,
			"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},
			{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}]},"finish_reason":"tool_calls"}],
			"usage":{"prompt_tokens":9,"completion_tokens":20,"total_tokens":29}}`,
		true: chunk(`{"role":"assistant","content":null}`, `null`) +
			chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]}`, `null`) +
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`, `null`) +
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Paris\"}"}}]}`, `null`) +
			chunk(`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}]}`, `null`) +
			chunk(`{}`, `"tool_calls"`) + "data: [DONE]\n\n",
	},
	"messages": {
		false: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[
			{"type":"tool_use","id":"call_1","name":"get_weather","input":{"city":"Paris"}},
			{"type":"tool_use","id":"call_2","name":"get_weather","input":{"city":"Rome"}}],
			"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":20}}`,
		true: event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],`+
			`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}`) +
			event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"call_1","name":"get_weather","input":{}}`) +
			event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":""}`) +
			event("ping", `"of":"stream"`) +
			event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}`) +
			event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":"\"Paris\"}"}`) +
			event("content_block_stop", `"index":0`) +
			event("content_block_start", `"index":1,"content_block":{"type":"tool_use","id":"call_2","name":"get_weather","input":{}}`) +
			event("content_block_delta", `"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Rome\"}"}`) +
			event("content_block_stop", `"index":1`) +
			event("message_delta", `"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}`) +
			event("message_stop", `"of":"stream"`),
	},
}

func chunk(delta, finish string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + finish + "}]}\n\n"
}

func event(kind, members string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"," + members + "}\n\n"
}

// A tool goes round: the model calls for it, and gets what came of it.
func TestToolsGoRound(t *testing.T) {
	everywhere(t, steady, func(t *testing.T, s sdk, p *pair) {
		var atTarget, atTwin string // the latest request of each
		p.one.OnRequest(func(_ *http.Request, body []byte) { atTarget = asked(body) })
		p.twin.OnRequest(func(_ *http.Request, body []byte) { atTwin = asked(body) })
		kind := "application/json"
		if s.streamed {
			kind = "text/event-stream"
		}
		p.script(reply(http.StatusOK, kind, toolReplies[s.format][s.streamed]))

		q := question{prompt: "what is the weather?", tool: true}
		want, err := p.direct(t, s, q)
		if err != nil || len(want.Calls) != 2 {
			t.Fatalf("without the client: %+v, %v", want, err)
		}
		got, err := p.ours(t, s, q)
		if err != nil || cmp.Diff(want, got) != "" || atTarget != atTwin {
			t.Fatalf("%v:\n%s\nrequests:\n%s\n%s", err, cmp.Diff(want, got), atTwin, atTarget)
		}
		q.called, q.result = &got.Calls[0], "18 degrees"
		if want, err = p.direct(t, s, q); err != nil {
			t.Fatal(err)
		}
		if got, err = p.ours(t, s, q); err != nil || cmp.Diff(want, got) != "" || atTarget != atTwin {
			t.Errorf("%v:\n%s\nrequests:\n%s\n%s", err, cmp.Diff(want, got), atTwin, atTarget)
		}
	})
}

// asked is what a request says, apart from what the client may change of it.
func asked(body []byte) string {
	return gjson.GetBytes(body, "model").Raw + gjson.GetBytes(body, "messages").Raw + gjson.GetBytes(body, "tools").Raw
}

// reply is a whole reply, to be taken as it is: nobody is to try again.
func reply(status int, kind, body string) upstream.Step {
	return upstream.Step{Raw: &upstream.Raw{
		Status: status, Headers: map[string]string{"Content-Type": kind, "X-Should-Retry": "false"},
		Parts: []upstream.Part{{Data: body}},
	}}
}
