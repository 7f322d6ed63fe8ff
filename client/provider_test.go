package client_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// asked is a call in each format, as the application sends it.
var asked = map[string]struct{ path, body string }{
	"chat":        {"chat/completions", `{"model":"m","max_tokens":7,"stream":true,"messages":[]}`},
	"completions": {"completions", `{"model":"m","max_tokens":7,"stream":true,"prompt":"hi"}`},
	"responses":   {"responses", `{"model":"m","max_output_tokens":7,"stream":true,"input":"hi"}`},
	"embeddings":  {"embeddings", `{"model":"m","input":"hi"}`},
	"messages":    {"messages", `{"model":"m","max_tokens":7,"stream":true,"messages":[]}`},
}

// What a chat is to become, by the cap's spelling and whether usage is asked for.
const (
	chatOlder   = `{"stream_options":{"include_usage":true},"model":"m","max_tokens":7,"stream":true,"messages":[]}`
	chatNewer   = `{"max_completion_tokens":7,"stream_options":{"include_usage":true},"model":"m","stream":true,"messages":[]}`
	chatOlderNo = `{"model":"m","max_tokens":7,"stream":true,"messages":[]}`
	chatNewerNo = `{"max_completion_tokens":7,"model":"m","stream":true,"messages":[]}`
)

// leaves is what leaves for a target whose key is "k".
type leaves struct {
	target client.Target
	base   string            // URL below which each format has its path; its query
	auth   string            // header: value
	also   map[string]string // the same for a format where they differ, line by line
	chat   string            // body of a chat
	speaks string            // formats
}

const everything = "chat completions responses embeddings messages"

var presets = []leaves{
	{client.Target{Provider: "openai"}, "https://api.openai.com/v1/", "Authorization: Bearer k", nil, chatNewer, "chat completions responses embeddings"},
	{client.Target{Provider: "azure", BaseURL: "https://res.openai.azure.com/openai/v1/"},
		"https://res.openai.azure.com/openai/v1/", "Api-Key: k", nil, chatNewer, "chat completions responses embeddings"},
	{client.Target{Provider: "azure", BaseURL: "https://res.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21"},
		"https://res.openai.azure.com/openai/deployments/m/ ?api-version=2024-10-21", "Api-Key: k", nil, chatOlder, "chat completions embeddings"},
	{client.Target{Provider: "azure", BaseURL: "https://res.openai.azure.com/openai/deployments/own?api-version=2024-10-21"},
		"https://res.openai.azure.com/openai/deployments/own/ ?api-version=2024-10-21", "Api-Key: k", nil, chatOlder, "chat completions embeddings"},
	{client.Target{Provider: "anthropic"}, "https://api.anthropic.com/v1/", "Authorization: Bearer k",
		map[string]string{"messages": "X-Api-Key: k\nAnthropic-Version: 2023-06-01"}, chatOlder, "chat messages"},
	{client.Target{Provider: "gemini"}, "https://generativelanguage.googleapis.com/v1beta/openai/", "Authorization: Bearer k", nil, chatOlder, "chat embeddings"},
	{client.Target{Provider: "vertex", Region: "europe-west4", Project: "my-project"},
		"https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/endpoints/openapi/", "Authorization: Bearer k", nil, chatOlder, "chat"},
	{client.Target{Provider: "vertex", Region: "global", Project: "my-project"},
		"https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/endpoints/openapi/", "Authorization: Bearer k", nil, chatOlder, "chat"},
	{client.Target{Provider: "vertex", Region: "eu", Project: "my-project"},
		"https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu/endpoints/openapi/", "Authorization: Bearer k", nil, chatOlder, "chat"},
	{client.Target{Provider: "vertex", Region: "us", Project: "my-project"},
		"https://aiplatform.us.rep.googleapis.com/v1/projects/my-project/locations/us/endpoints/openapi/", "Authorization: Bearer k", nil, chatOlder, "chat"},
	{client.Target{Provider: "bedrock", Region: "us-west-2"}, "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/", "Authorization: Bearer k", nil, chatNewer, "chat responses"},
	{client.Target{Provider: "bedrock", Region: "us-west-2", BaseURL: "https://bedrock-mantle.{region}.api.aws/v1"},
		"https://bedrock-mantle.us-west-2.api.aws/v1/", "Authorization: Bearer k", nil, chatNewer, "chat responses"},
	{client.Target{Provider: "openrouter"}, "https://openrouter.ai/api/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "groq"}, "https://api.groq.com/openai/v1/", "Authorization: Bearer k", nil, chatNewer, "chat responses"},
	{client.Target{Provider: "together"}, "https://api.together.ai/v1/", "Authorization: Bearer k", nil, chatOlder, "chat completions embeddings"},
	{client.Target{Provider: "fireworks"}, "https://api.fireworks.ai/inference/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "mistral"}, "https://api.mistral.ai/v1/", "Authorization: Bearer k", nil, chatOlderNo, "chat embeddings"},
	{client.Target{Provider: "deepseek"}, "https://api.deepseek.com/v1/", "Authorization: Bearer k", nil, chatOlder, "chat"},
	{client.Target{Provider: "deepseek", BaseURL: "https://api.deepseek.com/anthropic/v1", Formats: []string{"messages"}},
		"https://api.deepseek.com/anthropic/v1/", "Authorization: Bearer k", nil, "", "messages"},
	{client.Target{Provider: "xai"}, "https://api.x.ai/v1/", "Authorization: Bearer k", nil, chatNewerNo, "chat completions responses"},
	{client.Target{Provider: "cerebras"}, "https://api.cerebras.ai/v1/", "Authorization: Bearer k", nil, chatNewer, "chat completions"},
	{client.Target{Provider: "nvidia"}, "https://integrate.api.nvidia.com/v1/", "Authorization: Bearer k", nil, chatOlder, "chat completions embeddings"},
	{client.Target{Provider: "vllm"}, "http://localhost:8000/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "sglang"}, "http://localhost:30000/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "llama.cpp"}, "http://localhost:8080/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "ollama"}, "http://localhost:11434/v1/", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{Provider: "compatible", BaseURL: "https://own.test/api?a=b"}, "https://own.test/api/ ?a=b", "Authorization: Bearer k", nil, chatOlder, everything},
	{client.Target{BaseURL: "https://own.test/api", Formats: []string{"chat", "responses"}}, "https://own.test/api/", "Authorization: Bearer k", nil, chatOlder, "chat responses"},
}

// The exact request that leaves for each preset, in each format that it speaks. In
// another nothing leaves.
func TestPresets(t *testing.T) {
	for _, p := range presets {
		for format, ask := range asked {
			t.Run(p.target.Provider+" "+p.target.Region+" "+format, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					got, err := sent(t, p.target, ask.path, ask.body)
					if !slices.Contains(strings.Fields(p.speaks), format) {
						mustBe(t, err, middleware.ErrNoTarget)
						if got != nil {
							t.Errorf("it was sent a request to %s", got.url)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(p.request(format), got, cmp.AllowUnexported(request{})); diff != "" {
						t.Errorf("request (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// request is one that left.
type request struct {
	url, host, body string
	header          []string // name: value
}

// request is what has to leave.
func (p *leaves) request(format string) *request {
	base, query, _ := strings.Cut(p.base, " ")
	want := &request{url: base + asked[format].path + query, body: asked[format].body, header: []string{p.auth, "Content-Type: application/json"}}
	want.host, _, _ = strings.Cut(base[strings.Index(base, "//")+2:], "/")
	switch {
	case format == "chat":
		want.body = p.chat
	case format == "completions" && strings.Contains(p.chat, "stream_options"):
		want.body = `{"stream_options":{"include_usage":true},"model":"m","max_tokens":7,"stream":true,"prompt":"hi"}`
	}
	if also, ok := p.also[format]; ok {
		want.header = append(strings.Split(also, "\n"), want.header[1:]...)
	}
	slices.Sort(want.header)
	return want
}

// sent sends a call to one target, and returns what left for it.
func sent(t *testing.T, target client.Target, path, body string) (got *request, err error) {
	t.Helper()
	server := upstream.New("it", quick, 1)
	server.OnRequest(func(r *http.Request, body []byte) {
		got = &request{url: r.URL.String(), host: r.Host, body: string(body)}
		for name, values := range r.Header {
			got.header = append(got.header, name+": "+strings.Join(values, ", "))
		}
		slices.Sort(got.header)
	})
	target.Name = "it"
	if target.Auth == nil && target.APIKey == "" {
		target.APIKey = "k"
	}
	c, err := client.New(client.Config{Targets: []client.Target{target}, Transport: server})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", client.BaseURL+path, strings.NewReader(body))
	r.Header["Content-Type"] = []string{"application/json"}
	resp, err := c.HTTPClient().Transport.RoundTrip(r)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return got, err
}

// An unknown provider's error lists those that are known, and each of them has its
// request tested here.
func TestEveryPresetIsTested(t *testing.T) {
	_, err := client.New(client.Config{Targets: []client.Target{{Name: "one", Provider: "opnai", BaseURL: "https://one.test/v1"}}})
	if err == nil {
		t.Fatal("an unknown provider was taken")
	}
	_, list, _ := strings.Cut(err.Error(), "use one of ")
	var tested []string
	for _, p := range presets {
		if p.target.Provider != "" && !slices.Contains(tested, p.target.Provider) {
			tested = append(tested, p.target.Provider)
		}
	}
	slices.Sort(tested)
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(list), ", "), tested); diff != "" {
		t.Errorf("the presets (-known +tested):\n%s", diff)
	}
}

// In Azure's dated API a call goes to the deployment that is named like its model,
// whoever addressed it where, and all else lies beside the deployments.
func TestDeployments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{
			Name: "one", Provider: "azure", BaseURL: "https://one.test/openai/deployments/{model}/?api-version=2024-10-21",
			Models: map[string]string{"m": "mine/é", "gpt-4o-mini": "mini"},
		}}}, "one")
		c := f.foreign("https://one.test/openai/deployments/elsewhere?api-version=2023-05-15")
		for _, test := range []struct {
			do   func() error
			want string
		}{
			{func() error { _, err := f.post(t, "chat/completions", asked["chat"].body); return err }, "/openai/deployments/mine%2F%C3%A9/chat/completions?api-version=2024-10-21"},
			{func() error { _, err := stream(t.Context(), &c, question("hello")); return err }, "/openai/deployments/mini/chat/completions?api-version=2024-10-21"},
			{func() error { _, err := f.Models.List(t.Context()); return err }, "/openai/models?api-version=2024-10-21"},
		} {
			if err := test.do(); err != nil {
				t.Fatal(err)
			}
			if r, _ := f.last(t, "one"); r.URL.RequestURI() != test.want {
				t.Errorf("request went to %s, want %s", r.URL.RequestURI(), test.want)
			}
		}
	})
}

// A server of one's own is told apart by its host, and needs no key.
func TestServersOfOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := []client.Target{
			{Name: "one", Provider: "vllm", BaseURL: "http://one.test:8000/v1", Price: router.Price{Output: 1}},
			{Name: "two", Provider: "vllm", BaseURL: "http://two.test:8000/v1", Price: router.Price{Output: 2}},
		}
		one, two := upstream.New("one", quick, 1), upstream.New("two", quick, 2)
		one.Script(raw(404, "application/json", `{"error":{"message":"no such model","code":"model_not_found"}}`))
		var header http.Header
		two.OnRequest(func(r *http.Request, _ []byte) { header = r.Header })
		c, err := client.New(client.Config{
			Targets: targets, Endpoints: chatBudget(), Transport: upstream.Network{"one.test:8000": one, "two.test:8000": two},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// The model is not there: a target of another provider is tried.
		if text, err := ask(t.Context(), c.Endpoint("chat"), question("hello")); err != nil || text != two.Text(16) {
			t.Errorf("answer is %q, %v, want two's", text, err)
		}
		if got := header.Get("Authorization"); got != "" {
			t.Errorf("a server without a key was sent %q", got)
		}
	})
}
