package client_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// deed is one call, what the application did to it, and what it got.
type deed struct {
	format   format
	streamed bool
	endpoint string
	limit    int // on tokens; 0: none
	end      string
	after    time.Duration // when it is ended
	reads    int           // reads before the answer is closed
	pause    time.Duration // between two reads

	call   *middleware.Call
	status int
	body   []byte
	err    error
	took   time.Duration
	whole  bool // the answer was read to io.EOF
}

func newDeed(luck *rand.Rand) *deed {
	d := &deed{
		format: formats[luck.IntN(len(formats))], streamed: luck.IntN(3) > 0,
		endpoint: []string{"chat", "chat", "tight", "some", "default"}[luck.IntN(5)],
		end:      []string{"", "", "", "", "", "", "cancel", "deadline", "close"}[luck.IntN(9)],
		after:    time.Duration(luck.IntN(1500)) * ms, reads: luck.IntN(20),
	}
	if luck.IntN(4) == 0 {
		d.limit = 5 + luck.IntN(60)
	}
	if luck.IntN(10) == 0 {
		d.pause = time.Duration(luck.IntN(30)) * ms
	}
	d.streamed = d.streamed && d.format.spoken != ""
	return d
}

// format is a wire format as this test speaks it.
type format struct {
	path, prompt, limit string
	spoken, written     string // where the text is, of an event and of a whole answer
}

var formats = []format{
	{"chat/completions", `"messages":[{"role":"user","content":"hello"}]`, "max_tokens", "choices.0.delta.content", "choices.0.message.content"},
	{"completions", `"prompt":"hello"`, "max_tokens", "choices.0.text", "choices.0.text"},
	{"responses", `"input":"hello"`, "max_output_tokens", "delta", `output.#(type=="message").content.0.text`},
	{"messages", `"messages":[{"role":"user","content":"hello"}]`, "max_tokens", "delta.text", "content.0.text"},
	{"embeddings", `"input":"hello"`, "", "", ""},
}

func (d *deed) request(ctx context.Context) *http.Request {
	body := `{"model":"m",` + d.format.prompt
	if d.limit > 0 && d.format.limit != "" {
		body += fmt.Sprintf(`,%q:%d`, d.format.limit, d.limit)
	}
	body += fmt.Sprintf(`,"stream":%v}`, d.streamed)
	r, err := http.NewRequestWithContext(ctx, "POST", client.BaseURL+d.format.path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	return r
}

// do makes the call and reads its answer, as far as the application goes.
func (d *deed) do(ctx context.Context, rt http.RoundTripper) {
	ctx, d.call = middleware.WithCall(budget.With(ctx, d.endpoint))
	var cancel context.CancelFunc
	switch d.end {
	case "cancel":
		ctx, cancel = context.WithCancel(ctx)
		defer time.AfterFunc(d.after, cancel).Stop()
	case "deadline":
		ctx, cancel = context.WithTimeout(ctx, d.after)
	default:
		cancel = func() {}
	}
	defer cancel()
	start := time.Now()
	defer func() { d.took = time.Since(start) }()
	resp, err := rt.RoundTrip(d.request(ctx))
	if d.err = err; err != nil {
		return
	}
	defer resp.Body.Close()
	d.status = resp.StatusCode
	piece := make([]byte, 512)
	for n := 0; d.end != "close" || n < d.reads; n++ {
		k, err := resp.Body.Read(piece)
		d.body = append(d.body, piece[:k]...)
		if err != nil {
			d.whole = err == io.EOF
			if !d.whole {
				d.err = err
			}
			return
		}
		time.Sleep(d.pause)
	}
}

// text is what the answer says, as far as it came.
func (d *deed) text() string {
	if !d.streamed {
		return gjson.GetBytes(d.body, d.format.written).String()
	}
	var text strings.Builder
	for line := range strings.Lines(string(d.body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.HasSuffix(line, "\n") {
			if kind := gjson.Get(data, "type").String(); kind == "" || kind == "response.output_text.delta" || kind == "content_block_delta" {
				text.WriteString(gjson.Get(data, d.format.spoken).String())
			}
		}
	}
	return text.String()
}
