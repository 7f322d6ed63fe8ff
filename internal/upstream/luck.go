package upstream

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// DrawHeader names the call in a request. The luck of a request with this header depends on the server's seed and name, on
// the header's value, and on how often the server has seen that value, but on no other request: the same call meets
// the same luck whatever a policy did before.
const DrawHeader = "X-Sim-Draw"

// luck holds all random draws of one request. They are made before anything is known of the behaviour, so that a change of it
// moves no other draw. Shares are uniform in [0, 1), the rest standard normal.
type luck struct {
	fault, where, early, slow, straggler, slowPace float64
	ttft, pace, output                             float64
}

// draw depends on its arguments alone.
func draw(seed, key, again uint64) luck {
	r := rand.New(rand.NewPCG(mix(seed^mix(key)), mix(again)))
	return luck{
		fault: r.Float64(), where: r.Float64(), early: r.Float64(),
		slow: r.Float64(), straggler: r.Float64(), slowPace: r.Float64(),
		ttft: r.NormFloat64(), pace: r.NormFloat64(), output: r.NormFloat64(),
	}
}

// mix is the finaliser of splitmix64: it makes neighbouring numbers unlike each other.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// sample is the latency for the draws z and u, for a median that base is added to.
func (l Latency) sample(base time.Duration, z, u float64) time.Duration {
	f := 1.0
	if l.Sigma != 0 {
		f = math.Exp(l.Sigma * z)
	}
	if u < l.StragglerShare {
		f *= orElse(l.StragglerFactor, 5)
	}
	return scale(l.Median+base, f)
}

func (l Length) sample(z float64) int {
	n := float64(orElse(l.Median, 16))
	if l.Sigma != 0 {
		n *= math.Exp(l.Sigma * z)
	}
	return max(1, int(math.Round(n)))
}

// factors returns what a call with draw u is slowed down by.
func (s Slow) factors(u float64) (ttft, pace float64) {
	if u >= s.Share {
		return 1, 1
	}
	return orElse(s.TTFT, 1), orElse(s.Pace, 1)
}

// scale leaves a time alone to the nanosecond when there is nothing to scale.
func scale(d time.Duration, f float64) time.Duration {
	if f == 1 {
		return d
	}
	return time.Duration(float64(d) * f)
}

func orElse[T int | float64](v, zero T) T {
	if v == 0 {
		return zero
	}
	return v
}
