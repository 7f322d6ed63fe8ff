package router

const (
	priorRatio  = 4 // bytes per token
	ratioPrior  = 4 // samples that the prior counts for
	ratioLatest = 64

	// Text in any language lies in between; an image or a file in the prompt does
	// not, and must not upset what is learned from text.
	leastRatio = 1
	mostRatio  = 16
)

// ratio is how many bytes of prompt make a token, learned from reported usage.
type ratio struct {
	bytesPerToken float64
	samples       float64 // the prior included
}

func newRatio() ratio { return ratio{bytesPerToken: priorRatio, samples: ratioPrior} }

// add learns from one prompt. Each of the first samples counts the same, later
// ones like the latest 64.
func (r *ratio) add(bytes, tokens int) {
	one, ok := ratioOf(bytes, tokens)
	if !ok {
		return
	}
	r.samples = min(r.samples+1, ratioLatest)
	r.bytesPerToken += (one - r.bytesPerToken) / r.samples
}

// ratioOf returns what one prompt says, if anything.
func ratioOf(bytes, tokens int) (one float64, ok bool) {
	if bytes <= 0 || tokens <= 0 {
		return 0, false
	}
	return min(max(float64(bytes)/float64(tokens), leastRatio), mostRatio), true
}
