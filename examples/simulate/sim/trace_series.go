package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// series are the measured times of one target, in the order in which they were taken.
type series struct {
	first, pace []time.Duration
}

const (
	// blockTime is for how long a target keeps to one block of its series, which is so
	// many consecutive samples: a bad spell in the file is one in the run.
	blockTime   = time.Minute
	blockSize   = 20
	leastSeries = 50 // samples, below which a p99 means little
	mostPlaces  = 4
	unknownPace = 15 * ms
)

// block is where the target's block of a time begins.
func (s *series) block(seed uint64, target int, at time.Duration) int {
	l := luckOf(seed, uint64(target), uint64(at/blockTime), 'b')
	return int(l.next() % uint64(len(s.first)))
}

// times picks one sample of a block.
func (s *series) times(block int, pick uint64) (first, pace time.Duration) {
	i := (block + int(pick%blockSize)) % len(s.first)
	return s.first[i], s.pace[i]
}

// listed are targets for series that are known, each with its list price, in two groups
// that serve one model well enough to be compared. As in Builtin, the first is the
// cheapest and the third the one with the shortest tail.
var listed = []Target{
	{Name: "azure-gpt-4o-mini", Provider: "azure", Input: 0.15, Cached: 0.075, Output: 0.60},
	{Name: "azure-gpt-4o", Provider: "azure", Input: 2.50, Cached: 1.25, Output: 10},
	{Name: "openai-gpt-4o-2024-08-06", Provider: "openai", Input: 2.50, Cached: 1.25, Output: 10},
	{Name: "openai-gpt-4o", Provider: "openai", Input: 2.50, Cached: 1.25, Output: 10},

	{Name: "groq-70b", Provider: "groq", Input: 0.70, Cached: 0.70, Output: 0.80},
	{Name: "fireworks-70b", Provider: "fireworks", Input: 0.90, Cached: 0.90, Output: 0.90},
	{Name: "anyscale-70b", Provider: "compatible", Input: 1.00, Cached: 1.00, Output: 1.00},
	{Name: "together-70b", Provider: "together", Input: 0.90, Cached: 0.90, Output: 0.90},
}

// places makes targets of the rows: those of listed, where the file has at least two,
// else the four with the most rows, at one price.
func (t *table) places(name func(row []string) string, pace string) ([]site, error) {
	all := make(map[string]*series)
	for _, row := range t.rows {
		first := parseSeconds(t.cell(row, "ttft_s"))
		if first <= 0 {
			continue // it failed
		}
		each := parseSeconds(t.cell(row, pace))
		if each <= 0 {
			each = unknownPace
		}
		s := all[name(row)]
		if s == nil {
			s = new(series)
			all[name(row)] = s
		}
		s.first, s.pace = append(s.first, first), append(s.pace, each)
	}
	var names []string
	for n, s := range all {
		if len(s.first) >= leastSeries {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := len(all[b].first) - len(all[a].first); d != 0 {
			return d
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	var sites []site
	for _, target := range chosen(names) {
		sites = append(sites, site{Target: target, series: all[target.Name]})
	}
	if len(sites) < 2 {
		return nil, fmt.Errorf("it takes two series of at least %d calls with a time to the first token", leastSeries)
	}
	return sites, nil
}

// chosen are the targets for series of those names, which come by falling size.
func chosen(names []string) []Target {
	var targets []Target
	for _, t := range listed {
		if slices.Contains(names, t.Name) {
			targets = append(targets, t)
		}
	}
	if len(targets) >= 2 {
		return targets[:min(len(targets), mostPlaces)]
	}
	targets = nil
	for _, name := range names[:min(len(names), mostPlaces)] {
		targets = append(targets, Target{Name: name, Provider: "compatible", Input: 1, Cached: 1, Output: 3})
	}
	return targets
}

// parseSeconds returns 0 for what is no number.
func parseSeconds(s string) time.Duration {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v < 3600) {
		return 0
	}
	return time.Duration(v * float64(time.Second))
}
