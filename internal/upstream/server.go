package upstream

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Server is one simulated provider. It is both an http.Handler and an http.RoundTripper, over the same state. Safe for
// concurrent use.
type Server struct {
	name string
	seed uint64
	born time.Time

	mu        sync.Mutex
	behaviour *Behaviour // replaced, never changed
	hook      func(*http.Request, []byte)
	script    []Step
	requests  uint64            // inference requests so far: the number of the next one
	again     map[string]uint64 // by the value of DrawHeader
	spells    spellClock
	buckets   map[string]*bucket // by API key
	cache     promptCache
	stats     Stats
}

// New makes a server. The name (letters, digits, '.', '_', '-') is the first token of its answers and part of their ids and
// fingerprints. The luck of its n-th inference request depends on seed, name and n alone. Under testing/synctest, make it inside
// the bubble: spells are counted from here.
func New(name string, b Behaviour, seed uint64) *Server {
	return &Server{
		name: name, seed: mix(seed) ^ hash(name), born: time.Now(), behaviour: &b,
		again: make(map[string]uint64), buckets: make(map[string]*bucket),
	}
}

// Set changes the behaviour for the requests that arrive from now on. The change must not call the server.
func (s *Server) Set(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := *s.behaviour
	change(&b)
	s.behaviour = &b
}

// OnRequest sets a function that is called with every request of any kind, before it is answered. It must not change the
// request nor keep its body, and may be called by several goroutines at once. Nil: none.
func (s *Server) OnRequest(hook func(r *http.Request, body []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// Step forces one reply.
type Step struct {
	// Raw is the whole reply, if not nil.
	Raw *Raw
	// Set changes the behaviour for this request alone. It must not call the server. Nil: no change.
	Set func(*Behaviour)
	// Fault of this answer: it takes the place of what the shares would have drawn. None: no fault.
	Fault Fault
	// Events is the number of content events before a Stall, Cut, Reset or LateError. 0: as drawn, at least one; negative: none.
	Events int
}

// Script appends steps: the next requests of any kind take one each, in the order of their arrival. The zero Step is a good
// answer whatever the shares of faults. When no step is left, the behaviour rules again.
func (s *Server) Script(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, steps...)
}

// receive decides everything about the reply to a request.
func (s *Server) receive(r *http.Request, body []byte) *reply {
	s.mu.Lock()
	hook := s.hook
	s.mu.Unlock()
	if hook != nil {
		hook(r, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.arrived()
	var step *Step
	if len(s.script) > 0 {
		step, s.script = &s.script[0], s.script[1:]
	}
	rep := &reply{server: s, arrived: time.Now(), status: http.StatusOK, header: make(http.Header)}
	id := fmt.Sprintf("%s-%d", s.name, s.stats.Requests)
	rep.header.Set("X-Request-Id", "req_"+id)
	rep.header.Set("Date", rep.arrived.UTC().Format(http.TimeFormat))
	if step != nil && step.Raw != nil {
		rep.raw(*step.Raw)
		return rep
	}
	f := formatOf(r)
	if f == nil {
		s.other(rep, r)
		return rep
	}
	s.infer(rep, r, f, body, step, id)
	return rep
}

// infer replies to an inference request. The caller holds the lock.
func (s *Server) infer(rep *reply, r *http.Request, f format, body []byte, step *Step, id string) {
	b, l, slow := s.circumstances(rep.arrived, r.Header.Get(DrawHeader), step)
	c, problem := readCall(f, body)
	if problem == nil {
		problem = s.refuses(rep, r, b, c)
	}
	if problem != nil {
		rep.fail(problem, 0)
		return
	}
	a := &answer{call: c, behaviour: b, name: s.name, id: id, created: rep.arrived.Unix()}
	a.cached = s.cache.use(c.prompt, rep.arrived, b.PromptCache)
	a.fault = b.Faults.pick(l.fault)
	if step != nil {
		a.fault, a.events = step.Fault, step.Events
	}
	load := 1.0
	if b.Capacity > 0 {
		load = max(1, float64(s.stats.InFlight)/float64(b.Capacity))
	}
	a.plan(l, slow, load)
	rep.answer(a)
}

// circumstances returns the behaviour in force, the request's luck and the slowness of the hour. The caller holds the lock.
func (s *Server) circumstances(now time.Time, key string, step *Step) (*Behaviour, luck, Slow) {
	n, again := s.requests, uint64(0)
	s.requests++
	if key != "" {
		n, again = hash(key), s.again[key]+1
		s.again[key] = again
	}
	b := s.behaviour
	if step != nil && step.Set != nil {
		own := *b
		step.Set(&own)
		b = &own
	}
	slow := b.Slow
	if s.spells.bad(b.Spells, s.seed, now.Sub(s.born)) {
		slow = b.Spells.Slow
		if b.Spells.Faults != (Faults{}) {
			own := *b
			own.Faults = b.Spells.Faults
			b = &own
		}
	}
	return b, draw(s.seed, n, again), slow
}

func readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}
