package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// recording is a stream that a real provider sent, as shared/streams has it.
type recording struct {
	File     string              `json:"file"`
	Family   string              `json:"family"`
	Headers  map[string][]string `json:"headers"`
	Host     string              `json:"host"`
	contents []byte
}

// recordings reads those of one wire family. They are not part of the project:
// without them the test is skipped.
func recordings(t *testing.T, family string) []recording {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "streams")
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.jsonl"))
	if err != nil {
		t.Skipf("no recorded streams here: %v", err)
	}
	var all []recording
	for line := range strings.Lines(string(index)) {
		var r recording
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Family != family {
			continue
		}
		if r.contents, err = os.ReadFile(filepath.Join(dir, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// player serves the recording that the path's first segment names, piece by
// piece.
func player(t *testing.T, all []recording) *httptest.Server {
	byFile := map[string]recording{}
	for _, r := range all {
		byFile[filepath.Base(r.File)] = r
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rec, ok := byFile[strings.Split(r.URL.Path, "/")[1]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for chunk := range slices.Chunk(rec.contents, 1000) {
			_, _ = w.Write(chunk)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// yielded is all that the SDK gives its user of a stream.
type yielded struct {
	Chunks []string
	Err    string
}

func yields(t *testing.T, c *openai.Client) yielded {
	t.Helper()
	params := question("hi")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	var y yielded
	s := c.Chat.Completions.NewStreaming(t.Context(), params)
	defer s.Close()
	for s.Next() {
		y.Chunks = append(y.Chunks, s.Current().RawJSON())
	}
	if err := s.Err(); err != nil {
		y.Err = err.Error()
	}
	return y
}

// What the SDK yields of a recorded stream through the client is what it yields
// directly. Where the stream itself reports an error, the client's is typed.
func TestReplayedChatStreams(t *testing.T) {
	all := recordings(t, "chat")
	srv := player(t, all)
	var reported int
	for _, r := range all {
		base := srv.URL + "/" + filepath.Base(r.File)
		direct := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"), option.WithMaxRetries(0))
		var call middleware.Call
		routed, err := client.New(client.Config{
			Targets:   []client.Target{{Name: "replay", BaseURL: base}},
			Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { call = c })},
		})
		if err != nil {
			t.Fatal(err)
		}
		want, got := yields(t, &direct), yields(t, &routed.Client)
		if err := routed.Close(); err != nil {
			t.Error(err)
		}
		if want.Err != "" {
			reported++
			t.Logf("%s (%s): the stream reports an error: direct %q after %d chunks, here %q after %d, %v",
				r.File, r.Host, want.Err, len(want.Chunks), got.Err, len(got.Chunks), call.Outcome)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (%s): -direct +here\n%s", r.File, r.Host, diff)
		}
		if call.Outcome != middleware.Completed {
			t.Errorf("%s (%s): the call is %v: %v", r.File, r.Host, call.Outcome, call.Err)
		}
	}
	t.Logf("%d streams, %d of which report an error", len(all), reported)
}

// Every recorded stream of every family that is routed passes line for line, and
// its call ends as the stream did.
func TestReplayedBytes(t *testing.T) {
	for family, ask := range map[string][2]string{
		"chat":        {"chat/completions", `{"model":"m","stream":true,"messages":[],"stream_options":{"include_usage":true}}`},
		"completions": {"completions", `{"model":"m","stream":true,"prompt":"hi","stream_options":{"include_usage":true}}`},
		"responses":   {"responses", `{"model":"m","stream":true,"input":"hi"}`},
		"anthropic":   {"messages", `{"model":"m","stream":true,"messages":[],"max_tokens":100000}`},
	} {
		t.Run(family, func(t *testing.T) {
			all := recordings(t, family)
			srv := player(t, all)
			ended := map[middleware.Outcome]int{}
			for _, r := range all {
				got, call, err := fetch(t, srv.URL+"/"+filepath.Base(r.File), ask[0], ask[1])
				ended[call.Outcome]++
				if err != nil {
					if _, ok := errors.AsType[*middleware.ProviderError](err); !ok {
						t.Errorf("%s (%s): %v", r.File, r.Host, err)
					}
					continue
				}
				want, got := lines(string(r.contents)), lines(got)
				if got != want && !mended(r.contents) {
					t.Errorf("%s (%s): %d bytes arrived of %d: %s", r.File, r.Host, len(got), len(want), cmp.Diff(want, got))
				}
			}
			t.Logf("%d streams: %v", len(all), ended)
		})
	}
}

// lines has LF for line ends and one blank line between events: a CR and its LF
// may come apart, and the scanner does not wait for the second.
func lines(s string) string {
	s = blank.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n")
	return strings.TrimRight(s, "\n")
}

var blank = regexp.MustCompile(`\n\n+`)

// mended says that a stream has something in it that is taken out on purpose.
func mended(stream []byte) bool {
	return strings.Contains(string(stream), `"error":null`) && strings.Contains(string(stream), `chat.completion`) ||
		strings.Contains(string(stream), "Token limit reached")
}

// fetch makes a call with nothing but net/http.
func fetch(t *testing.T, base, path, body string) (string, middleware.Call, error) {
	t.Helper()
	var call middleware.Call
	c, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "replay", BaseURL: base}},
		Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { call = c })},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resp, err := c.HTTPClient().Post(client.BaseURL+path, "application/json", strings.NewReader(body))
	if err != nil {
		return "", call, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return string(got), call, err
}
