package upstream_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/internal/upstream"
)

func TestChatStreamThroughSDK(t *testing.T) {
	b := upstream.Behaviour{
		TTFT: median(200 * ms), Prefill: upstream.Prefill, Pace: median(10 * ms), Output: upstream.Length{Median: 3},
	}
	both(t, b, func(r rig) {
		start := time.Now()
		stream := r.openai.Chat.Completions.NewStreaming(r.Context(), openai.ChatCompletionNewParams{
			Model:         "gpt-4o",
			Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("x", 400))},
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
		})
		var acc openai.ChatCompletionAccumulator
		var seen []line
		for stream.Next() {
			acc.AddChunk(stream.Current())
			for _, choice := range stream.Current().Choices {
				seen = append(seen, line{time.Since(start), choice.Delta.Content + choice.FinishReason})
			}
		}
		if stream.Err() != nil {
			r.Fatal(stream.Err())
		}
		// 400 bytes are 100 tokens: 100 x 60 us = 6 ms of prefill.
		want := []line{{206 * ms, ""}, {206 * ms, "eu"}, {216 * ms, " 2"}, {226 * ms, " 3"}, {226 * ms, "stop"}}
		if d := cmp.Diff(want, seen); d != "" {
			r.Error(d)
		}
		if got := acc.Choices[0].Message.Content; got != r.server.Text(3) || got != "eu 2 3" {
			r.Errorf("answer %q", got)
		}
		if u := acc.Usage; u.PromptTokens != 100 || u.CompletionTokens != 3 || u.TotalTokens != 103 {
			r.Errorf("usage %+v", u)
		}
		//lint:ignore SA1019 deprecated, and still sent: it says which server answered
		if acc.Model != "gpt-4o" || acc.ID != "chatcmpl-eu-1" || acc.SystemFingerprint != "fp_eu" || acc.Created != start.Unix() {
			r.Errorf("identity %s %s %d", acc.Model, acc.ID, acc.Created)
		}
		want2 := upstream.Stats{Requests: 1, Answered: 1, MaxInFlight: 1, Tokens: 3, PromptTokens: 100}
		stream.Close()
		if d := cmp.Diff(want2, r.settled()); d != "" {
			r.Error(d)
		}
	})
}

func TestChatWholeThroughSDK(t *testing.T) {
	b := upstream.Behaviour{TTFT: median(200 * ms), Pace: median(10 * ms), Output: upstream.Length{Median: 3}, Reasoning: 2, ShowReasoning: true}
	both(t, b, func(r rig) {
		start := time.Now()
		res, err := r.openai.Chat.Completions.New(r.Context(), openai.ChatCompletionNewParams{
			Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")}, N: param.NewOpt(int64(2)),
		})
		if err != nil {
			r.Fatal(err)
		}
		if took := time.Since(start); took != 240*ms { // 200 + 4 tokens after the first of 2+3
			r.Errorf("took %v", took)
		}
		if len(res.Choices) != 2 || res.Choices[1].Message.Content != "eu 2 3" || res.Choices[1].FinishReason != "stop" {
			r.Errorf("choices %+v", res.Choices)
		}
		if got := gjson.Get(res.Choices[0].Message.RawJSON(), "reasoning_content").Str; got != "hm 2" {
			r.Errorf("reasoning %q", got)
		}
		if u := res.Usage; u.PromptTokens != 2 || u.CompletionTokens != 10 || u.CompletionTokensDetails.ReasoningTokens != 4 {
			r.Errorf("usage %+v", u)
		}
	})
}

// The times of the content events, to the nanosecond.
func TestChatTimes(t *testing.T) {
	base := upstream.Behaviour{TTFT: median(100 * ms), Pace: median(10 * ms), Output: upstream.Length{Median: 6}, NoDone: true}
	for name, test := range map[string]struct {
		set     func(*upstream.Behaviour)
		headers time.Duration
		events  []time.Duration
		end     time.Duration
	}{
		"plain": {func(*upstream.Behaviour) {}, 100 * ms,
			[]time.Duration{100 * ms, 110 * ms, 120 * ms, 130 * ms, 140 * ms, 150 * ms}, 150 * ms},
		"early headers": {func(b *upstream.Behaviour) { b.EarlyHeaders = 1 }, 0,
			[]time.Duration{100 * ms, 110 * ms, 120 * ms, 130 * ms, 140 * ms, 150 * ms}, 150 * ms},
		"four tokens to an event": {func(b *upstream.Behaviour) { b.TokensPerEvent = 4 }, 100 * ms,
			[]time.Duration{100 * ms, 120 * ms}, 120 * ms}, // 4 tokens, then 2 more
		"bursts of three": {func(b *upstream.Behaviour) { b.EventsPerBurst = 3 }, 100 * ms,
			[]time.Duration{100 * ms, 130 * ms, 130 * ms, 130 * ms, 150 * ms, 150 * ms}, 150 * ms},
		"hidden reasoning": {func(b *upstream.Behaviour) { b.Reasoning = 30; b.Output.Median = 2 }, 400 * ms,
			[]time.Duration{400 * ms, 410 * ms}, 410 * ms},
		"shown reasoning": {func(b *upstream.Behaviour) { b.Reasoning, b.ShowReasoning = 2, true; b.Output.Median = 2 }, 100 * ms,
			[]time.Duration{100 * ms, 110 * ms, 120 * ms, 130 * ms}, 130 * ms},
		"tail": {func(b *upstream.Behaviour) { b.Tail = 2 * ms; b.Output.Median = 1 }, 100 * ms,
			[]time.Duration{100 * ms}, 102 * ms},
		"spike": {func(b *upstream.Behaviour) { b.Slow = upstream.Slow{Share: 1, TTFT: 8, Pace: 2}; b.Output.Median = 2 }, 800 * ms,
			[]time.Duration{800 * ms, 820 * ms}, 820 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			b := base
			test.set(&b)
			both(t, b, func(r rig) {
				g := r.must("/v1/chat/completions", streamed)
				var events []time.Duration
				for _, l := range g.lines {
					if delta := gjson.Get(strings.TrimPrefix(l.Text, "data: "), "choices.0.delta"); delta.Get("content").Str != "" ||
						delta.Get("reasoning_content").Str != "" {
						events = append(events, l.At)
					}
				}
				if d := cmp.Diff(test.events, events); d != "" {
					r.Error(d)
				}
				if g.headers != test.headers || g.end != test.end {
					r.Errorf("headers at %v, end at %v; want %v, %v", g.headers, g.end, test.headers, test.end)
				}
			})
		})
	}
}

func TestPreamble(t *testing.T) {
	for preamble, want := range map[upstream.Preamble][]string{
		upstream.RolePreamble:  {`{"role":"assistant","content":""}`, `{"content":"eu"}`, `{}`},
		upstream.NoPreamble:    {`{"role":"assistant","content":"eu"}`, `{}`},
		upstream.AzurePreamble: {``, `{"role":"assistant","content":""}`, `{"content":"eu"}`, `{}`},
	} {
		both(t, upstream.Behaviour{Preamble: preamble, Output: upstream.Length{Median: 1}, NoDone: true}, func(r rig) {
			var deltas []string
			for _, l := range r.must("/v1/chat/completions", streamed).lines {
				deltas = append(deltas, gjson.Get(strings.TrimPrefix(l.Text, "data: "), "choices.0.delta").Raw)
			}
			if d := cmp.Diff(want, deltas); d != "" {
				r.Error(d)
			}
		})
	}
}

func TestKeepAlive(t *testing.T) {
	b := upstream.Behaviour{TTFT: median(25 * ms), EarlyHeaders: 1, KeepAlive: 10 * ms, Output: upstream.Length{Median: 2}, Pace: median(12 * ms)}
	both(t, b, func(r rig) {
		var at []time.Duration
		for _, l := range r.must("/v1/chat/completions", streamed).lines {
			if l.Text == ": keep-alive" {
				at = append(at, l.At)
			}
		}
		if d := cmp.Diff([]time.Duration{10 * ms, 20 * ms, 30 * ms}, at); d != "" { // the last event is at 37 ms
			r.Error(d)
		}
	})
}

func TestUsageStyles(t *testing.T) {
	asked := strings.Replace(streamed, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1)
	for name, test := range map[string]struct {
		style upstream.UsageStyle
		body  string
		want  []string // completion tokens or null, chunk by chunk; "": no usage; x: in x_groq
	}{
		"asked":      {upstream.UsageAsked, asked, []string{"null", "null", "null", "null", "2"}},
		"not asked":  {upstream.UsageAsked, streamed, []string{"", "", "", ""}},
		"always":     {upstream.UsageAlways, streamed, []string{"", "", "", "", "2"}},
		"finish":     {upstream.UsageFinish, streamed, []string{"", "", "", "2"}},
		"cumulative": {upstream.UsageCumulative, streamed, []string{"0", "1", "2", "2"}},
		"groq":       {upstream.UsageGroq, streamed, []string{"", "", "", "x2"}},
		"never":      {upstream.UsageNever, asked, []string{"", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, upstream.Behaviour{Usage: test.style, Output: upstream.Length{Median: 2}}, func(r rig) {
				g := r.must("/v1/chat/completions", test.body)
				if last := g.lines[len(g.lines)-1].Text; last != "data: [DONE]" {
					r.Fatalf("last line %s", last)
				}
				var seen []string
				for _, l := range g.lines[:len(g.lines)-1] {
					chunk := gjson.Parse(strings.TrimPrefix(l.Text, "data: "))
					switch {
					case chunk.Get("x_groq.usage").Exists():
						seen = append(seen, "x"+chunk.Get("x_groq.usage.completion_tokens").Raw)
					case chunk.Get("usage.completion_tokens").Exists():
						seen = append(seen, chunk.Get("usage.completion_tokens").Raw)
					default:
						seen = append(seen, chunk.Get("usage").Raw)
					}
				}
				if d := cmp.Diff(test.want, seen); d != "" {
					r.Error(d)
				}
			})
		})
	}
}

func TestCap(t *testing.T) {
	for name, test := range map[string]struct {
		b      upstream.Behaviour
		member string
		want   string // answer, finish reason, completion tokens
	}{
		"below":             {upstream.Behaviour{Output: upstream.Length{Median: 3}}, `"max_tokens":4`, "eu 2 3|stop|3"},
		"exact":             {upstream.Behaviour{Output: upstream.Length{Median: 3}}, `"max_tokens":3`, "eu 2 3|stop|3"},
		"above":             {upstream.Behaviour{Output: upstream.Length{Median: 3}}, `"max_completion_tokens":2`, "eu 2|length|2"},
		"the smaller":       {upstream.Behaviour{Output: upstream.Length{Median: 3}}, `"max_tokens":1,"max_completion_tokens":2`, "eu|length|1"},
		"ignored":           {upstream.Behaviour{Output: upstream.Length{Median: 3}, IgnoreCap: true}, `"max_tokens":1`, "eu 2 3|stop|3"},
		"reasoning":         {upstream.Behaviour{Output: upstream.Length{Median: 3}, Reasoning: 5}, `"max_tokens":6`, "eu|length|6"},
		"eaten":             {upstream.Behaviour{Output: upstream.Length{Median: 3}, Reasoning: 5}, `"max_tokens":4`, "|length|4"},
		"eaten while shown": {upstream.Behaviour{Output: upstream.Length{Median: 3}, Reasoning: 5, ShowReasoning: true}, `"max_tokens":4`, "|length|4"},
	} {
		t.Run(name, func(t *testing.T) {
			test.b.Usage = upstream.UsageFinish
			both(t, test.b, func(r rig) {
				for _, body := range []string{streamed, plain} {
					var text, finish, tokens string
					for _, l := range r.must("/v1/chat/completions", strings.Replace(body, "{", "{"+test.member+",", 1)).lines {
						j := gjson.Parse(strings.TrimPrefix(l.Text, "data: "))
						text += j.Get("choices.0.delta.content").Str + j.Get("choices.0.message.content").Str
						finish += j.Get("choices.0.finish_reason").Str
						tokens += j.Get("usage.completion_tokens").Raw
					}
					if got := text + "|" + finish + "|" + tokens; got != test.want {
						r.Errorf("%q, want %q", got, test.want)
					}
				}
			})
		})
	}
}

func TestChoices(t *testing.T) {
	both(t, upstream.Behaviour{Output: upstream.Length{Median: 2}}, func(r rig) {
		stream := r.openai.Chat.Completions.NewStreaming(r.Context(), openai.ChatCompletionNewParams{
			Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("x")}, N: param.NewOpt(int64(2)),
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
		})
		defer stream.Close()
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			acc.AddChunk(stream.Current())
		}
		var texts []string
		for _, c := range acc.Choices {
			texts = append(texts, c.Message.Content+c.FinishReason)
		}
		if !slices.Equal(texts, []string{"eu 2stop", "eu 2stop"}) || acc.Usage.CompletionTokens != 4 {
			r.Errorf("%q %+v", texts, acc.Usage)
		}
	})
}

func TestNoStream(t *testing.T) {
	both(t, upstream.Behaviour{NoStream: true, Output: upstream.Length{Median: 2}}, func(r rig) {
		g := r.must("/v1/chat/completions", streamed)
		if ct := g.header.Get("Content-Type"); ct != "application/json" {
			r.Errorf("content type %s", ct)
		}
		if got := gjson.Get(g.body, "choices.0.message.content").Str; got != "eu 2" {
			r.Errorf("answer %q", got)
		}
	})
}
