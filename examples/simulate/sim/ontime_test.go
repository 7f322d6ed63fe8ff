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
	for _, name := range []string{"calm", "brownout"} {
		for _, way := range OurWays() {
			s, _ := Find(name)
			w := NewWorld(s, Conditions{Rate: 5, Early: true})
			begin := time.Now()
			out, err := RunOurs(w, way, bubbleOf(t))
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(begin)
			t.Log(len(out), took, float64(len(out))/took.Seconds())
			failed, cost := 0, 0.0
			var by [10][4]int
			late := [10]int{}
			for i, o := range out {
				if o.Failed {
					failed++
					continue
				}
				cost += o.Cost
				by[i*10/len(out)][o.Target]++
				if o.TTFT > 2500*ms {
					late[i*10/len(out)]++
				}
			}
			t.Log(failed, cost, by, late)
		}
	}
}
