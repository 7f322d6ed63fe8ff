package transporttest

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// concurrent: many requests at once, which share what requests may share, and
// every one gets its own answer.
func concurrent(t *testing.T, s *Subject) {
	const callers, each = 8, 8
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Number", r.URL.Query().Get("number"))
		s.answering(w, r)
	})
	shared := http.Header{"X-Shared": {"a", "b"}}
	for name, values := range s.Header {
		shared[name] = values
	}
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for j := range each {
				number := strconv.Itoa(i*each + j)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
					tr.base+s.exchange().Path+"?number="+number, strings.NewReader(s.exchange().Body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header = shared
				resp, err := tr.transport.RoundTrip(r)
				if tr.judge(resp, err); err != nil {
					t.Error(err)
					return
				}
				body, err := tr.readAll(resp.Body)
				if got := resp.Header.Get("X-Number"); err != nil || body != s.whole() || got != number {
					t.Errorf("request %s got %q, %v, which is request %s's", number, body, err, got)
				}
				resp.Body.Close()
			}
		})
	}
	all.Wait()
}
