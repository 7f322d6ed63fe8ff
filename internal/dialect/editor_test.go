package dialect_test

import (
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestEditor(t *testing.T) {
	const body = `{ "model":"a", "max_tokens":5,"x":[1, 2], "max_completion_tokens" : 7 }`
	tests := []struct {
		name, body string
		edit       func(e *dialect.Editor, r *dialect.Request)
		want       string
	}{
		{"nothing", body, func(e *dialect.Editor, r *dialect.Request) {}, body},
		{"set", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Set(r.ModelAt, `"longer"`)
			e.Set(r.Caps[1].At, `9`)
		}, `{ "model":"longer", "max_tokens":5,"x":[1, 2], "max_completion_tokens" : 9 }`},
		{"set twice", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Set(r.ModelAt, `"b"`)
			e.Set(r.ModelAt, `"c"`)
		}, `{ "model":"c", "max_tokens":5,"x":[1, 2], "max_completion_tokens" : 7 }`},
		{"absent", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Set(r.StreamOptionsAt, `{}`)
			e.Remove(r.StreamOptionsAt)
		}, body},
		{"add", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Add("n", `1`)
			e.Add("o", `{}`)
			e.Add("n", `2`)
		}, `{"n":2,"o":{}, "model":"a", "max_tokens":5,"x":[1, 2], "max_completion_tokens" : 7 }`},
		{"remove one inside", body, func(e *dialect.Editor, r *dialect.Request) { e.Remove(r.Caps[0].Member) },
			`{ "model":"a", "x":[1, 2], "max_completion_tokens" : 7 }`},
		{"remove the last", body, func(e *dialect.Editor, r *dialect.Request) { e.Remove(r.Caps[1].Member) },
			`{ "model":"a", "max_tokens":5,"x":[1, 2] }`},
		{"remove the first", `{"max_tokens":5,"model":"a"}`, func(e *dialect.Editor, r *dialect.Request) { e.Remove(r.Caps[0].Member) }, `{"model":"a"}`},
		{"remove neighbours at the end", `{"model":"a" , "max_tokens":5 , "max_output_tokens":6}`, func(e *dialect.Editor, r *dialect.Request) {
			e.Remove(r.Caps[1].Member)
			e.Remove(r.Caps[0].Member)
		}, `{"model":"a" }`},
		{"remove all but one", `{"max_tokens":5,"max_completion_tokens":6,"model":"a","max_output_tokens":7}`, func(e *dialect.Editor, r *dialect.Request) {
			for _, c := range r.Caps {
				e.Remove(c.Member)
			}
		}, `{"model":"a"}`},
		{"remove wins over set", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Set(r.Caps[0].At, `1`)
			e.Remove(r.Caps[0].Member)
		}, `{ "model":"a", "x":[1, 2], "max_completion_tokens" : 7 }`},
		{"swap", body, func(e *dialect.Editor, r *dialect.Request) {
			e.Remove(r.Caps[0].Member)
			e.Remove(r.Caps[1].Member)
			e.Add("max_output_tokens", `3`)
		}, `{"max_output_tokens":3, "model":"a", "x":[1, 2] }`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := dialect.Chat.Request([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			before := []byte(test.body)
			e := dialect.NewEditor(before)
			test.edit(e, &r)
			if got := string(e.Bytes()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if string(before) != test.body {
				t.Error("the body was written to")
			}
		})
	}
}

func TestEditorOfEmptyObject(t *testing.T) {
	for empty, want := range map[string]string{`{}`: `{"a":1}`, `{ }`: `{"a":1 }`, " {\n}": " {\"a\":1\n}"} {
		e := dialect.NewEditor([]byte(empty))
		e.Add("a", "1")
		if got := string(e.Bytes()); got != want {
			t.Errorf("%q with a member is %q, want %q", empty, got, want)
		}
	}
}
