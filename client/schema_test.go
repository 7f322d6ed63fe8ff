package client_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/client"
)

var update = flag.Bool("update", false, "write examples/config/ontime.schema.json anew")

const example = "../examples/config"

// The schema in the repository is the one that Schema returns:
//
//	go test ./client -run TestSchema -update
func TestSchemaIsCurrent(t *testing.T) {
	file := filepath.Join(example, "ontime.schema.json")
	if *update {
		if err := os.WriteFile(file, client.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, client.Schema()) {
		t.Errorf("%s is out of date: run go test ./client -run TestSchema -update", file)
	}
}

// code are the fields of a configuration that no file can hold.
var code = []string{"transport", "logger", "observers", "registerer", "shared", "trace_id", "auth"}

// Everything else that a Config has can be said in a file, under the name of its
// field.
func TestSchemaHasEveryField(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(client.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	checkFields(t, "", reflect.TypeFor[client.Config](), schema)
}

func checkFields(t *testing.T, path string, typ reflect.Type, schema map[string]any) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	var want []string
	for _, field := range reflect.VisibleFields(typ) {
		name := fileName(field.Name)
		if !field.IsExported() || slices.Contains(code, name) {
			continue
		}
		want = append(want, name)
		property, _ := properties[name].(map[string]any)
		if d, _ := property["description"].(string); len(d) < 10 {
			t.Errorf("%s%s has no description", path, name)
		}
		below := field.Type
		for below.Kind() == reflect.Slice || below.Kind() == reflect.Map {
			inner, _ := property["items"].(map[string]any)
			if below.Kind() == reflect.Map {
				inner, _ = property["additionalProperties"].(map[string]any)
			}
			property, below = inner, below.Elem()
		}
		if below.Kind() == reflect.Struct {
			checkFields(t, path+name+".", below, property)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(properties))); diff != "" {
		t.Errorf("in %q a file can hold (-fields +schema):\n%s", path, diff)
	}
}

// fileName is a Go name as a file has it: BaseURL is base_url.
func fileName(name string) string {
	var out strings.Builder
	for i, r := range name {
		next := i+1 < len(name) && unicode.IsLower(rune(name[i+1]))
		if unicode.IsUpper(r) && i > 0 && (next || unicode.IsLower(rune(name[i-1]))) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// The commented example is a whole configuration: it loads, New takes it, and it
// shows every key there is.
func TestExampleConfiguration(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "AZURE_KEY_1", "AZURE_KEY_2"} {
		t.Setenv(name, "simulated")
	}
	path := filepath.Join(example, "ontime.yaml")
	cfg, err := client.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte("# yaml-language-server: $schema=ontime.schema.json\n")) {
		t.Error("the first line does not name the schema")
	}
	var schema map[string]any
	if err := json.Unmarshal(client.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, key := range keysOf(schema) {
		if !strings.Contains(string(text), key+":") {
			t.Errorf("the example does not show %s", key)
		}
	}
}

// keysOf are all keys that a schema knows.
func keysOf(schema map[string]any) (all []string) {
	for name, value := range schema {
		below, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if name == "properties" {
			all = slices.AppendSeq(all, maps.Keys(below))
		}
		all = append(all, keysOf(below)...)
	}
	return all
}
