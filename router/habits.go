package router

const latestHabits = 256 // that each endpoint keeps

// habit is what one answered call of an endpoint was like.
type habit struct {
	route    uint32 // its record's id
	streamed bool
	thinks   bool // the model reasons, perhaps unseen, before it answers

	ttft, total            float32 // seconds; ttft of streamed calls only
	prompt, cached, output float32 // tokens
	due                    float32 // of the prompt's tokens, those that should have been cached
}

// uncached returns how many tokens of the prompt were read.
func (h *habit) uncached() float64 { return max(0, float64(h.prompt)-float64(h.cached)) }

// habits are the latest calls.
type habits struct {
	ring []habit
	next int // where the next one goes once the ring is full
}

func (h *habits) add(one habit) {
	if len(h.ring) < latestHabits {
		h.ring = append(h.ring, one)
		return
	}
	h.ring[h.next] = one
	h.next = (h.next + 1) % latestHabits
}

// habit returns what a flight that has completed was like.
func (f *Flight) habit(rep *Report) habit {
	h := habit{
		route:    f.route.id,
		streamed: f.streamed,
		thinks:   f.thinks || rep.ReasoningTokens > 0,
		total:    float32(rep.total().Seconds()),
		prompt:   float32(rep.PromptTokens),
		cached:   float32(rep.CachedTokens),
		output:   float32(rep.OutputTokens),
	}
	if f.hasContent {
		h.ttft = float32(f.ttft.Seconds())
	}
	if f.known > 0 && f.bytes > 0 {
		h.due = h.prompt * min(1, float32(f.known)/float32(f.bytes))
	}
	return h
}
