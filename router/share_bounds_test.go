package router_test

import (
	"strings"
	"testing"
	"time"
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
				time.Sleep(7 * time.Second)
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
