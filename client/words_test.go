package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// A provider's own words are in no text that is made of a call, however it is
// printed: of them only status, type and code are.
func TestProvidersWordsAreInNoText(t *testing.T) {
	const words = "your prompt was: the merger is on"
	body := fmt.Sprintf(`{"error":{"message":%q,"type":"%s","code":"bad_thing"}}`, words, strings.Repeat("long", 20))
	for name, step := range map[string]upstream.Step{
		"HTTP error": raw(400, "application/json", body),
		"late event": events(delta("a"), "data: "+body+"\n\n"),
		"page":       raw(502, "text/html", "<html>"+words+"</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				f := newFleet(t, quick, client.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))}, "one")
				f.servers["one"].Script(step, step, step)
				if _, err := stream(t.Context(), &f.Client.Client, question("hello")); err == nil {
					t.Fatal("the call succeeded")
				}
				call := f.lastCall(t)
				texts := map[string]string{"log": log.String()}
				for _, format := range []string{"%v", "%+v", "%s", "%q"} {
					texts["error as "+format] = fmt.Sprintf(format, call.Err)
					texts["call as "+format] = fmt.Sprintf(format, call)
					texts["snapshot as "+format] = fmt.Sprintf(format, f.Snapshot())
				}
				for what, v := range map[string]any{"call": call, "error": call.Err, "snapshot": f.Snapshot()} {
					text, err := json.Marshal(v)
					if err != nil {
						t.Error(err)
					}
					texts[what+" as JSON"] = string(text)
				}
				for what, text := range texts {
					if strings.Contains(text, "merger") || strings.Contains(text, "longlong") {
						t.Errorf("the %s has the provider's words: %s", what, text)
					}
				}
				if name != "page" && !strings.Contains(log.String(), "bad_thing") {
					t.Errorf("the log does not tell the code: %s", &log)
				}
			})
		})
	}
}

// talkative is a transport's error that has the whole request in it.
type talkative struct{ Request *http.Request }

func (e talkative) Error() string { return fmt.Sprint(e.Request.Header) }

// Neither are a transport's own words.
func TestATransportsWordsAreInNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFleet(t, quick, client.Config{
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) { return nil, talkative{r} }),
			Logger:    slog.New(slog.NewJSONHandler(&log, nil)),
		}, "one")
		_, err := stream(t.Context(), &f.Client.Client, question("hello"))
		if _, ok := errors.AsType[talkative](err); !ok {
			t.Errorf("error is %v, which hides its cause", err)
		}
		call := f.lastCall(t)
		text, problem := json.Marshal(call)
		if problem != nil {
			t.Error(problem)
		}
		if all := fmt.Sprintf("%s %s %v %+v %+v", text, &log, call.Err, call.Err, call); strings.Contains(all, "-of-") {
			t.Errorf("the transport's words are told: %s", all)
		}
	})
}
