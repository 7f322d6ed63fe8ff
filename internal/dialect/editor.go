package dialect

import (
	"bytes"
	"slices"
)

// Editor changes members of a JSON object and leaves every other byte as it is.
// Spans are those that were read from the unedited body. It is not safe for
// concurrent use.
type Editor struct {
	body  []byte
	edits []edit
	added []member
}

type edit struct {
	at     Span
	json   string
	remove bool
}

type member struct{ name, json string }

// NewEditor returns an editor of body, a valid JSON object, which it never writes
// to.
func NewEditor(body []byte) *Editor { return &Editor{body: body} }

// Set replaces the value at a span by json. The zero Span changes nothing; of two
// calls for one span the later counts.
func (e *Editor) Set(at Span, json string) { e.put(edit{at: at, json: json}) }

// Remove takes out a member, such as Cap.Member or Event.ErrorAt. It wins over a
// Set inside it. The zero Span changes nothing.
func (e *Editor) Remove(member Span) { e.put(edit{at: member, remove: true}) }

// Add adds a member to the object. The name needs no escapes and is not in the
// object yet; of two calls for one name the later counts.
func (e *Editor) Add(name, json string) {
	for i := range e.added {
		if e.added[i].name == name {
			e.added[i].json = json
			return
		}
	}
	e.added = append(e.added, member{name, json})
}

func (e *Editor) put(one edit) {
	if one.at == (Span{}) {
		return
	}
	for i := range e.edits {
		if e.edits[i].at == one.at && e.edits[i].remove == one.remove {
			e.edits[i] = one
			return
		}
	}
	e.edits = append(e.edits, one)
}

// Bytes returns the edited body: body itself if nothing was changed, else a new
// slice.
func (e *Editor) Bytes() []byte {
	if len(e.edits) == 0 && len(e.added) == 0 {
		return e.body
	}
	edits := slices.Clone(e.edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.Start - b.at.Start })
	out, at := e.begin()
	for _, ed := range edits {
		switch {
		case ed.remove:
			out = append(out, e.body[min(at, ed.at.Start):ed.at.Start]...)
			at = max(at, ed.at.End)
			out = joint(out, e.body[at:])
		case ed.at.Start >= at:
			out = append(append(out, e.body[at:ed.at.Start]...), ed.json...)
			at = ed.at.End
		}
	}
	return append(out, e.body[at:]...)
}

// begin writes the brace and the added members; it returns where the rest of the
// body begins.
func (e *Editor) begin() (out []byte, at int) {
	size := len(e.body)
	for _, ed := range e.edits {
		size += len(ed.json)
	}
	for _, m := range e.added {
		size += len(m.name) + len(m.json) + len(`"":,`)
	}
	out = make([]byte, 0, size)
	if len(e.added) == 0 {
		return out, 0
	}
	at = bytes.IndexByte(e.body, '{') + 1
	out = append(out, e.body[:at]...)
	for _, m := range e.added {
		out = append(append(append(out, '"'), m.name...), `":`...)
		out = append(append(out, m.json...), ',')
	}
	return joint(out, e.body[at:]), at
}

// joint drops the comma that out ends in if the object ends with what comes next.
func joint(out, next []byte) []byte {
	before := bytes.TrimRight(out, " \t\r\n")
	if bytes.HasSuffix(before, []byte{','}) && bytes.HasPrefix(bytes.TrimLeft(next, " \t\r\n"), []byte{'}'}) {
		return before[:len(before)-1]
	}
	return out
}
