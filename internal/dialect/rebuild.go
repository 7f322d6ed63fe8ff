package dialect

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
)

// What follows builds a stream from an answer that came whole, which is rare: it
// uses encoding/json. Members that are not touched go through as they are.

// object is a JSON object whose members are kept as sent.
type object map[string]json.RawMessage

var null = json.RawMessage("null")

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return null
	}
	return v
}

func orEmpty(v json.RawMessage) json.RawMessage {
	if v == nil || string(v) == "null" {
		return quote("")
	}
	return v
}

// text returns the string that v is, or "".
func text(v json.RawMessage) (s string) {
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// with returns a copy of o with the members of more.
func with(o, more object) object {
	all := make(object, len(o)+len(more))
	maps.Copy(all, o)
	maps.Copy(all, more)
	return all
}

func quote(s string) json.RawMessage { return encode(s) }

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// take removes a member and returns its value, nil if there is none.
func take(o object, name string) json.RawMessage {
	v := o[name]
	delete(o, name)
	return v
}

// encode returns v on one line. v is made of what encoding/json has decoded, which
// it can always encode.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// appendEvent appends an event; an empty name is left out.
func appendEvent(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	return append(append(append(dst, "data: "...), data...), "\n\n"...)
}

// choicesAnswer is an answer with choices on its way to a stream.
type choicesAnswer struct {
	top     object // without the choices and the usage
	choices []object
	usage   json.RawMessage
	out     []byte
}

// readChoices reads a good answer that has choices.
func readChoices(answer []byte) (*choicesAnswer, bool) {
	var ev Event
	if answerChoices(answer, &ev) != nil || ev.Err.Present {
		return nil, false
	}
	a := &choicesAnswer{}
	if json.Unmarshal(answer, &a.top) != nil {
		return nil, false
	}
	if json.Unmarshal(take(a.top, "choices"), &a.choices) != nil {
		return nil, false
	}
	for _, choice := range a.choices {
		if choice == nil {
			return nil, false
		}
	}
	a.usage = take(a.top, "usage")
	delete(a.top, "error")
	return a, true
}

// chunk adds an event with that choice.
func (a *choicesAnswer) chunk(choice object) {
	a.top["choices"] = encode([]object{choice})
	a.out = appendEvent(a.out, "", encode(a.top))
}

// end adds the usage, if there is any, and the end marker.
func (a *choicesAnswer) end() []byte {
	if a.usage != nil && string(a.usage) != "null" {
		a.top["choices"] = json.RawMessage("[]")
		a.top["usage"] = a.usage
		a.out = appendEvent(a.out, "", encode(a.top))
	}
	return appendEvent(a.out, "", []byte("[DONE]"))
}
