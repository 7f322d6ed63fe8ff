package middleware

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/router"
)

// Cap returns a middleware for a plain openai.Client that makes every
// inference call leave with a token cap: the caller's, at most m.Limit, or
// m.Default where the caller set none (0 means 4096, and 32768 for reasoning
// models). Whichever spelling the caller uses is capped; a default is written
// as max_completion_tokens, which is what OpenAI's models take.
//
// With m.Strict a call above the limit fails with a [*budget.OverCapError] and
// nothing is sent. Other requests pass untouched.
//
// A router does this by itself, by the endpoint's budget: Cap is for a client
// without one. Without a router nothing is known of the time that an answer
// takes: m.Fit is not looked at.
func Cap(m budget.MaxTokens) option.Middleware {
	return func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		d, path, ok := inferencePath(r)
		if !ok {
			return next(r)
		}
		in, err := readInference(r, d, path)
		if err != nil {
			return nil, &Error{Err: err}
		}
		if err := in.applyCap(m, 0); err != nil {
			return nil, &Error{Model: in.asks.Model, Err: err}
		}
		ed := dialect.NewEditor(in.body)
		in.writeCap(ed, capMember(d, in.spelling("max_completion_tokens")), in.limit)
		return next(withBody(r, ed.Bytes()))
	}
}

// inferencePath recognises an inference call by method and path.
func inferencePath(r *http.Request) (d dialect.Dialect, path string, ok bool) {
	if r.Method != http.MethodPost || r.URL == nil { // without a URL it is for others to refuse
		return nil, "", false
	}
	return dialect.ForPath(r.URL.Path)
}

// withBody is r with another body: a copy, since r is the caller's.
func withBody(r *http.Request, body []byte) *http.Request {
	c := *r
	c.ContentLength = int64(len(body))
	c.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	c.Body, _ = c.GetBody()
	return &c
}

// applyCap decides the call's token cap, under the model's ceiling (0: not known).
func (in *inference) applyCap(m budget.MaxTokens, ceiling int) (err error) {
	if capMember(in.dialect, "") != "" {
		in.limit, err = m.Cap(in.askedCap(), ceiling, in.reasons())
	}
	return err
}

// capFor is the token cap of an attempt: what the router found to fit.
func (in *inference) capFor(flight *router.Flight) int {
	if capMember(in.dialect, "") == "" {
		return 0
	}
	return flight.MaxTokens()
}

// askedCap is the lowest cap that the caller set in any spelling; 0: none.
func (in *inference) askedCap() int {
	asked := 0
	for _, c := range in.asks.Caps {
		if c.Value > 0 && (asked == 0 || c.Value < asked) {
			asked = c.Value
		}
	}
	return asked
}

// capName is the member that the token cap goes into: as found, as the target
// is known to take it, as the caller spells it, or else as the model does.
func (in *inference) capName(u *Upstream, m manners) string {
	switch {
	case m.capName != "":
		return capMember(in.dialect, m.capName)
	case u.CapName != "":
		return capMember(in.dialect, u.CapName)
	default:
		as := spellingOf(u.model(in.asks.Model))
		if u.Deployments && as == "max_tokens" { // they are named freely, for one of OpenAI's models
			as = spellingOf(in.asks.Model)
		}
		return capMember(in.dialect, in.spelling(as))
	}
}

// spelling is the caller's own of chat completions' two, or else.
func (in *inference) spelling(otherwise string) string {
	for _, c := range in.asks.Caps {
		if otherSpelling[c.Name] != "" {
			return c.Name
		}
	}
	return otherwise
}

// writeCap leaves exactly one cap in the body, in the spelling that is taken.
func (in *inference) writeCap(ed *dialect.Editor, name string, limit int) {
	if limit <= 0 || name == "" {
		return
	}
	written := false
	for _, c := range in.asks.Caps {
		switch {
		case c.Name != name:
			ed.Remove(c.Member)
		case c.Value != limit:
			ed.Set(c.At, strconv.Itoa(limit))
			written = true
		default:
			written = true
		}
	}
	if !written {
		ed.Add(name, strconv.Itoa(limit))
	}
	in.writeThinkingBudget(ed, limit)
}

// writeThinkingBudget leaves room for an answer under a lowered cap, and for the
// request to be taken: the budget has to lie below the cap, and there is none below
// the least. One that the caller set above its cap is the caller's (thinking between
// tool calls may have it).
func (in *inference) writeThinkingBudget(ed *dialect.Editor, limit int) {
	asked, thinking := in.askedCap(), in.asks.ThinkingBudget
	switch {
	case limit == asked || thinking < limit || asked > 0 && thinking >= asked:
	case limit > leastThinking:
		ed.Set(in.asks.ThinkingBudgetAt, strconv.Itoa(max(limit/2, leastThinking)))
	default:
		ed.Set(in.asks.ThinkingAt, `{"type":"disabled"}`)
	}
}

// capMember names the member that carries the token cap in a dialect; chat
// completions have two spellings. Empty: the dialect has none.
func capMember(d dialect.Dialect, chat string) string {
	switch d {
	case dialect.Chat:
		if chat != "" {
			return chat
		}
		return "max_tokens"
	case dialect.Completions, dialect.Messages:
		return "max_tokens"
	case dialect.Responses:
		return "max_output_tokens"
	default:
		return ""
	}
}

func takesStreamOptions(d dialect.Dialect) bool {
	return d == dialect.Chat || d == dialect.Completions
}

// askForUsage sets stream_options.include_usage and leaves other options be.
func (in *inference) askForUsage(ed *dialect.Editor) {
	const on = `"include_usage":true`
	at := in.asks.StreamOptionsAt
	if at == (dialect.Span{}) {
		ed.Add("stream_options", "{"+on+"}")
		return
	}
	options := strings.TrimSpace(string(in.body[at.Start:at.End]))
	inner, isObject := strings.CutPrefix(options, "{")
	inner = strings.TrimSpace(inner)
	switch {
	case strings.Contains(options, `"include_usage"`):
		return // the caller said no
	case !isObject || inner == "}":
		ed.Set(at, "{"+on+"}")
	default:
		ed.Set(at, "{"+on+","+inner)
	}
}

// quote writes a JSON string.
func quote(s string) string {
	quoted, _ := json.Marshal(s) // a string always marshals
	return string(quoted)
}
