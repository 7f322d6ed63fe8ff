package otel_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/otel"
)

// rows are the lines of the documentation that match.
func rows(t *testing.T, pattern string) [][]string {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^//\t`+pattern+`$`).FindAllStringSubmatch(string(doc), -1)
}

// everything is a recorder that has seen all attributes and metrics there are.
func everything(t *testing.T) *recorder {
	t.Helper()
	r := newRecorder(t)
	c := rescued()
	c.Attempts[2].ITL = paced(t, 3)
	r.ObserveCall(c)
	c.Outcome, c.Err = middleware.Failed, &middleware.ProviderError{Status: 400, Code: "bad"}
	c.Format, c.Attempts[1].Err = "embeddings", &middleware.ProviderError{Status: 503, Code: "busy"}
	// Without a word of the provider's all that is left to wait for is unknown.
	c.Attempts[2].Server = middleware.ServerTiming{}
	r.ObserveCall(c)
	return r
}

// paced are the gaps of a metered stream of n events.
func paced(t testing.TB, n int) middleware.Gaps {
	t.Helper()
	var found middleware.Gaps
	server := upstream.New("one", upstream.Behaviour{Output: upstream.Length{Median: n}, Pace: upstream.Latency{Median: 10 * time.Microsecond}}, 1)
	llm := openai.NewClient(
		option.WithBaseURL("https://one.test/v1/"), option.WithAPIKey("k"), option.WithHTTPClient(&http.Client{Transport: upstream.Network{"one.test": server}}),
		option.WithMiddleware(middleware.Meter(middleware.Observe(middleware.CallFunc(func(c middleware.Call) { found = c.Attempts[0].ITL })))),
	)
	if err := stream(t.Context(), &llm); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAttributesAreDocumented(t *testing.T) {
	r := everything(t)
	met := map[string]string{}
	note := func(of string, names ...string) {
		for _, n := range names {
			if !strings.Contains(met[n], of) {
				met[n] += of
			}
		}
	}
	keys := func(as []attribute.KeyValue) (all []string) {
		for k := range values(as) {
			all = append(all, k)
		}
		return all
	}
	for _, s := range r.exporter.GetSpans() {
		of := "c"
		if strings.HasPrefix(s.Name, "attempt ") {
			of = "a"
		}
		note(of, keys(s.Attributes)...)
		for _, e := range s.Events {
			note("e", keys(e.Attributes)...)
		}
	}
	for name := range r.metrics() {
		for _, p := range r.points(name) {
			for k := range p.Attrs {
				note("m", k)
			}
		}
	}
	documented := map[string]string{}
	for _, row := range rows(t, `([a-z_]+(?:\.[a-z_]+)+) +([caem](?: [caem])*) +(\S.*)`) {
		documented[row[1]] = row[2]
	}
	for name, of := range met {
		letters := strings.Split(of, "")
		slices.SortFunc(letters, func(a, b string) int { return strings.Index("caem", a) - strings.Index("caem", b) })
		met[name] = strings.Join(letters, " ")
	}
	if diff := cmp.Diff(met, documented); diff != "" {
		t.Errorf("-met +documented\n%s", diff)
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	type row struct{ Type, Unit, Besides, Help string }
	everywhere := []string{"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model",
		"server.address", "server.port", "ontime.endpoint", "ontime.target"}
	r := everything(t)
	met, documented := map[string]row{}, map[string]row{}
	for name, m := range r.metrics() {
		kind := "histogram"
		if _, ok := m.Data.(metricdata.Sum[int64]); ok {
			kind = "counter"
		}
		var besides []string
		for _, p := range r.points(name) {
			for k := range p.Attrs {
				k = strings.TrimPrefix(strings.TrimPrefix(k, "ontime."), "gen_ai.token.")
				if !slices.Contains(everywhere, "ontime."+k) && !slices.Contains(everywhere, k) && !slices.Contains(besides, k) {
					besides = append(besides, k)
				}
			}
		}
		slices.Sort(besides)
		slices.Reverse(besides)
		met[name] = row{kind, m.Unit, strings.Join(besides, " "), m.Description}
	}
	for _, m := range rows(t, `(gen_ai\.client\.[a-z_.]+) +(histogram|counter) +(\S+) +((?:outcome|error\.type|modality)(?: error\.type)?)? +(\S.*)`) {
		documented[m[1]] = row{m[2], m[3], m[4], m[5]}
	}
	// An error has its type: the call that completed has none.
	for _, name := range []string{"duration", "operation.input_tokens", "operation.output_tokens"} {
		name = "gen_ai.client.inference." + name
		m := met[name]
		m.Besides += " error.type"
		met[name] = m
	}
	if diff := cmp.Diff(met, documented); diff != "" {
		t.Errorf("-met +documented\n%s", diff)
	}
}

func TestEventsAreDocumented(t *testing.T) {
	var met, documented []string
	for _, s := range everything(t).exporter.GetSpans() {
		for _, e := range s.Events {
			if !slices.Contains(met, e.Name) {
				met = append(met, e.Name)
			}
		}
	}
	for _, row := range rows(t, `(ontime\.(?:hedge|commit|abandon)) +\S.*`) {
		documented = append(documented, row[1])
	}
	slices.Sort(met)
	slices.Sort(documented)
	if diff := cmp.Diff(met, documented); diff != "" {
		t.Errorf("-met +documented\n%s", diff)
	}
}

// What happened, in its order: the hedge at 2 s, given up at 3 s, committed at 4 s.
func TestEvents(t *testing.T) {
	r := newRecorder(t)
	r.ObserveCall(rescued())
	var got []string
	for _, e := range r.span("chat gpt-5").Events {
		got = append(got, fmt.Sprint(e.Name, " ", e.Time.Sub(time.Unix(1000, 0)), " ", values(e.Attributes)["ontime.target"]))
	}
	want := []string{"ontime.hedge 2s xai", "ontime.abandon 3s openai", "ontime.commit 4s azure-eu"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestVersionIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "GenAI semantic conventions, "+otel.ConventionVersion+".") {
		t.Errorf("the documentation does not say that it follows %s", otel.ConventionVersion)
	}
}

// The boundaries are the conventions'.
func TestBoundaries(t *testing.T) {
	r := everything(t)
	for name, m := range r.metrics() {
		if _, ok := m.Data.(metricdata.Sum[int64]); ok {
			continue
		}
		bounds := r.points(name)[0].Bounds
		first, last := 0.01, 81.92 // doubling
		if m.Unit == "{token}" {
			first, last = 1, 67108864 // times four
		}
		if len(bounds) != 14 || bounds[0] != first || bounds[13] != last {
			t.Errorf("%s has %v", name, bounds)
		}
	}
}
