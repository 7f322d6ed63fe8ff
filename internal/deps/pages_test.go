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

// The programs in the README and in docs compile. They are the packages of one module, so that one go vet does for all.
func TestProgramsOnPagesCompile(t *testing.T) {
	dir := t.TempDir()
	inReadme := 0
	for path, text := range pages(t) {
		if path != "README.md" && !under(path, "docs") {
			continue
		}
		for i, code := range blocks(text, "go") {
			folder := filepath.Join(dir, strings.NewReplacer("/", "-", ".", "-").Replace(path)+"-"+strconv.Itoa(i+1))
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(folder, "main.go"), code)
			if path == "README.md" {
				inReadme++
			}
		}
	}
	if inReadme == 0 {
		t.Error("the README has no Go code")
	}
	beside(t, dir)
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v (a folder is named for its page, and the number of the block there)\n%s", err, out)
	}
}

// beside makes dir a module that uses the core as it is here, and needs what the core does.
func beside(t *testing.T, dir string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.mod"), strings.Replace(string(mod), "module "+core, "module pages", 1)+
		"\nrequire "+core+" v0.0.0\n\nreplace "+core+" => "+strconv.Quote(root)+"\n")
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
