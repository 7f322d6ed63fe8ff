package modelname_test

import (
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/internal/modelname"
)

func TestClean(t *testing.T) {
	for said, want := range map[string]string{
		"":                               "",
		"gpt-4o-mini-2024-07-18":         "gpt-4o-mini-2024-07-18",
		"@cf/meta/Llama_3.1:8b":          "@cf/meta/Llama_3.1:8b",
		"<img onerror>":                  "",
		"gpt-4o mini":                    "",
		"modèle":                         "",
		"m\n":                            "",
		strings.Repeat("m", 200):         strings.Repeat("m", 128),
		strings.Repeat("m", 128) + "<b>": strings.Repeat("m", 128),
	} {
		if got := modelname.Clean(said); got != want {
			t.Errorf("Clean(%q) = %q, want %q", said, got, want)
		}
	}
}
