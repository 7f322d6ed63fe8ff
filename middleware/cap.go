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
// without one.
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
		if _, err := in.applyCap(m); err != nil {
			return nil, &Error{Model: in.asks.Model, Err: err}
		}
		ed := dialect.NewEditor(in.body)
		in.writeCap(ed, capMember(d, in.spelling("max_completion_tokens")))
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

// spelling is the caller's own, or else.
func (in *inference) spelling(otherwise string) string {
	if len(in.asks.Caps) > 0 {
		return in.asks.Caps[0].Name
	}
	return otherwise
}

// writeCap leaves exactly one cap in the body, in the spelling that is taken.
func (in *inference) writeCap(ed *dialect.Editor, name string) {
	if in.limit <= 0 {
		return
	}
	written := false
	for _, c := range in.asks.Caps {
		switch {
		case c.Name != name:
			ed.Remove(c.Member)
		case c.Value != in.limit:
			ed.Set(c.At, strconv.Itoa(in.limit))
			written = true
		default:
			written = true
		}
	}
	if !written {
		ed.Add(name, strconv.Itoa(in.limit))
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

// Families whose cap counts reasoning that the caller does not see.
var reasoningModels = []string{"o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r", "deepseek-reasoner", "magistral", "qwq", "grok-3-mini", "grok-4", "gemini-2.5", "gemini-3", "kimi-k2-thinking"}

// reasons reports whether a model spends output tokens on reasoning, as far as
// its name and the request tell.
func reasons(model, effort string) bool {
	if effort != "" && effort != "none" {
		return true
	}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range reasoningModels {
		if rest, ok := strings.CutPrefix(name, family); ok && (rest == "" || !isLetter(rest[0])) {
			return true
		}
	}
	return strings.Contains(name, "thinking") || strings.Contains(name, "reasoning")
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
