package router

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestServed(t *testing.T) {
	s, now := new(served), time.Unix(0, 0)
	for i, c := range []struct {
		after  time.Duration
		name   string
		before string // empty: no news
	}{
		{0, "m-1", ""},
		{0, "m-1", ""},
		{0, "", ""},
		{0, "a <b>", ""},
		{time.Hour, "m-2", "m-1"},
		{0, "m-1", ""}, // takes turns
		{0, "m-2", ""},
		{30 * 24 * time.Hour, "m-1", ""}, // a return to what is remembered
		{0, "m-3", "m-1"},
		{0, strings.Repeat("x", 200), "m-3"},
		{0, strings.Repeat("x", 128) + "y", ""},
	} {
		now = now.Add(c.after)
		if before, news := s.saw(c.name, now); before != c.before || news != (c.before != "") {
			t.Errorf("step %d, %q: news %v after %q, want after %q", i, c.name, news, before, c.before)
		}
	}
}

// A provider that calls its model something else each time is news 7 times at first, and
// then 8 times a day.
func TestServedIsBounded(t *testing.T) {
	s, now, news := new(served), time.Unix(0, 0), 0
	for i := range 3 * 24 * 60 {
		if _, is := s.saw(fmt.Sprint("m-", i), now); is {
			news++
		}
		now = now.Add(time.Minute)
	}
	if news != 7+8+8 {
		t.Errorf("%d news in 3 days, want 23", news)
	}
}
