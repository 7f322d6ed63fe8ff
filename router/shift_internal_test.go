package router

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// day is a route's latencies in a simulated day: log-normal, with one in 30 ten times as
// long, whose level wanders from minute to minute and may swing with the hour. Every 50
// minutes something is five times as slow for 5 of them.
type day struct {
	*rand.Rand
	swing   float64 // up and down, as a part
	spikes  bool
	wanders float64 // deviation from one minute to the next, as a part
	wander  float64
}

func (d *day) at(now time.Duration) float64 {
	if now%time.Minute == 0 {
		d.wander = 0.8*d.wander + d.wanders*d.NormFloat64()
	}
	v := 0.4 * math.Exp(0.5*d.NormFloat64()+d.wander) * (1 + d.swing*math.Sin(2*math.Pi*now.Hours()/24))
	if d.IntN(30) == 0 {
		v *= 10
	}
	if d.spikes && now%(50*time.Minute) >= 45*time.Minute {
		v *= 5
	}
	return v
}

// run enters a call each time and returns when shifts were noticed.
func (s *shift) run(from, to, every time.Duration, at func(time.Duration) float64) (found []time.Duration) {
	for now := from; now < to; now += every {
		if _, _, is := s.saw(at(now), time.Unix(0, 0).Add(now)); is {
			found = append(found, now)
		}
	}
	return found
}

// Less than 0.02 a day are promised: one in 50 days, of which short tests run a fifth.
func TestFalseShifts(t *testing.T) {
	part := 5
	if os.Getenv("ONTIME_LONG") == "1" {
		part = 1
	}
	for _, c := range []struct {
		name  string
		day   day
		every time.Duration
		days  int
	}{
		{"heavy tails", day{}, time.Second, 50},
		{"wanders", day{wanders: 0.04}, time.Second, 50},
		{"wanders far", day{wanders: 0.2}, time.Second, 50},
		{"spikes", day{wanders: 0.04, spikes: true}, time.Second, 30},
		{"swing of the day", day{wanders: 0.04, swing: 0.25}, time.Second, 30},
		{"few calls", day{wanders: 0.04}, 30 * time.Second, 150},
		{"many calls", day{wanders: 0.04}, 250 * time.Millisecond, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := 0
			for seed := range max(1, c.days/part) {
				d := c.day
				d.Rand = rand.New(rand.NewPCG(uint64(seed), 1))
				count += len(new(shift).run(0, 24*time.Hour, c.every, d.at))
			}
			t.Logf("%d in %d days", count, max(1, c.days/part))
			if most := (c.days + 49) / 50; count > most {
				t.Errorf("%d shifts in %d days, want %d at most", count, c.days, most)
			}
		})
	}
}

// A shift is noticed once, within 15 minutes at a call a second if nothing else moves, and
// so is the return.
func TestShiftsAndReturns(t *testing.T) {
	for _, c := range []struct {
		name          string
		day           day
		factor        float64
		from, to      time.Duration
		every, within time.Duration
	}{
		{"30% up", day{}, 1.3, 4 * time.Hour, 8 * time.Hour, time.Second, 15 * time.Minute},
		{"30% down", day{}, 1 / 1.3, 4 * time.Hour, 8 * time.Hour, time.Second, 15 * time.Minute},
		{"50% up, wanders", day{wanders: 0.04}, 1.5, 12 * time.Hour, 24 * time.Hour, time.Second, 90 * time.Minute},
		{"twice after two hours", day{}, 2, 2 * time.Hour, 3 * time.Hour, time.Second, 15 * time.Minute},
		{"twice for half an hour", day{wanders: 0.04}, 2, 4 * time.Hour, 4*time.Hour + 30*time.Minute, time.Second, 15 * time.Minute},
		{"twice, few calls", day{}, 2, 24 * time.Hour, 48 * time.Hour, 30 * time.Second, 2 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			slowest := time.Duration(0)
			for seed := range 5 {
				d := c.day
				d.Rand = rand.New(rand.NewPCG(uint64(seed), 2))
				found := new(shift).run(0, c.to+12*time.Hour, c.every, func(now time.Duration) float64 {
					if c.from <= now && now < c.to {
						return c.factor * d.at(now)
					}
					return d.at(now)
				})
				if len(found) != 2 || found[0] < c.from || found[1] < c.to {
					t.Errorf("seed %d: shifts at %v, want one after %v and one after %v", seed, found, c.from, c.to)
					continue
				}
				slowest = max(slowest, found[0]-c.from, found[1]-c.to)
			}
			t.Logf("noticed after %v at most", slowest)
			if slowest > c.within {
				t.Errorf("noticed after %v, want within %v", slowest, c.within)
			}
		})
	}
}

// A block is a minute of at most a call a second, or as long as 10 calls take.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		want  int // blocks in 2 hours, the last of which is open
	}{
		{100 * time.Millisecond, 119}, // 60.1 seconds each: what comes a minute after the first closes it
		{time.Second, 118},            // 61
		{5 * time.Second, 110},        // 65
		{10 * time.Second, 72},        // 100, for 10 calls
		{time.Minute, 12},             // 10 minutes
	} {
		s := new(shift)
		s.run(0, 2*time.Hour, c.every, func(time.Duration) float64 { return 1 })
		if got := len(s.scales[0].past) + len(s.scales[0].recent); got != c.want {
			t.Errorf("a call every %v: %d blocks, want %d", c.every, got, c.want)
		}
	}
}

// Tables have these for 0.9995, which is 3.2905 of the normal distribution.
func TestStudent(t *testing.T) {
	for dof, want := range map[float64]float64{5: 6.869, 9: 4.781, 17: 3.965, 30: 3.646} {
		if got := student(3.2905, dof); math.Abs(got-want) > 0.04*want {
			t.Errorf("%v degrees of freedom: %v, want %v", dof, got, want)
		}
	}
}
