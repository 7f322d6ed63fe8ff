package redis_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/router/redis"
)

// A Redis that hangs is no error that anybody is told of: requests run into their timeouts.
// Plans do not notice, Close waits for it no longer than a request may take, and once it goes
// on so does all else.
func TestHangs(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := newReplica(t, s.option(), redis.Options{}), newReplica(t, s.option(), redis.Options{})
	a.see(10)
	b.knows(9)
	leaves := store(t, s.option(), redis.Options{})
	if _, err := leaves.Publish(t.Context(), []byte{1}); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGSTOP)
	a.lost(true)
	b.lost(true)
	a.see(10)
	closed := make(chan error, 1)
	go func() { closed <- leaves.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("Close waits for a Redis that hangs")
	}
	s.signal(syscall.SIGCONT)
	a.lost(false)
	b.knows(18)
}

// A password that was changed is a store that is lost until it is the right one again.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	s := serve(t)
	option := s.option()
	option.Password = "right"
	admin := func(password, command string, words ...string) {
		t.Helper()
		option := rueidis.ClientOption{InitAddress: []string{s.address()}, Password: password, DisableCache: true, ForceSingleClient: true}
		c, err := rueidis.NewClient(option)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Do(t.Context(), c.B().Arbitrary(command).Args(words...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	admin("", "CONFIG", "SET", "requirepass", "right")
	a, b := newReplica(t, option, redis.Options{}), newReplica(t, option, redis.Options{})
	a.see(10)
	b.knows(9)
	admin("right", "CONFIG", "SET", "requirepass", "other")
	admin("other", "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	a.lost(true)
	b.lost(true)
	a.see(10)
	admin("other", "CONFIG", "SET", "requirepass", "right")
	a.lost(false)
	b.knows(18)
}
