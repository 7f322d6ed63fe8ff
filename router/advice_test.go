package router_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// advice returns that on the endpoint "chat", by kind, and the kinds in their order.
func (w world) advice() (map[string]router.Advice, []string) {
	byKind, kinds := make(map[string]router.Advice), []string(nil)
	for _, e := range w.Snapshot().Endpoints {
		if e.Name == "chat" {
			for _, a := range e.Advice {
				byKind[a.Kind] = a
				kinds = append(kinds, a.Kind)
			}
		}
	}
	return byKind, kinds
}

// saves fails unless the advice saves about so much, and its interval says so.
func saves(t *testing.T, a router.Advice, want time.Duration) {
	t.Helper()
	if a.Saves < want*8/10 || a.Saves > want*12/10 || a.Low > want || a.High < want || a.Low <= 0 {
		t.Errorf("saves %v (%v to %v), want about %v within: %s", a.Saves, a.Low, a.High, want, a.Text)
	}
	t.Log(a.Text)
}

// noise is what times are multiplied with.
func noise(random *rand.Rand) float64 { return math.Exp(0.2 * random.NormFloat64()) }

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// Prompts of 2,000 to 10,000 tokens at 100 µs: half of 6,000 is 300 ms.
func TestAdviceOnPrompts(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 200 {
			tokens := 2000 + 40*(i*77%200)
			req := chat
			req.PromptBytes = 4 * tokens
			w.stream("a", req, scaled(200*ms+time.Duration(tokens)*100*time.Microsecond, noise(random)), ms)
		}
		all, _ := w.advice()
		saves(t, all[router.AdvicePrompt], 300*ms)
		if a := all[router.AdvicePrompt]; a.Calls != 200 || len(all) != 1 {
			t.Errorf("%d calls, advice %v; want 200, and no other", a.Calls, all)
		}
	})
}

// Calls on a route of which it is not known what a token adds, here as all are cached, do not
// count: of the others half of 6,000 tokens is 300 ms.
func TestAdviceOnPromptsOfOneRoute(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 240 {
			if i%3 > 0 {
				w.turn("b", prompt(2000), scaled(200*ms, noise(random)), 2000)
				continue
			}
			tokens := 2000 + 80*(i*77%100)
			w.stream("a", prompt(tokens), scaled(200*ms+time.Duration(tokens)*100*time.Microsecond, noise(random)), ms)
		}
		all, _ := w.advice()
		a := all[router.AdvicePrompt]
		saves(t, a, 300*ms)
		if a.Calls != 80 || !strings.HasPrefix(a.Text, "Prompts have 5960 uncached tokens at the median") {
			t.Errorf("%d calls, want 80 with 5960 tokens at the median: %s", a.Calls, a.Text)
		}
	})
}

// Where all prompts have one size nobody knows what a shorter one would save.
func TestNoAdviceOnPromptsOfOneSize(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 200 {
			w.stream("a", prompt(6000+i%20), scaled(time.Second, noise(random)), ms)
		}
		if all, _ := w.advice(); len(all) > 0 {
			t.Errorf("advice is %v, want none", all)
		}
	})
}

// A third of the calls is not streamed: 300 tokens at 20 ms are waited for, which is more
// than what the others wait.
func TestAdviceToStream(t *testing.T) {
	run := func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 240 {
			if i%3 > 0 {
				w.stream("a", chat, scaled(500*ms, noise(random)), 20*ms)
				continue
			}
			n := 200 + i*7%201
			w.whole("a", chat, scaled(500*ms, noise(random))+time.Duration(n-1)*20*ms, n)
		}
	}
	in(t, two(budget.Budget{TTFT: budget.Layers{95: time.Second}}), func(w world) {
		run(w)
		all, _ := w.advice()
		saves(t, all[router.AdviceStream], 299*20*ms)
		if a := all[router.AdviceStream]; a.Calls != 80 || !strings.HasPrefix(a.Text, "80 of the latest 240 calls were not streamed") {
			t.Errorf("%d calls, want 80: %s", a.Calls, a.Text)
		}
	})
	in(t, two(budget.Budget{Total: budget.Layers{95: 20 * time.Second}}), func(w world) {
		run(w)
		if all, _ := w.advice(); all[router.AdviceStream].Calls > 0 {
			t.Errorf("an endpoint whose end alone is promised is told to stream: %v", all)
		}
	})
}

// 9,000 tokens that should be cached are not in half of the calls: 450 ms at 50 µs.
func TestAdviceOnCaches(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 120 {
			id := uint64(i)
			first, cached := conversation(id, 9), 9000*(i%2)
			w.turn("a", first, scaled(200*ms+450*ms, noise(random)), 0)
			w.turn("a", conversation(id, 10), scaled(200*ms+time.Duration(10000-cached)*50*time.Microsecond, noise(random)), cached)
		}
		all, _ := w.advice()
		saves(t, all[router.AdviceCache], 450*ms)
		for _, part := range []string{"Of 120 prompts that began", "50% (95%: 41% to 59%)", "beginnings did not change"} {
			if a := all[router.AdviceCache]; !strings.Contains(a.Text, part) {
				t.Errorf("%q, want %q", a.Text, part)
			}
		}
	})
}

// Answers take 300 tokens at 20 ms, which is most of the total: half saves 3 s.
func TestAdviceOnLength(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{95: 10 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 100 {
			n := 200 + i*7%201
			w.whole("a", chat, scaled(500*ms, noise(random))+time.Duration(n-1)*20*ms, n)
		}
		all, _ := w.advice()
		saves(t, all[router.AdviceCap], 3*time.Second)
	})
}

// Of 200 calls 20 were cut off, and 10 of those before they had begun.
func TestAdviceOnCuts(t *testing.T) {
	in(t, two(budget.Budget{}), func(w world) {
		for i := range 200 {
			w.stream("a", chat, 200*ms, ms)
			tally := w.Ledger("chat").Tally(true)
			tally.Content(200 * ms)
			if i%10 == 0 {
				tally.Truncated(i%20 == 0)
			}
			tally.Completed(ms, 300*ms)
		}
		var texts []string
		for _, e := range w.Snapshot().Endpoints {
			for _, a := range e.Advice {
				texts = append(texts, a.Text)
				if a.Kind != router.AdviceCap || a.Calls != 200 || a.Saves != 0 {
					t.Errorf("advice is %+v, want a cap's, on 200 calls, that is no time", a)
				}
			}
		}
		if len(texts) != 2 || !strings.Contains(texts[0], "5% (95%: 2.7% to 9%) got no answer") ||
			!strings.Contains(texts[1], "5% (95%: 2.7% to 9%) got an answer that the token cap cut off") {
			t.Errorf("advice is %q", texts)
		}
	})
}

// The endpoint may use a alone; b answers in half the time.
func TestAdviceOnTargets(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*router.Config)
		want   bool
	}{
		{"as it is", func(*router.Config) {}, true},
		{"dearer", func(c *router.Config) { c.Targets[0].Price.Output, c.Targets[1].Price.Output = 1, 2 }, false},
		{"cheaper", func(c *router.Config) { c.Targets[0].Price.Output, c.Targets[1].Price.Output = 2, 1 }, true},
		{"other formats", func(c *router.Config) { c.Targets[1].Formats = []string{"chat"} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := two(budget.Budget{TTFT: budget.Layers{95: time.Second}, Targets: []string{"a"}})
			c.Budgets["other"] = budget.Budget{}
			c.Targets[1].Region = "eu"
			tt.change(&c)
			in(t, c, func(w world) {
				random := rand.New(rand.NewPCG(1, 1))
				other := chat
				other.Endpoint = "other"
				other.Format = "chat"
				for range 150 {
					w.stream("a", chat, scaled(600*ms, noise(random)), ms)
					w.stream("b", other, scaled(300*ms, noise(random)), ms)
				}
				all, _ := w.advice()
				if tt.want {
					saves(t, all[router.AdviceTarget], 300*ms)
					text, priced := all[router.AdviceTarget].Text, c.Targets[0].Price != router.Price{}
					if strings.Contains(text, "at no higher price") != priced {
						t.Errorf("prices are known: %v, but: %s", priced, text)
					}
				} else if a, ok := all[router.AdviceTarget]; ok {
					t.Errorf("advice is %q, want none", a.Text)
				}
			})
		})
	}
}

// What saves most comes first: 6 s of a third of the calls before 300 ms of two thirds.
func TestOrderOfAdvice(t *testing.T) {
	in(t, two(budget.Budget{}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 240 {
			req := prompt(2000 + 40*(i*77%200))
			first := scaled(200*ms+time.Duration(req.PromptBytes)*25*time.Microsecond, noise(random))
			if i%3 > 0 {
				w.stream("a", req, first, 20*ms)
				continue
			}
			n := 200 + i*7%201
			w.whole("a", req, first+time.Duration(n-1)*20*ms, n)
		}
		_, kinds := w.advice()
		if got := strings.Join(kinds, " "); got != "stream prompt" {
			t.Errorf("advice on %q, want stream before prompt", got)
		}
	})
}

// Nobody waits for a batch, which is left alone; what is learned outlasts a reload.
func TestAdviceAndReload(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}), func(w world) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 200 {
			req := prompt(2000 + 40*(i*77%200))
			w.stream("a", req, scaled(200*ms+time.Duration(req.PromptBytes)*25*time.Microsecond, noise(random)), ms)
		}
		w.reload(two(budget.Budget{TTFT: budget.Layers{95: time.Second}}), all)
		if all, _ := w.advice(); all[router.AdvicePrompt].Calls != 200 {
			t.Errorf("advice after a reload is %v, want that on prompts", all)
		}
		w.reload(two(budget.Batch()), all)
		if all, _ := w.advice(); len(all) > 0 {
			t.Errorf("advice on a batch is %v, want none", all)
		}
	})
}

// Whatever calls are like, there is no advice on fewer than 30, none that is not certain
// to save something, and none that does not say how much.
func TestNoAdviceWithoutEvidence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := rapid.IntRange(0, 90).Draw(rt, "calls")
		seed := rapid.Uint64().Draw(rt, "seed")
		budgets := []budget.Budget{{}, {TTFT: budget.Layers{95: time.Second}}, {Total: budget.Layers{95: 5 * time.Second}, Targets: []string{"a"}}}
		b := budgets[rapid.IntRange(0, 2).Draw(rt, "budget")]
		synctest.Test(t, func(t *testing.T) {
			c := two(b)
			r, err := router.New(c)
			if err != nil {
				t.Fatal(err)
			}
			w, random := world{r, t}, rand.New(rand.NewPCG(seed, 3))
			for i := range calls {
				req := conversation(random.Uint64N(4), 1+random.IntN(6))
				switch first := scaled(300*ms, noise(random)); {
				case random.IntN(3) == 0:
					n := 1 + random.IntN(300)
					w.whole("a", req, first+time.Duration(n)*10*ms, n)
				case i%2 == 0:
					w.stream("a", req, first, 10*ms)
				default:
					w.turn("a", req, first, 0)
				}
			}
			for _, e := range w.Snapshot().Endpoints {
				for _, a := range e.Advice {
					if calls < 30 || a.Calls < 30 || a.Low <= 0 || a.Low > a.Saves || a.High < a.Saves || strings.Contains(a.Text, "NaN") {
						rt.Errorf("of %d calls: %+v", calls, a)
					}
				}
			}
		})
	})
}
