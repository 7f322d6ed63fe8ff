package header_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/internal/header"
)

func TestValid(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Trace": true, "x_!#$%&'*+.^`|~-9": true,
		"": false, "X Y": false, "X:": false, "X\n": false, "é": false, "X\x7f": false, `X"`: false,
	} {
		if got := header.ValidName(name); got != want {
			t.Errorf("name %q: %v, want %v", name, got, want)
		}
	}
	for value, want := range map[string]bool{
		"": true, "plain words": true, "tab\there": true, "é": true, " around ": true,
		"line\nend": false, "line\r\nend": false, "nul\x00": false, "\x7f": false, "\x1b[0m": false,
	} {
		if got := header.ValidValue(value); got != want {
			t.Errorf("value %q: %v, want %v", value, got, want)
		}
	}
}

// What net/http would refuse to send is what is invalid, byte for byte.
func TestValidAgreesWithNetHTTP(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	sends := func(name, value string) bool {
		r, err := http.NewRequest("GET", srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header[name] = []string{value}
		resp, err := srv.Client().Do(r)
		if err != nil {
			if !strings.Contains(err.Error(), "invalid header field") {
				t.Fatal(err)
			}
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return true
	}
	for c := range 256 {
		s := "X" + string([]byte{byte(c)}) + "x"
		if got, want := header.ValidName(s), sends(s, "v"); got != want {
			t.Errorf("name %q: %v, net/http says %v", s, got, want)
		}
		if got, want := header.ValidValue(s), sends("X", s); got != want {
			t.Errorf("value %q: %v, net/http says %v", s, got, want)
		}
	}
}
