package yamlfile

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Pair is one key of an object with its value.
type Pair struct {
	Name  string
	Key   Place
	Value Node
}

// Pairs returns what an object holds, each key once. Those of objects that it
// merges (<<) come last. There are none, and it has noted why, if it is no object.
func (f *File) Pairs(path string, n Node) []Pair {
	lines := make(map[string]int)
	var all []Pair
	f.eachPair(path, n, false, func(p Pair, merged bool) {
		line, again := lines[p.Name]
		switch {
		case !again:
			lines[p.Name] = p.Key.Line
			all = append(all, p)
		case !merged:
			f.Twice(Join(path, p.Name), p, line)
		}
	})
	return all
}

// Twice notes that a key was there before.
func (f *File) Twice(path string, p Pair, line int) {
	f.Show(p.Key, p.Name)
	f.Note(path, p.Key, "it is here twice, first on line %d: remove one of them", line)
}

// eachPair calls do for the pairs of an object, then for those that it merges.
func (f *File) eachPair(path string, n Node, merged bool, do func(p Pair, merged bool)) {
	at := f.valuePlace(path, n)
	var values []*ast.MappingValueNode
	switch n := f.resolve(path, n).(type) {
	case nil:
		return
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	case *ast.NullNode:
		f.Add(path, at, "it has no value: write one (an empty object is {}), or remove the key")
		return
	default:
		f.Add(path, at, "it is %s: it has to be an object, with a line \"key: value\" for each part", kindOf(n))
		return
	}
	f.visits += len(values)
	for _, v := range values {
		if name, ok := f.key(path, v.Key); ok {
			do(Pair{name, placeOf(v.Key.GetToken()), v.Value}, merged)
		}
	}
	for _, v := range values {
		if v.Key.IsMergeKey() {
			f.Show(placeOf(v.Key.GetToken()), "<<")
			f.merge(path, v.Value, do)
		}
	}
}

// merge calls do for the pairs of one object, or of several in a list.
func (f *File) merge(path string, n Node, do func(Pair, bool)) {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, item := range list.Values {
			f.eachPair(path, item, true, do)
		}
		return
	}
	f.eachPair(path, n, true, do)
}

// key is the name of a key, taken as it stands: what the environment holds
// never changes the structure.
func (f *File) key(path string, n ast.MapKeyNode) (string, bool) {
	if n.IsMergeKey() {
		return "", false
	}
	var name string
	switch n := n.(type) {
	case *ast.StringNode:
		name = n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		name = n.GetToken().Value
	default:
		f.Add(path, placeOf(n.GetToken()), "a key is a plain word here: write it as key: value")
		return "", false
	}
	if strings.Contains(name, "${") {
		f.Add(path, placeOf(n.GetToken()), "${...} stands for a value, not for a key: write the key out")
		return "", false
	}
	return name, true
}
