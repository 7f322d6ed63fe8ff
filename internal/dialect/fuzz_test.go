package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func FuzzChat(f *testing.F)        { fuzzEvents(f, families["chat"]) }
func FuzzCompletions(f *testing.F) { fuzzEvents(f, families["completions"]) }
func FuzzResponses(f *testing.F)   { fuzzEvents(f, families["responses"]) }
func FuzzMessages(f *testing.F)    { fuzzEvents(f, families["anthropic"]) }

// FuzzEmbeddings reads whole answers of every format.
func FuzzEmbeddings(f *testing.F) {
	f.Add([]byte(`{"data":[[1]],"usage":{"prompt_tokens":1}}`))
	for _, name := range []string{"chat", "responses", "messages"} {
		f.Add(testdata(f, name+"_answer.json"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []dialect.Dialect{dialect.Chat, dialect.Completions, dialect.Responses, dialect.Embeddings, dialect.Messages} {
			var ev dialect.Event
			err := d.Answer(body, &ev)
			isObject := json.Valid(body) && bytes.TrimLeft(body, " \t\r\n")[0] == '{'
			if errors.Is(err, dialect.ErrNotJSON) == isObject {
				t.Fatalf("%s: %v, though an object: %t", d.Name(), err, isObject)
			}
			for _, e := range streamOf(t, d, body) {
				if e.Noise || e.Err.Present && !ev.Err.Present && ev.Finish != "error" {
					t.Fatalf("%s: the answer's stream has an event %s", d.Name(), describe(&e))
				}
			}
		}
		dialect.ReadError(body)
	})
}

func streamOf(t *testing.T, d dialect.Dialect, answer []byte) (events []dialect.Event) {
	out := d.Stream(answer)
	readStream(d, out, max(1, len(out)), func(_ *block, ev *dialect.Event) { events = append(events, *ev) })
	return events
}

// fuzzEvents reads the lines of an input as the events of a stream, each of them
// twice. Lines with escapes, or with a member twice, are only read: the slow reader
// understands them another way.
func fuzzEvents(f *testing.F, fam family) {
	for name := range samples {
		lines := []byte(nil)
		readStream(fam.dialect, testdata(f, name+".sse"), 1000, func(b *block, _ *dialect.Event) {
			lines = append(append(lines, b.Data...), '\n')
		})
		f.Add(lines[:min(len(lines), 1000)], false)
	}
	for _, line := range []string{
		`{"error":{"code":502,"message":"m"},"choices":[{"finish_reason":"error"}]}`, `{"type":"error","error":{"type":"overloaded_error"}}`,
		`{"choices":[{"delta":{"content":"<think>"}}]}`, `{"type":"response.output_item.done","item":{"type":"function_call","name":"f"}}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","name":"f"}}`, `{"usage":{"prompt_tokens":1,"completion_tokens_details":{"reasoning_tokens":3}}}`,
	} {
		f.Add([]byte(line+"\n"+line), true)
	}
	f.Fuzz(func(t *testing.T, lines []byte, isError bool) {
		name := ""
		if isError {
			name = "error"
		}
		fast, slow, comparable := fam.dialect.NewReader(), fam.slow(), true
		for line := range bytes.Lines(lines) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			for range 2 {
				var ev dialect.Event
				fast.Read([]byte(name), line, &ev)
				comparable = comparable && isPlain(line)
				if !comparable {
					continue
				}
				want, noise := slowly(slow, name, line)
				if got := seenIn(&ev); ev.Noise != (noise && !isError) && !ev.Err.Present || !noise && !cmp.Equal(want, got) {
					t.Fatalf("%s\nnoise %t, want %t; (-slow +ours):\n%s", line, ev.Noise, noise, cmp.Diff(want, got))
				}
			}
		}
	})
}

// isPlain reports whether a line has no escapes, no member twice, and nothing that
// encoding/json cannot represent.
func isPlain(line []byte) bool {
	if bytes.IndexByte(line, '\\') >= 0 || !utf8.Valid(line) {
		return false
	}
	if !json.Valid(line) {
		return true
	}
	var v any
	if json.Unmarshal(line, &v) != nil {
		return false
	}
	if m := members(v); m["message"] != nil && (m["delta"] != nil || m["usage"] != nil) {
		return false // of a message: which of the two comes first matters
	}
	return !hasTwice(json.NewDecoder(bytes.NewReader(line)))
}

// hasTwice reports whether an object in the next value has a member twice.
func hasTwice(d *json.Decoder) bool {
	token, err := d.Token()
	if err == io.EOF {
		return false
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return false
	}
	twice, names := false, map[any]bool{}
	for d.More() {
		if delim == '{' {
			name, _ := d.Token()
			twice = twice || names[name]
			names[name] = true
		}
		twice = hasTwice(d) || twice
	}
	_, _ = d.Token()
	return twice
}

// FuzzRequest reads requests: what is refused as no JSON is none, and spans are
// those of the members.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"max_tokens":5,"stream_options":{"include_usage":true}}`))
	f.Add([]byte(` {"model" : "m", "n":2 ,"tools":[{"type":"web_search"}], "conversation":{"id":"c"}, "max_output_tokens":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := dialect.Chat.Request(body)
		if err != nil {
			return
		}
		var m object
		if err := json.Unmarshal(body, &m); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				return // a number beyond float64
			}
			t.Fatalf("taken, but: %v", err)
		}
		if m["model"] != any(r.Model) && isPlain(body) {
			t.Errorf("model %q, want %q", r.Model, m["model"])
		}
		if r.PromptBytes < 0 || r.PromptBytes > len(body) {
			t.Errorf("%d bytes of prompt in a body of %d", r.PromptBytes, len(body))
		}
		for _, c := range r.Caps {
			var v any
			mustUnmarshal(t, body[c.At.Start:c.At.End], &v)
			if diff := cmp.Diff(m[c.Name], v); diff != "" {
				t.Errorf("%s is not at its place:\n%s", c.Name, diff)
			}
		}
	})
}

// FuzzEditor edits a body as choice says, a byte for each edit: the result is
// valid, what was edited is so, and every other member has the same bytes.
func FuzzEditor(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":5,"x":[1,{"a":2}],"max_completion_tokens":7}`), []byte{0, 1, 2, 3, 4, 5, 6})
	f.Add([]byte(` { "max_tokens" : 5 , "stream_options":{},"max_output_tokens":null,"model":"m" } `), []byte{3, 4, 5, 3})
	f.Fuzz(func(t *testing.T, body, choice []byte) { checkEdits(t, t, body, choice) })
}

func TestEdits(t *testing.T) {
	member := rapid.SampledFrom([]string{`"max_tokens":5`, `"max_completion_tokens" : 6`, `"max_output_tokens":null`, `"stream_options":{"a":"}"}`,
		`"x":[1, {"b":","}]`, `"y" : "a\"b"`, `"n":1`, `"model":"m"`})
	blank := rapid.SampledFrom([]string{"", " ", "\n\t"})
	rapid.Check(t, func(rt *rapid.T) {
		members := rapid.SliceOfNDistinct(member, 1, 8, rapid.ID[string]).Draw(rt, "members")
		body := blank.Draw(rt, "blank") + "{"
		for i, m := range members {
			if i > 0 {
				body += ","
			}
			body += blank.Draw(rt, "blank") + m + blank.Draw(rt, "blank")
		}
		checkEdits(rt, t, []byte(body+"}"), rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(rt, "edits"))
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkEdits(f fataler, t testing.TB, body, choice []byte) {
	r, err := dialect.Chat.Request(body)
	if err != nil {
		return
	}
	var want map[string]json.RawMessage
	mustUnmarshal(t, body, &want)
	e := dialect.NewEditor(body)
	removed := map[string]bool{}
	for _, c := range choice {
		switch n := int(c) % 8; {
		case n == 0:
			e.Set(r.ModelAt, `"another {,} model"`)
			want["model"] = json.RawMessage(`"another {,} model"`)
		case n == 1 && r.StreamOptionsAt.End > 0:
			e.Set(r.StreamOptionsAt, `{"include_usage":true}`)
			want["stream_options"] = json.RawMessage(`{"include_usage":true}`)
		case n == 2:
			e.Add("added", `[9]`)
			want["added"] = json.RawMessage(`[9]`)
		case 3 <= n && n < 6 && len(r.Caps) > n-3:
			e.Remove(r.Caps[n-3].Member)
			removed[r.Caps[n-3].Name] = true
		case n >= 6 && len(r.Caps) > n-6:
			e.Set(r.Caps[n-6].At, `77`)
			want[r.Caps[n-6].Name] = json.RawMessage(`77`)
		}
	}
	for name := range removed {
		delete(want, name)
	}
	if _, ok := want["added"]; ok && bytes.Contains(body, []byte(`added`)) {
		return
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(e.Bytes(), &got); err != nil {
		f.Fatalf("%s became %s: %v", body, e.Bytes(), err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("%s became %s (-want +got):\n%s", body, e.Bytes(), diff)
	}
}

// However a text with tags is split and escaped, what is reasoning in it stays so.
func TestThinkSplit(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<think>", "</think>", "<thinking>", "</thinking>", "<", "/", "think", ">", "a", " ", "\n", "日"})
	rapid.Check(t, func(rt *rapid.T) {
		var all string
		r, slow := dialect.Chat.NewReader(), newSlowChoices()
		for _, p := range rapid.SliceOf(piece).Draw(rt, "pieces") {
			all += p
		}
		for runes := []rune(all); len(runes) > 0; {
			n := rapid.IntRange(1, min(5, len(runes))).Draw(rt, "n")
			text, _ := json.Marshal(string(runes[:n])) // escapes < and >
			if rapid.Bool().Draw(rt, "plain") {
				text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u003c`), []byte("<")), []byte(`\u003e`), []byte(">"))
			}
			runes = runes[n:]
			data := []byte(`{"choices":[{"index":0,"delta":{"content":` + string(text) + `}}]}`)
			want, _ := slowly(slow, "", data)
			var ev dialect.Event
			r.Read(nil, data, &ev)
			if diff := cmp.Diff(want, seenIn(&ev)); diff != "" {
				rt.Fatalf("%q of %q (-slow +ours):\n%s", text, all, diff)
			}
		}
	})
}
