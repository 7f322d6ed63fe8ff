package router

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

const (
	// refOutput is the number of output tokens to which the time of every answer
	// that was not streamed is converted.
	refOutput = 200

	// Answers are reckoned with by lengths on a grid, two to the octave.
	gridSize  = 33
	maxTokens = 65536

	paceAtoms = 12 // TPOTs that stand for its distribution
	ttftAtoms = 16 // the same for TTFT, in compose
)

// gridHalfStep leads from a length of the grid to the middle of the way, on a
// logarithmic scale, to the next.
var gridHalfStep = math.Exp2(0.25)

var grid = func() (g [gridSize]float64) {
	for k := range g {
		g[k] = math.Exp2(float64(k) / 2)
	}
	return g
}()

// gridIndex returns the length nearest to a cap, the longest if there is no cap.
func gridIndex(limit int) int {
	if limit <= 0 {
		return gridSize - 1
	}
	return min(int(math.Round(2*math.Log2(float64(limit)))), gridSize-1)
}

// table holds P(total > limit) of one route for the total layers of one endpoint:
// by layer, size bucket, and cap on the output tokens.
type table struct {
	miss [][sizeBuckets][gridSize]float32
	used atomic.Bool // by a plan, so that the next fold should make it again
}

// tablePlace is where a table is kept once it is made.
type tablePlace = atomic.Pointer[table]

// table returns the table of an endpoint, making it if the fold has not done so.
// Plans that make it at the same time make the same one.
func (f *forecast) table(e *endpoint, l *lengths, streamed bool) *table {
	place := &f.tables[tableIndex(e.index, streamed)]
	t := place.Load()
	if t == nil {
		t = f.makeTable(e, l, streamed)
		place.Store(t)
	}
	if !t.used.Load() {
		t.used.Store(true)
	}
	return t
}

func tableIndex(endpoint int, streamed bool) int {
	if streamed {
		return 2 * endpoint
	}
	return 2*endpoint + 1
}

// renewTables makes those tables that plans have used since the last fold.
func (g *group) renewTables(now time.Time, old, o *outlook) {
	for i, f := range o.routes {
		if f == nil {
			continue
		}
		for k := range f.tables {
			if t := old.routes[i].tables[k].Load(); t != nil && t.used.Load() {
				e := g.router.byIndex[k/2]
				f.tables[k].Store(f.makeTable(e, e.outputs.current(now), k%2 == 0))
			}
		}
	}
}

func (f *forecast) makeTable(e *endpoint, l *lengths, streamed bool) *table {
	t := &table{miss: make([][sizeBuckets][gridSize]float32, len(e.totals))}
	for j, layer := range e.totals {
		for bucket, tokens := range sizeMiddle {
			var miss [gridSize]float64 // if the answer has just so many tokens
			if streamed {
				f.missStreamed(layer.limit, tokens, &miss)
			} else {
				f.missWhole(layer.limit, tokens, &miss)
			}
			sum, longer := 0.0, 1.0
			for k := range grid {
				t.miss[j][bucket][k] = float32(sum + longer*miss[k])
				sum += l.share[k] * miss[k]
				longer -= l.share[k]
			}
		}
	}
	return t
}

// missStreamed composes the total from its parts: TTFT + (n-1)*TPOT.
func (f *forecast) missStreamed(limit, tokens float64, miss *[gridSize]float64) {
	factor := f.fit.factor(tokens)
	for k, n := range grid {
		sum := 0.0
		for _, pace := range f.paces {
			sum += f.dist[ttft].Survival((limit - (n-1)*pace) / factor)
		}
		miss[k] = sum / paceAtoms
		if miss[k] > 0.9999 { // longer answers miss all the more
			for ; k < gridSize; k++ {
				miss[k] = 1
			}
			return
		}
	}
}

// missWhole converts the limit to the sizes of reference.
func (f *forecast) missWhole(limit, tokens float64, miss *[gridSize]float64) {
	for k, n := range grid {
		miss[k] = f.dist[total].Survival(limit / f.work(tokens, n))
	}
}

// compose sets c to what streamed answers say about the whole of an answer of the
// reference sizes: what a route is expected to do before it, or a relative, has
// answered without streaming.
func (f *forecast) compose(c *latency.Counts) {
	*c = *latency.NewCounts(secondUnit)
	for i := range ttftAtoms {
		first := bounded(f.dist[ttft].Quantile((float64(i)+0.5)/ttftAtoms), longest)
		for _, pace := range f.paces {
			c.Record(first+(refOutput-1)*pace, 1)
		}
	}
}

// setPaces finds the TPOTs that stand for their distribution.
func (f *forecast) setPaces() {
	d := &f.dist[tpot]
	for i := range f.paces {
		f.paces[i] = bounded(d.Quantile((float64(i)+0.5)/paceAtoms), longestPace)
	}
	f.pace = bounded(d.Quantile(0.5), longestPace)
}
