package otel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/ontime-llm/ontime/middleware"
)

// ends are how calls end, with the word for each.
var ends = []struct {
	outcome middleware.Outcome
	err     error
	word    string // empty: no error
}{
	{middleware.Completed, nil, ""},
	{middleware.Lost, errors.New("another attempt was first"), ""},
	{middleware.Failed, &middleware.ProviderError{Status: 429, Message: "secret"}, "429"},
	{middleware.Failed, &middleware.ProviderError{Code: "overloaded"}, "provider_error"},
	{middleware.Failed, &middleware.ProviderError{Status: 123456}, "provider_error"},
	{middleware.Failed, middleware.ErrUnknownEndpoint, "unknown_endpoint"},
	{middleware.Failed, middleware.ErrNoTarget, "no_target"},
	{middleware.Failed, fmt.Errorf("%w: %w", middleware.ErrBadRequest, errors.New("secret")), "bad_request"},
	{middleware.Failed, middleware.ErrTooLarge, "too_large"},
	{middleware.Failed, fmt.Errorf("%w: %w", middleware.ErrTruncated, &middleware.ConnectError{}), "truncated"},
	{middleware.Failed, middleware.ErrEmpty, "empty"},
	{middleware.Failed, middleware.ErrNotAnswer, "not_answer"},
	{middleware.Failed, middleware.ErrRedirect, "redirect"},
	{middleware.TimedOut, middleware.ErrAbandoned, "abandoned"},
	{middleware.TimedOut, middleware.ErrStalled, "stalled"},
	{middleware.TimedOut, middleware.ErrNoContent, "no_content"},
	{middleware.TimedOut, middleware.ErrDeadline, "deadline"},
	{middleware.TimedOut, context.DeadlineExceeded, "timeout"},
	{middleware.Cancelled, context.Canceled, "cancelled"},
	{middleware.Cancelled, middleware.ErrBodyClosed, "cancelled"},
	{middleware.Cancelled, middleware.ErrClosed, "client_closed"},
	{middleware.Failed, &middleware.AuthError{Err: errors.New("secret")}, "auth"},
	{middleware.Failed, &middleware.ConnectError{Err: context.DeadlineExceeded}, "connect"},
	{middleware.Failed, errors.New("secret"), "_OTHER"},
}

func TestErrorTypes(t *testing.T) {
	for _, tt := range ends {
		r := newRecorder(t)
		c := middleware.Call{Format: "chat", Outcome: tt.outcome, Attempts: []middleware.Attempt{{Outcome: tt.outcome, Err: tt.err}}}
		if tt.err != nil {
			c.Err = &middleware.Error{Err: tt.err}
		}
		r.ObserveCall(c)
		status := codes.Error
		if tt.word == "" || tt.outcome == middleware.Cancelled {
			status = codes.Unset
		}
		var want any = tt.word
		if tt.word == "" {
			want = nil
		}
		for _, name := range []string{"chat", "attempt "} {
			s := r.span(name)
			if got := values(s.Attributes)["error.type"]; got != want || s.Status.Code != status || s.Status.Description != "" {
				t.Errorf("%v, %v: error.type of %q is %v with %v, want %v with %v", tt.outcome, tt.err, name, got, s.Status, want, status)
			}
		}
		if got := r.points("gen_ai.client.inference.duration")[0].Attrs["error.type"]; got != want {
			t.Errorf("%v, %v: error.type of the metric is %v, want %v", tt.outcome, tt.err, got, want)
		}
	}
}

// The words are those that the documentation lists.
func TestErrorTypesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)or one of:(.*?)\.`).FindStringSubmatch(string(doc))
	documented := regexp.MustCompile(`\w+`).FindAllString(list[1], -1)
	var used []string
	for _, tt := range ends {
		if tt.word != "" && tt.word != "429" && !slices.Contains(used, tt.word) {
			used = append(used, tt.word)
		}
	}
	slices.Sort(documented)
	slices.Sort(used)
	if !slices.Equal(documented, used) {
		t.Errorf("documented: %v\nused: %v", documented, used)
	}
}

func TestProviders(t *testing.T) {
	for _, tt := range []struct{ provider, address, format, want string }{
		{"openai", "api.openai.com:443", "chat", "openai"},
		{"azure", "x.openai.azure.com:443", "chat", "azure.ai.openai"},
		{"bedrock", "bedrock-runtime.eu-west-1.amazonaws.com:443", "chat", "aws.bedrock"},
		{"gemini", "generativelanguage.googleapis.com:443", "chat", "gcp.gemini"},
		{"vertex", "europe-west4-aiplatform.googleapis.com:443", "chat", "gcp.vertex_ai"},
		{"mistral", "api.mistral.ai:443", "chat", "mistral_ai"},
		{"xai", "api.x.ai:443", "chat", "x_ai"},
		{"cerebras", "api.cerebras.ai:443", "chat", "cerebras"},
		{"anthropic", "proxy.test:443", "messages", "anthropic"},
		// A server of one's own, and a Meter, which knows no provider.
		{"localhost:8000", "localhost:8000", "chat", "openai"},
		{"localhost", "localhost:80", "messages", "anthropic"},
		{"", "proxy.test:443", "messages", "anthropic"},
		{"", "proxy.test:443", "embeddings", "openai"},
		{"", "api.anthropic.com:443", "messages", "anthropic"},
		{"", "us-east5-aiplatform.googleapis.com:443", "chat", "gcp.vertex_ai"},
		{"", "", "chat", "openai"},
	} {
		r := newRecorder(t)
		r.ObserveCall(middleware.Call{Format: tt.format, Target: "one", Attempts: []middleware.Attempt{
			{Target: "one", Provider: tt.provider, Address: tt.address},
		}})
		if got := values(r.span("attempt one").Attributes)["gen_ai.provider.name"]; got != tt.want {
			t.Errorf("%q at %q, %s: %v, want %s", tt.provider, tt.address, tt.format, got, tt.want)
		}
	}
}

func TestOperations(t *testing.T) {
	for format, want := range map[string]string{
		"chat": "chat", "responses": "chat", "messages": "chat", "completions": "text_completion", "embeddings": "embeddings", "": "chat",
	} {
		r := newRecorder(t)
		r.ObserveCall(middleware.Call{Format: format, Model: "m"})
		r.span(want + " m")
	}
}

// A reason that did not come is an error, if something was sent.
func TestFinishReasons(t *testing.T) {
	sent := []middleware.Attempt{{}}
	for _, tt := range []struct {
		call middleware.Call
		want any
	}{
		{middleware.Call{Outcome: middleware.Completed, FinishReason: "tool_calls", Attempts: sent}, []string{"tool_calls"}},
		{middleware.Call{Outcome: middleware.Completed, Attempts: sent}, nil},
		{middleware.Call{Outcome: middleware.Failed, Attempts: sent}, []string{"error"}},
		{middleware.Call{Outcome: middleware.Cancelled, Attempts: sent}, []string{"error"}},
		{middleware.Call{Outcome: middleware.Failed}, nil},
		{middleware.Call{Outcome: middleware.Failed, Format: "embeddings", Attempts: sent}, nil},
	} {
		r := newRecorder(t)
		r.ObserveCall(tt.call)
		got := values(r.exporter.GetSpans()[len(tt.call.Attempts)].Attributes)["gen_ai.response.finish_reasons"]
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%+v: %v, want %v", tt.call, got, tt.want)
		}
	}
}

// A model's name is the caller's: too long, or no text, it is cut.
func TestNamesAreClipped(t *testing.T) {
	r := newRecorder(t)
	r.ObserveCall(middleware.Call{Format: "chat", Model: strings.Repeat("m", 1000) + "\xff"})
	r.ObserveCall(middleware.Call{Format: "chat", Model: "m\xff"})
	r.span("chat " + strings.Repeat("m", 128))
	r.span("chat m")
}
