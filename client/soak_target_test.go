package client_test

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// soakTargets names targets that somebody else runs and troubles, as name=URL
// with commas between. Without it TestSoak runs its own.
const soakTargets = "ONTIME_SOAK_TARGETS"

// soaked answers in about a tenth of a second, most of the time.
var soaked = upstream.Behaviour{
	TTFT:         upstream.Latency{Median: 20 * ms, Sigma: 0.5, StragglerShare: 0.01, StragglerFactor: 50},
	Pace:         upstream.Latency{Median: 2 * ms, Sigma: 0.3},
	Output:       upstream.Length{Median: 30, Sigma: 0.7},
	EarlyHeaders: 0.5, KeepAlive: 30 * ms, EventsPerBurst: 3, Tail: ms,
	Faults: upstream.Faults{
		HTTPError: 0.004, Hang: 0.001, Stall: 0.001, Cut: 0.004, Reset: 0.004, ErrorEvent: 0.004, LateError: 0.004, Empty: 0.004, HTML: 0.004,
	},
}

// soakTarget is a target behind a real socket.
type soakTarget struct {
	name, url string
	upstream  *upstream.Server // nil: somebody else's
	address   string
	serving   *http.Server
	served    chan struct{}
}

func startSoakTargets(t *testing.T) []*soakTarget {
	t.Helper()
	var targets []*soakTarget
	if theirs := os.Getenv(soakTargets); theirs != "" {
		for pair := range strings.SplitSeq(theirs, ",") {
			name, url, _ := strings.Cut(pair, "=")
			targets = append(targets, &soakTarget{name: name, url: url})
		}
		return targets
	}
	for i, name := range []string{"one", "two", "three"} {
		target := &soakTarget{name: name, upstream: upstream.New(name, soaked, uint64(i)), address: "127.0.0.1:0"}
		target.up(t)
		target.url = "http://" + target.address
		targets = append(targets, target)
	}
	return targets
}

// up begins to listen, where it did before if it did.
func (s *soakTarget) up(t *testing.T) {
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Error(err)
		return
	}
	s.address = l.Addr().String()
	s.serving, s.served = &http.Server{Handler: s.upstream}, make(chan struct{})
	go func() {
		defer close(s.served)
		_ = s.serving.Serve(l)
	}()
}

// down breaks every connection off and listens no more.
func (s *soakTarget) down() {
	_ = s.serving.Close()
	<-s.served
}

// trouble takes the target down and up again at random. Of its coming up the
// client is told, as an operator would.
func (s *soakTarget) trouble(t *testing.T, ctx context.Context, luck *rand.Rand, restore func(string) bool) {
	if s.upstream == nil {
		return
	}
	for {
		if !pause(ctx, time.Duration(200+luck.IntN(1000))*ms) {
			return
		}
		s.down()
		ended := !pause(ctx, time.Duration(luck.IntN(300))*ms)
		s.up(t)
		restore(s.name)
		if ended {
			return
		}
	}
}

// pause reports whether it lasted to its end.
func pause(ctx context.Context, length time.Duration) bool {
	select {
	case <-time.After(length):
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *soakTarget) close() {
	if s.upstream != nil {
		s.down()
	}
}
