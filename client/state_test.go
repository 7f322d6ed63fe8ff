package client_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

func respond(t *testing.T, c *openai.Client, previous string, streamed bool, opts ...option.RequestOption) (string, error) {
	t.Helper()
	p := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
	if previous != "" {
		p.PreviousResponseID = openai.String(previous)
	}
	if !streamed {
		r, err := c.Responses.New(t.Context(), p, opts...)
		if err != nil {
			return "", err
		}
		return r.ID, nil
	}
	s := c.Responses.NewStreaming(t.Context(), p, opts...)
	defer s.Close()
	id := ""
	for s.Next() {
		id = s.Current().Response.ID
	}
	return id, s.Err()
}

// storedAtTwo is a fleet that prefers one, and a response that two has made.
func storedAtTwo(t *testing.T, streamed bool) (*fleet, string) {
	t.Helper()
	f := newOrdered(t, quick, "one", "two", "three")
	f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError})
	id, err := respond(t, f.chat(), "", streamed)
	if err != nil || !strings.HasPrefix(id, "resp_two-") {
		t.Fatalf("the first response is %q, %v, want one of two's", id, err)
	}
	return f, id
}

func TestStoredStateGoesToItsMaker(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, id := storedAtTwo(t, streamed)
			for range 5 { // a conversation: each answer builds on the one before
				next, err := respond(t, f.chat(), id, streamed)
				if err != nil {
					t.Fatal(err)
				}
				if next == id {
					t.Fatal("the same response again")
				}
				id = next
			}
			if f.requests("one") != 1 || f.requests("two") != 6 || f.requests("three") != 0 {
				t.Errorf("requests %d, %d, %d; want 1, 6, 0", f.requests("one"), f.requests("two"), f.requests("three"))
			}
		})
	}
}

func TestStoredObjectIsFetchedFromItsMaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, id := storedAtTwo(t, false)
		for want, call := range map[string]func() error{
			"GET /v1/responses/" + id: func() error {
				_, err := f.Responses.Get(t.Context(), id, responses.ResponseGetParams{})
				return err
			},
			"DELETE /v1/responses/" + id:               func() error { return f.Responses.Delete(t.Context(), id) },
			"POST /v1/responses/" + id + "/cancel":     func() error { _, err := f.Responses.Cancel(t.Context(), id); return err },
			"GET /v1/responses/" + id + "/input_items": func() error { return f.Get(t.Context(), "responses/"+id+"/input_items", nil, nil) },
		} {
			f.servers["two"].Script(raw(200, "application/json", `{"id":"x"}`))
			if err := call(); err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			r, _ := f.last(t, "two")
			if got := r.Method + " " + r.URL.Path; got != want {
				t.Errorf("the maker got %s, want %s", got, want)
			}
		}
		if f.requests("one") != 1 || f.requests("three") != 0 {
			t.Error("other targets got a request")
		}
	})
}

func TestUnknownStateGoesHome(t *testing.T) {
	file := question("hello")
	file.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
		openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{FileID: openai.String("file-1")}),
	})}
	for name, call := range map[string]func(*testing.T, *fleet) error{
		"previous response": func(t *testing.T, f *fleet) error {
			_, err := respond(t, f.chat(), "resp_three-77", false)
			return err
		},
		"conversation": func(t *testing.T, f *fleet) error {
			_, err := respond(t, f.chat(), "", true, option.WithJSONSet("conversation", "conv_1"))
			return err
		},
		"file": func(t *testing.T, f *fleet) error {
			_, err := ask(t.Context(), f.chat(), file)
			return err
		},
		"stored prompt": func(t *testing.T, f *fleet) error {
			_, err := respond(t, f.chat(), "", false, option.WithJSONSet("prompt", map[string]string{"id": "pmpt_1"}))
			return err
		},
		"GET": func(t *testing.T, f *fleet) error {
			f.servers["three"].Script(raw(200, "application/json", `{"id":"x"}`))
			_, err := f.Responses.Get(t.Context(), "resp_unknown", responses.ResponseGetParams{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{Targets: inOrder("one", "two", "three"), Endpoints: chatBudget(), Home: "three"}, "one", "two", "three")
				if err := call(t, f); err != nil {
					t.Fatal(err)
				}
				if f.requests("three") != 1 || f.allRequests() != 1 {
					t.Errorf("home got %d of %d requests, want the only one", f.requests("three"), f.allRequests())
				}
			})
		})
	}
}

// Nobody else has the state, so nobody else is tried: neither on a failure, nor
// because the endpoint would not allow the maker.
func TestStoredStateIsTriedNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, id := storedAtTwo(t, false)
		f.servers["two"].Set(func(b *upstream.Behaviour) { b.Faults = upstream.Faults{HTTPError: 1} })
		_, err := respond(t, f.chat(), id, false)
		theirs(t, err, 503)
		if f.requests("one") != 1 || f.requests("three") != 0 {
			t.Error("other targets got the follow-up")
		}
	})
}

func TestEndpointsTargetsBoundStoredState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Endpoints: map[string]budget.Budget{
			"two": {Targets: []string{"two"}}, "three": {Targets: []string{"three"}},
		}}, "one", "two", "three")
		id, err := respond(t, f.Endpoint("two"), "", false)
		if err != nil {
			t.Fatal(err)
		}
		for _, previous := range []string{id, "resp_unknown"} { // the maker, and home, are not the endpoint's
			_, err = respond(t, f.Endpoint("three"), previous, false)
			mustBe(t, err, middleware.ErrNoTarget)
		}
		if f.allRequests() != 1 {
			t.Errorf("targets got %d requests, want 1", f.allRequests())
		}
	})
}
