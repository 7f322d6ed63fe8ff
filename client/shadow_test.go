package client_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// shadowed is a fleet whose plan prefers one while everything goes to two.
func shadowed(t *testing.T, cfg client.Config) *fleet {
	t.Helper()
	cfg.Targets, cfg.Endpoints = inOrder("one", "two", "three"), chatBudget()
	cfg.Shadow, cfg.Home = true, "two"
	return newFleet(t, quick, cfg, "one", "two", "three")
}

func TestShadowSendsEverythingHome(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := shadowed(t, client.Config{})
				ctx, call := middleware.WithCall(t.Context())
				if _, err := say(ctx, f.chat(), question("hello")); err != nil {
					t.Fatal(err)
				}
				if call.Planned != "one" || call.Target != "two" {
					t.Errorf("planned %q, sent to %q; want one, two", call.Planned, call.Target)
				}
				f.servers["two"].Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: 1} })
				_, err := say(t.Context(), f.chat(), question("hello"))
				theirs(t, err, 503)
				if f.requests("one") != 0 || f.requests("three") != 0 {
					t.Errorf("others than home got %d and %d requests, want none", f.requests("one"), f.requests("three"))
				}
			})
		})
	}
}

func TestShadowIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := shadowed(t, client.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
		if _, err := stream(t.Context(), f.chat(), question("hello")); err != nil {
			t.Fatal(err)
		}
		var line struct {
			Planned string `json:"planned_target"`
			Target  string
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Planned != "one" || line.Target != "two" {
			t.Errorf("the log has %s (%v)", &log, err)
		}
	})
}

// Without shadow mode nothing is planned apart from what is done.
func TestPlannedIsForShadowModeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.answers(t, stream, f.chat(), "one")
		if call := f.lastCall(t); call.Planned != "" {
			t.Errorf("planned is %q, want nothing", call.Planned)
		}
	})
}

func TestLogHasNoContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFleet(t, quick, client.Config{
			Targets: inOrder("one", "two"), Endpoints: chatBudget(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}, "one", "two")
		f.answers(t, stream, f.chat(), "one")
		f.servers["one"].Script(raw(400, "application/json", `{"error":{"message":"your prompt was hello","code":"bad"}}`))
		_, err := ask(t.Context(), f.chat(), question("hello"))
		theirs(t, err, 400)
		f.servers["one"].Script(events(delta("said"), `data: {"error":{"message":"your prompt was hello"}}`+"\n\n"))
		_, err = stream(t.Context(), f.chat(), question("hello"))
		ours(t, err)
		if n := bytes.Count(log.Bytes(), []byte("\n")); n != 3 {
			t.Errorf("the log has %d lines, want one per call: 3", n)
		}
		for _, word := range []string{"hello", "said", "prompt was", "-of-", "Bearer"} {
			if bytes.Contains(log.Bytes(), []byte(word)) {
				t.Errorf("the log tells %q:\n%s", word, &log)
			}
		}
	})
}
