package sim

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// Verdict is whether ours reaches a figure at a place.
type Verdict struct {
	Place
	Row      string
	Standing Standing
	// Value is what ours came to against its mark, and Limit what it may be.
	Value, Limit float64
	Words        string // against whom, or why it is untested
}

// Standing is how a verdict goes.
type Standing string

// The states. No peer that qualifies is no victory: it is untested.
const (
	Passed   Standing = "pass"
	Missed   Standing = "MISSED"
	Untested Standing = "untested"
)

// The rows of a summary.
const (
	RowTail   = "p99 TTFT against the best peer"
	RowHang   = "p99 TTFT against the best unhedged peer"
	RowLayers = "layers kept that can be"
	RowCost   = "cost against the cheapest peer"
)

const (
	tailLimit = 1.05
	hangLimit = 0.5
	costLimit = 1.02
)

// Summarise compares ours with its figures, for each place in the order of the results:
//
//   - with cost ignored, the p99 TTFT is at most 1.05 of the best that a peer has that
//     answers every call and sends no more extra requests than ours may (the share
//     that it may hedge and the burst that comes on top, or what it did send);
//   - the same in the scenario hang with early headers: at most half of the best
//     unhedged peer's that answers every call;
//   - with default weights, every layer that the regime oracle keeps is kept;
//   - and the cost is at most 1.02 of the cheapest peer's that keeps those layers.
func Summarise(results []Result) []Verdict {
	var verdicts []Verdict
	for from := 0; from < len(results); {
		until := from
		for until < len(results) && results[until].Place == results[from].Place {
			until++
		}
		verdicts = append(verdicts, judge(results[from:until])...)
		from = until
	}
	return verdicts
}

func judge(results []Result) []Verdict {
	var verdicts []Verdict
	if fast := find(results, OursFast); fast != nil {
		verdicts = append(verdicts, judgeTail(fast, results))
		if fast.Scenario == "hang" && fast.Early {
			verdicts = append(verdicts, judgeHang(fast, results))
		}
	}
	if ours := find(results, Ours); ours != nil {
		layers, keepable := judgeLayers(ours, find(results, OracleRegime))
		verdicts = append(verdicts, layers, judgeCost(ours, keepable, results))
	}
	return verdicts
}

func find(results []Result, policy string) *Result {
	i := slices.IndexFunc(results, func(r Result) bool { return r.Policy == policy })
	if i < 0 {
		return nil
	}
	return &results[i]
}

func judgeTail(ours *Result, results []Result) Verdict {
	may := max(ours.mayHedge(), ours.Extra.Mean) + 1e-9
	return against(ours, RowTail, tailLimit, results, func(r *Result) bool { return r.Extra.Mean <= may })
}

// mayHedge is the share of a run's calls that ours may double: the allowance, and the
// burst of its token bucket, which is 20 calls or what 4 minutes fill.
func (r *Result) mayHedge() float64 {
	burst := max(20, r.Allowance*r.Rate*240)
	return r.Allowance + burst/float64(r.Calls)
}

func judgeHang(ours *Result, results []Result) Verdict {
	return against(ours, RowHang, hangLimit, results, func(r *Result) bool { return !r.Hedges })
}

// against compares p99s with the best of the peers that answer every call.
func against(ours *Result, row string, limit float64, results []Result, qualifies func(*Result) bool) Verdict {
	v := Verdict{Place: ours.Place, Row: row, Standing: Untested, Limit: limit, Words: "no peer that answers every call qualifies"}
	var best *Result
	for i := range results {
		r := &results[i]
		if r.Kind == KindPeer && r.Errors.Mean == 0 && qualifies(r) && (best == nil || r.P99.Mean < best.P99.Mean) {
			best = r
		}
	}
	if best != nil {
		v.decide(ours.P99.Mean/best.P99.Mean, fmt.Sprintf("%s against %s of %s", seconds(ours.P99), seconds(best.P99), best.Policy))
	}
	return v
}

func (v *Verdict) decide(value float64, words string) {
	v.Value, v.Words, v.Standing = value, words, Missed
	if value <= v.Limit+1e-9 {
		v.Standing = Passed
	}
}

// judgeLayers returns which layers can be kept as well. Its value is the largest miss
// share among them against its allowance.
func judgeLayers(ours, oracle *Result) (v Verdict, keepable []int) {
	v = Verdict{Place: ours.Place, Row: RowLayers, Standing: Untested, Limit: 1, Words: "the regime oracle was not run"}
	if oracle == nil {
		return v, nil
	}
	worst, layer := math.Inf(-1), ""
	for j, l := range oracle.Layers {
		if !l.Kept {
			continue
		}
		keepable = append(keepable, j)
		mine := &ours.Layers[j]
		if burn := mine.Miss.Mean / mine.Allowed; burn > worst {
			worst, layer = burn, fmt.Sprintf("%s: %s of %s missed it", mine.Layer, percent(mine.Miss), percent(Stat{Mean: mine.Allowed}))
		}
	}
	if keepable == nil {
		v.Words = "the regime oracle keeps none"
		return v, nil
	}
	v.decide(worst, fmt.Sprintf("%s (%d of %d can be kept)", layer, len(keepable), len(oracle.Layers)))
	return v, keepable
}

func judgeCost(ours *Result, layers []int, results []Result) Verdict {
	v := Verdict{Place: ours.Place, Row: RowCost, Standing: Untested, Limit: costLimit, Words: "no peer keeps the layers that can be kept"}
	if layers == nil {
		v.Words = "there are no layers that can be kept"
		return v
	}
	peer := cheapest(results, func(r *Result) bool {
		return r.Kind == KindPeer && !slices.ContainsFunc(layers, func(j int) bool { return !r.Layers[j].Kept })
	})
	if peer != nil {
		v.decide(ours.Cost.Mean/peer.Cost.Mean, fmt.Sprintf("$%.4f against $%.4f of %s for 1000 calls", 1000*ours.Cost.Mean, 1000*peer.Cost.Mean, peer.Policy))
	}
	return v
}

// WriteVerdicts writes a line for each verdict, and how many went each way.
func WriteVerdicts(w io.Writer, verdicts []Verdict) error {
	count := map[Standing]int{}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		count[v.Standing]++
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.Place, v.Row, v.Standing, v.figure(), v.Words)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d passed, %d missed, %d untested\n", count[Passed], count[Missed], count[Untested])
	return err
}

func (v *Verdict) figure() string {
	switch {
	case v.Standing == Untested:
		return ""
	case v.Standing == Missed && v.Limit > 0:
		return fmt.Sprintf("%.2f of at most %.2f, %.0f%% too much", v.Value, v.Limit, 100*(v.Value/v.Limit-1))
	}
	return fmt.Sprintf("%.2f of at most %.2f", v.Value, v.Limit)
}
