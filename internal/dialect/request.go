package dialect

import "fmt"

// Request is what the body of a request asks for, as far as planning, capping and
// measuring need it. Spans are into that body.
type Request struct {
	// Model is never empty. ModelAt is its value, quotes included.
	Model   string
	ModelAt Span
	// Stream says that the answer is to come as a stream.
	Stream bool
	// Caps are the token-cap members, in any spelling, in the order of the body.
	Caps []Cap
	// IncludeUsage says that the caller wants usage in the stream.
	// StreamOptionsAt is the value of stream_options, null included.
	IncludeUsage    bool
	StreamOptionsAt Span
	// PromptBytes is the size of what the model reads: messages, instructions and
	// tools as they stand in the body, embedded files left out.
	PromptBytes int
	// Prefixes are beginnings of the prompt that a provider may have cached, of
	// 4096 bytes or more, the shortest first and at most 16: what comes before the
	// messages (tools, system, instructions) and the ends of the first two and the
	// last 13 messages. Nil for embeddings.
	Prefixes []Prefix
	// N is the number of choices that will come; at least 1.
	N int
	// Effort is the reasoning effort, Tier the service tier; empty: not named.
	Effort, Tier string
	// ThinkingBudget is how many tokens the model may spend on thinking, as
	// Anthropic's models are told; 0: not told. It has to lie below the token cap.
	// ThinkingBudgetAt is its value, and ThinkingAt the object that it is in.
	ThinkingBudget               int
	ThinkingBudgetAt, ThinkingAt Span
	// SideEffects says that the request must not run twice: its answer is stored,
	// it runs in the background, or the provider runs tools for it.
	SideEffects bool
	// State lists the ids of what the provider keeps and the request builds on:
	// earlier answers, conversations, files, stored prompts, containers.
	State []string
}

// Cap is a token cap as the caller wrote it.
type Cap struct {
	Name string
	// Value is the number as sent, which may be 0 or less; 0 for null.
	Value int
	// At is the value. Member is the whole member with the comma that goes with
	// it, so that it can be removed.
	At, Member Span
}

// RequestError says why a request's body was refused. It never quotes the body.
type RequestError struct{ Problem, Fix string }

func (e *RequestError) Error() string { return "request body: " + e.Problem + ": " + e.Fix }

// The members that are read, of any format: their names do not collide. Each may
// stand in the body once: which of two counts is anyone's guess, and an edit of
// one would not change the other.
var requestMembers = [...]string{
	"model", "stream", "stream_options", "n",
	"max_tokens", "max_completion_tokens", "max_output_tokens",
	"messages", "input", "prompt", "system", "instructions", "tools", "functions",
	"reasoning_effort", "reasoning", "thinking", "output_config", "service_tier",
	"store", "background", "web_search_options", "mcp_servers",
	"previous_response_id", "conversation", "container",
}

// requestReader reads one request.
type requestReader struct {
	cursor
	Request
	prompts  int       // prompts in a legacy completion
	prefixes *prefixes // nil where there is nothing to cache
	seen     uint32
	err      *RequestError
}

// readPlain reads the body of a request of a format that has no ways of its own.
func readPlain(body []byte) (Request, error) {
	r, err := readRequest(body, true)
	if err != nil {
		return Request{}, err
	}
	return r.Request, nil
}

// readRequest reads the body of a request of any format. Providers cache prompts, but
// nothing of embeddings.
func readRequest(body []byte, cached bool) (*requestReader, error) {
	r := &requestReader{cursor: cursor{data: body}, prompts: 1}
	r.N = 1
	if cached && len(body) >= leastPrefix {
		r.prefixes = new(prefixes)
	}
	if r.peek() != '{' {
		r.skip()
		if r.end() {
			return nil, &RequestError{"it is not a JSON object", "send the request's members in one object"}
		}
		return nil, errNotJSON()
	}
	r.open('{')
	for key, ok := r.key(); ok; key, ok = r.key() {
		r.member(key)
	}
	switch {
	case !r.end():
		return nil, errNotJSON()
	case r.err != nil:
		return nil, r.err
	case r.Model == "":
		return nil, &RequestError{"it names no model", `set "model"`}
	}
	r.N = max(r.N, 1)
	if r.prefixes != nil {
		r.Prefixes = r.prefixes.all()
	}
	return r, nil
}

func errNotJSON() *RequestError {
	return &RequestError{"it is not valid JSON", "send one whole JSON object"}
}

// refuse notes the first problem.
func (r *requestReader) refuse(problem, fix string) {
	if r.err == nil {
		r.err = &RequestError{problem, fix}
	}
}

func (r *requestReader) member(key []byte) {
	name := ""
	for i, known := range requestMembers {
		if string(key) == known {
			name = known
			if r.seen&(1<<i) != 0 {
				r.refuse(fmt.Sprintf("it has %q twice", name), "keep one of them")
			}
			r.seen |= 1 << i
		}
	}
	keyAt := r.keyAt
	r.peek()
	from := r.at
	r.read(name)
	if r.bad {
		return
	}
	at := Span{from, r.at}
	switch name {
	case "model":
		r.ModelAt = at
	case "stream_options":
		r.StreamOptionsAt = at
	case "thinking":
		r.ThinkingAt = at
	case "max_tokens", "max_completion_tokens", "max_output_tokens":
		last := &r.Caps[len(r.Caps)-1]
		last.At, last.Member = at, memberSpan(r.data, keyAt, r.at)
	}
}

// read reads the value of the member of that name.
func (r *requestReader) read(name string) {
	switch name {
	case "model":
		r.Model = r.wantString(name)
	case "stream":
		r.Stream = r.wantBool(name)
	case "stream_options":
		r.streamOptions()
	case "n":
		r.N = r.wantInt(name)
	case "max_tokens", "max_completion_tokens", "max_output_tokens":
		r.Caps = append(r.Caps, Cap{Name: name, Value: r.wantInt(name)})
	case "prompt":
		r.promptMember()
	case "messages", "input":
		r.reads(r.conversation)
	case "system", "instructions", "functions":
		r.headPart(name, func() { r.walk(plainValue) })
	case "tools":
		r.headPart(name, r.tools)
	case "reasoning_effort":
		r.setEffort(r.wantString(name))
	case "reasoning", "output_config":
		r.setEffort(r.inner("effort"))
	case "thinking":
		r.thinking()
	case "service_tier":
		r.Tier = r.wantString(name)
	case "store", "background":
		r.SideEffects = r.wantBool(name) || r.SideEffects
	case "web_search_options":
		r.SideEffects = r.present() || r.SideEffects
	case "mcp_servers":
		r.SideEffects = countElements(&r.cursor) > 0 || r.SideEffects
	case "previous_response_id":
		r.state(r.wantString(name))
	case "conversation":
		r.SideEffects = r.peek() != 'n' || r.SideEffects // it is written to
		r.state(r.idOrString())
	case "container":
		r.state(r.idOrString())
	default:
		r.skip()
	}
}

// setEffort takes in a reasoning effort; an explicit one goes before the mere
// switch that turns thinking on.
func (r *requestReader) setEffort(effort string) {
	if effort != "" && (r.Effort == "" || r.Effort == "enabled" || r.Effort == "adaptive") {
		r.Effort = effort
	}
}
