package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

const ms = time.Millisecond

// three are targets at 1, 2 and 4 USD, input and output together.
var three = []sim.Target{
	{Name: "a", Input: 0.2, Output: 0.8},
	{Name: "b", Input: 0.5, Output: 1.5},
	{Name: "c", Input: 1, Output: 3},
}

func setting(targets int) sim.Setting {
	return sim.Setting{
		Targets: three[:targets],
		Budget:  budget.Budget{TTFT: budget.Layers{50: 700 * ms, 95: 1200 * ms, 99: 2500 * ms}},
		Seed:    1,
	}
}

// rival makes a policy and its hedge for so many targets.
func rival(t *testing.T, name string, targets int) (sim.Policy, *sim.Hedge) {
	t.Helper()
	for _, r := range sim.Rivals() {
		if r.Name == name {
			return r.Make(setting(targets))
		}
	}
	t.Fatalf("there is no rival %q", name)
	return nil, nil
}

var call = &sim.Call{Number: 1, Prompt: 100, Output: 11}

// serve tells a policy of a request that was sent at a time and went well. Headers come
// at once.
func serve(p sim.Policy, sent time.Duration, target int, headers, ttft, total time.Duration) {
	s := sim.Seen{Target: target, Sent: sent, Headers: headers, End: headers, Status: 200}
	p.Sent(sent, call, target)
	p.Heard(sent+headers, call, s)
	s.TTFT, s.End = ttft, ttft
	p.Heard(sent+ttft, call, s)
	s.Total, s.End, s.Output = total, total, 11
	p.Ended(sent+total, call, s)
}

// refuse tells a policy of a request that was sent at a time and failed after 10 ms.
func refuse(p sim.Policy, sent time.Duration, target, status int) {
	s := sim.Seen{Target: target, Sent: sent, Headers: 10 * ms, End: 10 * ms, Status: status}
	p.Sent(sent, call, target)
	p.Heard(sent+10*ms, call, s)
	s.Failed = true
	p.Ended(sent+10*ms, call, s)
}

// expect checks where the next call goes.
func expect(t *testing.T, p sim.Policy, now time.Duration, want int, why string) {
	t.Helper()
	if got := p.First(now, call); got != want {
		t.Errorf("%s: First() = %d, want %d", why, got, want)
	}
}

// share returns how many of 1000 calls go to a target.
func share(p sim.Policy, now time.Duration, target int) int {
	n := 0
	for range 1000 {
		if p.First(now, call) == target {
			n++
		}
	}
	return n
}

func TestRivals(t *testing.T) {
	rivals := sim.Rivals()
	if len(rivals) != 30 {
		t.Errorf("%d rivals, want 10 peers three times", len(rivals))
	}
	for _, r := range rivals {
		p, h := r.Make(setting(3))
		if p == nil || (h != nil) != r.Hedges {
			t.Errorf("%s: policy %v, hedge %v, Hedges %v", r.Name, p, h, r.Hedges)
		}
	}
}

func TestWhereFailedCallsGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		tried []int
		want  int
	}{
		{"single", []int{0}, 0},
		{"single", []int{0, 0}, 0},
		{"single", []int{0, 0, 0}, -1},
		{"failover", []int{0}, 1},
		{"failover", []int{0, 1}, 2},
		{"failover", []int{0, 1, 2}, -1},
		{"round robin", []int{1}, 2},
		{"round robin", []int{2}, 0},
		{"round robin", []int{2, 0}, 1},
		{"round robin", []int{2, 0, 1}, -1},
		{"litellm", []int{0, 1, 2}, -1},
		{"helicone", []int{0, 2}, 1},
		{"kong tpot", []int{0, 2}, 1},
		{"kong tpot", []int{0, 1, 2}, -1},
		{"openrouter", []int{2, 1}, 0},
		{"tensorzero", []int{0}, 1},
		{"bifrost", []int{2}, 0}, // in order of weight, which is the price's inverse
		{"bifrost", []int{2, 0}, 1},
		{"bifrost", []int{0, 1, 2}, -1},
	} {
		p, _ := rival(t, c.name, 3)
		if got := p.Next(time.Second, call, c.tried); got != c.want {
			t.Errorf("%s after %v: %d, want %d", c.name, c.tried, got, c.want)
		}
	}
}

func TestRoundRobinTakesTurns(t *testing.T) {
	p, _ := rival(t, "round robin", 3)
	var got []int
	for range 5 {
		got = append(got, p.First(0, call))
	}
	if want := []int{0, 1, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLiteLLM(t *testing.T) {
	p, _ := rival(t, "litellm", 3)
	serve(p, 0, 0, 0, 500*ms, time.Second)
	serve(p, 0, 1, 0, 300*ms, time.Second)
	expect(t, p, 2*time.Second, 2, "a deployment that was not seen yet counts as 0")
	serve(p, 0, 2, 0, 400*ms, time.Second)
	expect(t, p, 2*time.Second, 1, "averages 500, 300 and 400 ms")
	for range 4 {
		serve(p, 0, 1, 0, 500*ms, time.Second)
	}
	expect(t, p, 2*time.Second, 2, "averages 500, 460 and 400 ms")

	refuse(p, 2*time.Second, 2, 429)
	expect(t, p, 3*time.Second, 1, "a 429 cools the best down")
	expect(t, p, 7011*ms, 2, "for 5 s, and costs it nothing else")
	refuse(p, 8*time.Second, 2, 500)
	expect(t, p, 9*time.Second, 2, "one error is not more than half of a minute's requests")
}

func TestLiteLLMTimeouts(t *testing.T) {
	p, _ := rival(t, "litellm", 2)
	serve(p, 0, 0, 0, 100*ms, time.Second)
	serve(p, 0, 1, 0, 900*ms, time.Second)
	patience := p.Patience(call, 0)
	p.Ended(40*time.Second, call, sim.Seen{Target: 0, Gone: true, End: time.Second})
	expect(t, p, 41*time.Second, 0, "a loser of a race is no failure")
	p.Ended(40*time.Second, call, sim.Seen{Target: 0, Gone: true, End: patience})
	expect(t, p, 50*time.Second, 1, "a timeout counts as 1000 s")
	refuse(p, 50*time.Second, 1, 429)
	p.Ended(51*time.Second, call, sim.Seen{Target: 0, Gone: true, End: patience})
	expect(t, p, 52*time.Second, -1, "all cool down: the call fails")
}

func TestHeliconeCountsHeaders(t *testing.T) {
	p, _ := rival(t, "helicone", 2)
	serve(p, 0, 0, 50*ms, 5*time.Second, 6*time.Second)
	serve(p, 0, 1, 200*ms, 300*ms, 6*time.Second)
	expect(t, p, 300*ms, 0, "50 ms to headers against 200, whatever the tokens do")
	for range 4 {
		p.Sent(300*ms, call, 0)
	}
	// exp(-250ms/10s)*50 ms * 5 requests = 244 ms against exp(-100ms/10s)*200 ms = 198 ms
	expect(t, p, 300*ms, 1, "four requests are outstanding there")
}

func TestHeliconeErrors(t *testing.T) {
	p, _ := rival(t, "helicone", 2)
	serve(p, 0, 0, 200*ms, 300*ms, time.Second)
	serve(p, 0, 1, 200*ms, 300*ms, time.Second)
	at := time.Second
	for ; at < 15*time.Second; at += time.Second {
		refuse(p, at, 1, 500)
		serve(p, at, 0, 200*ms, 300*ms, 900*ms)
	}
	expect(t, p, at, 1, "errors after 10 ms look like a fast target")
	for range 10 {
		refuse(p, at, 1, 500)
	}
	expect(t, p, at+time.Second, 0, "more than a tenth of at least 20 failed")
	expect(t, p, at+61*time.Second, p.Next(at+61*time.Second, call, []int{0}), "a minute later it is back")
}

func TestKongIgnoresTTFT(t *testing.T) {
	for name, want := range map[string]int{"kong tpot": 0, "kong e2e": 1} {
		p, _ := rival(t, name, 2)
		serve(p, 0, 0, 0, 5*time.Second, 5100*ms) // 10 ms per token
		serve(p, 4700*ms, 1, 0, 200*ms, 400*ms)   // 20 ms
		expect(t, p, 5100*ms, want, name+" after 5.1 s and 0.4 s")
	}
}

func TestKongForgets(t *testing.T) {
	p, _ := rival(t, "kong e2e", 2)
	serve(p, 0, 0, 0, ms, 4*time.Second)
	for at := time.Duration(0); at < 40*time.Second; at += time.Second {
		serve(p, at, 1, 0, ms, 500*ms)
	}
	// 4 s * exp(-(37-4)/10) = 0.15 s; 0.5 s * exp(-0.5/10) = 0.48 s for the other
	expect(t, p, 37*time.Second, 0, "what is not used decays, and is tried again")
}

func TestOpenRouterWeighsPrices(t *testing.T) {
	p, _ := rival(t, "openrouter", 2)
	// 1/1 against 1/4: 800 of 1000.
	if got := share(p, 0, 0); got < 760 || got > 840 {
		t.Errorf("%d of 1000 calls go to the cheaper at half the price, want about 800", got)
	}
	for range 10 {
		serve(p, 0, 0, 0, 900*ms, time.Second)
	}
	if got := share(p, 2*time.Second, 0); got != 0 {
		t.Errorf("%d calls go to the cheaper, whose p50 is over the threshold", got)
	}
	for range 10 {
		serve(p, 0, 1, 0, 800*ms, time.Second)
	}
	if got := share(p, 2*time.Second, 0); got < 760 {
		t.Errorf("%d calls go to the cheaper while none is within, want about 800: nobody is excluded", got)
	}
	if got := share(p, 6*time.Minute, 0); got < 760 {
		t.Errorf("%d calls go to the cheaper after 5 minutes, want about 800", got)
	}
}

func TestOpenRouterAvoidsOutages(t *testing.T) {
	p, _ := rival(t, "openrouter", 2)
	refuse(p, 0, 0, 500)
	if got := share(p, 29*time.Second, 0); got != 0 {
		t.Errorf("%d calls go to a provider with an outage", got)
	}
	if got := share(p, 31*time.Second, 0); got < 760 {
		t.Errorf("%d calls go there 30 s later, want about 800", got)
	}
}

func TestSequencesGiveUp(t *testing.T) {
	p, _ := rival(t, "tensorzero", 2)
	p.Next(0, call, []int{0})
	if got := p.Patience(call, 1); got != 2500*ms {
		t.Errorf("tensorzero waits %v for the last target, want the p99 limit", got)
	}
	p, _ = rival(t, "bifrost", 2)
	if got := p.Patience(call, 0); got != 2500*ms {
		t.Errorf("bifrost waits %v, want the p99 limit", got)
	}
	p.Next(0, call, []int{0})
	if got := p.Patience(call, 1); got != 0 {
		t.Errorf("bifrost cuts the last attempt off after %v", got)
	}
	// 1, 1/2 and 1/4: 571 of 1000.
	p, _ = rival(t, "bifrost", 3)
	if got := share(p, 0, 0); got < 520 || got > 620 {
		t.Errorf("%d of 1000 calls go to the cheapest, want about 571", got)
	}
}
