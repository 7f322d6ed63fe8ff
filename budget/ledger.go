package budget

import (
	"math"
	"slices"
	"sync/atomic"
)

const (
	debtStep   = 0.05 // debt of one miss, before what is allowed
	debtSafety = 0.8  // part of the allowed share that makes no debt; the rest is reserve
	maxDebt    = 50   // keeps a long outage from being paid for all day

	answeredPercentile = 99.9
)

// Ledger keeps the debt of each layer of one endpoint, the implicit layer
// [Answered] (99.9%) included. It counts the calls that each has judged, and the
// answers that a token cap has ended. Calls are entered through a [Tally].
//
// It is safe for concurrent use: entering and reading take no lock.
type Ledger struct {
	layers   []Layer
	accounts []*account        // one for each layer
	spans    [metricCount]span // where each metric's layers lie

	truncated, starved *atomic.Uint64
}

// account is the state of one layer.
type account struct {
	debt          atomic.Uint64 // bits of a float64
	calls, missed atomic.Uint64
}

// span is a half-open range of layers, all of one metric.
type span struct{ next, end int }

// NewLedger returns a ledger for the layers of a valid budget, free of debt.
// Later changes to b do not touch it.
func NewLedger(b Budget) *Ledger {
	layers := append(b.Layers(), Layer{Metric: Answered, Percentile: answeredPercentile})
	l := &Ledger{
		layers: layers, accounts: make([]*account, len(layers)),
		truncated: new(atomic.Uint64), starved: new(atomic.Uint64),
	}
	for i, layer := range layers {
		s := &l.spans[layer.Metric]
		if s.end == 0 {
			s.next = i
		}
		s.end = i + 1
		l.accounts[i] = new(account)
	}
	return l
}

// Renew returns a ledger for another valid budget of the same endpoint. Layers that
// are in both, of the same metric, percentile and limit, have their accounts in
// common, so that calls that entered l still count; the answers that a token cap has
// ended are counted in common too. The other layers are free of debt: a promise with
// another limit is another promise.
func (l *Ledger) Renew(b Budget) *Ledger {
	renewed := NewLedger(b)
	renewed.truncated, renewed.starved = l.truncated, l.starved
	for i, layer := range renewed.layers {
		if k := slices.Index(l.layers, layer); k >= 0 {
			renewed.accounts[i] = l.accounts[k]
		}
	}
	return renewed
}

// Layers returns the layers of the ledger in a new slice: those of
// [Budget.Layers] in the same order, and [Answered] at the end. They never
// change.
func (l *Ledger) Layers() []Layer { return slices.Clone(l.layers) }

// Debt returns the debt of the layer with index i in [Ledger.Layers], from 0
// (none) to 50. It panics if there is no such layer.
func (l *Ledger) Debt(i int) float64 {
	return math.Float64frombits(l.accounts[i].debt.Load())
}

// Status returns the state of every layer, in the order of [Ledger.Layers].
// While calls are being entered the figures of a layer may be a few calls
// apart, but Missed is never above Calls.
func (l *Ledger) Status() []LayerStatus {
	status := make([]LayerStatus, len(l.layers))
	for i := range status {
		a := l.accounts[i]
		missed := a.missed.Load() // before calls: they are entered the other way round
		status[i] = LayerStatus{Layer: l.layers[i], Calls: a.calls.Load(), Missed: missed, Debt: l.Debt(i)}
	}
	return status
}

// Truncated returns how many answers their token cap has ended, and how many of
// those it ended before they had begun: reasoning had used it up.
func (l *Ledger) Truncated() (all, starved uint64) {
	starved = l.starved.Load() // before all: they are entered the other way round
	return l.truncated.Load(), starved
}

// enter writes the verdict of one call on layer i.
func (l *Ledger) enter(i int, miss bool) {
	a := l.accounts[i]
	change := -debtSafety * l.layers[i].Allowed()
	a.calls.Add(1)
	if miss {
		change++
		a.missed.Add(1)
	}
	a.owe(debtStep * change)
}

// Absorb enters the verdicts of calls that were served elsewhere on layer i: missed, of so
// many calls. They make debt as one's own do, so that a promise is kept by all who share
// it, and are no part of [Ledger.Status]'s counts. It panics if there is no such layer.
func (l *Ledger) Absorb(i int, calls, missed uint64) {
	l.accounts[i].owe(debtStep * (float64(missed) - debtSafety*l.layers[i].Allowed()*float64(calls)))
}

// owe changes the debt.
func (a *account) owe(change float64) {
	for {
		bits := a.debt.Load()
		debt := math.Float64frombits(bits)
		next := min(max(debt+change, 0), maxDebt)
		// A layer without debt that is kept, the usual case, writes nothing.
		if next == debt || a.debt.CompareAndSwap(bits, math.Float64bits(next)) {
			return
		}
	}
}

// LayerStatus is the state of one layer at an instant. It is a plain value.
type LayerStatus struct {
	Layer
	Calls  uint64  // calls that the layer has judged, here
	Missed uint64  // those that missed it
	Debt   float64 // 0 to 50
}

// Attainment returns the share of calls that kept the layer, from 0 to 1, to be
// compared with Percentile/100. It is 1 before the first call.
func (s LayerStatus) Attainment() float64 { return 1 - s.missShare() }

// Burn returns the share of calls that missed the layer over the share that may:
// above 1 the promise is broken. It is 0 before the first call.
func (s LayerStatus) Burn() float64 { return s.missShare() / s.Allowed() }

func (s LayerStatus) missShare() float64 {
	if s.Calls == 0 {
		return 0
	}
	return float64(s.Missed) / float64(s.Calls)
}
