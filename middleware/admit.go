package middleware

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/internal/secret"
)

// destination is where a request goes that is not inference.
type destination struct {
	up   *Upstream
	path string // escaped, below the base URL
}

// admit refuses what is not addressed to us, and what brings a credential of
// its own: neither is quietly replaced.
func (t *Transport) admit(s *set, r *http.Request, foreign bool) (destination, error) {
	if r.URL == nil {
		return destination{}, fmt.Errorf("%w: it has no URL", ErrForeignOrigin)
	}
	for _, name := range credentialHeaders {
		for _, value := range r.Header[name] {
			if value != t.placeholder && value != "Bearer "+t.placeholder {
				return destination{}, fmt.Errorf("%w in the header %s: give it to the target in the configuration, and leave per-call keys out", ErrForeignCredential, name)
			}
		}
	}
	for name := range parseQuery(r.URL.RawQuery) {
		if secret.Param(name) {
			return destination{}, fmt.Errorf("%w in the query parameter %s: give it to the target in the configuration", ErrForeignCredential, name)
		}
	}
	if r.URL.User != nil {
		return destination{}, fmt.Errorf("%w in the URL", ErrForeignCredential)
	}
	if slices.Contains(strings.Split(r.URL.Path, "/"), "..") {
		return destination{}, fmt.Errorf("%w: its path steps out of the base URL", ErrForeignOrigin)
	}
	ours := sameOrigin(r.URL, t.origin) && (r.Host == "" || strings.EqualFold(r.Host, r.URL.Host))
	if !foreign {
		if !ours {
			return destination{}, fmt.Errorf("%w: leave option.WithBaseURL and provider options out, the client chooses the target", ErrForeignOrigin)
		}
		return t.homeward(s, r)
	}
	if to, ok := s.under(r); ok {
		return to, nil
	}
	if _, _, inference := inferencePath(r); inference && ours {
		return destination{}, nil
	}
	return destination{}, fmt.Errorf("%w: address it to one target's base URL", ErrForeignOrigin)
}

// homeward is the home target, or the one that made the object that the path
// names.
func (t *Transport) homeward(s *set, r *http.Request) (destination, error) {
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), t.origin.EscapedPath()), "/")
	up := s.home
	for segment := range strings.SplitSeq(path, "/") {
		if made, ok := t.states.maker(segment); ok && s.upstreams[made] != nil { // it may be gone
			up = s.upstreams[made]
		}
	}
	return destination{up, path}, nil
}

// under finds the one target below whose base URL the request lies: the longest
// such URL. Two targets that share it are told apart by nothing, so neither
// gets the request.
func (s *set) under(r *http.Request) (destination, bool) {
	var found destination
	longest, several := -1, false
	for _, u := range s.upstreams {
		base := strings.TrimSuffix(u.BaseURL.EscapedPath(), "/") + "/"
		path, below := strings.CutPrefix(r.URL.EscapedPath(), base)
		if !below || !sameOrigin(r.URL, u.BaseURL) || len(base) < longest {
			continue
		}
		several = len(base) == longest
		longest, found = len(base), destination{u, path}
	}
	return found, longest >= 0 && (!several || isInference(r))
}

func isInference(r *http.Request) bool {
	_, _, ok := inferencePath(r)
	return ok
}

// admin reports whether an escaped path below the base URL is of OpenAI's
// administration API: what openai-go sends an admin key with.
func admin(escaped string) bool {
	plain, _ := url.PathUnescape(escaped)
	plain = path.Clean("/" + plain)
	for _, prefix := range []string{"/organization", "/projects", "/fine_tuning/checkpoints"} {
		if rest, ok := strings.CutPrefix(plain, prefix); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// join puts an escaped path below a base URL.
func join(base *url.URL, path string) *url.URL {
	to := *base
	to.RawPath = strings.TrimSuffix(base.EscapedPath(), "/") + "/" + strings.TrimPrefix(path, "/")
	to.Path, _ = url.PathUnescape(to.RawPath) // it was unescaped once already
	return &to
}
