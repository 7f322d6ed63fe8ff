package client

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/header"
)

// problems are what is wrong with a configuration, all at once.
type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, budget.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// check reports what the router does not: credentials, addresses, presets.
func (c *Config) check() []error {
	var p problems
	for i := range c.Targets {
		p.target(fmt.Sprintf("targets[%d]", i), &c.Targets[i])
	}
	isHome := func(t Target) bool { return t.Name == c.Home }
	if c.Home != "" && !slices.ContainsFunc(c.Targets, isHome) {
		p.add("home", "there is no target %q: name one of the targets, or leave it out for the first", c.Home)
	}
	if slices.Contains(c.Observers, nil) {
		p.add("observers", "one of them is nil: remove it")
	}
	p.maxOutput(c)
	if c.Shadow {
		p.shadow(c)
	}
	return p
}

// maxOutput looks for ceilings that are none, and for names that nobody uses.
func (p *problems) maxOutput(c *Config) {
	for _, model := range slices.Sorted(maps.Keys(c.MaxOutput)) {
		field := "max_output." + model
		if tokens := c.MaxOutput[model]; tokens <= 0 {
			p.add(field, "%d is no number of tokens: set the most that the model can write, or leave it out", tokens)
		}
		serves := func(t Target) bool { return len(t.Models) == 0 || t.Models[model] != "" }
		if !slices.ContainsFunc(c.Targets, serves) {
			p.add(field, "no target serves the model: name it as the application does, or leave it out")
		}
	}
}

// shadow refuses endpoints that may not use home, where every call goes.
func (p *problems) shadow(c *Config) {
	home := c.home()
	for _, name := range slices.Sorted(maps.Keys(c.Endpoints)) {
		if allowed := c.Endpoints[name].Targets; len(allowed) > 0 && !slices.Contains(allowed, home) {
			p.add("endpoints."+name+".targets", "home (%q) is not among them, and in shadow mode every call goes there: add it, or leave shadow out", home)
		}
	}
}

func (p *problems) target(field string, t *Target) {
	preset, known := t.preset()
	if !known {
		p.add(field+".provider", "%q is not known: use one of %s", t.Provider, providerNames())
	}
	p.credential(field, t, preset)
	for _, format := range t.Formats {
		if !slices.Contains(allFormats, format) {
			p.add(field+".formats", "%q is not known: use any of %s", format, strings.Join(allFormats, ", "))
		}
	}
	if known || t.BaseURL != "" {
		p.address(field, t)
	}
	for name, value := range t.Headers {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !header.ValidName(name) || !sendable(value):
			p.add(field+".headers", "the header %q is not a valid one: check its name and value", name)
		case slices.Contains(ownHeaders, canonical):
			p.add(field+".headers", "the header %q is the connection's own: remove it", name)
		case len(t.keys()) > 0 && slices.Contains(preset.keyHeaders(), canonical):
			p.add(field+".headers", "the header %q is where the key goes: set one of them", name)
		}
	}
	for name, own := range t.Models {
		if name == "" || own == "" {
			p.add(field+".models", "a model's name is empty: map each model as the application names it to its name here")
		}
	}
}

// ownHeaders are set by the connection, or would hide the answer from us.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func (p *problems) credential(field string, t *Target, preset provider) {
	switch {
	case t.APIKey != "" && len(t.APIKeys) > 0:
		p.add(field+".api_keys", "api_key is set too: set one of them")
	case t.Auth != nil && (t.APIKey != "" || len(t.APIKeys) > 0):
		p.add(field+".auth", "a key is set too: set one of them")
	case slices.Contains(t.APIKeys, ""):
		p.add(field+".api_keys", "one of the keys is empty: remove it")
	case t.Auth != nil || len(t.keys()) > 0:
	case preset.expires:
		p.add(field+".auth", "there is no credential: set it, to put an access token on each request")
	case len(preset.keyEnv) > 0:
		p.add(field+".api_key", "there is no credential: set it, auth, or the environment variable %s", strings.Join(preset.keyEnv, " or "))
	}
	for i, key := range t.keys() {
		if len(t.APIKeys) > 0 && t.APIKey == "" {
			p.key(fmt.Sprintf("%s.api_keys[%d]", field, i), key)
		} else {
			p.key(field+".api_key", key)
		}
	}
	p.key(field+".admin_key", t.AdminKey)
}

func (p *problems) key(field, key string) {
	switch {
	case !sendable(key):
		p.add(field, "the key has characters that cannot be sent: check for line ends and spaces around it")
	case strings.HasPrefix(strings.ToLower(key), "bearer "):
		p.add(field, `the key begins with "Bearer", which the client writes itself where it is wanted: leave that out`)
	case reference.MatchString(key):
		p.add(field, "it names an environment variable in another notation than ours: in a file write ${NAME}, in code os.Getenv")
	}
}

// reference is how a shell, LiteLLM and Bifrost refer to an environment variable. No
// provider's keys look like that.
var reference = regexp.MustCompile(`^(\$|os\.environ/|env\.)[A-Za-z_][A-Za-z0-9_]*$`)

// sendable reports whether a header's value can be sent as it is.
func sendable(value string) bool {
	return strings.TrimSpace(value) == value && header.ValidValue(value)
}

func hasCredential(t *Target) bool {
	return t.Auth != nil || t.AdminKey != "" || len(t.keys()) > 0 || len(t.Headers) > 0
}

// fail is the error that New returns: every problem, with its field and what to
// do about it, one target after the other.
func fail(found []error) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b error) int { return cmp.Compare(targetOf(a), targetOf(b)) })
	return fmt.Errorf("ontime: the configuration has %d problem(s):\n%w", len(found), errors.Join(found...))
}

// targetOf returns the index of the target that a problem is of, or one beyond all
// if it is of none.
func targetOf(err error) (index int) {
	p, _ := errors.AsType[budget.Problem](err)
	if _, err := fmt.Sscanf(p.Field, "targets[%d]", &index); err != nil {
		return math.MaxInt
	}
	return index
}
