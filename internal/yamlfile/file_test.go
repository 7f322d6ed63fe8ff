package yamlfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/yamlfile"
)

// reader reads any file as objects down to the depth of two, then lists, then single
// values: whatever is something else is a problem.
type reader struct {
	*yamlfile.File
	values []string // "path=value"
}

func read(text string) *reader {
	r := &reader{File: yamlfile.New("f.yaml")}
	if root, ok := r.Parse([]byte(text)); ok {
		r.object("", root, 2)
	}
	return r
}

func (r *reader) object(path string, n yamlfile.Node, depth int) {
	for _, p := range r.Pairs(path, n) {
		at := yamlfile.Join(path, p.Name)
		r.Enter(at, p)
		switch {
		case depth > 1:
			r.object(at, p.Value, depth-1)
		case p.Name == "list":
			for i, n := range r.List(at, p.Value) {
				r.EnterItem(yamlfile.Item(at, i), n)
				r.scalar(yamlfile.Item(at, i), n)
			}
		default:
			r.scalar(at, p.Value)
		}
	}
}

func (r *reader) scalar(path string, n yamlfile.Node) {
	if s, ok := r.Scalar(path, n, !strings.HasSuffix(path, "key")); ok {
		r.values = append(r.values, path+"="+s.Text)
	}
}

func (r *reader) problems() (all []string) {
	for _, p := range r.Problems() {
		all = append(all, fmt.Sprintf("%d:%d %s: %s", p.Line, p.Column, p.Path, p.Message))
	}
	return all
}

func TestValues(t *testing.T) {
	t.Setenv("A", "x: [y]")
	t.Setenv("E", "")
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"plain":      {"a: {b: c d, e: 1.50, f: true, 1: 0x10, g: .inf}", []string{"a.b=c d", "a.e=1.50", "a.f=true", "a.1=0x10", "a.g=.inf"}},
		"quoted":     {`a: {b: 'it''s', c: "\u00e9\ud83d\ude00\n", "d e": ""}`, []string{"a.b=it's", "a.c=é😀\n", "a.d e="}},
		"blocks":     {"a:\n  b: |\n    x\n    y\n  c: >-\n    x\n    y\n", []string{"a.b=x\ny\n", "a.c=x y"}},
		"lists":      {"a:\n  list:\n  - x\n  - y\nb: {list: []}", []string{"a.list[0]=x", "a.list[1]=y"}},
		"JSON":       {"{\n\t\"a\": {\"b\": \"x\\/y\", \"list\": [1,\n\t2]}}", []string{"a.b=x/y", "a.list[0]=1", "a.list[1]=2"}},
		"variables":  {"a: {b: '${A}', c: '<${A}|${E:-z}|${NO:-}|$${A}|$A>'}", []string{"a.b=x: [y]", "a.c=<x: [y]|z||${A}|$A>"}},
		"aliases":    {"a: &a {b: &b x, c: *b}\nd: *a", []string{"a.b=x", "a.c=x", "d.b=x", "d.c=x"}},
		"merges":     {"a: &a {b: x, c: y}\nd: {<<: *a, b: z}\ne: {<<: [{b: 1}, *a]}", []string{"a.b=x", "a.c=y", "d.b=z", "d.c=y", "e.b=1", "e.c=y"}},
		"mark first": {"\ufeff---\r\na:\r\n  b: c\r\n...\r\n", []string{"a.b=c"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(tt.text)
			if diff := cmp.Diff(tt.want, r.values); diff != "" || len(r.Problems()) > 0 {
				t.Errorf("%s%v", diff, r.problems())
			}
		})
	}
}

func TestProblemsHaveAPlace(t *testing.T) {
	t.Setenv("SECRET", "zq-secret")
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"shapes": {"a: x\nb: {list: x, c: [x]}\nd:\ne: {f: }", []string{
			`1:4 a: it is a single value: it has to be an object, with a line "key: value" for each part`,
			`2:11 b.list: it is a single value: it has to be a list, with "- " before each item`,
			`2:17 b.c: it is a list: it has to be a single value`,
			`3:1 d: it has no value: write one (an empty object is {}), or remove the key`,
			`4:5 e.f: it has no value: write one, or remove the key`,
		}},
		"twice": {"a: {b: 1, \"b\": 2}\na: {}", []string{
			`1:11 a.b: it is here twice, first on line 1: remove one of them`,
			`2:1 a: it is here twice, first on line 1: remove one of them`,
		}},
		"after letters of two bytes": {"é: {ü: x, ä: [x]}", []string{"1:14 é.ä: it is a list: it has to be a single value"}},
		"keys":                       {"a: {'${A}': x}\n? b\n: {}\n", []string{"1:5 a: ${...} stands for a value, not for a key: write the key out", "2:1 : a key is a plain word here: write it as key: value"}},
		"variables": {"a: {b: '${NO_1}', c: '${'}", []string{
			"1:8 a.b: the environment variable NO_1 is not set: set it, or write ${NO_1:-default}",
			"1:22 a.c: it has a ${ that begins no reference: write ${NAME} or ${NAME:-default}, or $${ for ${ itself",
		}},
		"aliases":   {"a: {b: *no, c: !!int 1}\nd: &d {}\ne: &d {}", []string{"1:8 a.b: there is no anchor &no: add it, or write the value here", "1:16 a.c: tags are not read here: remove it", "3:4 : there is an anchor &d already: rename one of them"}},
		"syntax":    {"a: [", []string{"1:4 : this is neither YAML nor JSON: sequence end token ']' not found; look at what indents the line, at the space after each colon and dash, and at quotes and brackets"}},
		"documents": {"a: {}\n---\na: {}", []string{"3:1 : a second document begins: one file holds one configuration, remove one of them"}},
		"nothing":   {"# a comment", []string{"0:0 : it is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(tt.text).problems()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuoteMasksWhatMayBeSecret(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a: {b: [x], key: sk-1, c: 'y z'} # sk-2", "a: {b: *** key: *** c: 'y z'}\n       ^"},
		{"a: {key: [sk-1, 'sk 2']}", "a: {key: *** *** ***\n         ^"},
		{"a: {b: '${A} ${B:-x y}', c: [1]}", "a: {b: '${A} ${B:-x y}', c: ***\n       ^"},
		{"a: {key: 'sk-1 ${A} ${B:-sk-2}', c: [1]}", "a: {key: *** ${A} *** c: ***\n         ^"},
		{"a: {&k key: {sk-1: x}}", "a: {&k *** *** ***\n    ^"},
		{"a: {b: &b [x], <<: *b}", "a: {b: &b *** <<: *b}\n       ^"},
		{"a: {b: [" + strings.Repeat("x", 200) + "]}", ""},
	} {
		r := read(tt.text)
		if len(r.Problems()) == 0 {
			t.Errorf("%s: no problem", tt.text)
			continue
		}
		if got := r.Problems()[0].Quote; strings.Contains(got, "sk") || got != tt.want {
			t.Errorf("%s: quoted as\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

// A message that repeats what came from the environment says how the file refers to
// it instead.
func TestMessagesHideTheEnvironment(t *testing.T) {
	t.Setenv("WORD", "zq")
	t.Setenv("PHRASE", "zq \"zq\"")
	t.Setenv("TIME", "61s")
	r := &reader{File: yamlfile.New("f.yaml")}
	root, _ := r.Parse([]byte("word: ${WORD}\nphrase: ${PHRASE}\ntime: ${TIME}\nmixed: a-${WORD}-b\n"))
	for _, p := range r.Pairs("", root) {
		s, ok := r.Scalar(p.Name, p.Value, true)
		if !ok {
			t.Fatal(r.problems())
		}
		r.Note(p.Name, s.At, "%q, and %[1]q", s.Text)
		if p.Name == "time" {
			r.HideNumber(s, "1m1s")
			r.Note("", yamlfile.Place{}, "1m1s, not 11m1s; 61s")
		}
	}
	want := []string{
		"0:0 : ${TIME}, not 11m1s; 61s", // the last is too short to be hidden where it is not quoted
		"1:7 word: ${WORD}, and ${WORD}",
		"2:9 phrase: ${PHRASE}, and ${PHRASE}",
		"3:7 time: ${TIME}, and ${TIME}",
		"4:8 mixed: a-${WORD}-b, and a-${WORD}-b",
	}
	if diff := cmp.Diff(want, r.problems()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"base_url", "api_key", "api_keys", "name", "tpot", "ttft"}
	for name, want := range map[string]string{
		"baseURL": "base_url", "base-url": "base_url", "Name": "name", "nmae": "", "nam": "name", "apikey": "api_key",
		"api_keyss": "api_keys", "ttf": "ttft", "x": "", "url": "", "price": "", "": "",
	} {
		if got := yamlfile.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
