package upstream

import (
	"maps"
	"net/http"
)

// ServeHTTP answers a request over net/http, in real time unless under testing/synctest. Every event is flushed by itself.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := readAll(r)
	if err != nil {
		return // the caller is gone
	}
	rep := s.receive(r, data)
	defer rep.settle()
	if rep.refused {
		panic(http.ErrAbortHandler)
	}
	if rep.wait(r.Context(), rep.headers, nil) != nil {
		return
	}
	maps.Copy(w.Header(), rep.header)
	w.WriteHeader(rep.status)
	rep.play(w, r)
}

// play writes the body.
func (r *reply) play(w http.ResponseWriter, req *http.Request) {
	flush := http.NewResponseController(w)
	var buffer []byte
	for {
		age, end := r.body.next()
		if age > r.age() {
			flush.Flush() // an error shows at the next write
		}
		if r.wait(req.Context(), age, nil) != nil {
			return
		}
		switch end {
		case closed:
			return
		case broken:
			flush.Flush()
			panic(http.ErrAbortHandler)
		}
		buffer = r.body.append(buffer[:0])
		if _, err := w.Write(buffer); err != nil {
			return
		}
		flush.Flush()
	}
}

var _ http.Handler = (*Server)(nil)
