package deps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The programs in the README compile.
func TestReadmeCompiles(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the README has no Go code")
	}
	dir := t.TempDir()
	for i, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		file := filepath.Join(dir, "block"+string(rune('1'+i))+".go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
			t.Errorf("block %d of the README: %v\n%s", i+1, err, out)
		}
	}
}
