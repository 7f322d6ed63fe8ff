package progress_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/internal/progress"
)

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		name string
		live bool
		want string
	}{
		{"a line now and then", false, "2 of 4 runs, 12s left\n4 of 4 runs, 0s left\n"},
		{"redrawn", true, "" +
			"\r[##########..............................] 1 of 4 runs, 18s left\x1b[K" +
			"\r[####################....................] 2 of 4 runs, 12s left\x1b[K" +
			"\r[##############################..........] 3 of 4 runs, 6s left\x1b[K" +
			"\r[########################################] 4 of 4 runs, 0s left\x1b[K" +
			"\r\x1b[K"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				bar := progress.NewOn(&out, tt.live, "runs")
				bar.Begin(4)
				for range 4 {
					time.Sleep(6 * time.Second)
					bar.Step()
				}
				bar.End()
				if out.String() != tt.want {
					t.Errorf("%q, want %q", out.String(), tt.want)
				}
			})
		})
	}
}
