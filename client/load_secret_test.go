package client_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/client"
)

// everyValue is a file in which each value is the environment's; %s is a reference
// to the next variable.
const everyValue = `
targets:
  - {name: %s, provider: %s, region: %s, base_url: %s, api_key: %s, admin_key: %s, models: {m: %s}, headers: {A: %s},
     price: {input: %s, cached_input: %s, output: %s}, limits: {requests_per_minute: %s, tokens_per_minute: %s, concurrent: %s}}
  - {name: %s, api_keys: [%s, %s], base_url: %s}
endpoints:
  chat: {ttft: {p95: %s, p99: %s}, tpot: {p50: %s}, total: {p95: %s}, max_tokens: {default: %s, limit: %s, fit: %s, strict: %s},
         deadline: %s, abandon: %s, hedge: %s, hedge_all: %s, cost_weight: %s, targets: [%s], models: [%s, %s]}
home: %s
shadow: %s
seed: %s
grace: %s
`

// Whatever a variable holds, it is in no error: neither as it is nor as the number
// that it was read as.
func TestLoadTellsNothingOfTheEnvironment(t *testing.T) {
	for name, values := range map[string][]string{
		"text":         {"zq secret: 1"},
		"short":        {"zq"},
		"quotes":       {"zq\"secret\n"},
		"numbers":      {"-73", "73.5"},
		"large":        {"9173", "91.73"},
		"times":        {"7317ms", "-7317ms", "7.317s", "-7.317s"},
		"shares":       {"917.3%", "9.173"},
		"short shares": {"173%", "1.73"},
		"infinite":     {"1e999", "+Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			n := strings.Count(everyValue, "%s")
			refs := make([]any, n)
			for i := range refs {
				t.Setenv(fmt.Sprint("V_", i), values[0])
				refs[i] = fmt.Sprintf(`"${V_%d}"`, i)
			}
			_, err := client.Load(write(t, "c.yaml", fmt.Sprintf(everyValue, refs...)))
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, value := range values {
				if strings.Contains(err.Error(), value) {
					t.Errorf("the error tells %q:\n%v", value, err)
				}
			}
			if strings.Count(err.Error(), "${V_") < 10 {
				t.Errorf("the error does not name the references:\n%v", err)
			}
		})
	}
}

// A credential in the file is in no error, not even where a key is misspelt or the
// file cannot be read.
func TestLoadTellsNoCredential(t *testing.T) {
	for name, text := range map[string]string{
		"beside a mistake": "targets:\n  - {name: x y, api_key: zq-1, api_keys: [zq-2], admin_key: zq-3, headers: {A: zq-4}, base_url: 'https://zq-5@x', frob: 1}\n",
		"misspelt":         "targets:\n  - name: x y\n    api-keyy: zq-1\n    apikey: [zq-2]\n    header: {A: zq-3}\n",
		"of a wrong shape": "targets:\n  - name: x y\n    api_key: [zq-1]\n    api_keys: zq-2\n    headers: zq-3\n",
		"in a comment":     "targets:\n  - name: x y # zq-1\n    # zq-2\n",
		"not closed":       "targets:\n  - name: x y\n    api_key: \"zq-1\n",
		"reserved":         "targets:\n  - name: x y\n    api_key: @zq-1\n",
		"a block":          "targets:\n  - name: x y\n    api_key: |zq-1\n      zq-2\n",
		"an escape":        "targets:\n  - name: x y\n    api_key: \"\\zq-1\"\n",
		"a second colon":   "targets:\n  - name: x y\n    api_key: zq-1: zq-2\n",
		"a default":        "targets:\n  - name: x y\n    api_key: '${UNSET}${X:-zq-1'\n    admin_key: ${UNSET:-zq-2} ${\n",
		"with a line end":  "targets:\n  - name: x y\n    api_key: |\n      zq-1\n",
		"a tag":            "targets:\n  - name: x y\n    api_key: !zq-1 zq-2\n",
		"an alias":         "targets:\n  - {name: x y, api_key: &a zq-1, region: *a, headers: {<<: *a}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Load(write(t, "c.yaml", text))
			if err == nil {
				t.Fatal("it was taken")
			}
			if strings.Contains(err.Error(), "zq") {
				t.Errorf("the error tells it:\n%v", err)
			}
		})
	}
}
