package dialect

import "hash/maphash"

// Prefix is a beginning of a prompt, up to the end of one of its messages.
type Prefix struct {
	// Hash is that of all of it, comparable within this process only.
	Hash uint64
	// Bytes is its part of Request.PromptBytes.
	Bytes int
}

const (
	// leastPrefix is the bytes of prompt, some 1024 tokens, below which no provider
	// caches anything.
	leastPrefix = 4096

	// Of a long conversation the first messages are told, which many calls have in
	// common, and the last, of which the call before had all but one or two.
	firstMarks = 2
	lastMarks  = 13
)

// hashSeed is one for the process, so that nobody can make prompts that collide.
var hashSeed = maphash.MakeSeed()

// prefixes finds the beginnings of a prompt in one pass over the body: what comes
// before the messages (the head), and the end of each message. Members may come in
// any order; the hash of the head is mixed in at the end. A mark that moves on with the
// conversation, as cache_control does, makes its message another one.
type prefixes struct {
	head  [5]uint64 // by headMember; 0 where there is none
	bytes int       // of the head
	body  Prefix    // all messages until now
	count int       // of them
	first [firstMarks]Prefix
	last  [lastMarks]Prefix // a ring
	found [1 + firstMarks + lastMarks]Prefix
}

// headMember returns the place of a member among those that providers put before
// the messages.
func headMember(name string) int {
	switch name {
	case "tools":
		return 0
	case "functions":
		return 1
	case "system":
		return 2
	case "instructions":
		return 3
	}
	return 4 // a prompt that the provider stores
}

// mix chains hashes: the order matters.
func mix(before, hash uint64) uint64 {
	h := (before ^ hash) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// addHead takes in a member of the head.
func (p *prefixes) addHead(name string, raw []byte, bytes int) {
	p.head[headMember(name)] = maphash.Bytes(hashSeed, raw)
	p.bytes += bytes
}

// addMessage takes in the next message.
func (p *prefixes) addMessage(raw []byte, bytes int) {
	p.body.Hash = mix(p.body.Hash, maphash.Bytes(hashSeed, raw))
	p.body.Bytes += bytes
	if p.count < firstMarks {
		p.first[p.count] = p.body
	} else {
		p.last[(p.count-firstMarks)%lastMarks] = p.body
	}
	p.count++
}

// all returns the beginnings that are long enough, the shortest first.
func (p *prefixes) all() []Prefix {
	head := Prefix{Bytes: p.bytes}
	for _, hash := range p.head {
		head.Hash = mix(head.Hash, hash)
	}
	found := p.found[:0]
	add := func(body Prefix) {
		if whole := head.Bytes + body.Bytes; whole >= leastPrefix {
			found = append(found, Prefix{mix(head.Hash, body.Hash), whole})
		}
	}
	if head.Bytes > 0 {
		add(Prefix{})
	}
	for i := range min(p.count, firstMarks) {
		add(p.first[i])
	}
	for i := max(firstMarks, p.count-lastMarks); i < p.count; i++ {
		add(p.last[(i-firstMarks)%lastMarks])
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// headPart reads a member of the head.
func (r *requestReader) headPart(name string, read func()) {
	r.peek()
	from, before := r.at, r.PromptBytes
	r.reads(read)
	if r.prefixes != nil && !r.bad {
		r.prefixes.addHead(name, r.data[from:r.at], r.PromptBytes-before)
	}
}

// conversation reads the messages, or a prompt that is one.
func (r *requestReader) conversation() {
	if r.prefixes == nil || !r.open('[') {
		r.message()
		return
	}
	for r.element() {
		r.message()
	}
}

func (r *requestReader) message() {
	r.peek()
	from, before := r.at, r.PromptBytes
	r.walk(plainValue)
	if r.prefixes != nil && !r.bad {
		skipped := before - r.PromptBytes // files
		r.prefixes.addMessage(r.data[from:r.at], r.at-from-skipped)
	}
}
