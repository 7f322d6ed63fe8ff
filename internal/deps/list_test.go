package deps_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const core = "github.com/ontime-llm/ontime"

// listed is what `go list` says of one package.
type listed struct {
	ImportPath   string
	DepOnly      bool // of somebody else, or of the standard library: there because ours need it
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// module is the path of the package's module; "" for the standard library, and for what go list could not find.
func (p listed) module() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

func (p listed) testImports() []string {
	return append(p.TestImports[:len(p.TestImports):len(p.TestImports)], p.XTestImports...)
}

var list = sync.OnceValues(func() ([]listed, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	// -e: a package that does not compile yet, or is missing, is no reason not to judge the others.
	cmd := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,DepOnly,Module,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// packages returns the core's packages and all that their non-test code needs, by import path.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	byPath := make(map[string]listed, len(all))
	for _, p := range all {
		byPath[p.ImportPath] = p
	}
	return byPath
}

// ours returns the packages of the core module, examples included.
func ours(t *testing.T) []listed {
	t.Helper()
	var found []listed
	for _, p := range packages(t) {
		if !p.DepOnly && isOurs(p.ImportPath) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		t.Fatal("go list ./... found no package of the core")
	}
	slices.SortFunc(found, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return found
}

func isOurs(path string) bool { return under(path, core) }

// under tells whether path is the prefix itself or lies below it.
func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// moduleRoot is the folder of the core's go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}

// walk calls visit for every file of the tree, nested modules included, with its path relative to the root. That the
// tests look at the files themselves also tells go test when its cached result is out of date, which go list would not.
func walk(t *testing.T, visit func(root, path string)) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file of some other test, gone again
		}
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"
		if d.IsDir() && hidden && path != root {
			return fs.SkipDir
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			visit(root, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
