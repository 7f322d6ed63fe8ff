package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
)

// Problem is one thing that is wrong with a file. It is a plain value.
type Problem struct {
	Path    string // of the value; empty: the file as a whole
	Message string // what is wrong and what to do
	Place
	// Quote is the line and, below it, a mark where the problem is. Empty: there is no
	// such line, or it cannot be told what in it is secret.
	Quote string
}

// Add notes a problem for which the value of a path could not be read.
func (f *File) Add(path string, at Place, format string, args ...any) {
	f.Note(path, at, format, args...)
	f.Miss(path)
}

// Note notes a problem beside which the value can be read.
func (f *File) Note(path string, at Place, format string, args ...any) {
	f.found = append(f.found, Problem{Path: path, Place: at, Message: fmt.Sprintf(format, args...)})
}

// Problems returns all that were found, by their place.
func (f *File) Problems() []Problem {
	all := slices.Clone(f.found)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for i := range all {
		all[i].Message = f.hidden(all[i].Message)
		all[i].Quote = f.quote(all[i].Place)
	}
	return all
}
