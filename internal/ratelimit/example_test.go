package ratelimit_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// OpenAI refuses without Retry-After. Its requests are used up; its tokens, though full again sooner, are not.
func ExampleRead() {
	h := http.Header{}
	h.Set("x-ratelimit-limit-requests", "200")
	h.Set("x-ratelimit-remaining-requests", "0")
	h.Set("x-ratelimit-reset-requests", "6m0s")
	h.Set("x-ratelimit-limit-tokens", "40000")
	h.Set("x-ratelimit-remaining-tokens", "39900")
	h.Set("x-ratelimit-reset-tokens", "150ms")

	info := ratelimit.Read(h, http.StatusTooManyRequests, time.Now())
	fmt.Println("wait", info.RetryAfter)
	fmt.Println(info.Tokens.Remaining, "of", info.Tokens.Limit, "tokens left")
	// Output:
	// wait 6m0s
	// 39900 of 40000 tokens left
}
