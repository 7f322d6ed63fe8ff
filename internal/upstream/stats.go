package upstream

// Stats counts what became of the requests.
type Stats struct {
	Requests int // of any kind that came in
	Answered int // good answers of which the last event was due before the caller went away
	Failed   int // faults, errors and refusals by the server's own doing
	// Requests whose caller went away before or after the first content event was due. Hung and stalled ones end here.
	CancelledBefore, CancelledAfter int
	InFlight, MaxInFlight           int
	OpenBodies                      int // responses of RoundTrip whose body has not been closed
	Tokens                          int // generated, reasoning included, up to where the caller went away
	PromptTokens, CachedTokens      int // of the inference requests that reached a model; the latter are part of the former
}

func (s *Stats) arrived() {
	s.Requests++
	s.InFlight++
	s.MaxInFlight = max(s.MaxInFlight, s.InFlight)
}

// Stats returns the counts so far. With no request under way and all bodies closed, Requests is the sum of Answered, Failed and the
// Cancelled ones.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Server) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}
