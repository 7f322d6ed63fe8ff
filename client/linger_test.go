package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// A probe is hedged at once, and a route that is slower than others still gets to show
// that it is well: the probe that lost goes on, until it has content.
func TestAProbeThatLostGoesOn(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := hedging(t, unhurried, cheapest, "one", "two")
				for range 5 {
					f.servers["one"].Script(status(500))
					f.answers(t, say, f.chat(), "two")
				}
				if s := f.status(t, "one"); s.State != router.StateOpen {
					t.Fatalf("after five failures one is %+v", s)
				}
				time.Sleep(20 * time.Second)
				f.servers["one"].Script(late(time.Second))
				f.answers(t, say, f.chat(), "two")
				call := f.lastCall(t)
				if len(call.Attempts) != 2 || call.Attempts[0].Outcome != middleware.Lost || call.Attempts[0].Total.Round(ms) != 200*ms {
					t.Errorf("attempts are %+v, want a probe that lost after 200ms", call.Attempts)
				}
				if s := f.status(t, "one"); s.State != router.StateHalfOpen || s.InFlight != 1 {
					t.Errorf("right after, one is %+v, want it half-open with the probe under way", s)
				}
				time.Sleep(900 * ms)
				if s := f.status(t, "one"); s.State != router.StateOK || s.InFlight != 0 {
					t.Errorf("one is %+v, want it well", s)
				}
			})
		})
	}
}

// A probe that lost ends with the client, and when it is hopeless.
func TestAProbeThatLostEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, cheapest, "one", "two")
		for range 5 {
			f.servers["one"].Script(status(500))
			f.answers(t, stream, f.chat(), "two")
		}
		time.Sleep(20 * time.Second)
		f.servers["one"].Script(hang(1))
		f.answers(t, stream, f.chat(), "two")
		time.Sleep(15 * time.Second)
		if s := f.status(t, "one"); s.Attempts.TimedOut != 1 || s.State != router.StateOpen || s.InFlight != 0 {
			t.Errorf("one is %+v, want it open again", s)
		}
		time.Sleep(time.Minute)
		f.servers["one"].Script(hang(1))
		f.answers(t, stream, f.chat(), "two") // and the fleet is closed under it
	})
}
