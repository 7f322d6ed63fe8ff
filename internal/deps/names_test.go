package deps_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vague names say nothing of what a package or a file holds.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc"}

func TestNamesSayWhatIsInside(t *testing.T) {
	walk(t, func(root, path string) {
		stem, ok := strings.CutSuffix(filepath.Base(path), ".go")
		if !ok {
			return
		}
		if stem == "types" || slices.Contains(vague, stem) {
			t.Errorf("%s: name the file for what it holds", path)
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.PackageClauseOnly)
		if err != nil {
			return // the compiler will tell
		}
		if name := strings.TrimSuffix(file.Name.Name, "_test"); slices.Contains(vague, name) {
			t.Errorf("%s: name package %s for what it is about", path, name)
		}
	})
}
