package client_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
)

// fileProblems are the problems in an error of Load.
func fileProblems(t testing.TB, err error) (all []client.FileProblem) {
	t.Helper()
	joined, ok := errors.Unwrap(err).(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error is %v (%T), want one that unwraps to a list", err, err)
	}
	for _, one := range joined.Unwrap() {
		p, ok := one.(client.FileProblem)
		if !ok {
			t.Fatalf("%v is a %T", one, one)
		}
		if plain, ok := errors.AsType[budget.Problem](one); !ok || plain != p.Problem {
			t.Errorf("%v does not unwrap to its problem", one)
		}
		all = append(all, p)
	}
	return all
}

// good are lines that nothing is wrong with.
const good = "targets:\n  - name: one\n    base_url: https://one.test/v1\n"

func TestLoadProblems(t *testing.T) {
	clearKeys(t)
	t.Setenv("EMPTY", "")
	for name, tt := range map[string]struct {
		text string
		want []string // line:column field: a part of the message
	}{
		"unknown keys": {good + "    baseURL: x\nendpoint: {}\nendpoints: {chat: {hegde: 1, ttft: {}, frobnicate: 2}}\n", []string{
			"4:5 targets[0].baseURL: did you mean base_url?",
			"5:1 endpoint: did you mean endpoints?",
			"6:20 endpoints.chat.hegde: did you mean hedge?",
			"6:40 endpoints.chat.frobnicate: the keys are ttft, tpot, total, max_tokens,",
		}},
		"twice": {good + "endpoints:\n  chat: {hedge: 7}\n  chat: {}\n  other:\n    ttft: {p95: 1s, p95.0: 2s}\ntargets: []\n", []string{
			"5:17 endpoints.chat.hedge: more than all calls",
			"6:3 endpoints.chat: it is here twice, first on line 5",
			"8:21 endpoints.other.ttft.p95: it is here twice, first on line 8",
			"9:1 targets: it is here twice, first on line 1",
		}},
		"variables": {good + "    region: ${MISSING}\n    api_key: x${EMPTY}\nhome: ${}\nseed: ${A-b}\n", []string{
			"4:13 targets[0].region: the environment variable MISSING is not set: set it, or write ${MISSING:-default}",
			"5:14 targets[0].api_key: the environment variable EMPTY is empty",
			"6:7 home: write ${NAME} or ${NAME:-default}",
			"7:7 seed: write ${NAME} or ${NAME:-default}",
		}},
		"a variable in a default": {good + "    api_key: ${MISSING:-${EMPTY}}\n    region: ${PATH:-${EMPTY:-x}}\n", []string{
			"4:14 targets[0].api_key: the default of MISSING has a reference in it",
			"5:13 targets[0].region: the default of PATH has a reference in it",
		}},
		"a variable in a key": {good + "endpoints: {\"${MISSING}\": {}}\n", []string{
			"4:13 endpoints: ${...} stands for a value, not for a key",
		}},
		"a variable without quotes": {"targets: [{name: one, api_key: ${KEY}}]\n", []string{
			"1:33 : a value with ${...} has to be in quotes",
		}},
		"values": {good + `
    limits: {concurrent: 1.5, tokens_per_minute: many}
    price: {input: cheap, output: .inf}
endpoints:
  chat:
    ttft: {p95: 600}
    hedge: 5 %%
    hedge_all: yes
    cost_weight: 0x10
    deadline: soon
    max_tokens: {default: 0}
    abandon: 0s
seed: -1
`, []string{
			`5:26 targets[0].limits.concurrent: "1.5" is not a whole number`,
			`5:50 targets[0].limits.tokens_per_minute: "many" is not a whole number`,
			`6:20 targets[0].price.input: "cheap" is not a number`,
			`6:35 targets[0].price.output: ".inf" is not a number`,
			`9:17 endpoints.chat.ttft.p95: "600" is not a time: write a number with its unit`,
			`10:12 endpoints.chat.hedge: "5 %%" is not a share: write 5% or 0.05`,
			`11:16 endpoints.chat.hedge_all: "yes" is not true or false`,
			`12:18 endpoints.chat.cost_weight: "0x10" is not a number`,
			`13:15 endpoints.chat.deadline: "soon" is not a time`,
			`14:27 endpoints.chat.max_tokens.default: -1 for no cap, or leave it out for 4096`,
			`15:14 endpoints.chat.abandon: leave it out to let the route's past decide`,
			`16:7 seed: "-1" is not a whole number from 0 up`,
		}},
		"percentiles": {good + "endpoints: {chat: {ttft: {95: 1s, P99: 1s, p: 1s, p100: 1s, p0: 1s}}}\n", []string{
			"4:27 endpoints.chat.ttft.95: write p95",
			"4:35 endpoints.chat.ttft.P99: write p and a number",
			"4:44 endpoints.chat.ttft.p: write p and a number",
			"4:57 endpoints.chat.ttft.p100: percentile 100 is out of range",
			"4:65 endpoints.chat.ttft.p0: percentile 0 is out of range",
		}},
		"shapes": {"targets: {name: one}\nendpoints: [chat]\nhome: [one]\nshadow:\n", []string{
			"1:10 targets: it is an object: it has to be a list",
			"2:12 endpoints: it is a list: it has to be an object",
			"3:7 home: it is a list: it has to be a single value",
			"4:1 shadow: it has no value",
		}},
		"no values": {"targets:\n  - name: ''\n    headers: {A: }\n  -\nendpoints: {chat: }\n", []string{
			"2:5 targets[0].base_url: the provider has no common one",
			"2:11 targets[0].name: it is empty",
			"3:15 targets[0].headers.A: it has no value",
			"4:4 targets[1]: it has no value",
			"5:13 endpoints.chat: it has no value: write one (an empty object is {})",
		}},
		"what New finds": {`targets:
  - {name: One, base_url: https://one.test/v1, price: {input: -1}}
  - {name: two, provider: openia, headers: {"a b": c}}
  - {name: two, base_url: "http://two.test", api_key: k}
endpoints:
  chat: {ttft: {p95: 1s, p99: 900ms}, deadline: 100ms, targets: [two, tow, two], models: [m, m]}
  b/c: {}
home: three
`, []string{
			`2:12 targets[0].name: "One" is not a name`,
			`2:63 targets[0].price.input: -1 is not a price`,
			`3:27 targets[1].provider: "openia" is not known: use one of anthropic,`,
			`3:35 targets[1].headers: the header "a b" is not a valid one`,
			`4:12 targets[2].name: "two" is already the name of targets[1]`,
			`4:27 targets[2].base_url: use https`,
			`6:31 endpoints.chat.ttft.p99: raise it to 1s or more`,
			`6:49 endpoints.chat.deadline: raise it to 1s or more`,
			`6:71 endpoints.chat.targets[1]: there is no target "tow"`,
			`6:76 endpoints.chat.targets[2]: "two" is already targets[0]`,
			`6:94 endpoints.chat.models[1]: "m" is already models[0]`,
			`7:3 endpoints.b/c: "b/c" is not a name`,
			`7:3 endpoints.b/c.targets: have a price and`,
			`8:7 home: there is no target "three"`,
		}},
		"what follows from a name that cannot be read": {"targets:\n  - {name: \"${MISSING}\", base_url: https://x}\nhome: one\nendpoints: {chat: {targets: [one]}}\n", []string{
			"2:12 targets[0].name: the environment variable MISSING is not set",
		}},
		"aliases": {good + "home: *one\nendpoints:\n  a: &a {}\n  b: &a {}\n  c: !!str x\n", []string{
			"4:7 home: there is no anchor &one",
			"7:6 : there is an anchor &a already: rename one of them",
			"8:6 endpoints.c: tags are not read here",
		}},
		"not a configuration": {"- a\n", []string{"1:1 : it has to be an object"}},
		"empty":               {"# nothing\n", []string{"0:0 : it is empty"}},
		"no targets":          {"home: x\n", []string{"0:0 targets: add at least one", `1:7 home: there is no target "x"`}},
		"two documents":       {good + "---\n" + good, []string{"5:1 : a second document begins"}},
		"directive":           {"%YAML 1.2\n---\n" + good, []string{"1:1 : directives are not read here"}},
		"syntax":              {"targets: a: b\n", []string{"1:10 : this is neither YAML nor JSON: mapping value is not allowed in this context; look at what indents the line"}},
		"tabs":                {"targets:\n\t- name: a\n", []string{"2:1 : this is neither YAML nor JSON: a tab cannot indent: use spaces"}},
		"more tabs":           {"targets:\n  - name: a\n  \tregion: b\n", []string{"3:3 : this is neither YAML nor JSON: a tab cannot indent: use spaces"}},
		"a tab after a dash":  {"targets:\n  -\tname: a\n", []string{"2:8 : this is neither YAML nor JSON: a tab cannot indent: use spaces"}},
		"not text":            {"a: \xff\n", []string{"0:0 : it is not text in UTF-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "c.yaml", tt.text)
			_, err := client.Load(path)
			if err == nil {
				t.Fatal("it was taken")
			}
			found := fileProblems(t, err)
			for i, p := range found {
				text := fmt.Sprintf("%d:%d %s: %s", p.Line, p.Column, p.Field, p.Message)
				if i >= len(tt.want) {
					t.Errorf("a problem too many: %s", text)
					continue
				}
				place, message, _ := strings.Cut(tt.want[i], ": ")
				if !strings.HasPrefix(text, place+": ") || !strings.Contains(text, message) {
					t.Errorf("problem %d is\n  %s, want\n  %s", i, text, tt.want[i])
				}
				if p.File != path || !strings.Contains(err.Error(), p.Error()) || !strings.HasPrefix(p.Error(), path+":") {
					t.Errorf("the error's text leaves out %v", p)
				}
			}
			for _, w := range tt.want[min(len(found), len(tt.want)):] {
				t.Errorf("no problem %s", w)
			}
		})
	}
}

func TestLoadQuotesTheLine(t *testing.T) {
	_, err := client.Load(write(t, "c.yaml", `targets:
  - {name: "one", base_url: "https://user:pass@one.test", api_key: sk-1, limits: {concurrent: x}} # sk-2
  - name: two
    api_kye: sk-3
    region: ${MISSING}
`))
	var got []string
	for _, p := range fileProblems(t, err) {
		got = append(got, p.Quote)
	}
	want := []string{
		"  - {name: \"one\", base_url: *** api_key: *** limits: {concurrent: x}}\n" +
			"                            ^",
		"  - {name: \"one\", base_url: *** api_key: *** limits: {concurrent: x}}\n" +
			strings.Repeat(" ", 66) + "^", // under x
		"  - name: two\n    ^",
		"    api_kye: ***\n    ^",
		"    region: ${MISSING}\n            ^",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Files that are no configuration take neither time nor memory.
func TestLoadBounds(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("targets:\n  - &m0 {name: a, base_url: 'https://a.test'}\n")
	for i := range 40 {
		last := fmt.Sprintf("*m%d", i)
		fmt.Fprintf(&bomb, "  - &m%d {<<: [%s]}\n", i+1, strings.Join(slices.Repeat([]string{last}, 10), ", "))
	}
	for name, tt := range map[string]struct{ text, want string }{
		"size":     {strings.Repeat("# a comment\n", 100_000), "larger than 1024 KiB"},
		"words":    {strings.Repeat("a: b\n", 50_000), "more than 20000 words and marks"},
		"percent":  {strings.Repeat("%", 30_000), "more than 20000 words and marks"},
		"brackets": {"targets: " + strings.Repeat("[", 15_000), "more than 64 brackets or dashes"},
		"dashes":   {strings.Repeat("- ", 15_000), "more than 64 brackets or dashes"},
		"bomb":     {bomb.String(), "aliases multiply to more than 100000 values"},
		"self":     {"targets:\n  - &a {<<: *a, name: x}\n", "aliases multiply to more than 100000 values"},
		"itself":   {"targets: &a *a\n", ""},
		"own list": {"targets: &a [*a]\n", "it is a list: it has to be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := client.Load(write(t, "c.yaml", tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 2000 {
				t.Errorf("error is %.2000v, want a short one with %q", err, tt.want)
			}
			t.Log(time.Since(start), err)
		})
	}
}
