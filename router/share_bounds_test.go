package router_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// A configured model may have a name of any length, such as a path or an ARN. It must not
// make what else a replica has to tell unreadable.
func TestShareLongModelName(t *testing.T) {
	for name, test := range map[string]struct {
		length int
		want   float64
	}{"a path": {200, 9}, "absurd": {5000, 0}} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(f fleet) {
				req := chat
				req.Model = strings.Repeat("x", test.length)
				c := two(tailBudget)
				c.Targets[0].Models = append(c.Targets[0].Models, req.Model)
				a, b := f.add(c), f.add(c)
				for range 10 {
					a.quick("a", chat, 200*ms)
					a.quick("a", req, 200*ms)
				}
				time.Sleep(8 * time.Second)
				if n := b.route("a", "m").TTFT.N; n < 9 {
					t.Errorf("b rests on %.2f attempts of the model with the short name, want 9 at least", n)
				}
				if n := b.route("a", req.Model).TTFT.N; n < test.want {
					t.Errorf("b rests on %.2f attempts of the model with the long name, want %.0f at least", n, test.want)
				}
				if s := b.Snapshot().Shared; s.Ignored > 0 {
					t.Errorf("b ignored %d blobs", s.Ignored)
				}
			})
		})
	}
}

// However often a key is refused within a span, the others are told of another key too.
func TestSharedCooldownOfEachKey(t *testing.T) {
	inFleet(t, func(f fleet) {
		c := two(tailBudget)
		c.Targets[0].Keys = 2
		a, b := f.add(c), f.add(c)
		time.Sleep(2 * time.Second)
		var second *router.Flight
		var first []*router.Flight
		for range 200 {
			req := chat
			req.Pin = "a"
			choice := a.Plan(req).Choices[0]
			fl, err := a.Start(choice, req)
			if err != nil {
				t.Fatal(err)
			}
			if choice.Key() == 0 {
				first = append(first, fl)
			} else {
				second = fl
			}
		}
		refuse := func(fl *router.Flight, wait time.Duration) {
			a.Report(router.Report{Flight: fl, Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: wait})
		}
		for _, fl := range first {
			refuse(fl, 20*time.Second)
		}
		refuse(second, 40*time.Second)
		time.Sleep(1500 * ms)
		for k, own := range a.status("a").Keys {
			theirs := b.status("a").Keys[k]
			if theirs.State != router.StateCooling || theirs.Until.Sub(own.Until).Abs() > 10*ms {
				t.Errorf("key %d is %q until %v for b, until %v for a", k, theirs.State, theirs.Until, own.Until)
			}
		}
	})
}

// Replicas that come and go, each with another id, leave room for those that come later.
func TestShareManyShortLivedReplicas(t *testing.T) {
	inFleet(t, func(f fleet) {
		b := f.add(two(tailBudget))
		time.Sleep(time.Second)
		var hello []byte
		f.store.set(func(m *memory) { hello = bytes.Clone(m.log[0].Data) })
		for i := range 1500 {
			one := bytes.Clone(hello)
			binary.LittleEndian.PutUint64(one[2:], uint64(i+1))
			f.store.set(func(m *memory) { m.log = append(m.log, router.Blob{At: time.Now(), Data: one}) })
			time.Sleep(time.Second)
		}
		f.add(two(tailBudget)).teach(20)
		time.Sleep(8 * time.Second)
		b.always("b", chat)
		if s := b.Snapshot().Shared; s.Ignored > 0 || s.Replicas < 50 || s.Replicas > 62 {
			t.Errorf("b says %+v, want about 55 replicas and none ignored", s)
		}
	})
}

// endless is a store that has always more.
type endless struct{ memory }

func (*endless) Fetch(_ context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	return make([]router.Blob, limit), cursor + ".", nil
}

// A store that comes to no end does not keep a replica from telling what it has seen, and
// from ending.
func TestShareEndlessStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := two(tailBudget), new(endless)
		c.Shared = store
		r, err := router.New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		r.Share(ctx)
		if store.publishes < 2 {
			t.Errorf("it published %d blobs in 20 s, want two at least", store.publishes)
		}
	})
}
