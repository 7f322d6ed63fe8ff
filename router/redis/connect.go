package redis

import (
	"context"

	"github.com/redis/rueidis"
)

// connect returns the connection, making it if there is none. rueidis takes no context for
// that, so that it is done aside: who asks waits no longer than his own context.
func (s *Store) connect(ctx context.Context) (rueidis.Client, error) {
	c, attempt, err := s.dial()
	if c != nil || err != nil {
		return c, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-attempt:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.client == nil:
		return nil, s.failed
	}
	return s.client, nil
}

// dial returns the connection, or else the attempt at one, which it begins if there is none.
func (s *Store) dial() (rueidis.Client, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, ErrClosed
	}
	if s.client == nil && s.attempt == nil {
		s.attempt = make(chan struct{})
		s.dialing.Go(s.dialAside)
	}
	return s.client, s.attempt, nil
}

func (s *Store) dialAside() {
	c, err := rueidis.NewClient(s.option)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.closed {
		c.Close()
		c = nil
	}
	if err != nil {
		c = nil // rueidis may return one all the same
	}
	s.client, s.failed = c, err
	close(s.attempt)
	s.attempt = nil
}

// Close ends the connection, and returns when nothing of it is left. Whatever is asked of
// the store later fails with [ErrClosed]. It is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	c := s.client
	s.client, s.closed = nil, true
	s.mu.Unlock()
	s.dialing.Wait()
	if c != nil {
		c.Close()
	}
	return nil
}
