package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/client"
)

// A key that is refused is out; a new one is used at once, and so is what Auth puts on.
func TestReloadWithANewCredential(t *testing.T) {
	auth := func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer token-of-one")
		return nil
	}
	for name, tt := range map[string]struct {
		change func(*client.Target)
		by     string
	}{
		"the same": {func(*client.Target) {}, "two"},
		"another":  {func(t *client.Target) { t.APIKey = "new-key-of-one" }, "one"},
		"Auth":     {func(t *client.Target) { t.APIKey, t.Auth = "", auth }, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := preferring("one", "two")
				f := newFleet(t, quick, cfg, "one", "two")
				f.servers["one"].Script(httpError(401, "invalid_api_key"))
				f.answers(t, stream, &f.Client.Client, "two")
				next := config(cfg, "one", "two")
				tt.change(&next.Targets[0])
				f.reload(t, next)
				next.Targets[0].Auth = nil // it is the application's again
				f.answers(t, stream, &f.Client.Client, tt.by)
			})
		})
	}
}

func TestClientPrintsNoKey(t *testing.T) {
	f := newFleet(t, quick, client.Config{}, "one")
	for _, text := range []string{fmt.Sprintf("%+v", f.Client), fmt.Sprintf("%#v", f.Client)} {
		if strings.Contains(text, "key-of-one") {
			t.Error("a printed client shows a key")
		}
	}
}
