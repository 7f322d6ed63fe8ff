package sim

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answer is the body of a response: a stream of chunks as OpenAI sends them, each
// readable when it is due, with few events for many tokens, which real ones have too.
type answer struct {
	*exchange
	ctx    context.Context // of the request, as in net/http's own bodies
	events int             // that were made
	tokens int             // that they had
	left   []byte
	err    error
	timer  *time.Timer
	once   sync.Once
	closed chan struct{}
}

// middle is in how many events the tokens between the first and the last come.
const middle = 2

// Read waits for the next event and returns it, as far as it fits.
func (a *answer) Read(p []byte) (int, error) {
	if len(a.left) == 0 && a.err == nil {
		a.err = a.fill()
	}
	n := copy(p, a.left)
	a.left = a.left[n:]
	if n == 0 {
		return 0, a.err
	}
	return n, nil
}

// fill waits for the next event, and makes it. After the last one it returns io.EOF.
func (a *answer) fill() error {
	r := &a.reply
	a.events++
	switch {
	case a.events == 1: // with the headers
		a.left = []byte(head + `{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n")
		return nil
	case r.TTFT == 0:
		return a.stop(a.wait(never))
	case a.tokens == r.Output: // a cut stream
		a.end()
		return io.EOF
	}
	before := a.tokens
	a.tokens = a.next()
	if err := a.wait(r.token(a.tokens)); err != nil {
		return a.stop(err)
	}
	a.left = append(a.left[:0], head+`{"content":"`...)
	a.left = append(a.left, words[:len(word)*(a.tokens-before)]...)
	a.left = append(a.left, `"},"finish_reason":null}]}`+"\n\n"...)
	if a.tokens == r.Output && !r.Failed {
		a.left = fmt.Appendf(a.left, head+`{},"finish_reason":"stop"}]}`+"\n\n"+usage+"data: [DONE]\n\n",
			a.call.Prompt, r.Output, a.call.Prompt+r.Output, r.Cached)
		a.end()
		return io.EOF
	}
	return nil
}

const (
	envelope = `data: {"id":"chatcmpl-sim","object":"chat.completion.chunk","created":1767225600,"model":"sim","choices":[`
	head     = envelope + `{"index":0,"delta":`
	usage    = envelope + `],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}` + "\n\n"
)

// next is how many tokens there are with the next event: the first comes alone, and
// none comes together with those after a pause.
func (a *answer) next() int {
	r := &a.reply
	if a.tokens == 0 {
		return 1
	}
	n := min(a.tokens+max(1, (r.Output-1)/(middle+1)), r.Output)
	if n == r.Output-1 {
		n = r.Output
	}
	if last := r.StallAt - 1; r.Stall > 0 && a.tokens < last && n > last {
		n = last
	}
	return n
}

// words are the tokens of answers.
const word = "fox "

var words = strings.Repeat(word, maxOutput)

// wait sleeps to an age of the exchange.
func (a *answer) wait(age time.Duration) error {
	left := age - a.age()
	if left <= 0 {
		return a.ctx.Err()
	}
	if a.timer == nil {
		a.timer = time.NewTimer(left)
	} else {
		a.timer.Reset(left)
	}
	select {
	case <-a.timer.C:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	case <-a.closed:
		return http.ErrBodyReadAfterClose
	}
}

func (a *answer) stop(err error) error {
	a.end()
	return err
}

// Close ends the exchange. A Read that waits returns.
func (a *answer) Close() error {
	a.once.Do(func() {
		close(a.closed)
		a.end()
	})
	return nil
}
