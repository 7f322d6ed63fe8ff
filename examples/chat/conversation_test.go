package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk is a conversation with one provider, whose first token comes after 100 ms
// and each other one 10 ms later.
func talk(t *testing.T, steps ...upstream.Step) (*conversation, *strings.Builder) {
	server := upstream.New("one", upstream.Behaviour{
		TTFT:   upstream.Latency{Median: 100 * time.Millisecond},
		Pace:   upstream.Latency{Median: 10 * time.Millisecond},
		Output: upstream.Length{Median: 3},
	}, 1)
	server.Script(steps...)
	c, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}},
		Transport: upstream.Network{"one.test": server},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	out := new(strings.Builder)
	return &conversation{client: &c.Client, model: small, out: out}, out
}

// An interrupt ends the answer under way, of which the beginning is kept; the next
// one, when no answer comes, ends the conversation.
func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, out := talk(t, upstream.Step{Fault: upstream.Stall, Events: 2}, upstream.Step{Fault: upstream.Hang}, upstream.Step{})
		typed, interrupts := make(chan string), make(chan os.Signal)
		ended := make(chan bool)
		go func() { c.hold(t.Context(), typed, interrupts); close(ended) }()
		typed <- "stalls"
		time.Sleep(time.Second)
		interrupts <- os.Interrupt
		typed <- "hangs"
		time.Sleep(time.Second)
		interrupts <- os.Interrupt
		typed <- "" // not worth a call
		typed <- "is answered"
		time.Sleep(time.Second)
		interrupts <- os.Interrupt
		<-ended
		// "stalls", "one 2" and "is answered" are 22 bytes: 6 tokens, four bytes each.
		const want = `> one 2
  [cancelled, by one, TTFT 100ms]
>   [cancelled, by one]
> > one 2 3
  [completed, by one, TTFT 100ms, TPOT 10ms, 6 + 3 tokens]
> 
`
		if out.String() != want {
			t.Errorf("it showed\n%s\nwant\n%s", out, want)
		}
		if len(c.said) != 4 {
			t.Errorf("%d messages are kept, want two questions with an answer each", len(c.said))
		}
	})
}

// What was typed is over: so is the conversation, after the answer.
func TestTheEndOfTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, out := talk(t, upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status = 400 }})
		c.hold(t.Context(), lines(strings.NewReader("is refused\nis answered\n")), nil)
		for _, want := range []string{"[failed, by one", "400 Bad Request", "> one 2 3\n", "[completed"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if len(c.said) != 2 {
			t.Errorf("%d messages are kept, want those of the call that was answered", len(c.said))
		}
	})
}
