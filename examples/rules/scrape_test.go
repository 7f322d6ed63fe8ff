package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

// Whatever rules and dashboard select is in a real client's scrape: each metric, each label,
// each value that is named.
func TestSelectedSeriesExist(t *testing.T) {
	s := scraped(t)
	for _, u := range selectedByRules(t) {
		if err := s.has(u); err != nil {
			t.Errorf("%s: %v", u.metric, err)
		}
	}
	for _, p := range dashboardOf(t).Panels {
		for _, q := range p.Targets {
			for _, u := range selected(q.Expr) {
				if err := s.has(u); err != nil {
					t.Errorf("panel %q: %s: %v", p.Title, u.metric, err)
				}
			}
		}
	}
}

// Every series is that of the job, if one is named.
func TestRulesGoByTheJob(t *testing.T) {
	parsed(t, small, "api").each(func(r rule) {
		for _, u := range selected(r.Expr) {
			if u.matchers["job"] != "api" {
				t.Errorf("%s%s is about %s of any job", r.Record, r.Alert, u.metric)
			}
		}
	})
}

// selectedByRules are the series that rules use, except what other rules have recorded.
func selectedByRules(t *testing.T) (all []use) {
	recorded := map[string]bool{}
	parsed(t, small, "").each(func(r rule) {
		for _, u := range selected(r.Expr) {
			switch {
			case !strings.Contains(u.metric, ":"):
				all = append(all, u)
			case !recorded[u.metric]:
				t.Errorf("%s uses %s, which nothing records", r.Alert, u.metric)
			default: // what is recorded has the labels of its source
				u.metric = "ontime_layer_calls_total"
				all = append(all, u)
			}
		}
		recorded[r.Record] = true
	})
	return all
}

// use is a selector, with the matchers' values by label, and the labels by which its
// expression aggregates: all of an expression do so alike.
type use struct {
	metric   string
	matchers map[string]string
	by       []string
}

var (
	selector = regexp.MustCompile(`\b((?:ontime_|\w+:)[\w:]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(?:=|!=|=~|!~)"([^"]*)"`)
	grouping = regexp.MustCompile(`(?:by|without) \(([^)]*)\)`)
)

// selected are the selectors of an expression.
func selected(expr string) (all []use) {
	var by []string
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		by = append(by, strings.Split(g[1], ", ")...)
	}
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		u := use{found[1], map[string]string{}, by}
		for _, m := range matcher.FindAllStringSubmatch(found[2], -1) {
			u.matchers[m[1]] = m[2]
		}
		all = append(all, u)
	}
	return all
}

// scrape is which values each label of each metric has.
type scrape map[string]map[string][]string

// has says what there is not of what is used.
func (s scrape) has(u use) error {
	labels := s[u.metric]
	if labels == nil {
		return fmt.Errorf("there is no such metric")
	}
	for label, wanted := range u.matchers {
		if label == "job" || wanted == "$"+label && labels[label] != nil {
			continue // Prometheus' own; or any value
		}
		for alternative := range strings.SplitSeq(wanted, "|") {
			is := regexp.MustCompile("^(" + alternative + ")$")
			if !slices.ContainsFunc(labels[label], is.MatchString) {
				return fmt.Errorf("no series has %s %q, only %q", label, alternative, labels[label])
			}
		}
	}
	for _, label := range u.by {
		if label != "job" && label != "le" && labels[label] == nil {
			return fmt.Errorf("no series has the label %s, by which it is aggregated", label)
		}
	}
	return nil
}

// scraped is what a client shows after ten minutes in which all that there are metrics for
// has happened.
func scraped(t *testing.T) scrape {
	reg := prometheus.NewPedanticRegistry()
	s := scrape{}
	synctest.Test(t, func(t *testing.T) {
		c := troubled(t, reg)
		for i := range 600 {
			go ask(t, c, i)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			s.add(f)
		}
		c.Close()
	})
	return s
}

func (s scrape) add(f *dto.MetricFamily) {
	names := []string{f.GetName()}
	if f.GetType() == dto.MetricType_HISTOGRAM {
		names = []string{f.GetName() + "_bucket", f.GetName() + "_count", f.GetName() + "_sum"}
	}
	for _, name := range names {
		s[name] = map[string][]string{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(s[name][l.GetName()], l.GetValue()) {
					s[name][l.GetName()] = append(s[name][l.GetName()], l.GetValue())
				}
			}
		}
	}
}

// troubled returns a client of the small configuration, whose targets fail, hang, think and
// take few calls at once.
func troubled(t *testing.T, reg *prometheus.Registry) *client.Client {
	cfg, err := load(small)
	if err != nil {
		t.Fatal(err)
	}
	network := upstream.Network{}
	for i := range cfg.Targets {
		target := &cfg.Targets[i]
		target.Price = router.Price{Input: 0.15, CachedInput: 0.075, Output: 0.6}
		target.Limits.Concurrent = 2
		network[target.Name+".test"] = upstream.New(target.Name, upstream.Behaviour{
			TTFT:   upstream.Latency{Median: 300 * time.Millisecond, Sigma: 0.5},
			Pace:   upstream.Latency{Median: 10 * time.Millisecond},
			Output: upstream.Length{Median: 60, Sigma: 0.8}, Reasoning: 10, PromptCache: 5 * time.Minute,
			Faults: upstream.Faults{HTTPError: 0.1, Hang: 0.1},
		}, uint64(i+1))
	}
	chat := cfg.Endpoints["chat"]
	chat.Hedge, chat.Deadline = 0.5, 30*time.Second
	cfg.Endpoints["chat"] = chat
	cfg.Transport, cfg.Registerer, cfg.Shared = network, reg, noStore{}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// noStore is a store of shared evidence that is gone.
type noStore struct{}

var errGone = errors.New("gone")

func (noStore) Publish(context.Context, []byte) (time.Time, error) { return time.Time{}, errGone }

func (noStore) Fetch(context.Context, string, int) ([]router.Blob, string, error) {
	return nil, "", errGone
}

func (noStore) Claim(context.Context, string, time.Duration) (bool, error) { return false, errGone }

// ask makes the call of that number: with a cap that all fits into, part of it, or nothing
// but reasoning; for either endpoint; streamed or not.
func ask(t *testing.T, c *client.Client, i int) {
	to := c.Endpoint([]string{"chat", "chat", "batch"}[i%3])
	params := openai.ChatCompletionNewParams{
		Model: "m", MaxTokens: openai.Int([]int64{1000, 40, 8, 1000000}[i%4]),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("The same prompt. ", 500))},
	}
	if i%5 == 0 {
		_, _ = to.Chat.Completions.New(t.Context(), params)
		return
	}
	stream := to.Chat.Completions.NewStreaming(t.Context(), params)
	defer stream.Close()
	for stream.Next() {
	}
}
