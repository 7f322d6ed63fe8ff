package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// Canaries are secrets that are known by their beginning, wherever they turn up. Those of
// a target are nobody else's; what the application and a provider say may come back
// to the application, and to nobody else.
const (
	canary   = "canary-"
	ofTarget = canary + "target-"
	ofPrompt = canary + "prompt-"
	ofAnswer = canary + "answer-"
)

// secretsOf are what a target is sent that is its own, and might quote.
func secretsOf(name string) string {
	of := ofTarget + name
	own := ofTarget + strings.TrimSuffix(name, "-admin")
	return of + "-key " + own + "-signature " + own + "-own-header"
}

// canaries is a fleet that has one in every place, and all that it emits.
type canaries struct {
	*fleet
	log     bytes.Buffer
	metrics *prometheus.Registry
}

func newCanaries(t *testing.T) *canaries {
	s := &canaries{metrics: prometheus.NewRegistry()}
	s.fleet = newFleet(t, quick, client.Config{
		Targets: []client.Target{
			{
				Name: "one", APIKey: ofTarget + "one-key", AdminKey: ofTarget + "one-admin",
				Headers: map[string]string{
					"OpenAI-Organization": ofTarget + "one-org", "X-Gateway": ofTarget + "one-own-header", "Cookie": ofTarget + "one-signature",
				},
			},
			{
				Name: "two", Headers: map[string]string{"X-Gateway": ofTarget + "two-own-header"},
				Auth: func(r *http.Request) error {
					r.Header.Set("Authorization", "Bearer "+ofTarget+"two-key")
					r.Header.Set("X-Signature", ofTarget+"two-signature")
					return nil
				},
			},
		},
		Endpoints: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 600 * ms}, Deadline: 20 * time.Second}},
		Home:      "one", Logger: slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Registerer: s.metrics,
	}, "one", "two")
	s.Handler()
	return s
}

// emitted is all that can be read of the client without making a call.
func (s *canaries) emitted(t *testing.T, call *middleware.Call) map[string]string {
	t.Helper()
	snapshot := s.Snapshot()
	texts := map[string]string{
		"log": s.log.String(), "status page": s.page(t), "snapshot": fmt.Sprintf("%+v %#v", snapshot, snapshot),
		"call": fmt.Sprintf("%v %+v %v %+v", call, call, call.Err, call.Err), "client": fmt.Sprintf("%+v %#v", s.Client, s.Client),
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	texts["status page as HTML"] = w.Body.String()
	for what, v := range map[string]any{"snapshot as JSON": snapshot, "call as JSON": call} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		texts[what] = string(text)
	}
	families, err := s.metrics.Gather()
	if err != nil {
		t.Error(err)
	}
	for _, f := range families {
		texts["metrics"] += f.String() + "\n"
	}
	return texts
}

// mustNot looks for a canary in all that v tells.
func mustNot(t *testing.T, what, canary string, v any, but ...string) {
	t.Helper()
	w := walker{seen: map[uintptr]bool{}, secret: func(text string) bool { return strings.Contains(text, canary) }}
	w.found = func(path, text string) {
		for _, ending := range but {
			if strings.HasSuffix(path, ending) {
				return
			}
		}
		t.Errorf("%s tells a secret at %s: %q", what, path, text)
	}
	w.walkAny(v)
}

// quoting is an error as bad as a provider's can be, and the headers to it.
func quoting(name string) (body string, headers map[string]string) {
	body = fmt.Sprintf(`{"error":{"message":"you said %stext with %s","type":"server_error","param":"%sparam","code":"bad"}}`,
		ofPrompt, secretsOf(name), ofPrompt)
	headers = maps.Clone(noisy)
	headers["X-Debug"] = "as " + secretsOf(name)
	for _, account := range []string{"OpenAI-Organization", "OpenAI-Project", "Anthropic-Organization-Id", "Set-Cookie"} {
		headers[account] = ofTarget + name + "-account"
	}
	return body, headers
}

// What the application keeps secret, and what its targets do, is in nothing that the
// library emits; and of a target's own nothing is in what a call gives its caller.
func TestCanaries(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET", "ANTHROPIC_API_KEY", "HOME",
	} {
		t.Setenv(name, ofTarget+"environment")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: "+ofTarget+"environment")
	an := func(status int) func(string) upstream.Step {
		return func(name string) upstream.Step {
			body, headers := quoting(name)
			return withHeaders(raw(status, "application/json", body), headers)
		}
	}
	page := func(status int) func(string) upstream.Step {
		return func(name string) upstream.Step {
			body, headers := quoting(name)
			return withHeaders(raw(status, "text/html", "<html>"+body), headers)
		}
	}
	streaming := func(parts ...string) func(string) upstream.Step {
		return func(name string) upstream.Step {
			body, headers := quoting(name)
			return withHeaders(events(strings.Split(strings.ReplaceAll(strings.Join(parts, "|"), "ERROR", body), "|")...), headers)
		}
	}
	fault := func(step upstream.Step) func(string) upstream.Step { return func(string) upstream.Step { return step } }
	text := delta(ofAnswer + "text")
	for name, test := range map[string]struct {
		say  speak
		step func(target string) upstream.Step
	}{
		"streamed":        {stream, streaming(text, finish, done)},
		"whole":           {ask, fault(raw(200, "application/json", strings.Replace(wholeAnswer, "all", ofAnswer+"text", 1)))},
		"400":             {stream, an(400)},
		"401":             {ask, an(401)},
		"403, page":       {ask, page(403)},
		"404":             {stream, an(404)},
		"429":             {stream, an(429)},
		"503":             {ask, an(503)},
		"early error":     {stream, streaming("data: ERROR\n\n")},
		"late error":      {stream, streaming(text, "data: ERROR\n\n")},
		"error event":     {stream, streaming(text, "event: error\ndata: ERROR\n\n")},
		"error in a 200":  {ask, an(200)},
		"cut":             {stream, streaming(text, text[:60])},
		"no answer":       {ask, page(200)},
		"redirect":        {ask, page(307)},
		"refused":         {stream, fault(upstream.Step{Fault: upstream.Refused})},
		"hang":            {stream, fault(hang(0))},
		"what is no call": {listModels, an(200)},
		"no call, error":  {listModels, an(404)},
		"no call, page":   {listModels, page(502)},
		"admin":           {listProjects, func(string) upstream.Step { return an(403)("one-admin") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newCanaries(t)
				for name, server := range s.servers {
					step := test.step(name)
					server.Script(step, step, step)
				}
				var resp *http.Response
				ctx, call := middleware.WithCall(t.Context())
				q := question(ofPrompt + "text")
				q.User, q.Stop = openai.String(ofPrompt+"user"), openai.ChatCompletionNewParamsStopUnion{OfString: openai.String(ofPrompt + "stop")}
				_, err := test.say(ctx, s.chat(), q, option.WithResponseInto(&resp), option.WithHeader("X-App", ofPrompt+"header"),
					option.WithQuery("q", ofPrompt+"query"))
				for what, text := range s.emitted(t, call) {
					if at := strings.Index(text, canary); at >= 0 {
						t.Errorf("the %s tells %q", what, text[max(0, at-40):min(len(text), at+60)])
					}
				}
				mustNot(t, "call", canary, call, ".Message")
				mustNot(t, "call", ofTarget, call)
				mustNot(t, "snapshot", canary, s.Snapshot())
				mustNot(t, "response", ofTarget, resp)
				mustNot(t, "error", ofTarget, err)
				if e, ok := errors.AsType[*middleware.Error](err); ok {
					mustNot(t, "error", canary, e, ".Message")
				}
			})
		})
	}
}

func listModels(ctx context.Context, c *openai.Client, _ openai.ChatCompletionNewParams, opts ...option.RequestOption) (string, error) {
	_, err := c.Models.List(ctx, opts...)
	return "", err
}

func listProjects(ctx context.Context, c *openai.Client, _ openai.ChatCompletionNewParams, opts ...option.RequestOption) (string, error) {
	_, err := c.Admin.Organization.Projects.List(ctx, openai.AdminOrganizationProjectListParams{}, opts...)
	return "", err
}
