package sim

import "time"

// Call is one request of the workload. It is the same for every policy.
type Call struct {
	Number       int
	At           time.Duration // arrival, since the start of the run
	Prompt       int           // tokens
	Output       int           // tokens of the answer
	Conversation int           // 0: none; else calls of the same number share a growing prefix
	Shared       int           // tokens of the prompt that the conversation's last call had
}

// Target is what a policy knows of a target beforehand.
type Target struct {
	Name, Provider, Region string
	Input, Output          float64 // USD per million tokens
	Cached                 float64 // USD per million cached prompt tokens
}

// Seen is what a peer gets to see of a request that it sent. Times count from its
// sending.
type Seen struct {
	Target  int
	Sent    time.Duration // since the start of the run
	Headers time.Duration // 0: none came
	TTFT    time.Duration // 0: no content came
	End     time.Duration // when it was over, however it ended
	Total   time.Duration // to the last token; 0: it did not complete
	Output  int           // tokens that came
	Status  int           // 200, 429, 500 ...; 0: no response
	Failed  bool          // an error, or a cut answer
	Gone    bool          // the policy gave it up, or it lost a race
}

// Policy is a rival: where a call goes first, where next when that fails, and what it
// learns. It is used by one goroutine. now is since the start of the run.
type Policy interface {
	// First returns the target of a call's first request, or -1 to fail it.
	First(now time.Duration, c *Call) int
	// Next returns where a call goes whose requests failed or were given up, -1 if
	// nowhere. tried are the targets so far.
	Next(now time.Duration, c *Call, tried []int) int
	// Patience is how long a request may be without content before it is given up
	// for Next; 0: for ever.
	Patience(c *Call, target int) time.Duration
	// Sent, Heard and Ended tell of every request. Heard is told twice, at headers
	// and at the first content; what has not come by then is 0.
	Sent(now time.Duration, c *Call, target int)
	Heard(now time.Duration, c *Call, s Seen)
	Ended(now time.Duration, c *Call, s Seen)
}

// Hedge is how a rival doubles calls: after a delay, a second request to another
// target; the first with headers, or with content, wins.
type Hedge struct {
	AtHeaders bool
	// Delay is asked when a call's first request is sent; 0: no hedge.
	Delay func(now time.Duration, c *Call, target int) time.Duration
	// Second is the target of the second request, -1 for none.
	Second func(now time.Duration, c *Call, first int) int
}

// Outcome is what became of one call: one for each call of a run.
type Outcome struct {
	TTFT, TPOT, Total time.Duration // on the call's clock; 0: did not come
	Failed            bool          // the caller got an error, or a cut answer
	Requests          int           // sent for it
	Hedged            bool          // of them, one ran beside another
	Cost              float64       // USD, all requests, losers too
	Target            int           // that served it; -1: none
}
