package dialect

import (
	"fmt"
	"math"
)

// wantString reads a string or null.
func (r *requestReader) wantString(name string) string {
	if r.null() {
		return ""
	}
	if r.peek() != '"' {
		r.refuse(fmt.Sprintf("%q is not a string", name), "send a string")
		r.skip()
		return ""
	}
	return string(plain(r.str()))
}

// wantBool reads a bool or null.
func (r *requestReader) wantBool(name string) bool {
	switch r.peek() {
	case 't':
		return r.literal("true")
	case 'f', 'n':
	default:
		r.refuse(fmt.Sprintf("%q is not a bool", name), "send true or false")
	}
	r.skip()
	return false
}

// wantInt reads a whole number, or 0 for null.
func (r *requestReader) wantInt(name string) int {
	if r.null() {
		return 0
	}
	v, ok := r.num()
	if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<50 {
		r.refuse(fmt.Sprintf("%q is not a whole number", name), "send a whole number")
		return 0
	}
	return int(v)
}

// inner reads the string member of that name of an object.
func (r *requestReader) inner(name string) string {
	found := ""
	if !r.open('{') {
		r.skip()
		return found
	}
	for key, ok := r.key(); ok; key, ok = r.key() {
		if string(key) == name {
			found = string(plain(r.str()))
		} else {
			r.skip()
		}
	}
	return found
}

// thinking reads whether thinking is on, and what it may take.
func (r *requestReader) thinking() {
	if !r.open('{') {
		r.skip()
		return
	}
	on := true
	for key, ok := r.key(); ok; key, ok = r.key() {
		switch string(key) {
		case "type":
			kind := string(plain(r.str()))
			on = kind != "disabled"
			if on {
				r.setEffort(kind)
			}
		case "budget_tokens":
			r.peek()
			from := r.at
			if v, ok := r.num(); ok && v > 0 && v < 1<<50 {
				r.ThinkingBudget, r.ThinkingBudgetAt = int(v), Span{from, r.at}
			}
		default:
			r.skip()
		}
	}
	if !on {
		r.ThinkingBudget, r.ThinkingBudgetAt = 0, Span{}
	}
}

// idOrString reads an id, or an object that has one.
func (r *requestReader) idOrString() string {
	if r.peek() == '"' {
		return string(plain(r.str()))
	}
	return r.inner("id")
}

func (r *requestReader) streamOptions() {
	if !r.open('{') {
		if !r.null() {
			r.refuse(`"stream_options" is not an object`, "send an object")
			r.skip()
		}
		return
	}
	seen := false
	for key, ok := r.key(); ok; key, ok = r.key() {
		if string(key) != "include_usage" {
			r.skip()
			continue
		}
		if seen {
			r.refuse(`"stream_options" has "include_usage" twice`, "keep one of them")
		}
		seen = true
		r.IncludeUsage = r.wantBool("include_usage")
	}
}

// promptMember reads the prompt of a legacy completion, one or several, or a
// prompt that the provider stores.
func (r *requestReader) promptMember() {
	if r.peek() == '{' {
		r.headPart("prompt", func() { r.state(r.inner("id")) })
		return
	}
	if r.peek() == '[' {
		c := r.cursor
		c.open('[')
		several := c.element() && (c.peek() == '"' || c.peek() == '[')
		c = r.cursor
		if n := countElements(&c); several && n > 1 {
			r.prompts = n
			r.reads(func() { r.walk(plainValue) })
			return
		}
	}
	r.reads(r.message)
}

// state notes the id of something that the provider keeps.
func (r *requestReader) state(id string) {
	if id != "" {
		r.State = append(r.State, id)
	}
}

// reads counts the bytes that read steps over as prompt.
func (r *requestReader) reads(read func()) {
	r.peek()
	from := r.at
	read()
	r.PromptBytes += r.at - from
}

// valueKind says what the strings in a value are.
type valueKind uint8

const (
	plainValue valueKind = iota
	idValue              // ids of what the provider keeps
	fileValue            // a file, in base64 or as a data URL
	audioValue           // an earlier answer's audio, in an object with its id
)

// walk steps over a part of the prompt. It notes the state that it builds on and
// does not count files, which the model does not read byte by byte.
func (r *requestReader) walk(kind valueKind) {
	switch r.peek() {
	case '{':
		r.walkObject(kind)
	case '[':
		r.open('[')
		for r.element() {
			r.walk(kind)
		}
	case '"':
		raw := r.str()
		switch {
		case kind == idValue:
			r.state(string(plain(raw)))
		case kind == fileValue && isFile(raw):
			r.PromptBytes -= len(raw)
		}
	default:
		r.skip()
	}
}

// isFile reports whether a string is a file in base64, not text.
func isFile(raw []byte) bool {
	if len(raw) <= 256 {
		return false
	}
	for _, b := range raw[:256] {
		if b <= ' ' || b >= 0x7f || b == '\\' {
			return false
		}
	}
	return true
}

// walkObject returns the object's type.
func (r *requestReader) walkObject(kind valueKind) (typ string) {
	id := ""
	r.open('{')
	for key, ok := r.key(); ok; key, ok = r.key() {
		switch string(key) {
		case "type":
			typ = string(r.str())
		case "id":
			id = string(plain(r.str()))
		case "file_id", "file_ids", "vector_store_ids", "container":
			r.walk(idValue)
		case "data", "file_data", "url", "image_url", "video_url":
			r.walk(fileValue)
		case "audio":
			r.walk(audioValue)
		case "parameters", "input_schema", "schema":
			r.skip() // names in there are the application's own
		default:
			r.walk(plainValue)
		}
	}
	if kind == audioValue || typ == "item_reference" {
		r.state(id)
	}
	return typ
}

// tools reads the tools; one that the provider runs is a side effect.
func (r *requestReader) tools() {
	if !r.open('[') {
		r.skip()
		return
	}
	for r.element() {
		if r.peek() != '{' {
			r.skip()
			continue
		}
		if typ := r.walkObject(plainValue); !clientTool(typ) {
			r.SideEffects = true
		}
	}
}

// clientTool reports whether the application itself runs tools of that type.
func clientTool(typ string) bool {
	switch typ {
	case "", "function", "custom", "local_shell", "apply_patch", "namespace":
		return true
	}
	for _, prefix := range [...]string{"computer", "bash_2", "text_editor_", "memory_"} {
		if len(typ) >= len(prefix) && typ[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}
