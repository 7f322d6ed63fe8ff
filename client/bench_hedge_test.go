package client_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// BenchmarkHedge sends streamed calls over real sockets to two targets whose times
// to the first token were measured at a real provider (gpt-4o, a tenth of them so
// that it does not take all day), or are like them where the measurements are not
// at hand. It reports what hedges are for, the tail, and what they cost. Run it
// with -benchtime 20000x; the figures mean nothing for few calls.
func BenchmarkHedge(b *testing.B) {
	times := measured(b)
	for _, share := range []float64{-1, 0.1} {
		for _, early := range []bool{true, false} {
			b.Run(fmt.Sprintf("share=%v/early=%v", max(share, 0), early), func(b *testing.B) {
				benchmarkHedge(b, times, share, early)
			})
		}
	}
}

func benchmarkHedge(b *testing.B, times []time.Duration, share float64, early bool) {
	targets := []client.Target{slowTarget(b, "one", times, early), slowTarget(b, "two", times, early)}
	var mu sync.Mutex
	var ttft []time.Duration
	sent := 0
	c, err := client.New(client.Config{
		Targets: targets,
		Endpoints: map[string]budget.Budget{"chat": {
			TTFT: budget.Layers{95: 100 * ms, 99: 150 * ms, 99.9: 220 * ms}, Hedge: share,
		}},
		Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) {
			mu.Lock()
			defer mu.Unlock()
			ttft = append(ttft, c.TTFT)
			sent += len(c.Attempts)
		})},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	chat := c.Endpoint("chat")
	const concurrent = 32
	b.ResetTimer()
	var workers sync.WaitGroup
	for w := range concurrent {
		workers.Go(func() {
			for i := w; i < b.N; i += concurrent {
				s := chat.Chat.Completions.NewStreaming(context.Background(), question("hello"))
				for s.Next() {
					_ = s.Current()
				}
				if err := s.Err(); err != nil {
					b.Error(err)
				}
				_ = s.Close()
			}
		})
	}
	workers.Wait()
	b.StopTimer()
	slices.Sort(ttft)
	for name, q := range map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999} {
		b.ReportMetric(float64(ttft[int(q*float64(len(ttft)))].Microseconds())/1000, name+"-ms")
	}
	b.ReportMetric(100*(float64(sent)/float64(b.N)-1), "extra-%")
}

// slowTarget is a server whose times to the first token are drawn from times.
func slowTarget(tb testing.TB, name string, times []time.Duration, early bool) client.Target {
	body := answer(4)
	var mu sync.Mutex
	draw := rand.New(rand.NewPCG(uint64(len(name)), uint64(name[0])))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		wait := times[draw.IntN(len(times))]
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		if early {
			w.(http.Flusher).Flush()
		}
		select {
		case <-time.After(wait):
			_, _ = io.WriteString(w, body)
		case <-r.Context().Done():
		}
	}))
	tb.Cleanup(srv.Close)
	return client.Target{Name: name, BaseURL: srv.URL + "/v1"}
}

// measured returns a tenth of measured times to the first token.
func measured(b *testing.B) []time.Duration {
	file, err := os.Open(filepath.Join("..", "..", "shared", "data", "api-ttft.csv"))
	if err != nil {
		b.Log("measured series absent, times are made up to be like it")
		return madeUp()
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for _, row := range rows[1:] {
		if row[2] != "gpt-4o" {
			continue
		}
		s, err := strconv.ParseFloat(row[4], 64)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Duration(s*float64(time.Second)/10))
	}
	return times
}

// madeUp is lognormal, with two in a hundred four times longer.
func madeUp() []time.Duration {
	draw := rand.New(rand.NewPCG(1, 2))
	times := make([]time.Duration, 2000)
	for i := range times {
		s := 0.036 * math.Exp(0.45*draw.NormFloat64())
		if i%50 == 0 {
			s *= 4
		}
		times[i] = time.Duration(s * float64(time.Second))
	}
	return times
}
