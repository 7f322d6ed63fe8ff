package transporttest

import (
	"net/http"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// Subject is the transport under test.
type Subject struct {
	// New returns a transport and the URL below which it reaches a server that
	// answers with h. Server and transport are closed in cleanups of t, and leave
	// no goroutine.
	New func(t *testing.T, h http.Handler) (rt http.RoundTripper, baseURL string)
	// Header is what every request needs to be let through. Nil: nothing.
	Header http.Header
	// Exchange is what is asked and answered. Nil: the transport does not look at
	// it, and is tried with all that HTTP knows.
	Exchange *Exchange
	// Upgrades says that a connection can be upgraded: over HTTP/1.1 alone.
	Upgrades bool
}

// Exchange is a request and its good answer.
type Exchange struct {
	Path        string   // below the base URL, from the slash on
	Body        string   // of the request, a POST
	ContentType string   // of the answer
	Answer      []string // the pieces in which it comes
	// Whole says that the transport answers only once it has all of an answer, so
	// that its caller never sees half of one.
	Whole bool
}

// anything is the exchange of a transport that does not look.
var anything = Exchange{
	Path: "/things", Body: "what is asked", ContentType: "text/plain",
	Answer: []string{"what ", "is ", "answered"},
}

// check is one part of the contract.
type check struct {
	name string
	run  func(t *testing.T, s *Subject)
	on   func(s *Subject) bool // nil: every subject
}

func passing(s *Subject) bool  { return s.Exchange == nil }
func upgrades(s *Subject) bool { return s.Upgrades }
func streams(s *Subject) bool  { return !s.exchange().Whole }

// Test holds a transport to the contract. It takes about a second.
func Test(t *testing.T, s Subject) {
	for _, checks := range [][]check{requestChecks, responseChecks, cancelChecks, passingChecks} {
		for _, c := range checks {
			if c.on == nil || c.on(&s) {
				t.Run(c.name, func(t *testing.T) {
					leaveNothing(t)
					c.run(t, &s)
				})
			}
		}
	}
}

func (s *Subject) exchange() *Exchange {
	if s.Exchange == nil {
		return &anything
	}
	return s.Exchange
}

// whole is the good answer in one piece.
func (s *Subject) whole() string { return strings.Join(s.exchange().Answer, "") }

// patience is how long something may take that does not hang.
const patience = 10 * time.Second

// leaveNothing makes sure that no goroutine is left once all is closed. It has to
// come first: cleanups run in reverse.
func leaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				var stacks strings.Builder
				_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
				t.Errorf("%d goroutines are left, there were %d:\n%s", runtime.NumGoroutine(), before, &stacks)
				return
			}
		}
	})
}
