package router

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/patrickmn/go-cache"
)

const (
	// prefixTTL is for how long a prefix is taken to be cached after its last use: as
	// long as providers say that they keep it at least.
	prefixTTL   = 5 * time.Minute
	renewPrefix = time.Minute // how old its own expiry may grow before it is renewed

	// Most prefixes that are remembered, in shards so that plans do not wait for each
	// other. What is new while a shard is full is not remembered.
	prefixShards = 16
	mostInShard  = 2048
	sweepEvery   = 10 * time.Second // of a full shard
)

// prefixes are the beginnings of prompts that routes have seen, by model and hash.
type prefixes struct {
	targets int
	seed    maphash.Seed
	shards  [prefixShards]prefixShard
}

type prefixShard struct {
	cache *cache.Cache
	swept atomic.Int64
}

// sighting is when each target was last seen to have a prefix.
type sighting struct {
	key     prefixKey
	renewed atomic.Int64
	at      []atomic.Int64 // by target, Unix ns; 0: never
}

func newPrefixes(targets int) *prefixes {
	p := &prefixes{targets: targets, seed: maphash.MakeSeed()}
	for i := range p.shards {
		p.shards[i].cache = cache.New(cache.NoExpiration, 0) // no janitor: it would be a goroutine
	}
	return p
}

// prefixKey is the hash of a prefix and its model.
type prefixKey uint64

// salt is what tells the prefixes of one model from those of another.
func (p *prefixes) salt(model string) uint64 { return maphash.String(p.seed, model) }

func (p *prefixes) shard(k prefixKey) *prefixShard { return &p.shards[k%prefixShards] }

// get returns what is known of a prefix, or nil.
func (p *prefixes) get(k prefixKey) *sighting {
	var name [8]byte
	binary.LittleEndian.PutUint64(name[:], uint64(k))
	if v, ok := p.shard(k).cache.Get(string(name[:])); ok {
		return v.(*sighting)
	}
	return nil
}

// knownAt returns for each target how many bytes of the prompt it is expected to have
// cached: its longest known prefix. The result is buf, which is zero, if that is
// large enough.
func (p *prefixes) knownAt(req *Request, now time.Time, buf []int32) []int32 {
	if cap(buf) < p.targets {
		buf = make([]int32, p.targets)
	}
	known, salt, missing := buf[:p.targets], p.salt(req.Model), p.targets
	for i := len(req.Prefixes) - 1; i >= 0 && missing > 0; i-- {
		s := p.get(prefixKey(req.Prefixes[i].Hash ^ salt))
		if s == nil {
			continue
		}
		for t := range s.at {
			if known[t] == 0 && s.fresh(t, now) {
				known[t] = int32(req.Prefixes[i].Bytes)
				missing--
			}
		}
	}
	return known
}

// knownTo is knownAt for one target.
func (p *prefixes) knownTo(target int, req *Request, now time.Time) int32 {
	if len(req.Prefixes) == 0 {
		return 0
	}
	salt := p.salt(req.Model)
	for i := len(req.Prefixes) - 1; i >= 0; i-- {
		if s := p.get(prefixKey(req.Prefixes[i].Hash ^ salt)); s != nil && s.fresh(target, now) {
			return int32(req.Prefixes[i].Bytes)
		}
	}
	return 0
}

func (s *sighting) fresh(target int, now time.Time) bool {
	at := s.at[target].Load()
	return at != 0 && now.UnixNano()-at <= int64(prefixTTL)
}

// remember notes that a target has read a prompt, so that it may have all of the
// prefixes cached.
func (p *prefixes) remember(target int, model string, all []Prefix, now time.Time) {
	if len(all) == 0 {
		return
	}
	salt := p.salt(model)
	for i := range all {
		if s := p.place(prefixKey(all[i].Hash^salt), now); s != nil {
			s.at[target].Store(now.UnixNano())
			p.renew(s, now)
		}
	}
}

// place returns the sighting of a prefix, a new one if need be, or nil if there is no
// room.
func (p *prefixes) place(k prefixKey, now time.Time) *sighting {
	if s := p.get(k); s != nil {
		return s
	}
	shard := p.shard(k)
	if shard.cache.ItemCount() >= mostInShard && !shard.sweep(now) {
		return nil
	}
	s := &sighting{key: k, at: make([]atomic.Int64, p.targets)}
	s.renewed.Store(now.UnixNano())
	if shard.cache.Add(k.name(), s, prefixTTL+renewPrefix) != nil {
		return p.get(k) // somebody else was quicker
	}
	return s
}

// renew makes a sighting last. At its end no target's is fresh.
func (p *prefixes) renew(s *sighting, now time.Time) {
	before := s.renewed.Load()
	if now.UnixNano()-before >= int64(renewPrefix) && s.renewed.CompareAndSwap(before, now.UnixNano()) {
		p.shard(s.key).cache.Set(s.key.name(), s, prefixTTL+renewPrefix)
	}
}

// sweep drops what has expired, unless that was done just now. It returns whether
// there is room.
func (s *prefixShard) sweep(now time.Time) bool {
	before := s.swept.Load()
	if now.UnixNano()-before < int64(sweepEvery) || !s.swept.CompareAndSwap(before, now.UnixNano()) {
		return false
	}
	s.cache.DeleteExpired()
	return s.cache.ItemCount() < mostInShard
}

// inherit takes over what another has seen, given the index that each target had
// there, or -1.
func (p *prefixes) inherit(old *prefixes, was []int) {
	p.seed = old.seed
	for i := range old.shards {
		for name, item := range old.shards[i].cache.Items() {
			left := time.Until(time.Unix(0, item.Expiration))
			if left <= 0 {
				continue
			}
			before := item.Object.(*sighting)
			s := &sighting{key: before.key, at: make([]atomic.Int64, p.targets)}
			s.renewed.Store(before.renewed.Load())
			for t, old := range was {
				if old >= 0 {
					s.at[t].Store(before.at[old].Load())
				}
			}
			p.shards[i].cache.Set(name, s, left)
		}
	}
}

func (k prefixKey) name() string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(k)))
}
