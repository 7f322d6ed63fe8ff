package client_test

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

func TestInferenceIsJoinedToTheTargetsBaseURL(t *testing.T) {
	body := map[string]any{"model": "m", "messages": []any{}, "prompt": "hi", "input": "hi", "max_tokens": 5}
	post := func(path string, opts ...option.RequestOption) func(*testing.T, *client.Client) error {
		return func(t *testing.T, c *client.Client) error {
			var answer map[string]any
			return c.Post(t.Context(), path, body, &answer, opts...)
		}
	}
	for name, test := range map[string]struct {
		call func(*testing.T, *client.Client) error
		want string
	}{
		"chat": {func(t *testing.T, c *client.Client) error {
			_, err := c.Chat.Completions.New(t.Context(), question("hello"))
			return err
		}, "/openai/v1/chat/completions?api-version=preview"},
		"completions": {func(t *testing.T, c *client.Client) error {
			_, err := c.Completions.New(t.Context(), openai.CompletionNewParams{
				Model: "m", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("hi")},
			})
			return err
		}, "/openai/v1/completions?api-version=preview"},
		"responses": {func(t *testing.T, c *client.Client) error {
			_, err := c.Responses.New(t.Context(), responses.ResponseNewParams{
				Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")},
			})
			return err
		}, "/openai/v1/responses?api-version=preview"},
		"embeddings": {func(t *testing.T, c *client.Client) error {
			_, err := c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
				Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hi")},
			})
			return err
		}, "/openai/v1/embeddings?api-version=preview"},
		"messages":       {post("messages"), "/openai/v1/messages?api-version=preview"},
		"longest suffix": {post("deployments/d/chat/completions"), "/openai/v1/chat/completions?api-version=preview"},
		"caller's query": {post("chat/completions", option.WithQuery("a", "1&2")), "/openai/v1/chat/completions?a=1%262&api-version=preview"},
		"target's wins":  {post("chat/completions", option.WithQuery("api-version", "mine")), "/openai/v1/chat/completions?api-version=preview"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				targets := []client.Target{{Name: "one", BaseURL: "https://one.test/openai/v1/?api-version=preview"}}
				f := newFleet(t, quick, client.Config{Targets: targets}, "one")
				if err := test.call(t, f.Client); err != nil {
					t.Fatal(err)
				}
				r, _ := f.last(t, "one")
				if got := r.URL.RequestURI(); got != test.want || r.Host != "one.test" || r.URL.Host != "one.test" {
					t.Errorf("request went to %s%s, want one.test%s", r.Host, got, test.want)
				}
				if call := f.lastCall(t); call.Target != "one" || call.Outcome != middleware.Completed {
					t.Errorf("call is %+v", call)
				}
			})
		})
	}
}

// Embeddings know no stream: they come as they are, whatever was asked for.
func TestEmbeddingsAreNeverStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		answer, err := f.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
			Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hi")},
		}, option.WithJSONSet("stream", true))
		if err != nil || len(answer.Data) != 1 || len(answer.Data[0].Embedding) != 2 {
			t.Errorf("answer is %+v, %v", answer, err)
		}
		if call := f.lastCall(t); call.Streamed || call.Outcome != middleware.Completed {
			t.Errorf("call is %+v", call)
		}
	})
}

// What is not inference goes home, once, whatever home answers, and is not
// measured.
func TestEverythingElseGoesHome(t *testing.T) {
	for name, test := range map[string]struct {
		call func(*testing.T, *client.Client) error
		want string // method and path at home
	}{
		"models": {func(t *testing.T, c *client.Client) error { _, err := c.Models.List(t.Context()); return err }, "GET /v1/models"},
		"model": {func(t *testing.T, c *client.Client) error {
			_, err := c.Models.Get(t.Context(), "ft:a/b c")
			return err
		}, "GET /v1/models/ft:a%2Fb%20c"},
		"stored chats": {func(t *testing.T, c *client.Client) error {
			_, err := c.Chat.Completions.List(t.Context(), openai.ChatCompletionListParams{})
			return err
		}, "GET /v1/chat/completions"},
		"a stored chat": {func(t *testing.T, c *client.Client) error {
			_, err := c.Chat.Completions.Get(t.Context(), "chatcmpl-1")
			return err
		}, "GET /v1/chat/completions/chatcmpl-1"},
		"update of it": {func(t *testing.T, c *client.Client) error {
			_, err := c.Chat.Completions.Update(t.Context(), "chatcmpl-1", openai.ChatCompletionUpdateParams{})
			return err
		}, "POST /v1/chat/completions/chatcmpl-1"},
		"token count": {func(t *testing.T, c *client.Client) error {
			_, err := c.Responses.InputTokens.Count(t.Context(), responses.InputTokenCountParams{})
			return err
		}, "POST /v1/responses/input_tokens"},
		"cancel": {func(t *testing.T, c *client.Client) error {
			_, err := c.Responses.Cancel(t.Context(), "resp_9")
			return err
		}, "POST /v1/responses/resp_9/cancel"},
		"thread message": {func(t *testing.T, c *client.Client) error {
			return c.Post(t.Context(), "threads/th_1/messages", map[string]any{"role": "user"}, nil)
		}, "POST /v1/threads/th_1/messages"},
		"moderation": {func(t *testing.T, c *client.Client) error {
			_, err := c.Moderations.New(t.Context(), openai.ModerationNewParams{})
			return err
		}, "POST /v1/moderations"},
		"deleted file": {func(t *testing.T, c *client.Client) error {
			_, err := c.Files.Delete(t.Context(), "file-1")
			return err
		}, "DELETE /v1/files/file-1"},
		"GET of messages": {func(t *testing.T, c *client.Client) error { return c.Get(t.Context(), "messages?limit=2", nil, nil) }, "GET /v1/messages?limit=2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{Home: "two"}, "one", "two")
				for _, status := range []int{200, 503} {
					f.servers["two"].Script(raw(status, "application/json", `{"id":"x","data":[]}`))
					if err := test.call(t, f.Client); (status == 200) != (err == nil) {
						t.Errorf("with status %d the error is %v", status, err)
					}
				}
				r, _ := f.last(t, "two")
				if got := r.Method + " " + r.URL.RequestURI(); got != test.want {
					t.Errorf("home got %s, want %s", got, test.want)
				}
				if f.requests("one") != 0 || f.requests("two") != 2 || len(f.observed()) != 0 {
					t.Errorf("%d requests to the other target, %d home, %d calls measured; want 0, 2, 0",
						f.requests("one"), f.requests("two"), len(f.observed()))
				}
			})
		})
	}
}

func TestFileUploadGoesHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one", "two")
		f.servers["one"].Script(raw(200, "application/json", `{"id":"file-1","object":"file"}`))
		content := strings.Repeat("line of a file\n", 10_000)
		file, err := f.Files.New(t.Context(), openai.FileNewParams{
			File: openai.File(strings.NewReader(content), "batch.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
		})
		if err != nil || file.ID != "file-1" {
			t.Fatalf("file is %+v, %v", file, err)
		}
		r, body := f.last(t, "one")
		kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/form-data" {
			t.Fatalf("the content type is %q", r.Header.Get("Content-Type"))
		}
		got := map[string]string{}
		parts := multipart.NewReader(strings.NewReader(body), params["boundary"])
		for part, err := parts.NextPart(); err != io.EOF; part, err = parts.NextPart() {
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(part)
			got[part.FormName()] = string(data)
		}
		if got["file"] != content || got["purpose"] != "batch" {
			t.Errorf("the upload came with purpose %q and %d bytes, want %d", got["purpose"], len(got["file"]), len(content))
		}
	})
}

// Nothing of an unrouted request is held back: its response is home's as it is.
func TestHomeResponseIsNotBuffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		f.servers["one"].Script(upstream.Step{Raw: &upstream.Raw{
			Parts: []upstream.Part{{Data: "first"}, {After: 60 * ms, Data: " last"}},
		}})
		var resp *http.Response
		if err := f.Get(t.Context(), "files/file-1/content", nil, &resp); err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		first := make([]byte, 5)
		if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "first" {
			t.Errorf("%q, %v", first, err)
		}
		rest, err := io.ReadAll(resp.Body)
		if err != nil || string(rest) != " last" {
			t.Errorf("%q, %v", rest, err)
		}
	})
}
