package router

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// storeGrace is how long a store may take to notice that its context has ended.
const storeGrace = time.Second

var errStoreHangs = errors.New("the store has not returned yet from an earlier request, whose context has ended long ago")

// guardedStore is a [Store] that whatever the application brought cannot do any harm: a panic
// is an error, and a method that does not return when its context has ended is left to
// itself. Until it does return the store is asked for nothing else, so that there is never
// more than one such goroutine.
type guardedStore struct {
	store Store
	busy  chan struct{} // full while it is asked
}

func guardStore(s Store) *guardedStore { return &guardedStore{store: s, busy: make(chan struct{}, 1)} }

func (g *guardedStore) Publish(ctx context.Context, data []byte) (time.Time, error) {
	return guarded(ctx, g, func() (time.Time, error) { return g.store.Publish(ctx, data) })
}

func (g *guardedStore) Fetch(ctx context.Context, cursor string, limit int) ([]Blob, string, error) {
	type page struct {
		blobs []Blob
		next  string
	}
	p, err := guarded(ctx, g, func() (p page, err error) {
		p.blobs, p.next, err = g.store.Fetch(ctx, cursor, limit)
		return p, err
	})
	return p.blobs, p.next, err
}

func (g *guardedStore) Claim(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	return guarded(ctx, g, func() (bool, error) { return g.store.Claim(ctx, key, ttl) })
}

// guarded asks for something on a goroutine of its own, and waits for the answer no longer
// than the context and a grace.
func guarded[T any](ctx context.Context, g *guardedStore, ask func() (T, error)) (T, error) {
	var none T
	select {
	case g.busy <- struct{}{}:
	default:
		return none, errStoreHangs
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: fmt.Errorf("the store panicked: %v", p)}
			}
			<-g.busy // before the answer, after which the next request may come
			answered <- a
		}()
		a.value, a.err = ask()
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(storeGrace)
	defer grace.Stop()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-grace.C:
		return none, fmt.Errorf("the store does not return though its context has ended: %w", ctx.Err())
	}
}

var _ Store = (*guardedStore)(nil)
