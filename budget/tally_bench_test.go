package budget_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// streamedCall is the life of a call that is slow once.
func streamedCall(l *budget.Ledger) {
	call := l.Tally(true)
	at, _ := call.Next(0)
	call.Waiting(at)
	call.Content(at + 5*ms)
	call.Completed(20*ms, 1500*ms)
}

func TestTallyAllocatesNothing(t *testing.T) {
	l := budget.NewLedger(layered)
	if n := testing.AllocsPerRun(100, func() { streamedCall(l) }); n != 0 {
		t.Errorf("a call makes %v allocations, want none", n)
	}
}

func BenchmarkTally(b *testing.B) {
	l := budget.NewLedger(layered)
	b.ReportAllocs()
	for b.Loop() {
		streamedCall(l)
	}
}

func BenchmarkTallyParallel(b *testing.B) {
	l := budget.NewLedger(layered)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			streamedCall(l)
		}
	})
}

func BenchmarkTallyNext(b *testing.B) {
	l := budget.NewLedger(layered)
	call := l.Tally(true)
	b.ReportAllocs()
	for b.Loop() {
		call.Next(time.Second)
	}
}

func BenchmarkLedgerDebt(b *testing.B) {
	l := budget.NewLedger(layered)
	b.ReportAllocs()
	for b.Loop() {
		l.Debt(0)
	}
}
