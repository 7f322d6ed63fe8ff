package budget_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
)

// drawBudget draws layers with limits that rise with the percentile.
func drawBudget(t *rapid.T) budget.Budget {
	draw := func(name string) budget.Layers {
		layers := budget.Layers{}
		limit := time.Duration(0)
		for _, p := range []float64{50, 95, 99, 99.9} {
			limit += time.Duration(rapid.IntRange(0, 3).Draw(t, name))
			if limit > 0 && rapid.Bool().Draw(t, name+" promised") {
				layers[p] = limit
			}
		}
		return layers
	}
	return budget.Budget{TTFT: draw("ttft"), TPOT: draw("tpot"), Total: draw("total")}
}

// verdictModel judges one call as the doc comments say it, layer by layer.
type verdictModel struct {
	layers   []budget.Layer
	streamed bool
	ended    bool
	got      []byte
}

func (m *verdictModel) each(metric budget.Metric, judge func(limit time.Duration) byte) {
	for i, l := range m.layers {
		concerned := m.streamed || metric == budget.Total || metric == budget.Answered
		if l.Metric == metric && concerned && !m.ended && m.got[i] == '.' {
			m.got[i] = judge(l.Limit)
		}
	}
}

func late(age time.Duration) func(time.Duration) byte {
	return func(limit time.Duration) byte {
		if age > limit {
			return '-'
		}
		return '.'
	}
}

func final(measured time.Duration) func(time.Duration) byte {
	return func(limit time.Duration) byte {
		if measured > limit {
			return '-'
		}
		return '+'
	}
}

func always(verdict byte) func(time.Duration) byte {
	return func(time.Duration) byte { return verdict }
}

// Whatever the order of calls, each layer is judged at most once and as the
// model says.
func TestTallyAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := budget.NewLedger(drawBudget(t))
		streamed := rapid.Bool().Draw(t, "streamed")
		m := &verdictModel{layers: l.Layers(), streamed: streamed}
		m.got = []byte(strings.Repeat(".", len(m.layers)))
		call := l.Tally(streamed)
		age := func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 14).Draw(t, "age"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"waiting": func(t *rapid.T) {
				at := age(t)
				call.Waiting(at)
				m.each(budget.TTFT, late(at))
				m.each(budget.Total, late(at))
			},
			"content": func(t *rapid.T) {
				at := age(t)
				call.Content(at)
				m.each(budget.TTFT, final(at))
			},
			"completed": func(t *rapid.T) {
				tpot, total := age(t), age(t)
				call.Completed(tpot, total)
				m.each(budget.TTFT, late(total))
				if tpot > 0 {
					m.each(budget.TPOT, final(tpot))
				}
				m.each(budget.Total, final(total))
				m.each(budget.Answered, always('+'))
				m.ended = true
			},
			"failed": func(t *rapid.T) {
				call.Failed()
				for metric := budget.TTFT; metric <= budget.Answered; metric++ {
					m.each(metric, always('-'))
				}
				m.ended = true
			},
			"cancelled": func(t *rapid.T) {
				call.Cancelled()
				m.ended = true
			},
			"": func(t *rapid.T) {
				if got := verdicts(l); got != string(m.got) {
					t.Fatalf("verdicts %s, want %s", got, m.got)
				}
			},
		})
	})
}

// Next never goes back: not as the call grows older, and not as layers are
// judged. Each age that it names misses a layer, so that a timer that follows
// it stops.
func TestNextIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := budget.NewLedger(drawBudget(t))
		call := l.Tally(rapid.Bool().Draw(t, "streamed"))
		var age, last time.Duration
		steps := 0
		for {
			age += time.Duration(rapid.IntRange(0, 5).Draw(t, "passes"))
			at, ok := call.Next(age)
			if !ok {
				break
			}
			if later, _ := call.Next(age + 1); later < at {
				t.Fatalf("Next(%v) = %v but Next(%v) = %v", age, at, age+1, later)
			}
			if at < age || at < last {
				t.Fatalf("Next(%v) = %v after %v", age, at, last)
			}
			before := verdicts(l)
			if rapid.Bool().Draw(t, "look early") && at > age {
				call.Waiting(at - 1)
				if got := verdicts(l); got != before {
					t.Fatalf("missed at %v, before %v: %s", at-1, at, got)
				}
			}
			call.Waiting(at)
			if got := verdicts(l); got == before {
				t.Fatalf("nothing missed at %v: %s", at, got)
			}
			age, last = at, at
			if steps++; steps > 8 {
				t.Fatal("more steps than layers")
			}
			if rapid.IntRange(0, 3).Draw(t, "content") == 0 {
				call.Content(age)
			}
		}
		if at, ok := call.Next(age + time.Hour); ok {
			t.Fatalf("Next = %v after there was none", at)
		}
	})
}
