package status

import "sync"

const ringSize = 200 // calls

// ring keeps the last calls. What is in it never changes.
type ring struct {
	mu     sync.Mutex // guards all below; held for a few instructions
	noted  uint64     // so far: the id of the latest
	places [ringSize]*Call
}

func (r *ring) add(c *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noted++
	c.ID = r.noted
	r.places[c.ID%ringSize] = c
}

// after returns those that came after the call with that id, latest first.
func (r *ring) after(id uint64) []*Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.noted-id, ringSize)
	calls := make([]*Call, n)
	for i := range calls {
		calls[i] = r.places[(r.noted-uint64(i))%ringSize]
	}
	return calls
}
