package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// answered is what a user can see of a result.
type answered struct {
	JSON    []string // as the SDK has it, chunk by chunk
	Text    string
	Status  string
	Type    string // of the content
	Request string // its id at the provider
	Err     string
}

func (a *answered) from(resp *http.Response) {
	if resp != nil {
		a.Status, a.Type, a.Request = resp.Status, resp.Header.Get("Content-Type"), resp.Header.Get("X-Request-Id")
	}
}

// emptyUsage is what is left to see of usage that was asked for on the caller's
// behalf: OpenAI adds it to every chunk then. The SDK's typed chunk is the same,
// and to take it out each event would have to be written anew.
const emptyUsage = `,"usage":null`

// The SDK's result is the same, with all that it keeps of the JSON.
func TestSDKResultIsTheSame(t *testing.T) {
	withUsage := question("hello")
	withUsage.StreamOptions.IncludeUsage = openai.Bool(true)
	several := withUsage
	several.N = openai.Int(3)
	for name, params := range map[string]openai.ChatCompletionNewParams{"plain": question("hello"), "usage": withUsage, "several": several} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, upstream.Behaviour{Reasoning: 4, ShowReasoning: true, TokensPerEvent: 3, Usage: upstream.UsageAsked})
			same(t, p, name+", streamed", func(c *openai.Client) (a answered) {
				var resp *http.Response
				var whole openai.ChatCompletionAccumulator
				s := c.Chat.Completions.NewStreaming(t.Context(), params, option.WithResponseInto(&resp))
				for s.Next() {
					a.JSON = append(a.JSON, strings.Replace(s.Current().RawJSON(), emptyUsage, "", 1))
					whole.AddChunk(s.Current())
				}
				if err := s.Err(); err != nil {
					a.Err = err.Error()
				}
				if len(whole.Choices) > 0 {
					a.Text = whole.Choices[0].Message.Content
				}
				a.from(resp)
				return a
			})
			params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
			same(t, p, name+", whole", func(c *openai.Client) (a answered) {
				var resp *http.Response
				answer, err := c.Chat.Completions.New(t.Context(), params, option.WithResponseInto(&resp))
				if err != nil {
					t.Fatal(err)
				}
				a.JSON, a.Text = []string{answer.RawJSON()}, answer.Choices[0].Message.Content
				a.from(resp)
				return a
			})
		})
	}
}

// Whatever a raw result is put into.
func TestSDKRawResults(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, c *openai.Client) (string, error){
		"bytes": func(t *testing.T, c *openai.Client) (string, error) {
			var b []byte
			err := c.Post(t.Context(), "chat/completions", json.RawMessage(askBody), &b)
			return string(b), err
		},
		"own type": func(t *testing.T, c *openai.Client) (string, error) {
			var v struct {
				Choices []struct{ Message struct{ Content string } }
			}
			err := c.Post(t.Context(), "chat/completions", json.RawMessage(askBody), &v)
			return v.Choices[0].Message.Content, err
		},
		"response": func(t *testing.T, c *openai.Client) (string, error) {
			var resp *http.Response
			if err := c.Post(t.Context(), "chat/completions", json.RawMessage(askBody), &resp, option.WithRequestTimeout(time.Minute)); err != nil {
				return "", err
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			return resp.Status + string(b), err
		},
		"streamed response": func(t *testing.T, c *openai.Client) (string, error) {
			var resp *http.Response
			body := strings.Replace(streamBody, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1)
			if err := c.Post(t.Context(), "chat/completions", json.RawMessage(body), &resp); err != nil {
				return "", err
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			return resp.Status + string(b), err
		},
		"response of a typed call": func(t *testing.T, c *openai.Client) (string, error) {
			var resp *http.Response
			if _, err := c.Chat.Completions.New(t.Context(), question("hello"), option.WithResponseBodyInto(&resp)); err != nil {
				return "", err
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			return string(b), err
		},
		"nothing": func(t *testing.T, c *openai.Client) (string, error) {
			return "", c.Post(t.Context(), "chat/completions", json.RawMessage(askBody), nil)
		},
		"not inference": func(t *testing.T, c *openai.Client) (string, error) {
			var b []byte
			return string(b), c.Get(t.Context(), "models/m", nil, &b)
		},
		"content of a file": func(t *testing.T, c *openai.Client) (string, error) {
			resp, err := c.Files.Content(t.Context(), "file-1")
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			return string(b), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, quick)
				if name == "content of a file" {
					p.script(raw(200, "application/binary", "\x00\x01 not JSON"))
				}
				same(t, p, name, func(c *openai.Client) string {
					text, err := run(t, c)
					if err != nil {
						t.Error(err)
					}
					return text
				})
			})
		})
	}
}

// A raw response of a call is over when it has been read, or is closed, and not
// before.
func TestSDKRawResponseEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, steady, client.Config{}, "one")
		ctx, call := middleware.WithCall(t.Context())
		var resp *http.Response
		if err := f.Post(ctx, "chat/completions", json.RawMessage(streamBody), &resp); err != nil {
			t.Fatal(err)
		}
		if n := len(f.observed()); n != 0 {
			t.Errorf("%d calls are over before their response was read", n)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		// The first of 16 tokens after 200 ms, then one each 20 ms.
		if call.Outcome != middleware.Completed || call.TTFT != 200*ms || call.Total != 500*ms {
			t.Errorf("the call is %v, TTFT %v, total %v; want completed, 200ms, 500ms", call.Outcome, call.TTFT, call.Total)
		}
		resp.Body.Close()
	})
}
