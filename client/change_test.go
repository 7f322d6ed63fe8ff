package client_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/client"
)

// A new model behind the same name is logged once, and its name is all that is said.
func TestChangeOfModelIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFleet(t, quick, client.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, "one")
		for _, said := range []string{"m-1", "m-1", "m-2", "m-1", "m-2", "you said hello"} {
			f.servers["one"].Script(events(strings.Replace(delta("a"), `"m"`, `"`+said+`"`, 1), strings.Replace(finish, `"m"`, `"`+said+`"`, 1), done))
			if _, err := stream(t.Context(), &f.Client.Client, question("hello")); err != nil {
				t.Fatal(err)
			}
		}
		line := `level=WARN msg="llm route change" target=one model=` + f.lastCall(t).Model + ` kind=model from=m-1 to=m-2`
		if n := strings.Count(log.String(), "llm route change"); n != 1 || !strings.Contains(log.String(), line) || strings.Contains(log.String(), "hello") {
			t.Errorf("the log tells of %d changes, want one:\n%s", n, &log)
		}
	})
}
