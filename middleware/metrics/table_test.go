package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

// row is a metric, in the documentation or as it is registered.
type row struct{ Type, Labels, Help string }

// documented is the table of the package documentation.
func documented(t *testing.T) map[string]row {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	columns := regexp.MustCompile(`(?m)^//\t(ontime_\w+) +(\w+)  +(-|\w+(?: \w+)*)  +(\S.*)$`)
	rows := map[string]row{}
	for _, m := range columns.FindAllStringSubmatch(string(doc), -1) {
		rows[m[1]] = row{Type: m[2], Labels: strings.TrimPrefix(m[3], "-"), Help: m[4]}
	}
	return rows
}

// registered is what Metrics describe, and of which type it is when it is there.
func registered(t *testing.T, m *metrics.Metrics, s scrape) map[string]row {
	descs := make(chan *prometheus.Desc, 100)
	m.Describe(descs)
	close(descs)
	parts := regexp.MustCompile(`fqName: "(\w+)", help: "([^"]*)".*variableLabels: \{([\w,]*)\}`)
	rows := map[string]row{}
	for d := range descs {
		p := parts.FindStringSubmatch(d.String())
		if p == nil {
			t.Fatalf("cannot read %s", d)
		}
		typ := "absent"
		if f := s[p[1]]; f != nil {
			typ = strings.ToLower(f.GetType().String())
		}
		rows[p[1]] = row{Type: typ, Labels: strings.ReplaceAll(p[3], ",", " "), Help: p[2]}
	}
	return rows
}

// everything is a scrape that has all metrics there are.
func everything(t *testing.T) (*metrics.Metrics, scrape) {
	current := routed(t)
	m, reg := observed(t, metrics.State(current))
	attempt(t, current(), router.Request{Endpoint: "chat", Model: "m"}, router.Report{Elapsed: time.Second, OutputTokens: 10})
	attempt(t, current(), router.Request{Endpoint: "chat", Model: "m", Streamed: true}, router.Report{TTFT: 200 * ms, Elapsed: time.Second})
	c := hedged()
	c.Attempts[2].ITL = gapsOf(t, 20*ms)
	c.Starved, c.Fallback = true, "m"
	m.ObserveCall(c)
	return m, scraped(t, reg)
}

func TestTableIsTrue(t *testing.T) {
	m, s := everything(t)
	if diff := cmp.Diff(registered(t, m, s), documented(t)); diff != "" {
		t.Errorf("-registered +documented\n%s", diff)
	}
	if got, want := len(s), len(documented(t)); got != want {
		t.Errorf("%d metrics are there, %d are documented", got, want)
	}
}

func TestPromlint(t *testing.T) {
	_, s := everything(t)
	var families []*dto.MetricFamily
	for _, name := range s.names() {
		families = append(families, s[name])
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The labels that the documentation explains are those that there are.
func TestLabelsAreExplained(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range documented(t) {
		for _, label := range strings.Fields(r.Labels) {
			known := strings.Contains(string(doc), "//   - "+label+": ")
			if plain := []string{"provider", "region"}; !known && !slices.Contains(plain, label) {
				t.Errorf("the label %s of %s is not explained", label, name)
			}
		}
	}
}

var _ middleware.Observer = (*metrics.Metrics)(nil)
