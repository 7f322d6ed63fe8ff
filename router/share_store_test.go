package router_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// memory is a store in this process, that can be slow, gone, full, emptied, or wrong.
type memory struct {
	mu    sync.Mutex
	log   []router.Blob
	first int // number of log[0]
	keys  map[string]time.Time
	skew  time.Duration // of its clock

	delay      time.Duration // of every request
	gone, full bool
	publishes  int
	fetches    int
	claims     int
	bytes      int
}

var (
	errGone = errors.New("store: connection refused")
	errFull = errors.New("store: out of memory")
)

// enter waits as long as the store takes.
func (m *memory) enter(ctx context.Context) error {
	m.mu.Lock()
	delay, gone := m.delay, m.gone
	m.mu.Unlock()
	if gone {
		return errGone
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
		return nil
	}
}

func (m *memory) now() time.Time { return time.Now().Add(m.skew) }

func (m *memory) Publish(ctx context.Context, data []byte) (time.Time, error) {
	if err := m.enter(ctx); err != nil {
		return time.Time{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return time.Time{}, errFull
	}
	m.publishes++
	m.bytes += len(data)
	m.log = append(m.log, router.Blob{At: m.now(), Data: append([]byte(nil), data...)})
	return m.now(), nil
}

func (m *memory) Fetch(ctx context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	if err := m.enter(ctx); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fetches++
	next, _ := strconv.Atoi(cursor)
	from := min(max(next-m.first, 0), len(m.log))
	to := min(from+limit, len(m.log))
	return append([]router.Blob(nil), m.log[from:to]...), strconv.Itoa(m.first + to), nil
}

func (m *memory) Claim(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	if err := m.enter(ctx); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims++
	if m.now().Before(m.keys[key]) {
		return false, nil
	}
	if m.keys == nil {
		m.keys = make(map[string]time.Time)
	}
	m.keys[key] = m.now().Add(ttl)
	return true, nil
}

// set changes the store while it is in use.
func (m *memory) set(change func(m *memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// flush empties the store. Numbers go on.
func (m *memory) flush() {
	m.set(func(m *memory) {
		m.first, m.log, m.keys = m.first+len(m.log), nil, nil
	})
}

var _ router.Store = (*memory)(nil)

// events are those that a replica has told of.
type events struct {
	mu  sync.Mutex
	all []router.Event
}

func (e *events) add(one router.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, one)
}

// shared are the states of those that are about sharing.
func (e *events) shared() (states []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.all {
		if one.Target == "" {
			states = append(states, one.State)
		}
	}
	return states
}
