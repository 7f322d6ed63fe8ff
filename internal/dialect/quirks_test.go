package dialect_test

import (
	"os"
	"slices"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

type quirk struct {
	ID, Area, API, Title string
	Response             *struct {
		Status  int
		Headers map[string]string
		Body    string
	}
	Expect struct {
		Outcome           string
		FirstPayloadEvent *int  `json:"first_payload_event"`
		FirstVisibleEvent *int  `json:"first_visible_event"`
		PayloadEvents     *int  `json:"payload_events"`
		OutputTokens      *int  `json:"output_tokens"`
		TotalInput        *int  `json:"total_input"`
		EventTokens       []int `json:"event_tokens"`
		NoiseEvents       int   `json:"noise_events"`
		Finish            *string
		ErrorClass        string `json:"error_class"`
		Param             string
		Warning           string
		ServerTTFT        int `json:"server_ttft_ms"`
	}
}

// classes are the collection's words for kinds of error.
var classes = map[string][]int{
	"upstream_5xx":    {500, 502, 503},
	"invalid_request": {400, 422},
	"overloaded":      {503, 529},
	"rate_limit":      {429},
	"timeout":         {408, 504},
	"quota":           {402, 429},
	"content_filter":  {400},
}

var dialects = map[string]dialect.Dialect{
	"chat": dialect.Chat, "completions": dialect.Completions, "responses": dialect.Responses,
	"anthropic": dialect.Messages,
}

func TestQuirks(t *testing.T) {
	data, err := os.ReadFile(shared(t, "quirks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var quirks []quirk
	mustUnmarshal(t, data, &quirks)
	replayed := 0
	for _, q := range quirks {
		d := dialects[q.API]
		if q.Response == nil || d == nil {
			continue
		}
		replayed++
		t.Run(q.ID, func(t *testing.T) {
			switch {
			case q.Expect.Outcome == "http_error":
				replayError(t, &q)
			case q.Response.Headers["Content-Type"] == "text/event-stream" || q.ID == "Q77":
				replayStream(t, d, &q)
			default:
				replayAnswer(t, d, &q)
			}
		})
	}
	if replayed < 75 {
		t.Errorf("%d cases were replayed, want at least 75", replayed)
	}
}

func replayStream(t *testing.T, d dialect.Dialect, q *quirk) {
	for _, size := range []int{1, 7, 1 << 20} {
		got := newTally()
		readStream(d, []byte(q.Response.Body), size, got.see)
		want := &q.Expect
		check(t, "first content", got.First, want.FirstPayloadEvent)
		check(t, "first answer", got.FirstAnswer, want.FirstVisibleEvent)
		check(t, "content events", got.Contents, want.PayloadEvents)
		check(t, "output tokens", got.Usage.Output, want.OutputTokens)
		check(t, "input tokens", got.Usage.Input, want.TotalInput)
		if got.Noise != want.NoiseEvents {
			t.Errorf("noise: %d events, want %d", got.Noise, want.NoiseEvents)
		}
		if want.EventTokens != nil && !slices.Equal(got.Tokens, want.EventTokens) {
			t.Errorf("tokens per event: %v, want %v", got.Tokens, want.EventTokens)
		}
		if want.Finish != nil && got.Finish != *want.Finish && got.FinishRaw != *want.Finish {
			t.Errorf("finish: %q (%q), want %q", got.Finish, got.FinishRaw, *want.Finish)
		}
		if isError := want.Outcome == "error" && want.ErrorClass != "empty_stream"; got.Err.Present != isError {
			t.Errorf("error: %+v, want one: %t", got.Err, isError)
		} else if isError && !slices.Contains(classes[want.ErrorClass], got.Err.Status) {
			t.Errorf("error: status %d, want class %s", got.Err.Status, want.ErrorClass)
		}
		if (want.Warning == "error_after_finish") != got.LateErr {
			t.Errorf("error after the finish: %t, want %q", got.LateErr, want.Warning)
		}
	}
}

func check(t *testing.T, what string, got int, want *int) {
	t.Helper()
	if want != nil && got != *want {
		t.Errorf("%s: %d, want %d", what, got, *want)
	}
}

func replayError(t *testing.T, q *quirk) {
	e := dialect.ReadError([]byte(q.Response.Body))
	if !e.Present {
		t.Error("no error was read")
	}
	// The real status is the response's; what the body says must not contradict it.
	if class := classes[q.Expect.ErrorClass]; e.Status != 0 && class != nil && !slices.Contains(class, e.Status) {
		t.Errorf("status %d, want class %s", e.Status, q.Expect.ErrorClass)
	}
	if e.Param != q.Expect.Param && q.Expect.Param != "" {
		t.Errorf("param %q, want %q", e.Param, q.Expect.Param)
	}
}

func replayAnswer(t *testing.T, d dialect.Dialect, q *quirk) {
	var ev dialect.Event
	err := d.Answer([]byte(q.Response.Body), &ev)
	if q.Expect.Outcome == "error" {
		if err == nil {
			t.Error("Answer took it, want an error")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	check(t, "output tokens", ev.Usage.Output, q.Expect.OutputTokens)
	if ev.Finish != *q.Expect.Finish || !ev.Content || !ev.Answer {
		t.Errorf("finish %q, content %t, answer %t", ev.Finish, ev.Content, ev.Answer)
	}
}
