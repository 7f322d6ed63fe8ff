package router

import (
	"math"
	"slices"
	"time"
)

const (
	// A block is the latencies of a minute, or of as long as it takes to have enough, at
	// most one a second: a burst is one moment, whatever came in it.
	blockFor   = time.Minute
	blockEvery = time.Second
	leastBlock = 10
	mostBlock  = 64

	// A window is 10 blocks. The past is up to 18 windows, and with less than 6 it does
	// not tell its own noise.
	windowBlocks = 10
	pastBlocks   = 18 * windowBlocks
	leastWindows = 6

	// coarse is how many blocks make one of the coarse scale, so that its window is half
	// an hour at least, and its past nine.
	coarse = 3

	// leastShift is the logarithm of 1.2: a smaller difference is not worth a word.
	leastShift = 0.1823
	// leastBeyond is how many blocks of a window have to lie nearer to its median than to
	// that of the past: a spike is no shift.
	leastBeyond = 8

	// shiftScore is the normal quantile for one false alarm in 100,000 tests, either way.
	shiftScore = 4.417
)

// shift notices when a latency has become another for good, at two scales: within some
// minutes where it is steady otherwise, and within the hour where it wanders from minute
// to minute. It is noticed once, since both scales start anew from there, and so is the
// return from it.
type shift struct {
	block  []float32
	since  time.Time // when block began
	latest time.Time // when its latest came

	blocks []float32 // of the next one of the coarse scale
	scales [2]horizon
}

// saw takes note of a latency. It tells whether it makes a shift, and the medians before
// and after. Next to always it only fills a block.
func (s *shift) saw(seconds float64, now time.Time) (from, to float64, is bool) {
	if !(seconds > 0) || len(s.block) > 0 && now.Sub(s.latest) < blockEvery {
		return 0, 0, false
	}
	if len(s.block) == 0 {
		s.since = now
	}
	s.block, s.latest = append(s.block, float32(seconds)), now
	if len(s.block) < mostBlock && (len(s.block) < leastBlock || now.Sub(s.since) < blockFor) {
		return 0, 0, false
	}
	one := math.Log(middle(s.block))
	s.block = s.block[:0]
	return s.enter(float32(one))
}

// enter enters a block.
func (s *shift) enter(block float32) (from, to float64, is bool) {
	fine, rough := &s.scales[0], &s.scales[1]
	if from, to, is = fine.enter(block); is {
		rough.forget()
		s.blocks = s.blocks[:0]
		return from, to, true
	}
	if s.blocks = append(s.blocks, block); len(s.blocks) < coarse {
		return 0, 0, false
	}
	block = float32(middle(s.blocks))
	s.blocks = s.blocks[:0]
	if from, to, is = rough.enter(block); is {
		fine.forget()
	}
	return from, to, is
}

// horizon is one of the two: it compares the latest window with the past by a prediction
// interval. If windows are distributed as they were, with the mean x and the deviation s
// in k of them, then the next one lies within
//
//	x ± t * s * sqrt(1 + 1/k)
//
// but for one time in 100,000, with t the quantile of Student's distribution of k-1
// degrees of freedom (Hahn and Meeker, "Statistical Intervals", 1991, section 4.7). A window is the
// median of the logarithms of its blocks' medians, which heavy tails do not move. What
// is noise to this route, from window to window, is in s: where times wander or swing
// with the day it takes more to be beyond. And it takes more while the past is short: t is
// 19 with 6 windows, 9 with 10, and 6.2 with 18.
//
// A window is compared each time that it moves on by a block: 1440 tests a day, and 480
// of the coarse scale, make less than 0.02 false alarms a day and metric, in however
// far tests of the same blocks agree. What is not worth a word is none of them.
type horizon struct {
	recent, past []float32 // logarithms of the medians of blocks, the latest last
	sd, dof      float64   // of windows, when the past last told; dof is 0 if it never did
}

// enter enters a block, and tells whether it makes a shift.
func (s *horizon) enter(block float32) (from, to float64, is bool) {
	if len(s.recent) == windowBlocks {
		if len(s.past) == pastBlocks {
			s.past = slices.Delete(s.past, 0, 1)
		}
		s.past = append(s.past, s.recent[0])
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.recent = append(s.recent, block)
	if len(s.recent) < windowBlocks {
		return 0, 0, false
	}
	before, windows := s.history()
	if windows == 0 || s.dof == 0 {
		return 0, 0, false
	}
	after := median32(s.recent)
	noise := student(shiftScore, s.dof) * s.sd * math.Sqrt(1+1/windows)
	if math.Abs(after-before) < max(leastShift, noise) || s.beyond(before, after) < leastBeyond {
		return 0, 0, false
	}
	s.restart(after > before)
	return math.Exp(before), math.Exp(after), true
}

// beyond counts the recent blocks that are nearer to after than to before.
func (s *horizon) beyond(before, after float64) (n int) {
	for _, b := range s.recent {
		if math.Abs(float64(b)-after) < math.Abs(float64(b)-before) {
			n++
		}
	}
	return n
}

// history returns the mean of the windows of the past and their number, and keeps their
// deviation. What is left over from whole windows, at the old end, is one as well if it is
// all that there is.
func (s *horizon) history() (mean, windows float64) {
	var sum, squares float64
	for end := len(s.past); end >= windowBlocks; end -= windowBlocks {
		w := median32(s.past[end-windowBlocks : end])
		windows++
		sum += w
		squares += w * w
	}
	if windows == 0 {
		if len(s.past) == 0 {
			return 0, 0
		}
		return median32(s.past), 1
	}
	mean = sum / windows
	if windows >= leastWindows {
		s.sd = math.Sqrt(max(0, squares-windows*mean*mean) / (windows - 1))
		s.dof = windows - 1
	}
	return mean, windows
}

// restart makes those recent blocks the past that lie furthest beyond the former one: the
// first ones may have been before the shift.
func (s *horizon) restart(slower bool) {
	slices.Sort(s.recent)
	if slower {
		slices.Reverse(s.recent)
	}
	s.past = append(s.past[:0], s.recent[:leastBeyond]...)
	s.recent = s.recent[:0]
}

// forget makes the next window the past. What noise is stays known.
func (s *horizon) forget() { s.past, s.recent = s.past[:0], s.recent[:0] }

// median32 returns the median of some blocks, a window's at most.
func median32(v []float32) float64 {
	var buf [windowBlocks]float32
	return middle(append(buf[:0], v...))
}

// student returns the quantile of Student's distribution with dof degrees of freedom
// that corresponds to the normal one, z, by Wallace's approximation ("Bounds on normal
// approximations to Student's and the chi-square distributions", 1959): within 4% from 5
// degrees on.
func student(z, dof float64) float64 {
	z *= (8*dof + 3) / (8*dof + 1)
	return math.Sqrt(dof * math.Expm1(z*z/dof))
}
