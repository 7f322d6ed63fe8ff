package router

import (
	"math"
	"sync"
	"time"
)

const (
	// What a hedge must at least gain while all tokens are there, and how many times
	// that while there is none.
	cheapHedge = 0.005
	dearHedge  = 10_000

	// So many tokens fit in, or as many as calls earn in the window if that is more:
	// a bad stretch of a few minutes may spend what was saved in as long. There is not
	// all that room at once, or a process that has just begun would be poor: it grows
	// with what is saved, and else by so much of what calls earn.
	leastBurst  = 20
	burstGrows  = 0.25
	burstWindow = 4 * time.Minute
	burstSlot   = 15 * time.Second
	burstSlots  = int(burstWindow / burstSlot)
)

// allowance is how many hedges an endpoint may start: a token bucket that calls
// fill, not time, so that an idle hour earns nothing. The nil allowance has none.
type allowance struct {
	share float64 // tokens that a call earns
	start time.Time

	mu      sync.Mutex // guards all below; held for a few instructions
	tokens  float64
	room    float64         // for tokens
	calls   [burstSlots]int // by time, in a ring
	sum     int             // of calls
	slot    int64           // of the latest, since start
	started uint64
	won     uint64
	refused uint64
}

// newAllowance returns a full one, or nil if the share is 0.
func newAllowance(share float64, now time.Time) *allowance {
	if share <= 0 {
		return nil
	}
	return &allowance{share: share, start: now, tokens: leastBurst, room: leastBurst}
}

// earn counts a call.
func (a *allowance) earn(now time.Time) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	a.calls[a.slot%int64(burstSlots)]++
	a.sum++
	a.tokens += a.share
	a.room = max(a.room+burstGrows*a.share, a.tokens)
	a.bound()
}

// take takes a token, if there is one.
func (a *allowance) take(now time.Time) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn(now); a.tokens < 1 {
		a.refused++
		return false
	}
	a.tokens--
	a.started++
	return true
}

// giveBack returns the token of a hedge that came to nothing, or was not even sent.
func (a *allowance) giveBack(now time.Time, unsent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	a.tokens++
	a.bound()
	if unsent {
		a.started--
	}
}

func (a *allowance) win() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.won++
}

// price returns what a hedge must gain to be worth a token now: more than there is to
// be gained if there is no token.
func (a *allowance) price(now time.Time) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn(now); a.tokens < 1 {
		return math.Inf(1)
	}
	return a.level()
}

// level returns the price by how many tokens are left. The caller holds mu.
func (a *allowance) level() float64 {
	return cheapHedge * math.Pow(dearHedge, 1-a.tokens/a.room)
}

// bound keeps the room within its bounds, and the tokens within the room. The caller
// holds mu.
func (a *allowance) bound() {
	a.room = min(a.room, max(leastBurst, a.share*float64(a.sum)))
	a.tokens = min(a.tokens, a.room)
}

// turn forgets the calls that have left the window. The caller holds mu.
func (a *allowance) turn(now time.Time) {
	slot := int64(now.Sub(a.start) / burstSlot)
	if slot <= a.slot {
		return
	}
	for old := max(a.slot+1, slot-int64(burstSlots)+1); old <= slot; old++ {
		place := &a.calls[old%int64(burstSlots)]
		a.sum -= *place
		*place = 0
	}
	a.slot = slot
	a.bound()
}

// HedgeStatus is what hedging costs an endpoint now. It is zero where none is allowed.
type HedgeStatus struct {
	Share         float64 // of its calls that may be hedged
	Tokens, Burst float64 // hedges that may be started at once, and the most that may be saved
	Price         float64 // what a hedge has to gain, from 0.005 to 50; see the package comment

	// Counts since the start. A hedge has won if it brought content first. Refused is
	// those that were no longer allowed when they were to be started.
	Started, Won, Refused uint64
}

func (a *allowance) status(now time.Time) HedgeStatus {
	if a == nil {
		return HedgeStatus{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	return HedgeStatus{
		Share: a.share, Tokens: a.tokens, Burst: a.room, Price: a.level(),
		Started: a.started, Won: a.won, Refused: a.refused,
	}
}
