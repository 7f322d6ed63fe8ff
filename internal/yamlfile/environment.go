package yamlfile

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// variable is ${NAME} or ${NAME:-default}; $${ is what makes none; a ${ that is
// neither is a mistake.
var variable = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}|\$\{`)

// reference is what came from the environment, and how the file refers to it.
type reference struct {
	value, ref string
	number     bool // as messages print it: without quotes, and perhaps a part of another
}

// expand puts values of the environment into a scalar. That is done after
// parsing, so that no value can pass for structure.
func (f *File) expand(path string, s Scalar) (Scalar, bool) {
	if !strings.Contains(s.Text, "${") {
		return s, true
	}
	whole, ok, environment := s.Text, true, false
	s.Text = replaceVariables(whole, func(name, otherwise string, hasDefault bool) string {
		value, set := os.LookupEnv(name)
		switch {
		case name == "":
			f.Add(path, s.At, "it has a ${ that begins no reference: write ${NAME} or ${NAME:-default}, or $${ for ${ itself")
			ok = false
		case strings.Contains(otherwise, "${"):
			// Its } would be taken for the end of the one around it.
			f.Add(path, s.At, "the default of %s has a reference in it, which is not read there: write the value itself, or one reference alone", name)
			ok = false
		case hasDefault && value == "":
			return otherwise
		case !set:
			f.Add(path, s.At, "the environment variable %s is not set: set it, or write ${%[1]s:-default}", name)
			ok = false
		case value == "":
			f.Add(path, s.At, "the environment variable %s is empty: set it, or write ${%[1]s:-default}", name)
			ok = false
		}
		environment = true
		f.hide(value, "${"+name+"}")
		return value
	})
	if environment {
		s.ref = whole
		f.hide(s.Text, whole)
	}
	return s, ok
}

func replaceVariables(text string, value func(name, otherwise string, hasDefault bool) string) string {
	var out strings.Builder
	rest := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		out.WriteString(text[rest:m[0]])
		if rest = m[1]; group(0) == "$${" {
			out.WriteString("${")
			continue
		}
		out.WriteString(value(group(1), group(3), group(2) != ""))
	}
	out.WriteString(text[rest:])
	return out.String()
}

// shortValue is the length from which on text of the environment is hidden where
// it stands without quotes too. Messages quote all names, and the shortest are
// words of a message as well.
const shortValue = 4

// hide keeps text of the environment out of messages.
func (f *File) hide(value, ref string) {
	if value != "" {
		f.refs = append(f.refs, reference{value: value, ref: ref})
	}
}

// HideNumber keeps a number or a time, as messages print it, out of them, if it came
// from the environment. (Text is kept out where it is quoted as by %q, and from four
// characters on everywhere.)
func (f *File) HideNumber(s Scalar, printed string) {
	if s.ref != "" {
		f.refs = append(f.refs, reference{printed, s.ref, true})
	}
}

// hidden is a message with references in place of what they stand for.
func (f *File) hidden(message string) string {
	slices.SortStableFunc(f.refs, func(a, b reference) int { return cmp.Compare(len(b.value), len(a.value)) })
	for _, r := range f.refs {
		message = strings.ReplaceAll(message, strconv.Quote(r.value), r.ref)
		switch {
		case r.number:
			message = replaceWord(message, r.value, r.ref)
		case utf8.RuneCountInString(r.value) >= shortValue:
			message = strings.ReplaceAll(message, r.value, r.ref)
		}
	}
	return message
}

// replaceWord replaces word where it is no part of a longer one.
func replaceWord(text, word, by string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		out.WriteString(text[:i])
		if isWord(before) || isWord(after) {
			out.WriteString(word)
		} else {
			out.WriteString(by)
		}
		text = text[i+len(word):]
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
