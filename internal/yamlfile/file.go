package yamlfile

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// File is a file while it is read. It is made by [New], and not safe for concurrent
// use.
type File struct {
	name      string
	lines     []string
	anchors   map[string]Node
	visits    int
	exhausted bool // visits are, which has been said
	refs      []reference

	found  []Problem
	failed []string         // paths of values that could not be read
	places map[string]Place // by path
	shown  map[int][]span   // by line: what may be quoted
}

// Node is a value that has not been read yet.
type Node = ast.Node

// Place is where a value begins: line and column, both from 1. The zero value is the
// file as a whole.
type Place struct{ Line, Column int }

// New returns a file of that name that holds nothing yet.
func New(name string) *File {
	return &File{
		name: name, anchors: make(map[string]Node),
		places: make(map[string]Place), shown: make(map[int][]span),
	}
}

// Enter notes where the value of a path is found, if it is read at all, and that its
// key may be quoted.
func (f *File) Enter(path string, p Pair) {
	f.places[path] = p.Key
	f.Show(p.Key, p.Name)
}

// EnterItem does the same for an item of a list.
func (f *File) EnterItem(path string, n Node) { f.places[path] = placeOfNode(n) }

// Place returns where the value of a path is; false if it is not in the file.
func (f *File) Place(path string) (Place, bool) {
	at, ok := f.places[path]
	return at, ok
}

// Failed returns the paths of values that could not be read.
func (f *File) Failed() []string { return f.failed }

// HasFailed reports whether a value could not be read.
func (f *File) HasFailed(path string) bool { return slices.Contains(f.failed, path) }

// Miss notes that a value is missing because of a problem with another.
func (f *File) Miss(path string) { f.failed = append(f.failed, path) }

// placeOf is where a token begins; nowhere if there is none.
func placeOf(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{}
	}
	return Place{t.Position.Line, t.Position.Column}
}

// placeOfNode is where a value begins: the first key of an object, not its colon.
func placeOfNode(n Node) Place {
	switch n := n.(type) {
	case nil:
		return Place{}
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOfNode(n.Values[0])
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key.GetToken())
	}
	return placeOf(n.GetToken())
}
