package deps_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pages are all documents of the tree, by their paths relative to its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	walk(t, func(root, path string) {
		if filepath.Ext(path) != ".md" {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		found[path] = string(text)
	})
	return found
}

// The programs in the README and in docs compile. They are the packages of one module, so that one go vet does for all,
// but for those that share through Redis: what these need is what the example of it does.
func TestProgramsOnPagesCompile(t *testing.T) {
	dir, fleet := t.TempDir(), t.TempDir()
	inReadme, inFleet := 0, 0
	for path, text := range pages(t) {
		if path != "README.md" && !under(path, "docs") {
			continue
		}
		for i, code := range blocks(text, "go") {
			module := dir
			if strings.Contains(code, strconv.Quote(core+"/router/redis")) {
				module = fleet
				inFleet++
			}
			folder := filepath.Join(module, strings.NewReplacer("/", "-", ".", "-").Replace(path)+"-"+strconv.Itoa(i+1))
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(folder, "main.go"), code)
			if path == "README.md" {
				inReadme++
			}
		}
	}
	if inReadme == 0 || inFleet == 0 {
		t.Errorf("the README has %d programs, and %d share through Redis", inReadme, inFleet)
	}
	beside(t, dir, ".")
	vet(t, dir)
	beside(t, fleet, "examples/fleet")
	vet(t, fleet)
}

func vet(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v (a folder is named for its page, and the number of the block there)\n%s", err, out)
	}
}

var (
	moduleLine   = regexp.MustCompile(`(?m)^module .*$`)
	replacedPath = regexp.MustCompile(`=> \.\./\.\.(\S*)`)
)

// beside makes dir a module that uses the core as it is here, and needs what one of our modules does.
func beside(t *testing.T, dir, module string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, module, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := moduleLine.ReplaceAllString(string(mod), "module pages")
	text = replacedPath.ReplaceAllStringFunc(text, func(to string) string {
		return "=> " + strconv.Quote(filepath.Join(root, module, strings.TrimPrefix(to, "=> ")))
	})
	if module == "." {
		text += "\nrequire " + core + " v0.0.0\n\nreplace " + core + " => " + strconv.Quote(root) + "\n"
	}
	writeFile(t, filepath.Join(dir, "go.mod"), text)
	writeFile(t, filepath.Join(dir, "go.sum"), string(sum))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// blocks are the fenced blocks of one language.
func blocks(text, language string) (found []string) {
	for _, rest := range strings.Split(text, "\n```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(rest, "\n```")
		found = append(found, code+"\n")
	}
	return found
}

var (
	fenced = regexp.MustCompile("(?s)\n```.*?\n```")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`) // of the form [text](to)
)

// Relative links lead to files and folders of the repository, and to headings of pages.
func TestLinksOnPagesLeadSomewhere(t *testing.T) {
	all := pages(t)
	for path, text := range all {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			to, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", path, m[1], err)
				continue
			}
			if to.IsAbs() {
				continue
			}
			target := path
			if to.Path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), to.Path))
			}
			if _, err := os.Stat(filepath.Join("..", "..", target)); err != nil {
				t.Errorf("%s: link %q leads nowhere: %v", path, m[1], err)
			} else if to.Fragment != "" && !hasHeading(all[target], to.Fragment) {
				t.Errorf("%s: link %q: %s has no such heading", path, m[1], target)
			}
		}
	}
}

// hasHeading tells whether a page has a heading with that anchor, as GitHub makes them.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		heading := strings.TrimLeft(line, "#")
		if heading != line && anchorOf(heading) == anchor {
			return true
		}
	}
	return false
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

func anchorOf(heading string) string {
	kept := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
	return strings.ReplaceAll(kept, " ", "-")
}
