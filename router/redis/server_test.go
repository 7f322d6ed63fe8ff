package redis_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
	"github.com/ontime-llm/ontime/router/redis"
)

const ms = time.Millisecond

func TestMain(m *testing.M) {
	// The tests mostly wait, so that there may be more of them at a time than processors.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	// rueidis asks again for where its servers are after a pause, and does not end it at Close.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

// server is a redis-server of the test's own, on a port of its own.
type server struct {
	t    testing.TB
	path string
	args []string
	port int
	cmd  *exec.Cmd
}

// serve starts one, or skips the test where there is none to be started.
func serve(t testing.TB, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server on the PATH")
	}
	s := &server{t: t, path: path, port: freePort(t)}
	s.args = append([]string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, args...)
	t.Cleanup(s.kill)
	s.start()
	return s
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start starts it and waits until it accepts connections.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.path, s.args...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "redis-server accepts connections", func() error {
		c, err := net.Dial("tcp", s.address())
		if err == nil {
			c.Close()
		}
		return err
	})
}

// kill ends it like a crash.
func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// signal stops it, or has it go on.
func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) option() rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{s.address()}}
}

// do sends a command to it, as an administrator would.
func (s *server) do(words ...string) string {
	s.t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.address()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Do(context.Background(), c.B().Arbitrary(words...).Build()).ToAny()
	if err != nil && !rueidis.IsRedisNil(err) {
		s.t.Fatalf("%q: %v", words, err)
	}
	return fmt.Sprint(got)
}

// store is a store of the test.
func store(t testing.TB, option rueidis.ClientOption, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.New(option, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// eventually waits until there is no error any more. Nothing here is about how long
// anything takes.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(20 * ms) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within a minute: %v", what, err)
}

// replica is a router that shares through a store of its own.
type replica struct {
	*router.Router
	t testing.TB
}

func newReplica(t testing.TB, option rueidis.ClientOption, o redis.Options) replica {
	t.Helper()
	r, err := router.New(router.Config{
		Targets: []router.Target{{Name: "a", Provider: "x", Models: []string{"m"}}, {Name: "b", Provider: "y", Models: []string{"m"}}},
		Budgets: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 600 * ms}}},
		Shared:  store(t, option, o),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Share(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return replica{r, t}
}

// see has the replica see n answers of target a, and a short cooldown of target b: that is
// told at once, and all else with it, so that no test waits for the end of a span.
func (r replica) see(n int) {
	r.t.Helper()
	for range n {
		f := r.begin("a")
		f.Content(900 * ms)
		r.Report(router.Report{Flight: f, Elapsed: time.Second, PromptTokens: 1000})
	}
	r.Report(router.Report{Flight: r.begin("b"), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: ms})
}

// begin starts an attempt of a target.
func (r replica) begin(target string) *router.Flight {
	r.t.Helper()
	req := router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true, Pin: target}
	f, err := r.Start(r.Plan(req).Choices[0], req)
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

// knows waits until the replica rests on so many answers of target a.
func (r replica) knows(least float64) {
	r.t.Helper()
	eventually(r.t, "a replica learns from the other", func() error {
		s := r.Snapshot()
		if n := s.Routes[0].TTFT.N; n < least {
			return fmt.Errorf("it rests on %.2f answers, want %.2f; %+v", n, least, s.Shared)
		}
		return nil
	})
}

// lost waits until the replica says whether it has lost the others.
func (r replica) lost(want bool) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("lost is %t", want), func() error {
		if s := r.Snapshot().Shared; s.Lost != want {
			return errors.New("it says " + fmt.Sprintf("%+v", s))
		}
		return nil
	})
}
