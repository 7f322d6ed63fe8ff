package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Report is what a test came to, and all that is needed to repeat it. It has no prompt
// and no answer.
type Report struct {
	Setup  Setup    `json:"setup"`
	Series []Series `json:"series"` // load by load, the subjects in the plan's order
}

// Setup is how a test was made.
type Setup struct {
	Date        time.Time     `json:"date"`
	Library     string        `json:"library"`
	Go          string        `json:"go"`
	Machine     string        `json:"machine"`
	Method      string        `json:"method"`
	Definitions string        `json:"definitions"`
	Prompts     string        `json:"prompts"`
	Output      int           `json:"output"` // tokens, as asked for
	Calls       int           `json:"calls"`  // of a series, in each round
	Rounds      int           `json:"rounds"`
	Warmup      int           `json:"warmup"` // before each; -1: one for each stream, 4 at a rate
	Stream      bool          `json:"stream"`
	Bust        bool          `json:"bust_cache"`
	Timeout     Span          `json:"timeout_ms"`
	Seed        uint64        `json:"seed"`
	Model       string        `json:"model"` // as the application names it
	Promise     []string      `json:"promise,omitempty"`
	Subjects    []SubjectInfo `json:"subjects"`
}

// SubjectInfo is a subject as a report has it.
type SubjectInfo struct {
	Subject string         `json:"subject"`
	Routed  bool           `json:"routed,omitempty"`
	Targets []TargetRecord `json:"targets"` // that may serve it
}

const (
	closedMethod = "closed loop: each stream makes a call when its last one has ended"
	openMethod   = "open loop: calls arrive by a Poisson process; times count from when a call was meant to start"
	definedIn    = "package github.com/ontime-llm/ontime/middleware: TTFT to the first generated content of any kind, TTFA without " +
		"reasoning, TPOT (last content - first)/(tokens - those of the first event), ITL gaps between content events, stall the " +
		"longest of a call, total to the last content or the end marker; a call without an answer took for ever"
)

func (t *test) report() *Report {
	r := &Report{Setup: t.setup()}
	layers := t.Budget.Layers()
	for l := range t.Loads {
		for i, s := range t.Subjects {
			if m := t.series[place{i, l}]; m != nil {
				r.Series = append(r.Series, summarise(s, t.Loads[l], m, layers))
			}
		}
	}
	return r
}

func (t *test) setup() Setup {
	s := Setup{
		Date: t.begun.UTC().Truncate(time.Second), Library: version(), Go: runtime.Version(),
		Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Method:  t.method(), Definitions: definedIn,
		Prompts: t.Prompts.source, Output: t.Output, Calls: t.Calls, Rounds: t.Rounds, Warmup: max(t.Warmup, -1),
		Stream: t.Stream, Bust: t.Bust, Timeout: Span(t.timeout()), Seed: t.Seed, Model: t.Subjects[0].model,
		Promise: promise(t.Budget),
	}
	for _, subject := range t.Subjects {
		s.Subjects = append(s.Subjects, SubjectInfo{subject.name, subject.Routed(), subject.targets})
	}
	return s
}

func (p *Plan) method() string {
	var methods []string
	for _, m := range []struct {
		open bool
		text string
	}{{false, closedMethod}, {true, openMethod}} {
		for _, l := range p.Loads {
			if l.Open() == m.open {
				methods = append(methods, m.text)
				break
			}
		}
	}
	return strings.Join(methods, "; ")
}

func promise(b budget.Budget) []string {
	var all []string
	for _, l := range b.Layers() {
		all = append(all, l.String())
	}
	return all
}

const core = "github.com/ontime-llm/ontime"

// version is the library's, as the program was built with it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == core {
			return m.Version
		}
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v += " " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			v += " changed"
		}
	}
	return v
}

// WriteJSON writes the report, with every sample.
func (r *Report) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// ReadReport reads what [Report.WriteJSON] has written.
func ReadReport(from io.Reader) (*Report, error) {
	r := new(Report)
	if err := json.NewDecoder(from).Decode(r); err != nil {
		return nil, fmt.Errorf("not a report of a load test: %w", err)
	}
	if r.Setup.Date.IsZero() {
		return nil, errors.New("not a report of a load test: it has no date")
	}
	return r, nil
}
