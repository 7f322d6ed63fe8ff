package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestReadError(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct {
		name, body                string
		status                    int
		typ, code, param, message string
	}{
		{"OpenAI", `{"error":{"message":"m","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`,
			400, "invalid_request_error", "unsupported_parameter", "max_tokens", "m"},
		{"quota", `{"error":{"message":"m","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
			429, "insufficient_quota", "insufficient_quota", "", "m"},
		{"the code goes before the type", `{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}`,
			404, "invalid_request_error", "model_not_found", "", "m"},
		{"Azure", `{"error":{"code":"429","message":"m","status":400}}`, 429, "", "429", "", "m"},
		{"Azure timeout", `{"error":{"code":"Timeout","message":"m"}}`, 504, "", "Timeout", "", "m"},
		{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r"}`, 529, "overloaded_error", "", "", "m"},
		{"Gemini", `[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`, 400, "", "400", "", "m"},
		{"Databricks", `{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"m"}`, 0, "", "REQUEST_LIMIT_EXCEEDED", "", "m"},
		{"FastAPI text", `{"detail":"m"}`, 0, "", "", "", "m"},
		{"FastAPI report", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`,
			0, "", "", "stream_options", `[{"type":"extra_forbidden","loc":["body","stream_options"]}]`},
		{"Mistral", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"]}]},"type":"invalid_request_error","code":null}`,
			400, "invalid_request_error", "", "max_completion_tokens", `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"]}]}`},
		{"vLLM", `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`, 400, "BadRequestError", "400", "", "m"},
		{"Cohere", `{"message":"m"}`, 0, "", "", "", "m"},
		{"Cerebras", `{"message":"m","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`,
			429, "too_many_tokens_error", "token_quota_exceeded", "quota", "m"},
		{"a string", `{"error":"m"}`, 0, "", "", "", "m"},
		{"several", `{"errors":[{"message":"m","code":"7003"},{"message":"n"}]}`, 0, "", "7003", "", "m"},
		{"escapes", `{"error":{"message":"a\"b\u00e9\ud83d\ude42\n"}}`, 0, "", "", "", "a\"bé🙂\n"},
		{"words made fit for a log", `{"error":{"type":"Bad Request!","code":"` + long + `"}}`, 0, "Bad_Request_", "", "", ""},
		{"text", "  upstream connect error\n", 0, "", "", "", "upstream connect error"},
		{"HTML", "<html>unsupported: max_tokens</html>", 0, "", "", "max_tokens", "<html>unsupported: max_tokens</html>"},
		{"a value too large", `{"message":"max_tokens is too large: at most 1000"}`, 0, "", "", "", "max_tokens is too large: at most 1000"},
		{"cut", `{"error":{"message":"m"`, 0, "", "", "", `{"error":{"message":"m"`},
		{"neither", `{"ok":true}`, 0, "", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := dialect.ReadError([]byte(test.body))
			want := dialect.ErrorInfo{Present: true, Status: test.status, Type: test.typ, Code: test.code, Param: test.param}
			message := string(got.Message)
			got.Message = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if message != test.message {
				t.Errorf("message %q, want %q", message, test.message)
			}
		})
	}
	if dialect.ReadError([]byte(" \n")).Present {
		t.Error("an empty body has an error")
	}
}

// The class of an error is told by its code or type in words.
func TestErrorClasses(t *testing.T) {
	for status, words := range map[int][]string{
		0:   {"something_new", "Error"},
		400: {"invalid_request_error", "BadRequestError", "INVALID_ARGUMENT", "context_length_exceeded", "content_filter"},
		401: {"invalid_api_key", "UNAUTHENTICATED"},
		402: {"insufficient_balance"},
		403: {"permission_error", "PERMISSION_DENIED"},
		404: {"model_not_found", "NOT_FOUND"},
		413: {"request_too_large"},
		429: {"rate_limit_exceeded", "insufficient_quota", "RESOURCE_EXHAUSTED", "token_quota_exceeded"},
		500: {"server_error", "api_error", "INTERNAL"},
		502: {"upstream_error"},
		503: {"UNAVAILABLE", "service_unavailable"},
		504: {"timeout_error", "DEADLINE_EXCEEDED"},
		529: {"overloaded_error", "engine_overloaded"},
	} {
		for _, word := range words {
			for _, member := range []string{"code", "type", "status"} {
				e := dialect.ReadError([]byte(`{"error":{"` + member + `":"` + word + `"}}`))
				if e.Status != status {
					t.Errorf("%s %s: status %d, want %d", member, word, e.Status, status)
				}
			}
		}
	}
}
