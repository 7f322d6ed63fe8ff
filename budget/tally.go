package budget

import (
	"math"
	"time"
)

// Tally judges one call against a [Ledger], each layer at most once, as soon as
// the verdict is certain: a call that still waits when a limit passes has
// missed that layer, whatever comes later. All ages and latencies are those of
// the call, from its start, whatever attempts it took.
//
// Completed, Failed and Cancelled end the call; whatever is reported afterwards
// changes nothing. The zero Tally judges nothing. A Tally is not safe for
// concurrent use and must not be copied once it is in use. Its methods do not
// allocate.
type Tally struct {
	ledger *Ledger
	// The layers of each metric that have no verdict yet. Limits rise with the
	// percentile, so that those of one metric pass in order.
	open [metricCount]span
}

// Tally returns the tally of a call that starts now. TTFT and TPOT layers
// concern it only if it is streamed.
func (l *Ledger) Tally(streamed bool) Tally {
	t := Tally{ledger: l, open: l.spans}
	if !streamed {
		t.open[TTFT], t.open[TPOT] = span{}, span{}
	}
	return t
}

// Next returns the next age, age itself or later, at which a call that has not
// ended by then misses a TTFT or total layer without a verdict (a TTFT layer
// only if no content has come): the time to call Waiting. It is not ok when
// there is none. Limits are inclusive, so it is 1ns past one.
func (t *Tally) Next(age time.Duration) (at time.Duration, ok bool) {
	limit := time.Duration(math.MaxInt64)
	for _, m := range [...]Metric{TTFT, Total} {
		if s := t.open[m]; s.next < s.end {
			limit = min(limit, t.ledger.layers[s.next].Limit)
		}
	}
	if limit == math.MaxInt64 {
		return 0, false
	}
	return max(age, limit+1), true
}

// Waiting says that no content has come at this age: TTFT and total layers
// whose limit has passed are missed.
func (t *Tally) Waiting(age time.Duration) {
	t.passed(TTFT, age)
	t.passed(Total, age)
}

// Content says that the first content came, ttft after the start of the call:
// TTFT layers are kept or missed. Later content is not reported.
func (t *Tally) Content(ttft time.Duration) {
	t.settle(TTFT, ttft)
}

// Completed says that the answer is complete, after total and with tpot per
// output token (0 if that is undefined: TPOT layers then get no verdict). An
// answer without any content has missed the TTFT layers whose limit passed
// meanwhile, and gets no verdict on the others.
func (t *Tally) Completed(tpot, total time.Duration) {
	t.passed(TTFT, total)
	if tpot > 0 {
		t.settle(TPOT, tpot)
	}
	t.settle(Total, total)
	t.settle(Answered, 0) // its limit is 0, so this keeps it
	t.end()
}

// Truncated says that the token cap ended the answer; starved, that reasoning had
// used it up before the answer began. It is counted, and no miss: say Completed
// too. It does nothing once the call has ended.
func (t *Tally) Truncated(starved bool) {
	if t.ledger == nil || t.open == [metricCount]span{} {
		return
	}
	t.ledger.truncated.Add(1)
	if starved {
		t.ledger.starved.Add(1)
	}
}

// Failed says that an error reached the caller: every layer that concerns the
// call and has no verdict yet is missed. An attempt's error that failed over is
// none of the call's.
func (t *Tally) Failed() {
	for _, s := range t.open {
		for ; s.next < s.end; s.next++ {
			t.ledger.enter(s.next, true)
		}
	}
	t.end()
}

// Cancelled says that the caller went away: what has no verdict yet gets none.
func (t *Tally) Cancelled() {
	t.end()
}

// passed enters a miss for each open layer of m whose limit lies before age.
func (t *Tally) passed(m Metric, age time.Duration) {
	s := &t.open[m]
	for ; s.next < s.end && age > t.ledger.layers[s.next].Limit; s.next++ {
		t.ledger.enter(s.next, true)
	}
}

// settle enters the verdict on each open layer of m, given what was measured.
func (t *Tally) settle(m Metric, measured time.Duration) {
	s := &t.open[m]
	for ; s.next < s.end; s.next++ {
		t.ledger.enter(s.next, measured > t.ledger.layers[s.next].Limit)
	}
}

func (t *Tally) end() {
	t.open = [metricCount]span{}
}
