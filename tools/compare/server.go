package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// serverEnv makes this program the server.
const serverEnv = "ONTIME_COMPARE_SERVER"

// What the server does, by the first part of the path.
const (
	short  = "short"  // 32 events at once
	long   = "long"   // 2,000 events at once
	paced  = "paced"  // the first of 32 events after 50 ms, the others 5 ms apart
	holds  = "holds"  // 4 events, and then nothing
	early  = "early"  // 4 events after a drawn time, the headers at once
	late   = "late"   // the same, with the headers
	counts = "counts" // how many requests there were of a kind
)

const (
	shortEvents, longEvents = 32, 2_000
	pacedFirst, pacedNext   = 50 * time.Millisecond, 5 * time.Millisecond
)

// server is the other process.
type server struct {
	url     string
	process *exec.Cmd
}

// start starts it and waits until it answers.
func start() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverEnv+"=1")
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{"http://" + listener.Addr().String(), cmd}
	listener.Close()
	_, err = s.count(short)
	return s, err
}

func (s *server) stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// base is the base URL under which the server does one thing.
func (s *server) base(what string) string { return s.url + "/" + what + "/v1" }

// count returns how many requests there were of a kind.
func (s *server) count(what string) (n int, err error) {
	resp, err := http.Get(s.url + "/" + counts + "/" + what)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscan(resp.Body, &n)
	return n, err
}

// serve is the server's process.
func serve() {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err == nil {
		err = http.Serve(listener, newHandler())
	}
	if !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type handler struct {
	counts map[string]*atomic.Int64
	bodies map[string]string
	mu     sync.Mutex // guards draw
	draw   *rand.Rand
}

func newHandler() *handler {
	h := &handler{
		counts: make(map[string]*atomic.Int64),
		bodies: map[string]string{short: answer(shortEvents), long: answer(longEvents), early: answer(4), late: answer(4)},
		draw:   rand.New(rand.NewPCG(1, 2)),
	}
	for _, what := range []string{short, long, paced, holds, early, late} {
		h.counts[what] = new(atomic.Int64)
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if what == counts {
		fmt.Fprint(w, h.counts[rest].Load())
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	h.counts[what].Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	switch what {
	case early, late:
		if what == early {
			w.(http.Flusher).Flush()
		}
		if !wait(r, h.time()) {
			return
		}
		_, _ = io.WriteString(w, h.bodies[what])
	case paced, holds:
		h.inTime(w, r, what)
	default:
		_, _ = io.WriteString(w, h.bodies[what])
	}
}

// inTime sends event by event.
func (h *handler) inTime(w http.ResponseWriter, r *http.Request, what string) {
	events := strings.SplitAfter(h.bodies[short], "\n\n")
	for i, event := range events {
		_, _ = io.WriteString(w, event)
		w.(http.Flusher).Flush()
		pause := pacedNext
		switch {
		case what == holds && i < 4:
			continue
		case what == holds:
			<-r.Context().Done()
			return
		case i == 0: // the role
			pause = pacedFirst
		}
		if i < shortEvents && !wait(r, pause) {
			return
		}
	}
}

// time is the time to the first token: lognormal, of median 36 ms, with one in fifty four
// times as long; that is the shape of gpt-4o's measured times, at a tenth of their scale.
func (h *handler) time() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := 0.036 * math.Exp(0.45*h.draw.NormFloat64())
	if h.draw.IntN(50) == 0 {
		s *= 4
	}
	return time.Duration(s * float64(time.Second))
}

func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// answer is a stream of n content events, as OpenAI sends it.
func answer(n int) string {
	const chunk = `data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}` + "\n\n"
	var b strings.Builder
	fmt.Fprintf(&b, chunk, `{"role":"assistant","content":"","refusal":null}`, "null")
	for i := range n {
		fmt.Fprintf(&b, chunk, fmt.Sprintf(`{"content":" word%d"}`, i), "null")
	}
	fmt.Fprintf(&b, chunk, `{}`, `"stop"`)
	fmt.Fprintf(&b, `data: {"id":"chatcmpl-A","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4o-mini-2024-07-18","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", n, n+9)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}
