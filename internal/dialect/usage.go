package dialect

// Usage is a call's token counts; 0 where the provider does not tell.
type Usage struct {
	// Input is the prompt, cached part included; CachedInput is that part.
	Input, CachedInput int
	// Output is everything generated, reasoning included; Reasoning is that part.
	Reasoning, Output int
}

// counts are token counts as sent, each one higher than it is, so that 0 stands
// for one that was not sent.
type counts struct {
	input, output, total, reasoning, cached, written int
}

// read takes in a usage object in any spelling; null, or another kind of value,
// brings nothing. It reports whether the value is an object. Where an object has
// two spellings of one count the larger is meant. Times may stand beside the counts.
func (u *counts) read(c *cursor, t *Timing) bool {
	if !c.open('{') {
		c.skip()
		return false
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			raise(&u.input, c)
		case "completion_tokens", "output_tokens":
			raise(&u.output, c)
		case "total_tokens":
			raise(&u.total, c)
		case "reasoning_tokens":
			raise(&u.reasoning, c)
		case "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens",
			"num_cached_tokens", "cached_input_tokens", "cached_prompt_tokens":
			raise(&u.cached, c)
		case "cache_creation_input_tokens":
			raise(&u.written, c)
		case "prompt_tokens_details", "prompt_token_details",
			"input_tokens_details", "input_token_details",
			"completion_tokens_details", "completion_token_details",
			"output_tokens_details", "output_token_details":
			u.readDetails(c)
		default:
			t.member(key, c)
		}
	}
	return true
}

func (u *counts) readDetails(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "cached_tokens", "cache_read_tokens", "cache_read":
			raise(&u.cached, c)
		case "reasoning_tokens", "thinking_tokens", "reasoning":
			raise(&u.reasoning, c)
		default:
			c.skip()
		}
	}
}

// raise takes in a count.
func raise(n *int, c *cursor) {
	if v, ok := c.num(); ok && v >= 0 && v < 1<<53 {
		*n = max(*n, int(v)+1)
	}
}

// some reports whether there is any count above zero: servers that do not count
// yet, or do not count at all, send zeros.
func (u *counts) some() bool {
	return max(u.input, u.output, u.total, u.reasoning, u.cached, u.written) > 1
}

// merge replaces what v has.
func (u *counts) merge(v *counts) {
	replace(&u.input, v.input)
	replace(&u.output, v.output)
	replace(&u.total, v.total)
	replace(&u.reasoning, v.reasoning)
	replace(&u.cached, v.cached)
	replace(&u.written, v.written)
}

func replace(n *int, by int) {
	if by > 0 {
		*n = by
	}
}

// known returns the count that n stands for, 0 if it was not sent.
func known(n int) int { return max(n-1, 0) }

// usage puts the counts into one shape. Providers disagree whether reasoning is a
// part of the output (OpenAI) or comes on top (xAI): the total tells, or else a
// part that is larger than the whole.
func (u *counts) usage() Usage {
	out := Usage{
		Input:     known(u.input),
		Reasoning: known(u.reasoning),
		Output:    known(u.output),
	}
	out.CachedInput = min(known(u.cached), out.Input)
	onTop := known(u.total) == out.Input+out.Output+out.Reasoning || out.Reasoning > out.Output
	if out.Reasoning > 0 && onTop {
		out.Output += out.Reasoning
	}
	return out
}

// messagesUsage is usage for Anthropic's format, where the input excludes what was
// read from and written to the cache.
func (u *counts) messagesUsage() Usage {
	v := *u
	v.input = 1 + known(u.input) + known(u.cached) + known(u.written)
	return v.usage()
}
