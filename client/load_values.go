package client

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/yamlfile"
)

// Patterns of values, for reading them and for the schema.
const (
	namePattern       = `^[a-z0-9._-]{1,63}$`
	durationPattern   = `^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$`
	sharePattern      = `^[0-9]+(\.[0-9]+)?%$`
	percentilePattern = `^p[0-9]+(\.[0-9]+)?$`
	variablePattern   = `\$\{`
)

var (
	decimal    = regexp.MustCompile(`^[-+]?([0-9][0-9_]*(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	percentile = regexp.MustCompile(percentilePattern)
)

func duration[T any](name, doc string, at func(*T) *time.Duration) member[T] {
	return value(name, doc, durationWords, durationSchema(), parseDuration, at)
}

const durationWords = "a time: write a number with its unit, such as 600ms, 1.5s or 2m"

func parseDuration(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	return d, err == nil
}

func truth[T any](name, doc string, at func(*T) *bool) member[T] {
	schema := anyOf(map[string]any{"type": "boolean"}, variableSchema())
	return value(name, doc, "true or false: write one of them", schema, func(text string) (is, ok bool) {
		return text == "true", text == "true" || text == "false"
	}, at)
}

func number[T any](name, doc string, at func(*T) *float64) member[T] {
	schema := anyOf(map[string]any{"type": "number"}, variableSchema())
	return value(name, doc, "a number: write one such as 3 or 0.15", schema, parseNumber, at)
}

func parseNumber(text string) (float64, bool) {
	if !decimal.MatchString(text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return v, err == nil
}

func whole[T any](name, doc string, at func(*T) *int) member[T] {
	schema := anyOf(map[string]any{"type": "integer"}, variableSchema())
	return value(name, doc, "a whole number: write one such as 4096", schema, func(text string) (int, bool) {
		v, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		return v, err == nil
	}, at)
}

// numbers is an object whose keys are text and whose values are whole numbers.
func numbers[T any](name, doc string, at func(*T) *map[string]int) member[T] {
	one := whole("", "", func(n *int) *int { return n })
	schema := map[string]any{"type": "object", "additionalProperties": one.schema}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		all := make(map[string]int)
		for _, p := range f.Pairs(path, n) {
			var v int
			f.Enter(yamlfile.Join(path, p.Name), p)
			one.read(f, yamlfile.Join(path, p.Name), p.Value, &v)
			all[p.Name] = v
		}
		*at(into) = all
	}}
}

func seed[T any](name, doc string, at func(*T) *uint64) member[T] {
	schema := anyOf(map[string]any{"type": "integer", "minimum": 0}, variableSchema())
	return value(name, doc, "a whole number from 0 up: write one such as 42", schema, func(text string) (uint64, bool) {
		v, err := strconv.ParseUint(text, 10, 64)
		return v, err == nil
	}, at)
}

// share is a part of a whole: 5% or 0.05.
func share[T any](name, doc string, at func(*T) *float64) member[T] {
	schema := anyOf(
		map[string]any{"type": "number", "maximum": 1},
		map[string]any{"type": "string", "pattern": sharePattern},
		variableSchema(),
	)
	return value(name, doc, "a share: write 5% or 0.05", schema, func(text string) (float64, bool) {
		percent, isPercent := strings.CutSuffix(text, "%")
		v, ok := parseNumber(strings.TrimSpace(percent))
		if isPercent {
			v /= 100
		}
		return v, ok
	}, at)
}

// layers are limits by percentile.
func layers[T any](name, doc string, at func(*T) *budget.Layers) member[T] {
	schema := map[string]any{
		"type":                 "object",
		"patternProperties":    map[string]any{percentilePattern: durationSchema()},
		"additionalProperties": false,
	}
	return member[T]{name: name, doc: doc, schema: schema, read: func(f *yamlfile.File, path string, n yamlfile.Node, into *T) {
		all, lines := make(budget.Layers), make(map[float64]int)
		for _, p := range f.Pairs(path, n) {
			q, ok := readPercentile(f, path, p)
			if !ok {
				continue
			}
			// As a Problem has it: p99.90 is p99.9.
			field := yamlfile.Join(path, "p"+strconv.FormatFloat(q, 'g', -1, 64))
			if line, again := lines[q]; again {
				f.Twice(field, p, line)
				continue
			}
			lines[q] = p.Key.Line
			f.Enter(field, p)
			if d, ok := readValue(f, field, p.Value, durationWords, parseDuration); ok {
				all[q] = d
			}
		}
		*at(into) = all
	}}
}

// readPercentile reads a key such as p99.9.
func readPercentile(f *yamlfile.File, path string, p yamlfile.Pair) (q float64, ok bool) {
	if percentile.MatchString(p.Name) {
		q, err := strconv.ParseFloat(p.Name[1:], 64)
		return q, err == nil
	}
	f.Show(p.Key, p.Name)
	fix := "write p and a number, such as p95 or p99.9"
	if _, isNumber := parseNumber(p.Name); isNumber {
		fix = "write p" + p.Name
	}
	f.Add(yamlfile.Join(path, p.Name), p.Key, "it is no percentile: %s", fix)
	return 0, false
}
