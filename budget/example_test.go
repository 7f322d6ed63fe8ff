package budget_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

func Example() {
	chat := budget.Budget{
		TTFT:      budget.Layers{50: 200 * time.Millisecond, 95: 600 * time.Millisecond, 99: 4 * time.Second},
		TPOT:      budget.Layers{95: 100 * time.Millisecond},
		MaxTokens: budget.MaxTokens{Limit: 2048},
	}
	if err := chat.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	for _, layer := range chat.Layers() {
		fmt.Printf("%v: %.0f%% may take longer\n", layer, 100*layer.Allowed())
	}
	fmt.Printf("hedges: at most %.0f%% of calls\n", 100*chat.HedgeShare())
	// Output:
	// p50 TTFT 200ms: 50% may take longer
	// p95 TTFT 600ms: 5% may take longer
	// p99 TTFT 4s: 1% may take longer
	// p95 TPOT 100ms: 5% may take longer
	// hedges: at most 5% of calls
}

func ExampleBudget_Validate() {
	b := budget.Budget{
		TTFT:      budget.Layers{95: 600 * time.Millisecond, 99: 400 * time.Millisecond},
		MaxTokens: budget.MaxTokens{Default: 4096, Limit: 1024},
		Hedge:     5,
	}
	fmt.Println(b.Validate())
	// Output:
	// ttft.p99: limit 400ms is shorter than the 600ms of ttft.p95, but a higher percentile takes longer: raise it to 600ms or more, or lower ttft.p95
	// max_tokens.default: 4096 is above max_tokens.limit, which is 1024: lower it to 1024 or less, or raise the limit
	// hedge: 5 is more than all calls: set a share above 0 and up to 1 (5% is 0.05), or a negative number for none
}

func ExampleMaxTokens_Cap() {
	m := budget.MaxTokens{Default: 500, Limit: 2000}
	for _, asked := range []int{0, 1500, 9000} {
		limit, _ := m.Cap(asked, 0, false)
		fmt.Printf("asked %d: capped at %d\n", asked, limit)
	}

	m.Strict = true
	_, err := m.Cap(9000, 0, false)
	var over *budget.OverCapError
	if errors.As(err, &over) {
		fmt.Printf("strict: asked %d of %d\n", over.Asked, over.Cap)
	}
	// Output:
	// asked 0: capped at 500
	// asked 1500: capped at 1500
	// asked 9000: capped at 2000
	// strict: asked 9000 of 2000
}

func ExampleWith() {
	ctx := budget.With(context.Background(), "chat")
	fmt.Println(budget.Endpoint(ctx))
	// Output: chat
}

func ExampleLedger() {
	ledger := budget.NewLedger(budget.Budget{
		TTFT: budget.Layers{95: 600 * time.Millisecond},
	})
	// Twenty calls; two of them wait too long for their first token.
	for i := range 20 {
		ttft := 300 * time.Millisecond
		if i%10 == 9 {
			ttft = 900 * time.Millisecond
		}
		call := ledger.Tally(true)
		call.Content(ttft)
		call.Completed(20*time.Millisecond, 2*time.Second)
	}
	for _, s := range ledger.Status() {
		fmt.Printf("%v: kept by %.0f%%, burn %.1f, debt %.3f\n", s.Layer, 100*s.Attainment(), s.Burn(), s.Debt)
	}
	// Output:
	// p95 TTFT 600ms: kept by 90%, burn 2.0, debt 0.078
	// 99.9% answered: kept by 100%, burn 0.0, debt 0.000
}

func ExampleTally() {
	ledger := budget.NewLedger(budget.Budget{
		TTFT:  budget.Layers{95: 600 * time.Millisecond},
		Total: budget.Layers{95: 3 * time.Second},
	})
	call := ledger.Tally(true)

	at, _ := call.Next(0)
	call.Waiting(at) // a timer fired, and no content has come
	fmt.Printf("at %v: debt %.3f\n", at, ledger.Debt(0))

	at, _ = call.Next(at)
	fmt.Printf("next at %v\n", at)
	call.Content(700 * time.Millisecond)
	call.Completed(20*time.Millisecond, 2*time.Second)
	fmt.Printf("at the end: debt %.3f\n", ledger.Debt(0))
	// Output:
	// at 600.000001ms: debt 0.048
	// next at 3.000000001s
	// at the end: debt 0.048
}
