package transporttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var cancelChecks = []check{
	{name: "ended before", run: endedBefore},
	{name: "ended while it waits for headers", run: endedWaiting},
	{name: "ended in the middle of the answer", run: endedMidway},
	{name: "ended while it reads the request", run: endedUploading},
	{name: "ended at any time", run: endedAnytime},
}

// ending is a context that is about to end: at once when it is told to, by a
// cancel, or by itself, by a deadline that is near.
type ending struct {
	context.Context
	end  func()
	want error
}

func endings(t *testing.T) map[string]ending {
	canceled, cancel := context.WithCancel(t.Context())
	timed, release := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(release)
	return map[string]ending{
		"cancel":   {canceled, cancel, context.Canceled},
		"deadline": {timed, func() { <-timed.Done() }, context.DeadlineExceeded},
	}
}

// endAt ends the context once it is reached.
func (e ending) endAt(reached <-chan struct{}) {
	go func() {
		select {
		case <-reached:
		case <-e.Done():
		}
		e.end()
	}()
}

// eachEnding runs a check with a server of its own for either end.
func eachEnding(t *testing.T, run func(t *testing.T, e ending)) {
	for _, name := range []string{"cancel", "deadline"} {
		t.Run(name, func(t *testing.T) { run(t, endings(t)[name]) })
	}
}

// endedBefore: nothing is sent for a context that has ended.
func endedBefore(t *testing.T, s *Subject) {
	eachEnding(t, func(t *testing.T, e ending) {
		var sent atomic.Int32
		tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
			sent.Add(1)
			s.answering(w, r)
		})
		e.end()
		r, u := tr.request(e)
		if _, _, err := tr.fetch(r); !errors.Is(err, e.want) {
			t.Errorf("error is %v, want %v", err, e.want)
		}
		u.mustBeClosed(t)
		if n := sent.Load(); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// endedWaiting: the server has the request and does not answer.
func endedWaiting(t *testing.T, s *Subject) {
	eachEnding(t, func(t *testing.T, e ending) { s.endsAfter(t, e, 0) })
}

// endedMidway: half of the answer is there.
func endedMidway(t *testing.T, s *Subject) {
	eachEnding(t, func(t *testing.T, e ending) { s.endsAfter(t, e, (len(s.exchange().Answer)+1)/2) })
}

// endsAfter has the context end when the server has said so many pieces. The
// server learns of it, unless the end came before the request did.
func (s *Subject) endsAfter(t *testing.T, e ending, pieces int) {
	var reached atomic.Bool
	waits, gone := make(chan struct{}), make(chan struct{}, 1)
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if pieces > 0 {
			s.say(w, pieces)
		}
		if !reached.Swap(true) {
			close(waits)
		}
		<-r.Context().Done()
		select {
		case gone <- struct{}{}:
		default:
		}
		panic(http.ErrAbortHandler) // an end of the answer might still arrive
	})
	e.endAt(waits)
	r, u := tr.request(e)
	if _, body, err := tr.fetch(r); !errors.Is(err, e.want) {
		t.Errorf("the answer is %q and the error %v, want %v", body, err, e.want)
	}
	u.mustBeClosed(t)
	if reached.Load() {
		await(t, gone, "the server does not learn of it")
	}
}

// trickle is a body that comes byte by byte and has no end.
type trickle struct {
	once  *sync.Once
	begun chan struct{}
}

func (b trickle) Read(p []byte) (int, error) {
	b.once.Do(func() { close(b.begun) })
	time.Sleep(time.Millisecond)
	p[0] = ' '
	return 1, nil
}

// endedUploading: the request's body is still to come. (A Read of it that never
// returns would hold http.Transport itself.)
func endedUploading(t *testing.T, s *Subject) {
	eachEnding(t, func(t *testing.T, e ending) {
		tr := s.start(t, s.answering)
		body := trickle{new(sync.Once), make(chan struct{})}
		e.endAt(body.begun)
		r, u := tr.requestWith(e, body)
		r.ContentLength = -1
		if _, _, err := tr.fetch(r); !errors.Is(err, e.want) {
			t.Errorf("error is %v, want %v", err, e.want)
		}
		u.mustBeClosed(t)
	})
}

// endedAnytime: whenever the cancel comes, there is the answer or the context's
// error.
func endedAnytime(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	tr.answered()
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer time.AfterFunc(time.Duration(i)*100*time.Microsecond, cancel).Stop()
			r, u := tr.request(ctx)
			resp, err := tr.transport.RoundTrip(r)
			tr.judge(resp, err)
			body := ""
			if err == nil {
				body, err = tr.readAll(resp.Body)
				resp.Body.Close()
			}
			if err == nil && body != s.whole() || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%q, %v", body, err)
			}
			u.mustBeClosed(t)
		})
		if i%16 == 0 {
			all.Wait()
		}
	}
	all.Wait()
	tr.answered()
}
