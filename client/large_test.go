package client_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// hugeAnswer is an answer of more than is kept, which is 64 MiB.
func hugeAnswer(end upstream.Fault, told bool) (upstream.Step, int) {
	const piece = 13 << 20
	parts := []upstream.Part{{Data: `{"object":"list","data":[],"filler":"`}}
	size := len(parts[0].Data)
	for range 5 {
		parts = append(parts, upstream.Part{Data: strings.Repeat("x", piece)})
		size += piece
	}
	parts = append(parts, upstream.Part{Data: `"}`})
	size += 2
	headers := map[string]string{"Content-Type": "application/json"}
	if told {
		headers["Content-Length"] = strconv.Itoa(size)
	}
	return upstream.Step{Raw: &upstream.Raw{Headers: headers, Parts: parts, End: end}}, size
}

// An answer that is too large to be kept is passed on rather than refused: it is
// paid for.
func TestAnAnswerBeyondTheBoundIsPassedOn(t *testing.T) {
	const body = `{"model":"e","input":"hello"}`
	for name, told := range map[string]bool{"length told": true, "length not told": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one")
				step, size := hugeAnswer(upstream.None, told)
				f.servers["one"].Script(step)
				resp, call := f.open(t, "embeddings", body)
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil || n != int64(size) {
					t.Errorf("got %d bytes, %v; want %d", n, err, size)
				}
				if err := resp.Body.Close(); err != nil || call.Outcome != middleware.Completed || call.Target != "one" {
					t.Errorf("%v; the call is %+v", err, call)
				}
			})
		})
	}
	t.Run("cut", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newOrdered(t, quick, "one")
			step, _ := hugeAnswer(upstream.Reset, false)
			f.servers["one"].Script(step)
			resp, call := f.open(t, "embeddings", body)
			_, err := io.Copy(io.Discard, resp.Body)
			if e, ok := errors.AsType[*middleware.Error](err); !ok || call.Outcome != middleware.Failed || call.Err != error(e) {
				t.Errorf("error is %v, the call is %+v", err, call)
			}
			resp.Body.Close()
		})
	})
	t.Run("stalled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newOrdered(t, quick, "one")
			step, size := hugeAnswer(upstream.Stall, false)
			f.servers["one"].Script(step)
			resp, call := f.open(t, "embeddings", body)
			time.Sleep(time.Hour) // the application's own pause is no silence
			start := time.Now()
			n, err := io.Copy(io.Discard, resp.Body)
			if !errors.Is(err, middleware.ErrStalled) || n != int64(size) || call.Outcome != middleware.TimedOut {
				t.Errorf("%v after %d bytes, the call is %+v", err, n, call)
			}
			if took := time.Since(start); took < 5*time.Minute || took > 5*time.Minute+time.Second {
				t.Errorf("it took %v, want five minutes", took)
			}
			resp.Body.Close()
		})
	})
	t.Run("closed early", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newOrdered(t, quick, "one")
			step, _ := hugeAnswer(upstream.Stall, false)
			f.servers["one"].Script(step)
			resp, call := f.open(t, "embeddings", body)
			resp.Body.Close()
			synctest.Wait()
			if call.Outcome != middleware.Cancelled {
				t.Errorf("the call is %+v", call)
			}
			if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
				t.Error("a closed body can be read")
			}
		})
	})
}

// open sends an inference request as another SDK would.
func (f *fleet) open(t *testing.T, path, body string) (*http.Response, *middleware.Call) {
	t.Helper()
	ctx, call := middleware.WithCall(t.Context())
	resp, err := f.HTTPClient().Transport.RoundTrip(newRequest(t, ctx, client.BaseURL+path, io.NopCloser(strings.NewReader(body))))
	if err != nil {
		t.Fatal(err)
	}
	return resp, call
}
