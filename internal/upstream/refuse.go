package upstream

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// refuses checks key, rate limit, model, members and server-side state, in this order. The caller holds the lock.
func (s *Server) refuses(rep *reply, r *http.Request, b *Behaviour, c call) *apiError {
	key := apiKey(r)
	if len(b.Keys) > 0 && !slices.Contains(b.Keys, key) {
		return errorFor(http.StatusUnauthorized)
	}
	if b.RequestsPerMinute > 0 {
		limit := s.buckets[key]
		if limit == nil {
			limit = new(bucket)
			s.buckets[key] = limit
		}
		ok, wait := limit.take(rep.arrived, b.RequestsPerMinute)
		limit.head(rep.header, b.RequestsPerMinute)
		if !ok {
			retryAfter(rep.header, wait)
			return errorFor(http.StatusTooManyRequests)
		}
	}
	// A response's id says who made it: nobody else can know it.
	if id := gjson.GetBytes(c.body, "previous_response_id").Str; id != "" && !strings.HasPrefix(id, "resp_"+s.name+"-") {
		return badRequest("Previous response with id '"+id+"' not found.", "previous_response_id", "previous_response_not_found")
	}
	return b.admits(c)
}

// apiKey returns the key in any of the usual headers.
func apiKey(r *http.Request) string {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return key
	}
	if key := r.Header.Get("Api-Key"); key != "" {
		return key
	}
	return r.Header.Get("X-Api-Key")
}

// other replies to what is no inference: the list of models, or 404. The caller holds the lock.
func (s *Server) other(rep *reply, r *http.Request) {
	b := s.behaviour
	if len(b.Keys) > 0 && !slices.Contains(b.Keys, apiKey(r)) {
		rep.fail(errorFor(http.StatusUnauthorized), 0)
		return
	}
	path := r.URL.Path
	if r.Method == http.MethodGet && strings.HasSuffix(path, "/models") {
		list := make([]model, 0, len(b.Models))
		for _, name := range b.Models {
			list = append(list, s.model(name))
		}
		rep.json(map[string]any{"object": "list", "data": list})
		return
	}
	if i := strings.LastIndex(path, "/models/"); r.Method == http.MethodGet && i >= 0 {
		if name := path[i+len("/models/"):]; len(b.Models) == 0 || slices.Contains(b.Models, name) {
			rep.json(s.model(name))
		} else {
			rep.fail(modelNotFound(name), 0)
		}
		return
	}
	rep.fail(&apiError{status: http.StatusNotFound, message: "Invalid URL (" + r.Method + " " + path + ")",
		kind: "invalid_request_error"}, 0)
}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (s *Server) model(name string) model { return model{name, "model", s.born.Unix(), s.name} }
