package client_test

import (
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// problemsOf are the problems in an error of New, as "field: message".
func problemsOf(err error) (found []string) {
	if problem, ok := err.(budget.Problem); ok {
		return []string{problem.Error()}
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			found = append(found, problemsOf(inner)...)
		}
	case interface{ Unwrap() error }:
		return problemsOf(e.Unwrap())
	}
	return found
}

// wantProblems wants exactly these, each as a field and a part of the message
// that says what to do.
func wantProblems(t *testing.T, err error, want ...[2]string) {
	t.Helper()
	if err == nil {
		t.Fatal("the configuration was taken")
	}
	found := problemsOf(err)
	for _, w := range want {
		i := slices.IndexFunc(found, func(p string) bool { return strings.HasPrefix(p, w[0]+": ") && strings.Contains(p, w[1]) })
		if i < 0 {
			t.Errorf("no problem with %s that says %q", w[0], w[1])
			continue
		}
		if !strings.Contains(err.Error(), found[i]) {
			t.Errorf("the error's text leaves out %q", found[i])
		}
		found = slices.Delete(found, i, i+1)
	}
	for _, p := range found {
		t.Errorf("a problem too many: %s", p)
	}
	if t.Failed() {
		t.Log(err)
	}
}

func clearKeys(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GROQ_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"} {
		t.Setenv(name, "")
	}
}

func TestEachProblem(t *testing.T) {
	clearKeys(t)
	good := client.Target{Name: "one", BaseURL: "https://one.test/v1", APIKey: "k"}
	target := func(change func(*client.Target)) client.Config {
		bad := good
		change(&bad)
		return client.Config{Targets: []client.Target{bad}}
	}
	auth := func(*http.Request) error { return nil }
	for name, test := range map[string]struct {
		cfg  client.Config
		want [2]string
	}{
		"no target":        {client.Config{}, [2]string{"targets", "add at least one"}},
		"no name":          {target(func(t *client.Target) { t.Name = "" }), [2]string{"targets[0].name", "use 1 to 63"}},
		"bad name":         {target(func(t *client.Target) { t.Name = "EU West" }), [2]string{"targets[0].name", "a-z, 0-9"}},
		"long name":        {target(func(t *client.Target) { t.Name = strings.Repeat("x", 64) }), [2]string{"targets[0].name", "63"}},
		"same name":        {client.Config{Targets: []client.Target{good, good}}, [2]string{"targets[1].name", "rename"}},
		"provider":         {target(func(t *client.Target) { t.Provider = "opnai" }), [2]string{"targets[0].provider", "openai"}},
		"no key":           {target(func(t *client.Target) { t.Provider, t.APIKey = "groq", "" }), [2]string{"targets[0].api_key", "GROQ_API_KEY"}},
		"no key of two":    {target(func(t *client.Target) { t.Provider, t.APIKey = "gemini", "" }), [2]string{"targets[0].api_key", "GOOGLE_API_KEY or GEMINI_API_KEY"}},
		"no token":         {target(func(t *client.Target) { t.Provider, t.APIKey = "vertex", "" }), [2]string{"targets[0].auth", "access token"}},
		"two kinds of key": {target(func(t *client.Target) { t.APIKeys = []string{"a"} }), [2]string{"targets[0].api_keys", "set one of them"}},
		"key and auth":     {target(func(t *client.Target) { t.Auth = auth }), [2]string{"targets[0].auth", "set one of them"}},
		"empty key":        {target(func(t *client.Target) { t.APIKey, t.APIKeys = "", []string{"a", ""} }), [2]string{"targets[0].api_keys", "remove it"}},
		"key with newline": {target(func(t *client.Target) { t.APIKey = "k\n" }), [2]string{"targets[0].api_key", "line ends"}},
		"no base URL":      {target(func(t *client.Target) { t.BaseURL = "" }), [2]string{"targets[0].base_url", "set the URL"}},
		"azure base URL":   {target(func(t *client.Target) { t.Provider, t.BaseURL = "azure", "" }), [2]string{"targets[0].base_url", "set the URL"}},
		"azure resource":   {target(func(t *client.Target) { t.Provider, t.BaseURL = "azure", "https://res.openai.azure.com/" }), [2]string{"targets[0].base_url", "add /openai/v1"}},
		"azure version": {target(func(t *client.Target) {
			t.Provider, t.BaseURL = "azure", "https://res.openai.azure.com/openai/deployments/{model}"
		}), [2]string{"targets[0].base_url", "?api-version="}},
		"azure version of one": {target(func(t *client.Target) {
			t.Provider, t.BaseURL = "azure", "https://res.openai.azure.com/openai/deployments/gpt"
		}), [2]string{"targets[0].base_url", "?api-version="}},
		"no region":        {target(func(t *client.Target) { t.Provider, t.BaseURL = "bedrock", "" }), [2]string{"targets[0].region", "us-east-1"}},
		"region":           {target(func(t *client.Target) { t.Provider, t.BaseURL, t.Region = "bedrock", "", "evil.test/" }), [2]string{"targets[0].region", "letters, digits"}},
		"region in own":    {target(func(t *client.Target) { t.BaseURL = "https://{region}.test/v1" }), [2]string{"targets[0].region", "set a region"}},
		"no project":       {target(func(t *client.Target) { t.Provider, t.BaseURL, t.Region = "vertex", "", "global" }), [2]string{"targets[0].project", "project's id"}},
		"unknown part":     {target(func(t *client.Target) { t.BaseURL = "https://one.test/{tenant}/v1" }), [2]string{"targets[0].base_url", "{project}"}},
		"model in front":   {target(func(t *client.Target) { t.BaseURL = "https://one.test/{model}/v1" }), [2]string{"targets[0].base_url", "at its end"}},
		"format":           {target(func(t *client.Target) { t.Formats = []string{"chat", "gemini"} }), [2]string{"targets[0].formats", "chat, completions"}},
		"no URL":           {target(func(t *client.Target) { t.BaseURL = "one.test/v1" }), [2]string{"targets[0].base_url", "https://"}},
		"broken URL":       {target(func(t *client.Target) { t.BaseURL = "https://[::1/v1" }), [2]string{"targets[0].base_url", "https://"}},
		"other scheme":     {target(func(t *client.Target) { t.BaseURL = "ftp://one.test" }), [2]string{"targets[0].base_url", "https://"}},
		"plain http":       {target(func(t *client.Target) { t.BaseURL = "http://one.test/v1" }), [2]string{"targets[0].base_url", "use https"}},
		"user in URL":      {target(func(t *client.Target) { t.BaseURL = "https://u:p@one.test/v1" }), [2]string{"targets[0].base_url", "api_key or Auth"}},
		"key in query":     {target(func(t *client.Target) { t.BaseURL = "https://one.test/v1?api-KEY=x" }), [2]string{"targets[0].base_url", "api_key or Auth"}},
		"fragment":         {target(func(t *client.Target) { t.BaseURL = "https://one.test/v1#x" }), [2]string{"targets[0].base_url", "remove"}},
		"path of a call":   {target(func(t *client.Target) { t.BaseURL = "https://one.test/v1/chat/completions" }), [2]string{"targets[0].base_url", "before /chat/completions"}},
		"path of messages": {target(func(t *client.Target) { t.BaseURL = "https://one.test/v1/messages/" }), [2]string{"targets[0].base_url", "before /messages"}},
		"path of a deployment's call": {target(func(t *client.Target) {
			t.Provider, t.BaseURL = "azure", "https://res.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
		}), [2]string{"targets[0].base_url", "before /chat/completions"}},
		"admin key with newline":   {target(func(t *client.Target) { t.AdminKey = "k\n" }), [2]string{"targets[0].admin_key", "line ends"}},
		"scheme in the key":        {target(func(t *client.Target) { t.APIKey = "Bearer sk-secret" }), [2]string{"targets[0].api_key", "leave that out"}},
		"variable of a shell":      {target(func(t *client.Target) { t.APIKey = "$ONE_KEY" }), [2]string{"targets[0].api_key", "${NAME}"}},
		"variable of LiteLLM":      {target(func(t *client.Target) { t.APIKey, t.APIKeys = "", []string{"os.environ/ONE_KEY"} }), [2]string{"targets[0].api_keys[0]", "${NAME}"}},
		"variable of Bifrost":      {target(func(t *client.Target) { t.APIKey, t.APIKeys = "", []string{"sk-one", "env.ONE_KEY"} }), [2]string{"targets[0].api_keys[1]", "${NAME}"}},
		"header of the connection": {target(func(t *client.Target) { t.Headers = map[string]string{"transfer-encoding": "chunked"} }), [2]string{"targets[0].headers", "remove it"}},
		"compression":              {target(func(t *client.Target) { t.Headers = map[string]string{"Accept-Encoding": "gzip"} }), [2]string{"targets[0].headers", "remove it"}},
		"header and key":           {target(func(t *client.Target) { t.Headers = map[string]string{"authorization": "Bearer x"} }), [2]string{"targets[0].headers", "set one of them"}},
		"header name":              {target(func(t *client.Target) { t.Headers = map[string]string{"X Y": "z"} }), [2]string{"targets[0].headers", "check its name"}},
		"header value":             {target(func(t *client.Target) { t.Headers = map[string]string{"X": "a\r\nY: b"} }), [2]string{"targets[0].headers", "check its name"}},
		"empty model":              {target(func(t *client.Target) { t.Models = map[string]string{"m": ""} }), [2]string{"targets[0].models", "map each model"}},
		"price":                    {target(func(t *client.Target) { t.Price.Input = -1 }), [2]string{"targets[0].price.input", "0 or more"}},
		"limit":                    {target(func(t *client.Target) { t.Limits.Concurrent = -1 }), [2]string{"targets[0].limits.concurrent", "or 0"}},
		"home":                     {client.Config{Targets: []client.Target{good}, Home: "eu"}, [2]string{"home", "name one of the targets"}},
		"endpoint name":            {client.Config{Targets: []client.Target{good}, Endpoints: map[string]budget.Budget{"Chat!": {}}}, [2]string{"endpoints.Chat!", "a-z, 0-9"}},
		"percentile": {client.Config{Targets: []client.Target{good}, Endpoints: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{100: time.Second}}}}, [2]string{"endpoints.chat.ttft.p100", "below 100"}},
		"share for a percentile": {client.Config{Targets: []client.Target{good}, Endpoints: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{0.95: time.Second}}}}, [2]string{"endpoints.chat.ttft.p0.95", "such as 95"}},
		"endpoint's target": {client.Config{Targets: []client.Target{good}, Endpoints: map[string]budget.Budget{
			"chat": {Targets: []string{"eu"}}}}, [2]string{"endpoints.chat.targets[0]", "name one of"}},
		"hedge": {client.Config{Targets: []client.Target{good}, Endpoints: map[string]budget.Budget{
			"chat": {Hedge: math.NaN()}}}, [2]string{"endpoints.chat.hedge", "such as 0.05"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New(test.cfg)
			if c != nil {
				t.Error("there is a client as well")
			}
			wantProblems(t, err, test.want)
		})
	}
}

// A deployment may be called as a call is, and a header may be the credential.
func TestNoProblems(t *testing.T) {
	clearKeys(t)
	for _, target := range []client.Target{
		{Provider: "azure", APIKey: "k", BaseURL: "https://res.openai.azure.com/openai/deployments/embeddings?api-version=2024-10-21"},
		{BaseURL: "https://one.test/v1", Headers: map[string]string{"Authorization": "Custom x"}},
		{BaseURL: "https://one.test/completions/v1"},
	} {
		target.Name = "one"
		c, err := client.New(client.Config{Targets: []client.Target{target}})
		if err != nil {
			t.Error(err)
			continue
		}
		c.Close()
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	clearKeys(t)
	_, err := client.New(client.Config{
		Home: "nowhere",
		Targets: []client.Target{
			{Name: "A", Provider: "opnai", BaseURL: "ftp://x", Headers: map[string]string{"": "x"}},
			{Name: "b", Provider: "openai", Price: router.Price{Output: 1}},
			{Name: "b", BaseURL: "http://b.test", APIKey: "k"},
		},
		Endpoints: map[string]budget.Budget{"chat": {
			TTFT: budget.Layers{50: time.Second, 95: time.Millisecond}, Deadline: -1, MaxTokens: budget.MaxTokens{Limit: -1},
		}},
	})
	wantProblems(t, err,
		[2]string{"home", "name one"},
		[2]string{"targets[0].name", "use 1 to 63"}, [2]string{"targets[0].provider", "use one of"},
		[2]string{"targets[0].base_url", "https://"}, [2]string{"targets[0].headers", "check"},
		[2]string{"targets[1].api_key", "OPENAI_API_KEY"},
		[2]string{"targets[2].name", "rename"}, [2]string{"targets[2].base_url", "use https"},
		[2]string{"endpoints.chat.ttft.p95", "raise it"}, [2]string{"endpoints.chat.deadline", "above 0"},
		[2]string{"endpoints.chat.max_tokens.limit", "no limit"}, [2]string{"endpoints.chat.targets", "price all of them"},
	)
	if !strings.Contains(err.Error(), "12 problem") {
		t.Errorf("the error does not count its problems: %v", err)
	}
	// One target after the other, whoever found the problem.
	fields := regexp.MustCompile(`(?m)^targets\[\d\]`).FindAllString(err.Error(), -1)
	if len(fields) != 7 || !slices.IsSorted(fields) {
		t.Errorf("problems of %v, want 7, sorted:\n%v", fields, err)
	}
}

// A problem never shows the credential that it is about.
func TestProblemsTellNoKey(t *testing.T) {
	_, err := client.New(client.Config{Targets: []client.Target{
		{Name: "one", BaseURL: "https://u:sk-secret@one.test/v1?key=sk-secret", APIKey: "sk-secret\n", Headers: map[string]string{"X": "sk-secret\n"}},
		{Name: "two", BaseURL: "https://u:sk-secret@{region}.test/v1?key=sk-secret"},
	}})
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("error is %v", err)
	}
}

func TestWhatIsFine(t *testing.T) {
	for name, target := range map[string]client.Target{
		"no credential over http": {Name: "one", BaseURL: "http://10.0.0.1:8000/v1"},
		"key to localhost":        {Name: "one", BaseURL: "http://localhost:8000/v1", APIKey: "k"},
		"key to loopback":         {Name: "one", BaseURL: "http://127.0.0.2/v1", APIKey: "k"},
		"key to IPv6 loopback":    {Name: "one", BaseURL: "http://[::1]:8000/v1", APIKey: "k"},
		"a query":                 {Name: "one", BaseURL: "https://one.test/v1?api-version=preview", APIKey: "k"},
		"a preset":                {Name: "a-1.b_2", Provider: "openai", APIKey: "k"},
		"a region as a label":     {Name: "one", Provider: "openai", Region: "the moon", APIKey: "k"},
		"a server of one's own":   {Name: "one", Provider: "ollama"},
		"a token of vertex":       {Name: "one", Provider: "vertex", Region: "global", Project: "p-1", APIKey: "k"},
	} {
		c, err := client.New(client.Config{Targets: []client.Target{target}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Close()
	}
}

// New takes a copy: it neither writes into the configuration, nor minds what
// becomes of it.
func TestConfigIsNotWrittenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := func() client.Config {
			return client.Config{
				Targets: []client.Target{
					{Name: "one", BaseURL: "https://one.test/v1", APIKeys: []string{"key-of-one"}, Models: map[string]string{"gpt-4o-mini": "own"}, Headers: map[string]string{"openai-organization": "org-of-one"}, Price: router.Price{Output: 1}},
					{Name: "two", BaseURL: "https://two.test/v1", APIKey: "key-of-two", Models: map[string]string{"gpt-4o-mini": "own"}, Headers: map[string]string{}, Price: router.Price{Output: 2}},
				},
				Endpoints: chatBudget(),
				Observers: make([]middleware.Observer, 0, 8),
				Logger:    slog.New(slog.DiscardHandler), // which becomes an observer
			}
		}
		cfg := made()
		f := newFleet(t, quick, cfg, "one", "two")
		f.answers(t, stream, f.chat(), "one")
		if _, err := f.Models.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(made(), cfg, cmpopts.IgnoreFields(client.Target{}, "Auth"), cmpopts.IgnoreFields(client.Config{}, "Logger")); d != "" {
			t.Errorf("the configuration changed:\n%s", d)
		}
		if room := cfg.Observers[:2]; room[1] != nil { // the fixture itself appends one
			t.Error("New wrote into the room behind the observers")
		}
		cfg.Targets[0].APIKeys[0], cfg.Targets[0].Models["gpt-4o-mini"], cfg.Targets[0].Headers["openai-organization"] = "stolen", "other", "other"
		cfg.Endpoints["chat"] = budget.Budget{Targets: []string{"two"}}
		f.answers(t, stream, f.chat(), "one")
		r, body := f.last(t, "one")
		checkOwn(t, "one", r)
		if !strings.Contains(body, `"model":"own"`) {
			t.Errorf("the body is %s", body)
		}
	})
}
