package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ontime-llm/ontime/internal/yamlfile"
)

// member is one key of an object in a configuration file: how it is called, what
// it means, and how it is read. [Load] and [Schema] go by the same list of them.
type member[T any] struct {
	name     string
	doc      string         // for editors
	schema   map[string]any // of its value
	read     func(f *yamlfile.File, path string, n yamlfile.Node, into *T)
	required bool // an object is nothing without it, which is for New to say
}

// readObject reads an object by its members.
func readObject[T any](f *yamlfile.File, path string, n yamlfile.Node, members []member[T], into *T) {
	for _, p := range f.Pairs(path, n) {
		i := slices.IndexFunc(members, func(m member[T]) bool { return m.name == p.Name })
		if i < 0 {
			unknown(f, path, p, names(members))
			continue
		}
		at := yamlfile.Join(path, p.Name)
		f.Enter(at, p)
		members[i].read(f, at, p.Value, into)
	}
}

func names[T any](members []member[T]) []string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.name
	}
	return all
}

func unknown(f *yamlfile.File, path string, p yamlfile.Pair, known []string) {
	f.Show(p.Key, p.Name)
	where := "at the top"
	if path != "" {
		where = "in " + path
	}
	if near := yamlfile.Nearest(p.Name, known); near != "" {
		f.Miss(yamlfile.Join(path, near)) // which is missing now
		f.Note(yamlfile.Join(path, p.Name), p.Key, "there is no such key %s: did you mean %s?", where, near)
		return
	}
	f.Note(yamlfile.Join(path, p.Name), p.Key, "there is no such key %s: the keys are %s", where, strings.Join(known, ", "))
}

// part is an object within the object.
func part[T, P any](name, doc string, members []member[P], at func(*T) *P) member[T] {
	return member[T]{name: name, doc: doc, schema: objectSchema(members), read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		readObject(f, path, n, members, at(into))
	}}
}

// parts is a list of objects.
func parts[T, P any](name, doc string, members []member[P], at func(*T) *[]P) member[T] {
	schema := map[string]any{"type": "array", "minItems": 1, "items": objectSchema(members)}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		for i, n := range f.List(path, n) {
			var one P
			f.EnterItem(yamlfile.Item(path, i), n)
			readObject(f, yamlfile.Item(path, i), n, members, &one)
			*at(into) = append(*at(into), one)
		}
	}}
}

// named is an object whose keys are names, with an object for each.
func named[T, P any](name, doc string, members []member[P], at func(*T) *map[string]P) member[T] {
	m := objects(name, doc, members, at)
	m.schema["propertyNames"] = map[string]any{"pattern": namePattern}
	return m
}

// objects is an object whose keys are any text, with an object for each.
func objects[T, P any](name, doc string, members []member[P], at func(*T) *map[string]P) member[T] {
	schema := map[string]any{"type": "object", "additionalProperties": objectSchema(members)}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		all := make(map[string]P)
		for _, p := range f.Pairs(path, n) {
			var one P
			f.Enter(yamlfile.Join(path, p.Name), p)
			readObject(f, yamlfile.Join(path, p.Name), p.Value, members, &one)
			all[p.Name] = one
		}
		*at(into) = all
	}}
}

// words is an object whose keys and values are text. Only public values may be
// quoted.
func words[T any](name, doc string, public bool, at func(*T) *map[string]string) member[T] {
	schema := map[string]any{"type": "object", "additionalProperties": textSchema()}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		all := make(map[string]string)
		for _, p := range f.Pairs(path, n) {
			f.Enter(yamlfile.Join(path, p.Name), p)
			if s, ok := readText(f, yamlfile.Join(path, p.Name), p.Value, public); ok {
				all[p.Name] = s
			}
		}
		*at(into) = all
	}}
}

// list is a list of texts.
func list[T any](name, doc string, public bool, at func(*T) *[]string) member[T] {
	schema := map[string]any{"type": "array", "items": textSchema()}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		for i, n := range f.List(path, n) {
			if s, ok := readText(f, yamlfile.Item(path, i), n, public); ok {
				*at(into) = append(*at(into), s)
			}
		}
	}}
}

// text is a text that may be quoted.
func text[T any](name, doc string, at func(*T) *string) member[T] {
	return member[T]{name: name, doc: doc, schema: textSchema(), read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		*at(into), _ = readText(f, path, n, true)
	}}
}

// secretText is a text that is never quoted.
func secretText[T any](name, doc string, at func(*T) *string) member[T] {
	return member[T]{name: name, doc: doc, schema: textSchema(), read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		*at(into), _ = readText(f, path, n, false)
	}}
}

// readText reads a text that is not empty.
func readText(f *yamlfile.File, path string, n yamlfile.Node, public bool) (string, bool) {
	s, ok := f.Scalar(path, n, public)
	if ok && s.Text == "" {
		f.Add(path, s.At, "it is empty: write a value, or remove it")
		return "", false
	}
	return s.Text, ok
}

// value is a single value that is parsed; what is the thing it has to be, with an
// example. It returns false if the text is no such thing.
func value[T, V any](name, doc, what string, schema map[string]any, parse func(string) (V, bool), at func(*T) *V) member[T] {
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		if v, ok := readValue(f, path, n, what, parse); ok {
			*at(into) = v
		}
	}}
}

func readValue[V any](f *yamlfile.File, path string, n yamlfile.Node, what string, parse func(string) (V, bool)) (v V, ok bool) {
	s, ok := f.Scalar(path, n, true)
	if !ok {
		return v, false
	}
	if v, ok = parse(s.Text); !ok {
		f.Add(path, s.At, "%q is not %s", s.Text, what)
		return v, false
	}
	for _, printed := range printedForms(v) {
		f.HideNumber(s, printed)
	}
	return v, true
}

// printedForms are how messages print a value: a share also as if it had been meant
// in percent.
func printedForms(v any) []string {
	forms := []string{fmt.Sprint(v)}
	if share, ok := v.(float64); ok {
		forms = append(forms, strconv.FormatFloat(share/100, 'g', 4, 64))
	}
	return forms
}

// required marks what an object is nothing without.
func required[T any](m member[T]) member[T] {
	m.required = true
	return m
}

// zeroIsNone makes an explicit zero what it says. For a Config it would be the
// default, and a negative number is none.
func zeroIsNone[T any, V ~int64 | ~float64](m member[T], at func(*T) *V) member[T] {
	read := m.read
	m.read = func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		read(f, path, n, into)
		if *at(into) == 0 {
			*at(into) = -1
		}
	}
	return m
}

// zeroIsWrong refuses an explicit zero that would be taken for the default.
func zeroIsWrong[T any, V ~int | ~int64](m member[T], fix string, at func(*T) *V) member[T] {
	read := m.read
	m.read = func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		read(f, path, n, into)
		if *at(into) == 0 && !f.HasFailed(path) {
			f.Add(path, placeOf(f, path), "%s", fix)
		}
	}
	return m
}
