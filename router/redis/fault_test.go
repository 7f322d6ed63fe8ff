package redis_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/router/redis"
)

// A Redis that is killed while it is in use costs nothing but the evidence of others, and
// once it is there again, empty, all goes on.
func TestKilledAndRestarted(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := newReplica(t, s.option(), redis.Options{}), newReplica(t, s.option(), redis.Options{})
	a.see(10)
	b.knows(9)
	s.kill()
	a.lost(true)
	b.lost(true)
	a.see(10)
	s.start()
	a.lost(false)
	b.knows(18)
}

// It need not be there when the replicas begin.
func TestNotThereAtFirst(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.kill()
	a, b := newReplica(t, s.option(), redis.Options{}), newReplica(t, s.option(), redis.Options{})
	a.see(10)
	b.lost(true)
	s.start()
	b.knows(9)
}

// A key of another type, a full memory, and an emptied store each heal once they are over.
func TestWrongFullAndFlushed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.do("SET", "ontime:log", "hello")
	a, b := newReplica(t, s.option(), redis.Options{}), newReplica(t, s.option(), redis.Options{})
	eventually(t, "the replica says why", func() error {
		if why := a.Snapshot().Shared.Why; !strings.Contains(why, "WRONGTYPE") {
			return errors.New("it says " + why)
		}
		return nil
	})
	s.do("DEL", "ontime:log")
	a.lost(false)
	b.lost(false)
	a.see(10)
	b.knows(9)

	s.do("CONFIG", "SET", "maxmemory", "1")
	a.see(10)
	a.lost(true)
	s.do("CONFIG", "SET", "maxmemory", "0")
	b.knows(18)

	s.do("FLUSHALL")
	a.see(10)
	b.knows(27)
}

// A server that takes connections and never answers, or answers what is no Redis, is a
// store that is lost; nothing waits for it for long, and nothing of it is left after Close.
func TestNoRedisAtAll(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{"silent": "", "http": "HTTP/1.1 400 Bad Request\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			option := rueidis.ClientOption{InitAddress: []string{impostor(t, answer)}}
			a := newReplica(t, option, redis.Options{})
			eventually(t, "the replica notices", func() error {
				if s := a.Snapshot().Shared; s.Errors == 0 {
					return io.ErrNoProgress
				}
				return nil
			})
			a.see(1)
		})
	}
}

// impostor listens, and gives everybody the same answer.
func impostor(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				_, _ = io.WriteString(c, answer)
				_, _ = io.Copy(io.Discard, c)
			})
		}
	})
	return l.Addr().String()
}
