package upstream_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	oairesponses "github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/internal/upstream"
)

func ask(text string) oairesponses.ResponseNewParams {
	return oairesponses.ResponseNewParams{
		Model: "m", Input: oairesponses.ResponseNewParamsInputUnion{OfString: param.NewOpt(text)},
	}
}

func TestResponsesStreamThroughSDK(t *testing.T) {
	b := upstream.Behaviour{
		TTFT: median(100 * ms), Pace: median(10 * ms), EarlyHeaders: 1, Output: upstream.Length{Median: 2}, Reasoning: 2, ShowReasoning: true,
	}
	both(t, b, func(r rig) {
		start := time.Now()
		stream := r.openai.Responses.NewStreaming(r.Context(), ask("hello"))
		defer stream.Close()
		var seen []line
		var last oairesponses.Response
		for n := int64(0); stream.Next(); n++ {
			e := stream.Current()
			seen = append(seen, line{time.Since(start), e.Type + e.Delta})
			if e.SequenceNumber != n {
				r.Errorf("%s has number %d, want %d", e.Type, e.SequenceNumber, n)
			}
			last = e.Response
		}
		if stream.Err() != nil {
			r.Fatal(stream.Err())
		}
		want := []line{
			{0, "response.created"}, {0, "response.in_progress"},
			{100 * ms, "response.output_item.added"}, {100 * ms, "response.reasoning_summary_text.deltahm"},
			{110 * ms, "response.reasoning_summary_text.delta 2"}, {110 * ms, "response.output_item.done"},
			{120 * ms, "response.output_item.added"}, {120 * ms, "response.content_part.added"},
			{120 * ms, "response.output_text.deltaeu"}, {130 * ms, "response.output_text.delta 2"},
			{130 * ms, "response.output_text.done"}, {130 * ms, "response.content_part.done"}, {130 * ms, "response.output_item.done"},
			{130 * ms, "response.completed"},
		}
		if d := cmp.Diff(want, seen); d != "" {
			r.Error(d)
		}
		if last.ID != "resp_eu-1" || last.OutputText() != "eu 2" || len(last.Output) != 2 || last.Status != "completed" {
			r.Errorf("response %s", last.RawJSON())
		}
		if u := last.Usage; u.InputTokens != 2 || u.OutputTokens != 4 || u.OutputTokensDetails.ReasoningTokens != 2 || u.TotalTokens != 6 {
			r.Errorf("usage %+v", u)
		}
	})
}

func TestResponsesWholeThroughSDK(t *testing.T) {
	both(t, upstream.Behaviour{Output: upstream.Length{Median: 5}}, func(r rig) {
		p := ask("hello")
		p.MaxOutputTokens = param.NewOpt(int64(2))
		res, err := r.openai.Responses.New(r.Context(), p)
		if err != nil {
			r.Fatal(err)
		}
		if res.OutputText() != "eu 2" || res.Status != "incomplete" || res.IncompleteDetails.Reason != "max_output_tokens" {
			r.Errorf("response %s", res.RawJSON())
		}
		p = ask("go on")
		p.PreviousResponseID = param.NewOpt(res.ID)
		if _, err = r.openai.Responses.New(r.Context(), p); err != nil {
			r.Error(err)
		}
		p.PreviousResponseID = param.NewOpt("resp_us-1")
		_, err = r.openai.Responses.New(r.Context(), p)
		wantError(r.T, err, 400, "previous_response_not_found")
	})
}

func TestCompletionsThroughSDK(t *testing.T) {
	both(t, upstream.Behaviour{Output: upstream.Length{Median: 3}}, func(r rig) {
		p := openai.CompletionNewParams{Model: "m", Prompt: openai.CompletionNewParamsPromptUnion{OfString: param.NewOpt("abcdefgh")}}
		whole, err := r.openai.Completions.New(r.Context(), p)
		if err != nil {
			r.Fatal(err)
		}
		if whole.Choices[0].Text != "eu 2 3" || whole.ID != "cmpl-eu-1" || whole.Usage.PromptTokens != 2 || whole.Usage.CompletionTokens != 3 {
			r.Errorf("answer %s", whole.RawJSON())
		}
		stream := r.openai.Completions.NewStreaming(r.Context(), p)
		defer stream.Close()
		text := ""
		for stream.Next() {
			text += stream.Current().Choices[0].Text + string(stream.Current().Choices[0].FinishReason)
		}
		if text != "eu 2 3stop" || stream.Err() != nil {
			r.Errorf("%q %v", text, stream.Err())
		}
	})
}

func TestEmbeddingsThroughSDK(t *testing.T) {
	both(t, upstream.Behaviour{TTFT: median(30 * ms), Pace: median(time.Second)}, func(r rig) {
		start := time.Now()
		res, err := r.openai.Embeddings.New(r.Context(), openai.EmbeddingNewParams{
			Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"abcd", "efgh"}},
		})
		if err != nil {
			r.Fatal(err)
		}
		if len(res.Data) != 2 || res.Data[1].Index != 1 || !cmp.Equal(res.Data[1].Embedding, []float64{0.6, 0.8}) || res.Usage.PromptTokens != 2 {
			r.Errorf("answer %s", res.RawJSON())
		}
		if took := time.Since(start); took != 30*ms {
			r.Errorf("took %v", took)
		}
		if s := r.settled(); s.Answered != 1 || s.Tokens != 0 {
			r.Errorf("%+v", s)
		}
	})
}

func TestMessages(t *testing.T) {
	body := `{"model":"c","max_tokens":9,"stream":true,"system":"ab","messages":[{"role":"user","content":[{"type":"text","text":"cd"}]}]}`
	b := upstream.Behaviour{TTFT: median(100 * ms), Pace: median(10 * ms), EarlyHeaders: 1, Output: upstream.Length{Median: 2}}
	both(t, b, func(r rig) {
		g := r.must("/v1/messages", body)
		want := []line{
			{0, `event: message_start`},
			{0, `data: {"type":"message_start","message":{"id":"msg_eu-1","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`},
			{0, `event: content_block_start`},
			{0, `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
			{0, `event: ping`}, {0, `data: {"type":"ping"}`},
			{100 * ms, `event: content_block_delta`},
			{100 * ms, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"eu"}}`},
			{110 * ms, `event: content_block_delta`},
			{110 * ms, `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" 2"}}`},
			{110 * ms, `event: content_block_stop`}, {110 * ms, `data: {"type":"content_block_stop","index":0}`},
			{110 * ms, `event: message_delta`},
			{110 * ms, `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}`},
			{110 * ms, `event: message_stop`}, {110 * ms, `data: {"type":"message_stop"}`},
		}
		if d := cmp.Diff(want, g.lines); d != "" {
			r.Error(d)
		}
		r.server.Set(func(b *upstream.Behaviour) { b.Reasoning, b.ShowReasoning = 2, true })
		g = r.must("/v1/messages", strings.Replace(body, "9", "3", 1))
		var blocks []string
		for _, l := range g.lines {
			if j := gjson.Parse(strings.TrimPrefix(l.Text, "data: ")); strings.HasPrefix(j.Get("type").Str, "content_block") {
				blocks = append(blocks, j.Get("type").Str[len("content_block_"):]+j.Get("index").Raw+j.Get("delta.text").Str+j.Get("delta.thinking").Str)
			}
		}
		if d := cmp.Diff([]string{"start0", "delta0hm", "delta0 2", "stop0", "start1", "delta1eu", "stop1"}, blocks); d != "" {
			r.Error(d)
		}
		whole := gjson.Parse(r.must("/v1/messages", strings.Replace(body, `"stream":true,`, "", 1)).body)
		if got := whole.Get("content.#.type").Raw + whole.Get("content.1.text").Str + whole.Get("stop_reason").Str + whole.Get("usage.output_tokens").Raw; got != `["thinking","text"]eu 2end_turn4` {
			r.Errorf("whole: %s", got)
		}
	})
}

func TestModels(t *testing.T) {
	both(t, upstream.Behaviour{Models: []string{"a", "b"}}, func(r rig) {
		list, err := r.openai.Models.List(r.Context())
		if err != nil || len(list.Data) != 2 || list.Data[1].ID != "b" || list.Data[1].OwnedBy != "eu" {
			r.Errorf("%+v %v", list, err)
		}
		if m, err := r.openai.Models.Get(r.Context(), "a"); err != nil || m.ID != "a" {
			r.Errorf("%+v %v", m, err)
		}
		_, err = r.openai.Models.Get(r.Context(), "c")
		wantError(r.T, err, 404, "model_not_found")
		_, err = r.openai.Files.Get(r.Context(), "file-1")
		wantError(r.T, err, 404, "")
	})
}

// What the formats do at the edges: nothing but reasoning, no usage, several choices, packed vectors.
func TestFormatEdges(t *testing.T) {
	eaten := upstream.Behaviour{Reasoning: 4, ShowReasoning: true}
	silent := upstream.Behaviour{Usage: upstream.UsageNever}
	short := upstream.Behaviour{Output: upstream.Length{Median: 2}, Reasoning: 1, ShowReasoning: true}
	for name, test := range map[string]struct {
		b          upstream.Behaviour
		path, body string
		want       string // the body has it
		not        string // the body has it not
	}{
		"messages, eaten":       {eaten, "/messages", `{"model":"m","stream":true,"max_tokens":2,"messages":[]}`, `content_block_stop","index":0`, `text_delta`},
		"messages, silent":      {silent, "/messages", `{"model":"m","stream":true,"messages":[]}`, `"usage":null`, `output_tokens`},
		"responses, eaten":      {eaten, "/responses", `{"model":"m","stream":true,"max_output_tokens":2,"input":"x"}`, `response.incomplete`, `output_text.done`},
		"responses, silent":     {silent, "/responses", `{"model":"m","stream":true,"input":"x"}`, `"usage":null`, `output_tokens`},
		"chat, silent":          {silent, "/chat/completions", plain, `"finish_reason":"stop"}]}`, `usage`},
		"completions, thinking": {short, "/completions", `{"model":"m","stream":true,"prompt":"x"}`, `"text":"hm"`, `reasoning_content`},
		"completions, two":      {short, "/completions", `{"model":"m","n":2,"prompt":["x","y"]}`, `{"text":"hmeu 2","index":1,`, `"index":2`},
		"embeddings, packed":    {upstream.Behaviour{}, "/embeddings", `{"model":"m","input":"x","encoding_format":"base64"}`, `"embedding":"mpkZP83MTD8="`, `0.6`},
		"embeddings, streamed":  {upstream.Behaviour{}, "/embeddings", `{"model":"m","input":"x","stream":true}`, `"embedding":[0.6,0.8]`, `data: `},
		"unknown path":          {upstream.Behaviour{}, "/moderations", `{"model":"m"}`, `Invalid URL (POST /v1/moderations)`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, test.b, func(r rig) {
				g := r.must("/v1"+test.path, test.body)
				if !strings.Contains(g.body, test.want) || test.not != "" && strings.Contains(g.body, test.not) {
					r.Errorf("want %s, not %s: %s", test.want, test.not, g.body)
				}
			})
		})
	}
}
