package budget

import "time"

// Chat returns the budget of an endpoint whose answers a person reads as they
// come: p95 TTFT 600ms and p95 TPOT 100ms.
//
// A blank screen is noticed after one to two seconds, whatever comes later; 600
// ms for all but one call in 20 keeps well away from that, with what the
// application and the network add. Text is read at about ten tokens a second, so
// a token every 100 ms never makes the reader wait. The total is not promised: a
// long answer takes long, and the reader is busy meanwhile.
//
// The Budget is the caller's to change. So are those of the other functions: each
// call makes its own.
func Chat() Budget {
	return Budget{
		TTFT: Layers{95: 600 * time.Millisecond},
		TPOT: Layers{95: 100 * time.Millisecond},
	}
}

// Extract returns the budget of an endpoint whose answers a program takes as a
// whole, such as the fields of a document: p95 total 10s.
//
// Nobody sees the first token, so only the end counts. Ten seconds are what
// someone who has just uploaded a page will watch a spinner for.
func Extract() Budget {
	return Budget{Total: Layers{95: 10 * time.Second}}
}

// Agent returns the budget of an endpoint that is called many times in a row for
// one task: p50 total 5s and p99 total 20s.
//
// Sequential calls add up. With ten of them a task meets the slowest 5% in four
// cases out of ten (1 - 0.95^10), and the slowest 1% in one out of ten: for the
// task a p95 is a common case, and its own p90 is about the p99 of a call. The p50
// bounds the sum, 50 s for ten calls, the p99 the one that spoils it.
func Agent() Budget {
	return Budget{Total: Layers{50: 5 * time.Second, 99: 20 * time.Second}}
}

// Batch returns the budget of an endpoint for which nobody waits: no latency is
// promised, and the cheapest route that answers is taken.
//
// A budget without layers sends calls where they are done soonest, since there is
// no promise for cost to be weighed against. A CostWeight that is set says that
// cost counts all the same; nothing stands against it, so that it alone decides,
// as far as prices are known. There are no hedges: a second attempt buys time,
// which is not wanted, at the price of the first.
//
// With a layer added, such as a total for the end of the night, this is the usual
// weight of cost.
func Batch() Budget {
	return Budget{Hedge: -1, CostWeight: defaultCostWeight}
}
