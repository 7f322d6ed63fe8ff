package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// makeAt sends a request that makes something to one target, through the client for
// other SDKs, and reads the answer in small pieces.
func makeAt(t *testing.T, f *fleet, target, method, path string, answer upstream.Step) string {
	t.Helper()
	f.servers[target].Script(answer)
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+target+".test/v1/"+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.HTTPClient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(iotest.OneByteReader(resp.Body))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A file, a conversation and the like are known to be where they were made: what
// names them goes there, a call or any other request.
func TestWhatAPassedRequestMadeIsKnown(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for name, tt := range map[string]struct {
		method, path string
		status       int
		kind, answer string
		id           string
		known        bool
	}{
		"file":             {"POST", "files", 200, "application/json", `{"object":"file","id":"file-7"}`, "file-7", true},
		"conversation":     {"POST", "conversations", 201, "application/json; charset=utf-8", `{"id":"conv_7","metadata":{}}`, "conv_7", true},
		"id at the end":    {"POST", "batches", 200, "application/json", `{"a":{"id":"no_1"},"b":"` + long[:60_000] + `","id":"batch_7"}`, "batch_7", true},
		"long after it":    {"POST", "vector_stores", 200, "application/json", `{"id":"vs_7","name":"` + long + `"}`, "vs_7", true},
		"too far":          {"POST", "containers", 200, "application/json", `{"name":"` + long + `","id":"cntr_7"}`, "cntr_7", false},
		"nested":           {"POST", "files", 200, "application/json", `{"data":{"id":"file-7"}}`, "file-7", false},
		"an error":         {"POST", "files", 400, "application/json", `{"id":"file-7"}`, "file-7", false},
		"no JSON":          {"POST", "files", 200, "text/plain", `{"id":"file-7"}`, "file-7", false},
		"read, not made":   {"GET", "files/7", 200, "application/json", `{"id":"file-7"}`, "file-7", false},
		"a word of a path": {"POST", "files", 200, "application/json", `{"id":"files"}`, "files", false},
		"much too long":    {"POST", "files", 200, "application/json", `{"id":"1` + long[:300] + `"}`, "1" + long[:300], false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two") // one is home
				if got := makeAt(t, f, "two", tt.method, tt.path, raw(tt.status, tt.kind, tt.answer)); got != tt.answer {
					t.Errorf("the answer is changed: %.100q", got)
				}
				owner := map[bool]string{true: "two", false: "one"}[tt.known]
				before := f.requests(owner)
				f.servers[owner].Script(raw(200, "application/json", `{"id":"x"}`))
				if err := f.Get(t.Context(), "files/"+tt.id+"/content", nil, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := respond(t, f.chat(), "", true, option.WithJSONSet("conversation", tt.id)); err != nil {
					t.Fatal(err)
				}
				if got := f.requests(owner) - before; got != 2 || f.allRequests() != 3 {
					t.Errorf("%s got %d of the 2 requests that name it", owner, got)
				}
			})
		})
	}
}

// The application need not read to the end: what it closes early was made too.
func TestWhatWasMadeIsKnownWithoutTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["two"].Script(raw(200, "application/json", `{"id":"file-7","bytes":`+strings.Repeat(" ", 1<<20)+`1}`))
		r, _ := http.NewRequestWithContext(t.Context(), "POST", "https://two.test/v1/files", http.NoBody)
		resp, err := f.HTTPClient().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 20)); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		p := question("hello")
		p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{FileID: openai.String("file-7")}),
		})}
		if _, err := ask(t.Context(), f.chat(), p); err != nil || f.requests("two") != 2 {
			t.Errorf("two got %d requests, error %v; want 2", f.requests("two"), err)
		}
	})
}
