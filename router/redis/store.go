package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/router"
)

const (
	defaultPrefix = "ontime"
	defaultTTL    = 30 * time.Minute
	longestTTL    = time.Hour // replicas forget each other a while after that

	// Unless the options have others: rueidis' own are for clients that do more.
	dialTimeout  = 2 * time.Second
	pingEvery    = 10 * time.Second
	writeTimeout = 5 * time.Second

	extendEvery = time.Minute // the stream may be another by then, that was never told to expire

	field = "b" // of a stream's entry
)

// ErrClosed is the error of whatever is asked of a store after Close.
var ErrClosed = errors.New("ontime: the store is closed")

// Options say where a fleet has its keys. The zero value is fine for the only fleet of a
// Redis.
type Options struct {
	// Prefix is what all keys begin with, before a colon. Replicas that have it in common
	// are one fleet. If empty, "ontime".
	Prefix string
	// TTL is how long blobs are kept for those who join later: up to an hour, of which the
	// latest 15 minutes count for most. If 0, 30 minutes.
	TTL time.Duration
}

// Store is a [router.Store] in Redis, safe for concurrent use. It is made by [New].
type Store struct {
	option  rueidis.ClientOption
	log     string // the key of the stream
	prefix  string // of all others
	ttl     time.Duration
	dialing sync.WaitGroup

	mu      sync.Mutex // guards all below
	client  rueidis.Client
	attempt chan struct{} // closed when the connection under way is made, or has failed; nil: there is none
	failed  error         // of the latest one
	closed  bool
	latest  time.Time // blob of ours, by Redis' clock
	lasting time.Time // the stream was last told to expire
}

// New returns a store, or an error that says what is wrong with the options. It does not
// connect. rueidis' own options are taken as they are, but where they leave it open a
// connection has to be there within 2 s (Dialer.Timeout), is dropped when it has not
// answered for 5 s (ConnWriteTimeout), and is pinged every 10 s (Dialer.KeepAlive). Nothing
// is cached on this side (DisableCache).
func New(option rueidis.ClientOption, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	switch {
	case len(option.InitAddress) == 0:
		return nil, errors.New("ontime: InitAddress is empty: name the address of Redis, such as localhost:6379")
	case o.TTL < time.Minute || o.TTL > longestTTL:
		return nil, fmt.Errorf("ontime: a TTL of %v: set one from 1m to 1h, or leave it out for 30m", o.TTL)
	}
	option.Dialer.Timeout = cmp.Or(option.Dialer.Timeout, dialTimeout)
	option.Dialer.KeepAlive = cmp.Or(option.Dialer.KeepAlive, pingEvery)
	option.ConnWriteTimeout = cmp.Or(option.ConnWriteTimeout, writeTimeout)
	// Nothing is read twice. A cache on this side needs rights that the user may not have, and
	// a goroutine that reads what was not asked for, which panics at what is no Redis.
	option.DisableCache = true
	return &Store{option: option, log: o.Prefix + ":log", prefix: o.Prefix + ":", ttl: o.TTL}, nil
}

// Publish appends a blob to the stream, and has what is too old taken off its other end.
func (s *Store) Publish(ctx context.Context, data []byte) (time.Time, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return time.Time{}, err
	}
	add := c.B().Xadd().Key(s.log).Minid().Almost().Threshold(s.oldest()).Id("*").FieldValue().FieldValue(field, rueidis.BinaryString(data)).Build()
	id, err := c.Do(ctx, add).ToString()
	if err != nil {
		return time.Time{}, err
	}
	at, err := timeOf(id)
	if err != nil {
		return time.Time{}, err
	}
	if s.appended(at) {
		expire := c.B().Pexpire().Key(s.log).Milliseconds(s.ttl.Milliseconds()).Build()
		if err := c.Do(ctx, expire).Error(); err != nil {
			return time.Time{}, err
		}
		s.extended()
	}
	return at, nil
}

// oldest returns the id before which entries are too old.
func (s *Store) oldest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	millis := max(0, s.latest.Add(-s.ttl).UnixMilli()) // 0 before the first
	return strconv.FormatInt(millis, 10)
}

// appended notes when an entry was made. It returns whether the stream has to be told that
// it is still in use: not if time stands still in it, since an entry is from the future, so
// that nothing would ever be too old. It had better expire.
func (s *Store) appended(at time.Time) (extend bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moves := at.After(s.latest)
	s.latest = at
	return moves && time.Since(s.lasting) > min(s.ttl/4, extendEvery)
}

func (s *Store) extended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lasting = time.Now()
}

// timeOf returns when an entry was made, which its id says.
func timeOf(id string) (time.Time, error) {
	millis, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("ontime: Redis answered with an entry that has no time in its id: %w", err)
	}
	return time.UnixMilli(n), nil
}

// Fetch returns entries of the stream. A cursor is the id of the last one read.
func (s *Store) Fetch(ctx context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, "", err
	}
	from := "-"
	if cursor != "" {
		from = "(" + cursor
	}
	entries, err := c.Do(ctx, c.B().Xrange().Key(s.log).Start(from).End("+").Count(int64(limit)).Build()).AsXRange()
	if err != nil && !rueidis.IsRedisNil(err) {
		return nil, "", err
	}
	blobs := make([]router.Blob, len(entries))
	for i, e := range entries {
		at, err := timeOf(e.ID)
		if err != nil {
			return nil, "", err
		}
		blobs[i] = router.Blob{At: at, Data: []byte(e.FieldValues[field])}
		cursor = e.ID
	}
	return blobs, cursor, nil
}

// Claim sets a key if there is none.
func (s *Store) Claim(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	err = c.Do(ctx, c.B().Set().Key(s.prefix+key).Value("1").Nx().PxMilliseconds(ttl.Milliseconds()).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, err
}

var _ router.Store = (*Store)(nil)
