package client_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/middleware"
)

// An HTTP error of whatever shape becomes an *openai.Error that tells something.
func TestHTTPErrorBecomesTheSDKsError(t *testing.T) {
	for name, test := range map[string]struct {
		body                string
		message, kind, code string
	}{
		"OpenAI's": {`{"error":{"message":"no such","type":"invalid_request_error","param":"x","code":"bad"}}`,
			"no such", "invalid_request_error", "bad"},
		"array":         {`[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, "API key not valid", "", "400"},
		"Anthropic's":   {`{"type":"error","error":{"type":"invalid_request_error","message":"too long"}}`, "too long", "invalid_request_error", ""},
		"flat":          {`{"object":"error","message":"too many tokens","type":"BadRequestError","code":400}`, "too many tokens", "BadRequestError", "400"},
		"message":       {`{"message":"no such route"}`, "no such route", "", ""},
		"detail":        {`{"detail":"Not Found"}`, "Not Found", "", ""},
		"detail, list":  {`{"detail":[{"loc":["body","x"],"msg":"field required","type":"missing"}]}`, "field required", "", ""},
		"error string":  {`{"error":"model is loading"}`, "model is loading", "", ""},
		"plain text":    {"upstream connect error\n", "upstream connect error", "", ""},
		"page":          {"<html><body>Bad Request</body></html>", "Bad Request", "", ""},
		"broken JSON":   {`{"error":{"message":"cut o`, "cut o", "", ""},
		"empty":         {"", "Bad Request", "", ""},
		"null error":    {`{"error":null,"message":"nothing"}`, "nothing", "", ""},
		"with newlines": {"{\n \"error\": {\n  \"message\": \"no\",\n  \"code\": \"bad\"\n }\n}\n", "no", "", "bad"},
	} {
		for way, say := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOrdered(t, quick, "one", "two")
					f.servers["one"].Script(raw(400, "text/plain", test.body))
					_, err := say(t.Context(), f.chat(), question("hello"))
					e := theirs(t, err, 400)
					if !strings.Contains(e.Message, test.message) || e.Type != test.kind || e.Code != test.code {
						t.Errorf("message %q, type %q, code %q; want %q, %q, %q", e.Message, e.Type, e.Code, test.message, test.kind, test.code)
					}
					if !strings.Contains(string(e.DumpResponse(true)), test.message) || !strings.Contains(string(e.DumpRequest(true)), "hello") {
						t.Errorf("the dumps are\n%s\n%s", e.DumpRequest(true), e.DumpResponse(true))
					}
					if strings.HasPrefix(test.body, `{"error":{"message"`) && strings.HasSuffix(test.body, "}}") && e.RawJSON() != test.body[len(`{"error":`):len(test.body)-1] {
						t.Errorf("the body was changed to %s", e.RawJSON())
					}
					call := f.lastCall(t)
					if len(call.Attempts) != 1 || call.Outcome != middleware.Failed || !told(400)(call.Err) {
						t.Errorf("call is %+v", call)
					}
					if strings.Contains(call.Err.Error(), test.message) && test.message != "Bad Request" {
						t.Errorf("the call's error tells the provider's message: %v", call.Err)
					}
				})
			})
		}
	}
}

// A status that OpenAI knows nothing of, and a body beyond all measure.
func TestOddHTTPErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		f.servers["one"].Script(raw(451, "text/plain", ""))
		_, err := stream(t.Context(), f.chat(), question("hello"))
		if e := theirs(t, err, 451); e.Message == "" {
			t.Errorf("error is %+v", e)
		}
		f.servers["one"].Script(raw(400, "text/plain", strings.Repeat("long ", 1<<20)))
		_, err = stream(t.Context(), f.chat(), question("hello"))
		if e := theirs(t, err, 400); !strings.HasPrefix(e.Message, "long ") {
			t.Errorf("the message has %d bytes", len(e.Message))
		}
	})
}
