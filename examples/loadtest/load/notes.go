package load

import (
	"fmt"
	"strings"
	"time"
)

// writeNotes says what to be careful about.
func (r *Report) writeNotes(b *strings.Builder) {
	notes := r.Notes()
	if len(notes) == 0 {
		return
	}
	b.WriteString("\n")
	for _, note := range notes {
		fmt.Fprintf(b, "Note: %s.\n", note)
	}
}

const lateLimit = Span(10 * time.Millisecond) // what a load generator may be late by

// Notes are what a reader of the report has to be careful about, if anything.
func (r *Report) Notes() []string {
	var notes []string
	add := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	var few, late, short, estimated, cached, mixed []string
	for i := range r.Series {
		s := &r.Series[i]
		at := fmt.Sprintf("%s at %v", s.Title(), s.Load)
		t := &s.Totals
		mark := func(list *[]string, when bool) {
			if when {
				*list = append(*list, at)
			}
		}
		mark(&few, !s.Load.Open() && r.Setup.Calls < 4*s.Load.Concurrency)
		mark(&late, t.Lag > lateLimit)
		mark(&short, t.Answered > 0 && t.Output.Median < r.Setup.Output*9/10)
		mark(&estimated, t.Answered > 0 && s.estimated() > 0)
		mark(&cached, r.Setup.Bust && t.CacheHits > t.Answered/20)
		mark(&mixed, !s.Routed && len(t.Models) > 1)
	}
	add(len(few) > 0, "fewer than 4 calls for each stream in a round, so that the start and the end of the round weigh much: %s", listed(few))
	add(len(late) > 0, "calls started late: this machine is too slow for the load, and times have its delay in them: %s", listed(late))
	add(len(short) > 0, "answers are shorter than asked for, so that totals and tokens/s are not those of %d tokens: %s", r.Setup.Output, listed(short))
	add(len(estimated) > 0, "no usage was told for some answers: tokens/s has estimates in it, TPOT has not: %s", listed(estimated))
	add(len(cached) > 0, "prompts were found in a cache although each began differently: %s", listed(cached))
	add(len(mixed) > 0, "answers came from more than one model: %s", listed(mixed))
	return notes
}

// estimated counts the answers whose tokens nobody told.
func (s *Series) estimated() int {
	n := 0
	for i := range s.Samples {
		if s.Samples[i].Estimated {
			n++
		}
	}
	return n
}

const maxListed = 4

func listed(places []string) string {
	if more := len(places) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(places[:maxListed], ", "), more)
	}
	return strings.Join(places, ", ")
}
