package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// Scalar is a single value as text.
type Scalar struct {
	Text string
	At   Place
	ref  string // as it stands in the file, if a part of it is from the environment
}

// Join is the path of a key within a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Item is the path of an item of a list.
func Item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// resolve follows anchors and aliases. It returns nil, and has said why, where
// that leads nowhere.
func (f *File) resolve(path string, n Node) Node {
	for {
		if f.visits++; f.visits > maxVisits {
			if !f.exhausted {
				f.exhausted = true
				f.Add("", placeOfNode(n), "aliases multiply to more than %d values: write out what is meant", maxVisits)
			}
			return nil
		}
		switch v := n.(type) {
		case nil:
			f.Add(path, f.places[path], "it has no value: write one, or remove the key")
			return nil
		case *ast.AnchorNode:
			n = v.Value
		case *ast.AliasNode:
			name := v.Value.GetToken().Value
			if n = f.anchors[name]; n == nil {
				f.Add(path, placeOf(v.Start), "there is no anchor &%s: add it, or write the value here", name)
				return nil
			}
		case *ast.TagNode:
			f.Add(path, placeOf(v.Start), "tags are not read here: remove it")
			return nil
		default:
			return n
		}
	}
}

// List returns the items of a list; none, and has noted why, if it is no list.
func (f *File) List(path string, n Node) []Node {
	at := f.valuePlace(path, n)
	switch n := f.resolve(path, n).(type) {
	case nil:
	case *ast.SequenceNode:
		return n.Values
	case *ast.NullNode:
		f.Add(path, at, "it has no value: begin each item with \"- \", or remove the key")
	default:
		f.Add(path, at, "it is %s: it has to be a list, with \"- \" before each item", kindOf(n))
	}
	return nil
}

// Scalar returns a single value, with what it takes from the environment. Only
// what is public may be quoted. It returns false, and has noted why, if there is none.
func (f *File) Scalar(path string, n Node, public bool) (s Scalar, ok bool) {
	at := f.valuePlace(path, n)
	switch n := f.resolve(path, n).(type) {
	case nil:
		return s, false
	case *ast.StringNode:
		s.Text = n.Value
	case *ast.LiteralNode:
		s.Text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		s.Text = n.GetToken().Value
	case *ast.NullNode:
		f.Add(path, at, "it has no value: write one, or remove the key")
		return s, false
	default:
		f.Add(path, at, "it is %s: it has to be a single value", kindOf(n))
		return s, false
	}
	s.At = at
	f.places[path] = at
	if public {
		f.Show(at, s.Text)
	}
	return f.expand(path, s)
}

// valuePlace is where a value begins, or its key if there is none.
func (f *File) valuePlace(path string, n Node) Place {
	if key, ok := f.places[path]; ok && (n == nil || n.Type() == ast.NullType) {
		return key
	}
	return placeOfNode(n)
}

func kindOf(n Node) string {
	switch n.(type) {
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "an object"
	default:
		return "a single value"
	}
}
