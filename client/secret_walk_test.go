package client_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// secret tells whether a text has something in it that belongs to one target:
// its key, its organisation, or a cookie that it set.
func secret(text string) bool {
	return strings.Contains(text, "-of-") || strings.Contains(text, "sid=")
}

// checkNoSecret walks over everything that an application can reach from v:
// exported fields, elements, Unwrap, Error, String and what the SDK can dump.
func checkNoSecret(t *testing.T, what string, v any) {
	t.Helper()
	w := walker{seen: map[uintptr]bool{}, secret: secret, found: func(path, text string) {
		t.Errorf("%s tells a secret at %s: %q", what, path, text)
	}}
	w.walkAny(v)
}

type walker struct {
	seen   map[uintptr]bool
	secret func(text string) bool
	found  func(path, text string)
}

func (w *walker) walkAny(v any) { w.walk("", reflect.ValueOf(v)) }

func (w *walker) text(path, text string) {
	if w.secret(text) {
		w.found(path, text)
	}
}

func (w *walker) walk(path string, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Pointer()] {
			return
		}
		w.seen[v.Pointer()] = true
		w.methods(path, v)
		w.walk(path, v.Elem())
	case reflect.Interface:
		w.walk(path, v.Elem())
	case reflect.Struct:
		w.methods(path, v)
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				w.walk(path+"."+field.Name, v.Field(i))
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			w.walk(path+".key", it.Key())
			w.walk(fmt.Sprintf("%s[%v]", path, it.Key()), it.Value())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			w.text(path, string(v.Bytes()))
			return
		}
		for i := range v.Len() {
			w.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.String:
		w.text(path, v.String())
	}
}

// methods calls those that tell something.
func (w *walker) methods(path string, v reflect.Value) {
	if !v.CanInterface() {
		return
	}
	v0 := v.Interface()
	if s, ok := v0.(fmt.Stringer); ok {
		w.text(path+".String()", s.String())
	}
	if e, ok := v0.(error); ok {
		w.text(path+".Error()", e.Error())
		w.text(path+" as %#v", fmt.Sprintf("%+v %#v", e, e.Error()))
		w.walk(path+".Unwrap()", reflect.ValueOf(errors.Unwrap(e)))
	}
	if d, ok := v0.(interface {
		DumpRequest(bool) []byte
		DumpResponse(bool) []byte
	}); ok {
		w.text(path+".DumpRequest()", string(d.DumpRequest(true)))
		w.text(path+".DumpResponse()", string(d.DumpResponse(true)))
	}
}
