package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/client"
)

// What is said of the variables here has to be what the client reads.
func TestVariables(t *testing.T) {
	for _, p := range providers {
		t.Setenv(p.variable, "")
		_, err := client.New(client.Config{Targets: []client.Target{{
			Name: p.name, Provider: p.name, BaseURL: "https://example.com/v1",
		}}})
		if err == nil || !strings.Contains(err.Error(), p.variable) {
			t.Errorf("%s: the client does not ask for %s: %v", p.name, p.variable, err)
		}
		if !strings.Contains(noKey().Error(), p.variable) {
			t.Errorf("%s is not listed where no key is set", p.variable)
		}
	}
}

func TestRealTargets(t *testing.T) {
	env := map[string]string{
		"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k",
		"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/",
	}
	get := func(name string) string { return env[name] }
	got := map[string]string{}
	for _, target := range realTargets(map[string]string{"groq": "other"}, get) {
		got[target.Name+" "+target.BaseURL] = target.Models[model]
	}
	want := map[string]string{
		"openai ": "gpt-6-luna",
		"groq ":   "other",
		"azure https://mine.openai.azure.com/openai/v1": "gpt-6-luna",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	delete(env, "AZURE_OPENAI_ENDPOINT")
	if n := len(realTargets(nil, get)); n != 2 {
		t.Errorf("%d targets without Azure's endpoint, want 2", n)
	}
}

func TestSetModel(t *testing.T) {
	o := options{models: map[string]string{}}
	if err := o.setModel("groq=llama=3"); err != nil || o.models["groq"] != "llama=3" {
		t.Errorf("model is %q, error %v", o.models["groq"], err)
	}
	for _, bad := range []string{"groq", "groq=", "nobody=small"} {
		if err := o.setModel(bad); err == nil {
			t.Errorf("-model %s is accepted", bad)
		}
	}
}
