package yamlfile

import (
	"regexp"
	"slices"
	"strings"
)

const longestQuote = 160 // characters: a longer line helps nobody

var (
	// Marks, with anchors and aliases, which no text begins like.
	marks    = regexp.MustCompile(`^[-:{}\[\],?"'|>]*([&*][\w.-]+)?[-:{}\[\],?"'|>]*$`)
	plainRef = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

// span is a part of a line that may be quoted, in characters from 0.
type span struct{ from, to int }

// Show lets a word be quoted, if it stands in the file as it is. It may be in quotes.
func (f *File) Show(at Place, word string) {
	if at.Line < 1 || at.Line > len(f.lines) {
		return
	}
	line, letters := []rune(f.lines[at.Line-1]), []rune(word)
	for from := at.Column - 1; from <= at.Column; from++ {
		to := from + len(letters)
		if from >= 0 && to <= len(line) && slices.Equal(line[from:to], letters) {
			f.shown[at.Line] = append(f.shown[at.Line], span{from, to})
			return
		}
	}
}

// quote is a line with a caret under the place. Of the words in it only those are
// shown that are known to be no secret.
func (f *File) quote(at Place) string {
	shown := f.shown[at.Line]
	if len(shown) == 0 {
		return ""
	}
	source := f.lines[at.Line-1]
	line := []rune(source)
	if len(line) > longestQuote {
		return ""
	}
	for _, m := range plainRef.FindAllStringIndex(source, -1) {
		from := len([]rune(source[:m[0]]))
		shown = append(shown, span{from, from + m[1] - m[0]}) // it is ASCII
	}
	visible := make([]bool, len(line))
	for _, s := range shown {
		for i := s.from; i < s.to; i++ {
			visible[i] = true
		}
	}
	text, caret := mask(line, visible, at.Column-1)
	return text + "\n" + strings.Repeat(" ", caret) + "^"
}

// mask replaces the words of a line that are not visible, and tells where in the
// result the given character is.
func mask(line []rune, visible []bool, at int) (text string, caret int) {
	var out []rune
	for i := 0; i < len(line); {
		to := i + 1
		for to < len(line) && visible[to] == visible[i] && (visible[i] || (line[to] == ' ') == (line[i] == ' ')) {
			to++
		}
		word := line[i:to]
		if !visible[i] && word[0] == '#' {
			break // a comment, or what would not be shown either
		}
		if !visible[i] && line[i] != ' ' && !marks.MatchString(string(word)) {
			word = []rune("***")
		}
		if i <= at {
			caret = len(out) + min(at-i, max(len(word)-1, 0))
		}
		out = append(out, word...)
		i = to
	}
	return strings.TrimRight(string(out), " "), caret
}
