package client

import (
	"net/http"
	"os"
	"slices"
	"strings"
)

// keys are the target's credentials: its own, or the environment's.
func (t *Target) keys() []string {
	switch {
	case t.Auth != nil:
		return nil
	case t.APIKey != "":
		return []string{t.APIKey}
	case len(t.APIKeys) > 0:
		return slices.Clone(t.APIKeys)
	}
	preset, _ := t.preset()
	for _, name := range preset.keyEnv {
		if key := os.Getenv(name); key != "" {
			return []string{key}
		}
	}
	return nil
}

// authorize returns what puts the target's credential on a request, and what its
// provider wants with it; nil if it has none.
func (t *Target) authorize() func(*http.Request, int) error {
	preset, _ := t.preset()
	if t.Auth != nil {
		auth := t.Auth
		return func(r *http.Request, _ int) error {
			preset.complete(r)
			return rewound(r, auth)
		}
	}
	keys := t.keys()
	if len(keys) == 0 {
		return nil
	}
	return func(r *http.Request, key int) error {
		preset.complete(r)
		preset.put(r, keys[key])
		return nil
	}
}

// put puts a key on a request: as a bearer token, or plain in a header of the
// provider's own.
func (p *provider) put(r *http.Request, key string) {
	header := p.header
	if p.native != "" && isNative(r) {
		header = p.native
	}
	if header == "" {
		r.Header.Set("Authorization", "Bearer "+key)
	} else {
		r.Header.Set(header, key)
	}
}

// keyHeaders are those that put may use.
func (p *provider) keyHeaders() []string {
	if p.header != "" {
		return []string{p.header}
	}
	return []string{"Authorization", p.native}
}

// complete adds what the provider's own API wants in each request.
func (p *provider) complete(r *http.Request) {
	if len(p.headers) == 0 || !isNative(r) {
		return
	}
	for name, value := range p.headers {
		if r.Header.Get(name) == "" {
			r.Header.Set(name, value)
		}
	}
}

// isNative reports whether a request is of a provider's own API, where it has one
// beside OpenAI's chat completions.
func isNative(r *http.Request) bool { return !strings.HasSuffix(r.URL.Path, "/chat/completions") }

// rewound lets auth have the request, and gives back a body that it has read, as
// signatures do.
func rewound(r *http.Request, auth func(*http.Request) error) error {
	if err := auth(r); err != nil || r.GetBody == nil {
		return err
	}
	if r.Body != nil {
		r.Body.Close()
	}
	var err error
	r.Body, err = r.GetBody()
	return err
}
