package router

import (
	"math"
	"testing"
	"time"
)

func TestAllowance(t *testing.T) {
	now := time.Now()
	a := newAllowance(0.1, now)
	spend := func(n int) {
		for range n {
			if !a.take(now) {
				t.Error("no token")
			}
		}
	}
	earn := func(n int) {
		for range n {
			a.earn(now)
		}
	}
	tokens := func(what string, tokens, room float64) {
		t.Helper()
		wantFloat(t, what+", tokens", a.tokens, tokens)
		wantFloat(t, what+", room", a.room, room)
	}

	wantFloat(t, "price, full", a.price(now), 0.02)
	spend(10)
	wantFloat(t, "price, half", a.price(now), 0.02*50)
	spend(10)
	if a.take(now) || !math.IsInf(a.price(now), 1) {
		t.Error("a token where there is none, or a price")
	}
	wantFloat(t, "price shown", a.status(now).Price, 0.02*2500)
	a.giveBack(now, false)
	tokens("given back", 1, 20)

	earn(100) // 10 more, and no room yet, since the calls of the window earn less than 20
	tokens("100 calls", 11, 20)
	earn(400) // full after 90 of them; those of the window earn 50
	tokens("500 calls", 50, 50)
	spend(40)
	earn(100) // the window has room for 60: it grows by a quarter of what is earned
	tokens("600 calls", 20, 52.5)
	earn(200)
	tokens("800 calls", 40, 57.5)

	now = now.Add(burstWindow) // none in the last 4 minutes
	a.price(now)
	tokens("idle", 20, 20)
	if s := a.status(now); s.Started != 60 || s.Refused != 1 {
		t.Errorf("%+v, want 60 started and 1 refused", s)
	}
	if newAllowance(0, now) != nil || (*allowance)(nil).take(now) {
		t.Error("an allowance of nothing")
	}
}

// Calls count for the room for 4 minutes, to a quarter of one.
func TestAllowanceForgetsCalls(t *testing.T) {
	start := time.Now()
	a := newAllowance(1, start)
	for i := range 100 {
		a.earn(start.Add(time.Duration(i) * 6 * time.Second)) // 40 in 4 minutes
	}
	if a.sum < 38 || a.sum > 40 {
		t.Errorf("%d calls in the window, want 38 to 40", a.sum)
	}
	a.earn(start.Add(time.Hour))
	if a.sum != 1 {
		t.Errorf("%d calls after an hour, want 1", a.sum)
	}
}

func TestPairing(t *testing.T) {
	now := time.Now()
	var p pairing
	want := func(what string, k ...float64) {
		t.Helper()
		for i, got := range p.factors(now) {
			wantFloat(t, what, got, k[i])
		}
	}
	want("built in", 0.5, 0.8, 1)
	for range 10 { // of 8 predicted 2 are won
		p.enter(otherProvider, 0.8, false, now)
	}
	p.enter(otherProvider, 0, true, now)
	p.enter(otherProvider, 0, true, now)
	want("2 of 8", 0.5, 0.8, (10+2)/(10+8.0))
	now = now.Add(pairHalfLife)
	want("a quarter of an hour later", 0.5, 0.8, (10+1)/(10+4.0))
	for range 1000 { // the latest 100 count: a tenth of them won
		for i := range 10 {
			p.enter(sameRegion, 1, i == 9, now)
		}
	}
	if k := p.factors(now)[sameRegion]; k < 0.12 || k > 0.15 {
		t.Errorf("k = %v, want (5+10)/(10+100) or so", k)
	}
	for range 1000 {
		p.enter(sameRegion, 0.1, true, now)
		p.enter(otherRegion, 1, false, now)
	}
	want("bounded", 1.5, 8/110.0, (10+1)/(10+4.0))
}

func TestKinship(t *testing.T) {
	r, err := New(Config{Targets: []Target{
		{Name: "a", Provider: "x", Region: "eu"}, {Name: "b", Provider: "x", Region: "eu"},
		{Name: "c", Provider: "x", Region: "us"}, {Name: "d", Provider: "y", Region: "eu"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []kinship{sameRegion, sameRegion, otherRegion, otherProvider} {
		if got := r.kinship(0, i); got != want {
			t.Errorf("kinship of a and %s = %v, want %v", r.targets[i].Name, got, want)
		}
	}
}

func TestRecent(t *testing.T) {
	now := time.Now()
	var r recent
	enter := func(late bool, n int) {
		for range n {
			r.add(late, now)
		}
	}
	is := func(what string, known, ill bool) {
		t.Helper()
		if r.known() != known || r.ill() != ill {
			t.Errorf("%s: known %v, ill %v, want %v, %v", what, r.known(), r.ill(), known, ill)
		}
	}
	enter(true, 4)
	is("4 late", false, false)
	enter(true, 1)
	is("5 late", true, true)
	enter(false, 100)
	wantFloat(t, "all in all", r.late+r.kept, 20)
	enter(true, 13) // of 20 kept 20*0.95^13 = 10.3 are left
	is("13 late after 100", true, false)
	enter(true, 1)
	is("14 late after 100", true, true)
	r = r.fade(now.Add(2 * recentHalfLife))
	is("20 s later", true, true) // 5 are left
	now = now.Add(2*recentHalfLife + time.Second)
	r = r.fade(now)
	is("21 s later", false, false)
}

// What is usual falls at once and rises slowly, so that an incident does not become
// usual; and needs 20 samples.
func TestUsual(t *testing.T) {
	now := time.Now()
	at := func(ttfts map[float64]float64, old *outlook) float64 {
		f := &forecast{fitted: true}
		for _, n := range ttfts {
			f.seen[ttft] += n
		}
		c := *counts(ttfts)
		f.setUsual(ttft, &c, now, old, 0)
		return f.usual[ttft]
	}
	before := func(usual float64, age time.Duration) *outlook {
		f := &forecast{fitted: true}
		f.usual[ttft] = usual
		return &outlook{at: now.Add(-age), routes: []*forecast{f}}
	}
	wantFloat(t, "19 samples", at(map[float64]float64{1: 19}, nil), 0)
	wantFloat(t, "100 samples", at(map[float64]float64{1: 90, 2: 5, 4: 5}, nil), 2)
	wantFloat(t, "nothing before", at(map[float64]float64{1: 100}, before(0, time.Second)), at(map[float64]float64{1: 100}, nil))
	wantFloat(t, "less than before", at(map[float64]float64{1: 90, 2: 5, 4: 5}, before(3, time.Second)), 2)
	o := before(3, 0)
	o.routes = append(o.routes, &forecast{}, nil, &forecast{})
	o.routes[3].usual[ttft] = 1
	o.shareUsual(ttft)
	wantFloat(t, "usual elsewhere", o.routes[1].like[ttft].usual[ttft], 3)
	wantFloat(t, "usual here", o.routes[3].usual[ttft], 1)
	if o.routes[3].like[ttft] != nil {
		t.Error("what is known here is taken from elsewhere")
	}
	wantFloat(t, "more than before", at(map[float64]float64{4: 100}, before(1, 150*time.Second)), math.Sqrt2)
}
