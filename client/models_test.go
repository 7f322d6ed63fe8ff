package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

// twoModels are a target for each of the models "big" and "small", and an endpoint
// that prefers the first.
func twoModels() client.Config {
	return client.Config{
		Targets: []client.Target{
			{Name: "one", Provider: "compatible", Models: map[string]string{"big": "vendor-big"}},
			{Name: "two", Models: map[string]string{"small": "o4-mini"}},
		},
		Endpoints: map[string]budget.Budget{"chat": {Models: []string{"big", "small"}}},
		MaxOutput: map[string]int{"small": 2000},
	}
}

func askFor(model string) openai.ChatCompletionNewParams {
	p := question("hi")
	p.Model = model
	return p
}

// answeredBy checks who answered the latest call, and with which model.
func (f *fleet) answeredBy(t *testing.T, target, fallback string, attempts int) {
	t.Helper()
	call := f.lastCall(t)
	if call.Target != target || call.Fallback != fallback || len(call.Attempts) != attempts {
		t.Errorf("answered by %q, fallback %q, in %d attempts; want %q, %q, %d", call.Target, call.Fallback, len(call.Attempts), target, fallback, attempts)
	}
}

func TestNextModel(t *testing.T) {
	for name, test := range map[string]struct {
		step     upstream.Step
		attempts int // of the second call, once the first has shown how one is
	}{
		"down":      {status(503), 2}, // one failure opens nothing
		"limited":   {httpError(429, "rate_limit_exceeded", "Retry-After", "60"), 1},
		"no model":  {httpError(404, "model_not_found"), 2},
		"key":       {status(401), 1},
		"too long":  {httpError(400, "context_length_exceeded"), 2},
		"no answer": {upstream.Step{Fault: upstream.Hang}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := twoModels()
				chat := cfg.Endpoints["chat"]
				chat.Abandon = 10 * time.Second
				cfg.Endpoints["chat"] = chat
				f := newFleet(t, quick, cfg, "one", "two")
				f.servers["one"].Script(test.step, test.step, test.step, test.step) // a prompt that is too long is sent again without our cap
				for _, attempts := range []int{2, test.attempts} {
					if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
						t.Fatal(err)
					}
					f.answeredBy(t, "two", "small", attempts)
				}
				if _, body := f.last(t, "two"); !strings.Contains(body, `"model":"o4-mini"`) {
					t.Errorf("two was asked for another model: %s", body)
				}
			})
		})
	}
}

// A model that two vendors do not have is not looked for at a third, but the next model
// is.
func TestNextModelAfterTwoMakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := twoModels()
		for i, name := range []string{"three", "four"} {
			cfg.Targets = append(cfg.Targets, client.Target{
				Name: name, Provider: "compatible", Models: map[string]string{"big": "b"}, Price: router.Price{Output: float64(i + 2)},
			})
		}
		for i := range 2 {
			cfg.Targets[i].Price.Output = 1
		}
		f := newFleet(t, quick, cfg, "one", "two", "three", "four")
		for _, name := range []string{"one", "three", "four"} {
			f.servers[name].Script(httpError(404, "model_not_found"))
		}
		if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
			t.Fatal(err)
		}
		f.answeredBy(t, "two", "small", 3)
	})
}

// The preferred model answers again as soon as it can.
func TestPreferredModelComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, twoModels(), "one", "two")
		f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "5"))
		for _, want := range []string{"two", "two", "one"} {
			if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
				t.Fatal(err)
			}
			if call := f.lastCall(t); call.Target != want {
				t.Errorf("answered by %s, want %s", call.Target, want)
			}
			time.Sleep(3 * time.Second)
		}
	})
}

// A model's breaker opens although it has one route alone, since another model is
// left; it is tried again when it is due.
func TestOnlyRouteOfAModelOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, twoModels(), "one", "two")
		for range 5 {
			f.servers["one"].Script(status(500))
		}
		for i := range 7 {
			if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
				t.Fatal(err)
			}
			f.answeredBy(t, "two", "small", map[bool]int{true: 2, false: 1}[i < 5])
		}
		if s := f.status(t, "one"); s.State != router.StateOpen {
			t.Errorf("one is %s, want open", s.State)
		}
		time.Sleep(time.Minute)
		if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
			t.Fatal(err)
		}
		f.answeredBy(t, "one", "", 1)
	})
}

// The order starts at the model that the call names. One that is not listed has all
// listed ones behind it.
func TestWhereTheOrderStarts(t *testing.T) {
	for model, want := range map[string]string{"big": "one", "small": "two", "chat-model": "one"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, twoModels(), "one", "two")
			if _, err := stream(t.Context(), f.chat(), askFor(model)); err != nil {
				t.Fatal(err)
			}
			if call := f.lastCall(t); call.Target != want || call.Model != model {
				t.Errorf("%s was answered by %s as %s, want %s", model, call.Target, call.Model, want)
			}
		})
	}
}

// The smallest model has no other behind it.
func TestNoModelIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, twoModels(), "one", "two")
		f.down(503)
		_, err := stream(t.Context(), f.chat(), askFor("big"))
		e, ok := errors.AsType[*openai.Error](err)
		if !ok || e.StatusCode != 503 {
			t.Errorf("the error is %v, want the 503 of a target", err)
		}
		if call := f.lastCall(t); call.Attempts[0].Model != "vendor-big" || call.Attempts[1].Model != "o4-mini" {
			t.Errorf("attempts with %s and %s", call.Attempts[0].Model, call.Attempts[1].Model)
		}
	})
}

// Each model has the caps that it takes: 4096 and max_tokens by default, and its own
// ceiling and spelling as a reasoning model.
func TestCapsOfTheNextModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, twoModels(), "one", "two")
		f.servers["one"].Script(status(503))
		if _, err := stream(t.Context(), f.chat(), askFor("big")); err != nil {
			t.Fatal(err)
		}
		for target, want := range map[string]string{"one": `"max_tokens":4096`, "two": `"max_completion_tokens":2000`} {
			if _, body := f.last(t, target); !strings.Contains(body, want) {
				t.Errorf("%s got %s, want %s", target, body, want)
			}
		}
		if call := f.lastCall(t); call.MaxTokens != 2000 || call.Attempts[0].MaxTokens != 4096 {
			t.Errorf("caps %d and %d, want 4096 and 2000", call.Attempts[0].MaxTokens, call.MaxTokens)
		}
	})
}

// Vectors of two models cannot be compared.
func TestEmbeddingsKeepTheirModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, twoModels(), "one", "two")
		f.down(503)
		_, err := f.chat().Embeddings.New(t.Context(), openai.EmbeddingNewParams{
			Model: "big", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("x")},
		})
		if err == nil || f.requests("two") != 0 {
			t.Errorf("error %v, %d requests to the other model's target", err, f.requests("two"))
		}
	})
}

// An outage is told in the time that it takes to try again twice, half a second and a
// second later, however many models there are.
func TestOutageOfAllModelsIsToldSoon(t *testing.T) {
	for model, attempts := range map[string]int{"big": 9, "small": 6, "tiny": 3} {
		synctest.Test(t, func(t *testing.T) {
			cfg := twoModels()
			cfg.Endpoints["chat"] = budget.Budget{Models: []string{"big", "small", "tiny"}}
			cfg.Targets[1].Models["tiny"] = "tiny"
			f := newFleet(t, quick, cfg, "one", "two")
			f.down(503)
			_, err := stream(t.Context(), f.chat(), askFor(model))
			if call := f.lastCall(t); err == nil || call.Total != 1500*ms || len(call.Attempts) != attempts {
				t.Errorf("%s: error %v after %v and %d attempts, want one after 1.5s and %d", model, err, call.Total, len(call.Attempts), attempts)
			}
		})
	}
}

// Models do not multiply the times that a cooldown is waited for.
func TestCooldownOfAllModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := twoModels()
		cfg.Targets = []client.Target{{Name: "one", Models: map[string]string{"big": "b", "small": "s"}}}
		f := newFleet(t, quick, cfg, "one")
		for range 20 {
			f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "10"))
		}
		_, err := stream(t.Context(), f.chat(), askFor("big"))
		if call := f.lastCall(t); err == nil || call.Total != 20*time.Second {
			t.Errorf("error %v after %v, want one after 20s", err, call.Total)
		}
	})
}
