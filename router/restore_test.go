package router_test

import (
	"context"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

func TestRestoreServesThoseWhoWait(t *testing.T) {
	in(t, narrow(), func(w world) {
		w.limited(time.Minute, w.start("a", chat))
		go func() {
			time.Sleep(time.Second)
			w.Restore("a")
		}()
		start := time.Now()
		if _, err := w.Wait(context.Background(), chat); err != nil || time.Since(start) != time.Second {
			t.Errorf("error %v after %v, want none after 1s", err, time.Since(start))
		}
	})
}

// What was started before a target was restored says nothing of it any more.
func TestOldNewsAfterRestore(t *testing.T) {
	in(t, two(p95), func(w world) {
		limited, refused := w.start("a", chat), w.start("a", chat)
		time.Sleep(time.Second)
		w.Restore("a")
		w.limited(time.Hour, limited)
		w.Report(router.Report{Flight: refused, Outcome: router.Failed, Cause: router.CauseKey})
		if got := w.status("a").State; got != router.StateOK {
			t.Errorf("a is %s, want %s", got, router.StateOK)
		}
	})
}
