package router_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// teach has a replica see that target a is slow and b quick.
func (w world) teach(n int) {
	for range n {
		w.quick("a", chat, 900*ms)
		w.quick("b", chat, 200*ms)
		time.Sleep(100 * ms)
	}
}

// Whatever ails the store, plans go on at once, one line says so, and so does another when
// it is well again, by itself; what was seen meanwhile is told then.
func TestStoreFaults(t *testing.T) {
	for name, fault := range map[string]func(m *memory, on bool){
		"gone": func(m *memory, on bool) { m.gone = on },
		"full": func(m *memory, on bool) { m.full = on },
		"hung": func(m *memory, on bool) {
			if m.delay = 0; on {
				m.delay = time.Hour
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(f fleet) {
				log := new(events)
				c := two(tailBudget)
				c.OnHealth = log.add
				a, b := f.add(c), f.add(two(tailBudget))
				time.Sleep(3 * time.Second)
				f.store.set(func(m *memory) { fault(m, true) })
				time.Sleep(10 * time.Second)

				start := time.Now()
				a.teach(20)
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("20 rounds of calls took %v, want 2s: somebody waited for the store", took)
				}
				time.Sleep(time.Minute)
				if s := a.Snapshot().Shared; !s.Lost || s.Why == "" || s.Errors == 0 {
					t.Errorf("the store fails, and a says %+v", s)
				}
				f.store.set(func(m *memory) { fault(m, false) })
				time.Sleep(50 * time.Second) // retries are half a minute apart, give or take half
				if s := a.Snapshot().Shared; s.Lost || s.Replicas != 1 {
					t.Errorf("the store is well again, and a says %+v", s)
				}
				b.always("b", chat)
				if got := log.shared(); !slices.Equal(got, []string{router.StateUnshared, router.StateOK}) {
					t.Errorf("a told of %q, want one line on the loss and one on the end of it", got)
				}
			})
		})
	}
}

// An emptied store costs those who join later what was in it, nobody else anything.
func TestStoreFlushed(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		a.teach(20)
		time.Sleep(8 * time.Second)
		f.store.flush()
		time.Sleep(8 * time.Second)
		b.always("b", chat)
		a.teach(20)
		time.Sleep(8 * time.Second)
		f.add(two(tailBudget)).always("b", chat)
		if s := b.Snapshot().Shared; s.Errors > 0 || s.Lost {
			t.Errorf("b says %+v", s)
		}
	})
}

// Garbage and other versions are ignored, counted, and told of once.
func TestStoreGarbage(t *testing.T) {
	inFleet(t, func(f fleet) {
		log := new(events)
		c := two(tailBudget)
		c.OnHealth = log.add
		a, b := f.add(c), f.add(two(tailBudget))
		b.teach(10)
		time.Sleep(8 * time.Second)
		var whole []byte
		f.store.set(func(m *memory) { whole = m.log[len(m.log)-1].Data })
		other := append([]byte(nil), whole...)
		other[1]++ // the version
		bad := [][]byte{nil, {}, []byte("hello"), other, whole[:len(whole)-1], append(slices.Clone(whole), 9), make([]byte, 1<<20)}
		f.store.set(func(m *memory) {
			for _, data := range bad {
				m.log = append(m.log, router.Blob{At: time.Now(), Data: data})
			}
		})
		time.Sleep(3 * time.Second)
		a.always("b", chat)
		if s := a.Snapshot().Shared; s.Ignored != uint64(len(bad)) || s.Lost {
			t.Errorf("a says %+v, want %d ignored", s, len(bad))
		}
		if got := log.shared(); len(got) != 1 {
			t.Errorf("a told of it %d times: %q", len(got), got)
		}
	})
}

// Blobs that come again, as when the store is read from its beginning, are counted once; so
// is what a replica has seen itself.
func TestNothingIsCountedTwice(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		a.teach(10)
		time.Sleep(8 * time.Second)
		f.store.set(func(m *memory) {
			m.log = append(m.log, m.log...)
			m.skew = -time.Hour // the clock was set back: all is read again
		})
		time.Sleep(40 * time.Second)
		for name, w := range map[string]world{"a": a, "b": b} {
			if n := w.route("a", "m").TTFT.N; n < 9 || n > 10 {
				t.Errorf("%s rests on %.2f attempts, want a little less than 10", name, n)
			}
		}
		if s := b.Snapshot().Shared; s.Lost || s.Ignored > 0 {
			t.Errorf("b says %+v", s)
		}
	})
}

// Neither replica's clock need agree with the store's: ages are what counts.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{-time.Minute, 0, time.Minute} {
		inFleet(t, func(f fleet) {
			f.store.skew = skew
			a := f.add(two(tailBudget))
			a.teach(20)
			time.Sleep(30 * time.Second)
			b := f.add(two(tailBudget))
			time.Sleep(2 * time.Second)
			own, theirs := a.route("a", "m").TTFT.N, b.route("a", "m").TTFT.N
			if diff := own - theirs; diff < -0.1 || diff > 0.1 {
				t.Errorf("with the store's clock off by %v b rests on %.3f attempts, a on %.3f", skew, theirs, own)
			}
			a.Report(router.Report{Flight: a.start("a", chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: 20 * time.Second})
			time.Sleep(1500 * ms)
			if got := b.status("a").Until.Sub(a.status("a").Until).Abs(); got > 10*ms {
				t.Errorf("with the store's clock off by %v b waits %v longer or shorter", skew, got)
			}
		})
	}
}

// What others name and this replica does not know is ignored; what only others were asked
// for is learned of, within bounds.
func TestUnlikeConfigs(t *testing.T) {
	inFleet(t, func(f fleet) {
		c := two(tailBudget)
		c.Targets = append(c.Targets, router.Target{Name: "any"})
		a := f.add(c)
		b := f.add(router.Config{Targets: []router.Target{{Name: "any"}}})
		a.teach(10)
		req := chat
		for i := range 60 {
			req.Model = "model-" + strings.Repeat("x", i)
			a.quick("any", req, 300*ms)
		}
		time.Sleep(8 * time.Second)
		req.Model = "model-"
		b.quick("any", req, 300*ms)
		if n := b.route("any", "model-").TTFT.N; n < 1.9 {
			t.Errorf("b rests on %.2f attempts, want that of a besides its own", n)
		}
		for i := range 32 { // there is room left for what b itself is asked for
			req.Model = "own-" + strings.Repeat("x", i)
			b.quick("any", req, 300*ms)
		}
		b.route("any", "own-"+strings.Repeat("x", 31))
		if s := b.Snapshot().Shared; s.Ignored > 0 || s.Lost {
			t.Errorf("b says %+v", s)
		}
	})
}

// A replica goes on sharing for whatever it is reloaded into.
func TestShareAfterReload(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		c := two(tailBudget)
		c.Targets = append(c.Targets, router.Target{Name: "c", Models: []string{"m"}})
		before := a.reload(c, all)
		b.reload(c, all)
		b.teach(20)
		for range 20 {
			b.quick("c", chat, 100*ms)
		}
		time.Sleep(8 * time.Second)
		if n := a.route("c", "m").TTFT.N; n < 19 || n > 20 {
			t.Errorf("a rests on %.2f attempts of what both were reloaded with, want a little less than 20", n)
		}
		if s := before.Snapshot().Shared; s != a.Snapshot().Shared {
			t.Errorf("the routers before and after disagree: %+v", s)
		}
	})
}
