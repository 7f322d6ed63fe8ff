package sim

import (
	"testing"
	"testing/synctest"
	"time"
)

func bubbleOf(t *testing.T) func(func()) {
	return func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
}

func TestSmoke(t *testing.T) {
	s, _ := Find("calm")
	w := NewWorld(s, Conditions{Rate: 5, Early: true})
	begin := time.Now()
	out, err := RunOurs(w, OurWays()[0], bubbleOf(t))
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	t.Log(len(out), took, float64(len(out))/took.Seconds())
	failed, cost := 0, 0.0
	by := map[int]int{}
	for _, o := range out {
		if o.Failed {
			failed++
		}
		cost += o.Cost
		by[o.Target]++
	}
	t.Log(failed, cost, by, out[100])
}
