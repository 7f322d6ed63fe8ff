package dialect

import (
	"cmp"
	"time"
)

// Timing is what a provider says of where its own time went; 0 where it does not.
type Timing struct {
	Queue   time.Duration // before the model began with the prompt
	Prefill time.Duration // reading the prompt
	Decode  time.Duration // generating
	TTFT    time.Duration // to its first token, all in all
}

// Merge replaces what later has.
func (t *Timing) Merge(later *Timing) {
	t.Queue = cmp.Or(later.Queue, t.Queue)
	t.Prefill = cmp.Or(later.Prefill, t.Prefill)
	t.Decode = cmp.Or(later.Decode, t.Decode)
	t.TTFT = cmp.Or(later.TTFT, t.TTFT)
}

// member takes in a member of a usage object (Groq), or of one that has nothing but
// times: time_info (Cerebras), timings (llama.cpp), latency_checkpoint (Azure),
// sla_metrics (Hugging Face).
func (t *Timing) member(key []byte, c *cursor) {
	switch string(key) {
	case "queue_time":
		duration(&t.Queue, c, time.Second)
	case "prompt_time":
		duration(&t.Prefill, c, time.Second)
	case "completion_time":
		duration(&t.Decode, c, time.Second)
	case "prompt_ms", "engine_ttft_ms":
		duration(&t.Prefill, c, time.Millisecond)
	case "predicted_ms":
		duration(&t.Decode, c, time.Millisecond)
	case "pre_inference_ms":
		duration(&t.Queue, c, time.Millisecond)
	case "service_ttft_ms", "ttft_ms":
		duration(&t.TTFT, c, time.Millisecond)
	default:
		c.skip()
	}
}

// read reads an object of times.
func (t *Timing) read(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		t.member(key, c)
	}
}

// duration takes in a time of less than a day.
func duration(d *time.Duration, c *cursor, unit time.Duration) {
	if v, ok := c.num(); ok && v > 0 && v < float64(24*time.Hour/unit) {
		*d = time.Duration(v * float64(unit))
	}
}
