package yamlfile_test

import (
	"os"
	"strings"
	"testing"
)

// Whatever is in a file: it is read to its end, its problems lie in it and tell nothing
// of the environment.
func FuzzFile(f *testing.F) {
	os.Setenv("HUNTER", "hunter2:\n  - [*hunter2]")
	for _, seed := range []string{
		"a: {b: \"${HUNTER}\", list: [1_000.5, '${HUNTER:-x}', ~]}\nc: {<<: {d: e}, b: ${X:-a}}\n",
		"a:\n- &a {b: c}\n- {<<: [*a, *a], d: ${HUNTER}}\ne: {f: *a}\n",
		"{\n\t\"a\": {\"b\": \"x\\/y\\u00e9\", \"list\": [1, null]}}",
		"a: !!seq\n- b: |\n    a\n  c: >-\n    b\n? c\n: d\n---\n...\n",
		"a: {b: 'it''s ${HUNTER}'} # ${HUNTER}\n\"b\": {$${HUNTER}: ${}}\n&c d: *c\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, p := range r.Problems() {
			if p.Message == "" || p.Line < 0 || p.Line > lines || (p.Line == 0) != (p.Column == 0) {
				t.Errorf("a problem %+v", p)
			}
			if strings.Contains(p.Message+p.Quote, "hunter2:") && !strings.Contains(text, "hunter2:") {
				t.Errorf("it tells what the environment holds: %+v", p)
			}
		}
	})
}
