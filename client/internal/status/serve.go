package status

import (
	"encoding/json"
	"net/http"
	"strings"
)

// What the page can be asked for, by ?format= or by Accept.
const (
	formatPage   = "html"
	formatJSON   = "json"
	formatStream = "stream"
)

// ServeHTTP answers every path alike, since it does not know where it is mounted.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	protect(h)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "The status page is read only.", http.StatusMethodNotAllowed)
		return
	}
	switch format(r) {
	case formatPage:
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", document.policy)
		_, _ = w.Write(document.html)
	case formatJSON:
		p.serveJSON(w)
	case formatStream:
		p.serveStream(w, r)
	default:
		http.Error(w, "The format is html, json or stream.", http.StatusBadRequest)
	}
}

// protect sets what holds for every answer. There are no CORS headers: no other site's
// script may read it.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
}

// format is what is asked for: in the query, or by what is accepted. Who accepts
// anything gets the page, as does a browser.
func format(r *http.Request) string {
	if f := r.URL.Query().Get("format"); f != "" {
		return f
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	switch {
	case strings.Contains(accept, "text/event-stream"):
		return formatStream
	case strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html"):
		return formatJSON
	}
	return formatPage
}

func (p *Page) serveJSON(w http.ResponseWriter) {
	body, err := json.Marshal(p.state(new(view)))
	if err != nil {
		http.Error(w, "The state could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n'))
}

var _ http.Handler = (*Page)(nil)
