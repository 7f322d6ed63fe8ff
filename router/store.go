package router

import (
	"context"
	"time"
)

// Store is where the replicas of a fleet leave for each other what they have seen:
// a log that they all append to and read, and keys that only one of them gets. Package
// router/redis has one. Blobs are opaque to it, and mostly below 1 KiB; none is above
// 128 KiB. A store may lose all that it has at any time.
//
// It is asked for one thing at a time, on a goroutine of its own, never by one that plans or
// reports. Every method must return soon after its context has ended: one that takes a
// second longer is left alone, and the store is lost until it does return. A panic is an
// error as any other.
type Store interface {
	// Publish appends a blob, which is not to be kept or changed, and returns when
	// that was by the store's own clock.
	Publish(ctx context.Context, data []byte) (time.Time, error)
	// Fetch returns what was appended after the cursor, in order, at most so many
	// blobs, and the cursor of the last one. The empty cursor is the beginning of
	// what the store still has: it should forget what is older than half an hour
	// or so. Nothing may appear later before a cursor that was returned.
	Fetch(ctx context.Context, cursor string, limit int) ([]Blob, string, error)
	// Claim sets a key, of at most 64 of the characters a-z, 0-9 and '/', for so long,
	// unless it is set already. It returns whether it has set it.
	Claim(ctx context.Context, key string, ttl time.Duration) (bool, error)
}

// Blob is one entry of a [Store]. It is a plain value.
type Blob struct {
	At   time.Time // when it was published, by the store's clock
	Data []byte
}

// SharedStatus is how the exchange with other replicas goes. It is zero where there is
// no [Config.Shared].
type SharedStatus struct {
	On bool // there is a store
	// Lost tells that the latest exchange failed, or that there has been none yet, and
	// Why in a line. All goes on with what the process sees itself.
	Lost bool
	Why  string
	// Replicas is how many others have been heard of within a minute.
	Replicas int
	LastSync time.Time // end of the latest exchange that went well; zero: none did
	// Counts since the start: blobs that were published and that were merged; those
	// that were not, since they are of another version or malformed, or of too many
	// replicas; and failed exchanges.
	Published, Merged, Ignored, Errors uint64
}
