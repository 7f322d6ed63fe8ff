package status

import (
	"math"
	"strconv"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// State is the JSON of the page, and the data of each event of its stream. Names are
// stable: they are added to, and [Version] is raised where one goes or changes its
// meaning. Times are in milliseconds, in fields that end in _ms. What a field means is
// what the field of the same name means in router.Snapshot and middleware.Call.
type State struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Since   time.Time `json:"since"` // when calls began to be noted
	// In the stream, Calls are those that ended since the event before, and a route
	// has no history unless it has changed.
	Endpoints []Endpoint `json:"endpoints"` // by name
	Routes    []Route    `json:"routes"`    // by model, then as configured
	Pairs     []Pair     `json:"pairs"`
	Calls     []*Call    `json:"calls"` // the latest first, 200 at most
}

// Version is that of the JSON.
const Version = 1

// Endpoint is how well an endpoint keeps its promise, since the client was made; what
// its calls came to is since State.Since.
type Endpoint struct {
	Name      string   `json:"name"`
	Layers    []Layer  `json:"layers"`
	Truncated uint64   `json:"truncated"`
	Starved   uint64   `json:"starved"`
	Hedge     Hedge    `json:"hedge"`
	Calls     Outcomes `json:"calls"`
	Tokens    Tokens   `json:"tokens"`
	Cost      float64  `json:"cost_usd"`
	LostCost  float64  `json:"lost_cost_usd"` // of it, that of attempts which lost their race
	Choice    *Choice  `json:"choice"`        // the latest that was explained; null before the first
	Advice    []Advice `json:"advice"`
}

// Layer is one promise and what became of it.
type Layer struct {
	Name       string  `json:"name"`   // as a person would write it
	Metric     string  `json:"metric"` // ttft, tpot, total or answered
	Percentile float64 `json:"percentile"`
	Limit      millis  `json:"limit_ms"` // null for answered
	// Measured is what the endpoint's own calls took at that percentile, Evidence how
	// many there are: the latest 1000 of the last hour. Null where there are none.
	Measured   millis  `json:"measured_ms"`
	Evidence   int     `json:"measured_calls"`
	Allowed    float64 `json:"allowed"` // share that may miss it
	Calls      uint64  `json:"calls"`
	Missed     uint64  `json:"missed"`
	Attainment float64 `json:"attainment"`
	Burn       float64 `json:"burn"`
	Debt       float64 `json:"debt"`
}

// Hedge is what hedging costs an endpoint; a share of 0 where none is allowed.
type Hedge struct {
	Share   float64 `json:"share"`
	Tokens  float64 `json:"tokens"`
	Burst   float64 `json:"burst"`
	Price   float64 `json:"price"`
	Started uint64  `json:"started"`
	Won     uint64  `json:"won"`
	Refused uint64  `json:"refused"`
}

// Outcomes counts how calls or attempts ended.
type Outcomes struct {
	Completed uint64 `json:"completed"`
	Failed    uint64 `json:"failed"`
	TimedOut  uint64 `json:"timed_out"`
	Cancelled uint64 `json:"cancelled"`
	Lost      uint64 `json:"lost"`
}

// Tokens are those of one answer or of many.
type Tokens struct {
	Input       int  `json:"input"`
	CachedInput int  `json:"cached_input"`
	Reasoning   int  `json:"reasoning"`
	Output      int  `json:"output"`
	Estimated   bool `json:"estimated"`
}

// Choice is why a call went where it did.
type Choice struct {
	At     time.Time `json:"at"`
	Model  string    `json:"model"`
	Reason string    `json:"reason"`
}

// Advice is what would make an endpoint faster.
type Advice struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Saves millis `json:"saves_ms"`
	Low   millis `json:"low_ms"`
	High  millis `json:"high_ms"`
	Calls int    `json:"calls"`
}

// Route is what is known of one target serving one model.
type Route struct {
	Target       string      `json:"target"`
	Provider     string      `json:"provider"`
	Region       string      `json:"region"`
	Model        string      `json:"model"`
	State        string      `json:"state"`
	Why          string      `json:"why"`
	Until        *time.Time  `json:"until"` // null: not known
	InFlight     int         `json:"in_flight"`
	Attempts     Outcomes    `json:"attempts"`
	Failures     float64     `json:"failures"`
	Keys         []Key       `json:"keys"`
	PromptTokens int         `json:"prompt_tokens"`
	TTFT         Percentiles `json:"ttft"`
	TPOT         Percentiles `json:"tpot"`
	Total        Percentiles `json:"total"`
	Fixed        millis      `json:"fixed_ms"`
	PerToken     millis      `json:"per_token_ms"`
	BytesPer     float64     `json:"bytes_per_token"`
	CacheHits    float64     `json:"cache_hits"`
	Calibration  struct {
		TTFT  Coverage `json:"ttft"`
		Total Coverage `json:"total"`
	} `json:"calibration"`
	Changes []Change `json:"changes"` // newest last
	History *History `json:"history,omitempty"`
}

// Key is one API key of a target, by its index: never the key.
type Key struct {
	State    string     `json:"state"`
	Why      string     `json:"why"`
	Until    *time.Time `json:"until"`
	InFlight int        `json:"in_flight"`
	Left     float64    `json:"left"`
}

// Percentiles of a route are what the router reckons with.
type Percentiles struct {
	P50 millis  `json:"p50_ms"`
	P95 millis  `json:"p95_ms"`
	P99 millis  `json:"p99_ms"`
	N   float64 `json:"n"`
}

// Coverage is how many attempts came within what was predicted.
type Coverage struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   float64 `json:"n"`
}

// Change is something that is different of a route.
type Change struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	From string    `json:"from"`
	To   string    `json:"to"`
}

// History is a route's percentiles of the last quarter of an hour, every 10 s, as long
// as there were calls or somebody looked; by column, oldest first.
type History struct {
	At      []int64  `json:"at_unix_s"`
	TTFTP50 []millis `json:"ttft_p50_ms"`
	TTFTP95 []millis `json:"ttft_p95_ms"`
	TPOTP50 []millis `json:"tpot_p50_ms"`
	TPOTP95 []millis `json:"tpot_p95_ms"`
}

// Pair is what is known of hedges between two targets, by what these have in common.
type Pair struct {
	Pair      string  `json:"pair"`
	Factor    float64 `json:"factor"`
	Won       float64 `json:"won"`
	Predicted float64 `json:"predicted"`
}

// Call is one call that has ended. Times that are not defined are null.
type Call struct {
	ID       uint64    `json:"id"` // 1, 2, ... in the order of their ends
	At       time.Time `json:"at"` // of its start
	Endpoint string    `json:"endpoint"`
	Model    string    `json:"model"`
	Target   string    `json:"target"`
	Region   string    `json:"region"`
	Fallback string    `json:"fallback"` // the model that was asked in the end, if not Model
	Planned  string    `json:"planned"`
	Reason   string    `json:"reason"` // of one call of each endpoint a second; else empty
	TraceID  string    `json:"trace_id"`
	Outcome  string    `json:"outcome"`
	Error    string    `json:"error"`
	Finish   string    `json:"finish_reason"`

	Streamed    bool `json:"streamed"`
	Hedged      bool `json:"hedged"`
	Capped      bool `json:"capped"`
	Starved     bool `json:"starved"`
	MaxTokens   int  `json:"max_tokens"`
	AskedTokens int  `json:"asked_tokens"`

	Waited   millis    `json:"waited_ms"`
	TTFT     millis    `json:"ttft_ms"`
	TTFA     millis    `json:"ttfa_ms"`
	TPOT     millis    `json:"tpot_ms"`
	Total    millis    `json:"total_ms"`
	Stall    millis    `json:"stall_ms"`
	Tokens   Tokens    `json:"tokens"`
	Cost     float64   `json:"cost_usd"`
	Attempts []Attempt `json:"attempts"` // 8 at most
	LeftOut  int       `json:"attempts_left_out"`
}

// Attempt is one request of a call. Its times count from its own start, which is
// StartMS after the call's.
type Attempt struct {
	Target    string  `json:"target"`
	Region    string  `json:"region"`
	Model     string  `json:"model"`        // as the target names it
	Fallback  string  `json:"fallback"`     // as the application names it, if not the call's
	Served    string  `json:"served_model"` // as it answered
	Hedge     bool    `json:"hedge"`
	Outcome   string  `json:"outcome"`
	Status    int     `json:"status"`
	Error     string  `json:"error"`
	Warning   string  `json:"warning"`
	Start     millis  `json:"start_ms"`
	Connected millis  `json:"connected_ms"`
	Headers   millis  `json:"headers_ms"`
	FirstByte millis  `json:"first_byte_ms"`
	TTFT      millis  `json:"ttft_ms"`
	TTFA      millis  `json:"ttfa_ms"`
	Last      millis  `json:"last_content_ms"`
	TPOT      millis  `json:"tpot_ms"`
	Total     millis  `json:"total_ms"`
	Stall     millis  `json:"stall_ms"`
	Tokens    Tokens  `json:"tokens"`
	Cost      float64 `json:"cost_usd"`
}

// millis is a number of milliseconds in JSON; "unbounded" if it is infinite, and null
// if it is not a number.
type millis float64

var unbounded, undefined = millis(math.Inf(1)), millis(math.NaN())

func (m millis) MarshalJSON() ([]byte, error) {
	switch {
	case math.IsNaN(float64(m)):
		return []byte("null"), nil
	case math.IsInf(float64(m), 0):
		return []byte(`"unbounded"`), nil
	}
	return strconv.AppendFloat(nil, float64(m), 'f', -1, 64), nil
}

// ms is a time to the microsecond.
func ms(d time.Duration) millis {
	if d == router.Unbounded {
		return unbounded
	}
	return millis(float64(d.Round(time.Microsecond)/time.Microsecond) / 1000)
}

// msIf is a time that is not defined if it is 0.
func msIf(d time.Duration) millis {
	if d == 0 {
		return undefined
	}
	return ms(d)
}
