package upstream

import (
	"hash/maphash"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// call is what an inference request asks for.
type call struct {
	format       format
	body         []byte
	model        string // as JSON
	stream       bool
	cap          int // 0: none
	includeUsage bool
	choices      int
	prompt       prompt
}

// prompt is what the model reads, as far as the simulation cares.
type prompt struct {
	tokens int
	marks  []mark // at the end of every message, for the prompt cache
}

type mark struct {
	hash   uint64 // of everything up to here
	tokens int
}

// formats by the end of the path. Chat comes first: its path ends in "completions" too.
var formats = []struct {
	suffix string
	format format
}{
	{"/chat/completions", chat{}},
	{"/completions", completions{}},
	{"/responses", responses{}},
	{"/messages", messages{}},
	{"/embeddings", embeddings{}},
}

func formatOf(r *http.Request) format {
	if r.Method != http.MethodPost {
		return nil
	}
	for _, f := range formats {
		if strings.HasSuffix(r.URL.Path, f.suffix) {
			return f.format
		}
	}
	return nil
}

// readCall reads a body that must be an object with a model. The problem is in OpenAI's words.
func readCall(f format, body []byte) (c call, problem *apiError) {
	if !gjson.ValidBytes(body) || !gjson.ParseBytes(body).IsObject() {
		return c, badRequest("We could not parse the JSON body of your request.", "", "")
	}
	model := gjson.GetBytes(body, "model")
	if model.Type != gjson.String || model.Str == "" {
		return c, badRequest("you must provide a model parameter", "", "")
	}
	c = call{
		format:       f,
		body:         body,
		model:        model.Raw,
		stream:       gjson.GetBytes(body, "stream").Bool(),
		includeUsage: gjson.GetBytes(body, "stream_options.include_usage").Bool(),
		choices:      max(1, int(gjson.GetBytes(body, "n").Int())),
		prompt:       readPrompt(body),
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		if n := int(gjson.GetBytes(body, name).Int()); n > 0 && (c.cap == 0 || n < c.cap) {
			c.cap = n
		}
	}
	return c, nil
}

// admits checks what a behaviour does not take.
func (b *Behaviour) admits(c call) *apiError {
	model := gjson.Parse(c.model).Str
	if len(b.Models) > 0 && !slices.Contains(b.Models, model) {
		return modelNotFound(model)
	}
	for _, name := range b.Reject {
		if gjson.GetBytes(c.body, name).Exists() {
			return unsupported(name)
		}
	}
	return nil
}

var promptHash = maphash.MakeSeed()

// readPrompt counts four bytes of text as one token.
func readPrompt(body []byte) prompt {
	var p prompt
	var h maphash.Hash
	h.SetSeed(promptHash)
	bytes := 0
	add := func(message gjson.Result) {
		bytes += textBytes(message)
		h.WriteString(message.Raw)
		p.tokens = max(1, (bytes+3)/4)
		p.marks = append(p.marks, mark{h.Sum64(), p.tokens})
	}
	for _, name := range []string{"system", "instructions", "messages", "input", "prompt"} {
		v := gjson.GetBytes(body, name)
		if v.IsArray() {
			v.ForEach(func(_, message gjson.Result) bool { add(message); return true })
		} else if v.Exists() {
			add(v)
		}
	}
	return p
}

// textBytes is the length of a message's text: a string, parts in an array, or either in an object's content or text.
func textBytes(v gjson.Result) (n int) {
	switch {
	case v.Type == gjson.String:
		return len(v.Raw) - len(`""`)
	case v.IsArray():
		v.ForEach(func(_, part gjson.Result) bool { n += textBytes(part); return true })
	case v.IsObject():
		v.ForEach(func(key, value gjson.Result) bool {
			if key.Str == "content" || key.Str == "text" {
				n += textBytes(value)
			}
			return true
		})
	}
	return n
}
