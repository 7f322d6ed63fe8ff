package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/yamlfile"
)

// Load reads a configuration from a file in YAML or JSON: all of [Config] that is
// data. Names are those of the fields in small letters, with _ between words;
// [Schema] has them all.
//
//	targets:
//	  - name: openai
//	    provider: openai
//	    api_key: ${OPENAI_API_KEY}
//	endpoints:
//	  chat:
//	    ttft: {p50: 300ms, p95: 600ms, p99.9: 4s}
//	    hedge: 5%
//
// Times have a unit ("1.5s"), shares are 5% or 0.05, and percentiles are keys such
// as p95. An explicit 0 for hedge, cost_weight or grace means none. ${NAME} within a
// value stands for an environment variable that has to be set, ${NAME:-default} for
// one that need not be, and $${ for ${ itself. Keys are taken as they stand, and what a
// variable holds is never looked at for structure.
//
// The error lists everything that [New] would object to and everything that the
// file has besides (keys that do not exist or come twice, variables that are not
// set), each a [FileProblem] with its place and what to do; or it is that of reading
// the file. A provider's own environment variable for its key is left to New, since
// the application may yet set Target.Auth.
//
// What is code is the application's to add before New: Transport, Logger, Observers,
// Registerer, TraceID, and each target's Auth.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("ontime: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, yamlfile.MaxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("ontime: %w", err)
	}
	return readConfig(path, data)
}

// FileProblem is one thing that is wrong with a configuration file. [Load] finds
// them all: its error unwraps to a list of them. What may be secret is in none:
// no value of the environment, no credential, no header.
type FileProblem struct {
	// Problem has the field as it is written in the file, empty for the file as a
	// whole, and what to do.
	budget.Problem
	File         string // as Load was given it
	Line, Column int    // from 1; 0: the file as a whole
	// Quote is the line and, below it, a mark where the problem is. What may be
	// secret is replaced by ***. Empty: there is no such line, or it cannot be told
	// what is secret in it.
	Quote string
}

// Error returns where the problem is, what it is and what to do, and the quote.
func (p FileProblem) Error() string {
	var s strings.Builder
	s.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&s, ":%d:%d", p.Line, p.Column)
	}
	s.WriteString(": ")
	if p.Field != "" {
		s.WriteString(p.Field + ": ")
	}
	s.WriteString(p.Message)
	for line := range strings.Lines(p.Quote) {
		s.WriteString("\n    " + strings.TrimSuffix(line, "\n"))
	}
	return s.String()
}

// Unwrap returns the problem without its place.
func (p FileProblem) Unwrap() error { return p.Problem }

// readConfig reads what a file of that name holds.
func readConfig(name string, data []byte) (Config, error) {
	var c Config
	f := yamlfile.New(name)
	if root, ok := f.Parse(data); ok {
		readObject(f, "", root, configMembers(), &c)
		validate(f, c)
	}
	var found []error
	for _, p := range f.Problems() {
		found = append(found, FileProblem{budget.Problem{Field: p.Path, Message: p.Message}, name, p.Line, p.Column, p.Quote})
	}
	if len(found) > 0 {
		return Config{}, fail(found)
	}
	return c, nil
}

// validate notes what New would find, at its place in the file.
func validate(f *yamlfile.File, c Config) {
	_, err := withCredentials(c).newRouter()
	if err == nil {
		return
	}
	for _, err := range unjoin(errors.Unwrap(err)) {
		if p, ok := errors.AsType[budget.Problem](err); ok && !follows(f, p.Field) {
			f.Note(p.Field, placeOf(f, p.Field), "%s", p.Message)
		}
	}
}

// withCredentials is c, where what may yet be given a credential has one.
func withCredentials(c Config) *Config {
	c.Targets = slices.Clone(c.Targets)
	for i := range c.Targets {
		t := &c.Targets[i]
		if preset, _ := t.preset(); (preset.expires || len(preset.keyEnv) > 0) && len(t.keys()) == 0 && len(t.APIKeys) == 0 {
			t.Auth = func(*http.Request) error { return nil }
		}
	}
	return &c
}

// follows reports whether a problem may be there only because something could not
// be read: a part of the same field or, for what compares targets, one of them, its
// name or its price.
func follows(f *yamlfile.File, field string) bool {
	compares := field == "home" || strings.HasPrefix(field, "endpoints.") && strings.Contains(field, ".targets")
	return slices.ContainsFunc(f.Failed(), func(failed string) bool {
		return within(field, failed) || within(failed, field) || compares && telling.MatchString(failed)
	})
}

var telling = regexp.MustCompile(`^targets(\[\d+\](\.name|\.price.*)?)?$`)

// within reports whether one path is another or lies below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || above == "" || rest[0] == '.' || rest[0] == '[')
}

// placeOf is where a field is, or the nearest that it lies in.
func placeOf(f *yamlfile.File, field string) yamlfile.Place {
	for {
		if at, ok := f.Place(field); ok || field == "" {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
}

var _ error = FileProblem{}
