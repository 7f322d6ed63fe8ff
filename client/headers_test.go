package client_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// What openai-go reads from the environment is meant for OpenAI alone.
func TestEnvironmentOfTheSDKReachesNoTarget(t *testing.T) {
	const mark = "from-the-environment"
	t.Setenv("OPENAI_API_KEY", "sk-"+mark)
	t.Setenv("OPENAI_ADMIN_KEY", "sk-admin-"+mark)
	t.Setenv("OPENAI_ORG_ID", "org-"+mark)
	t.Setenv("OPENAI_PROJECT_ID", "proj-"+mark)
	t.Setenv("OPENAI_BASE_URL", "https://"+mark+".test/v1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-"+mark+"\nApi-Key: "+mark+"\n X-Custom : "+mark+"\nnot a header")
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError})
		f.answers(t, stream, f.chat(), "two")
		if _, err := f.Models.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.requests("one") != 2 || f.requests("two") != 1 {
			t.Fatalf("%d and %d requests, want 2 and 1", f.requests("one"), f.requests("two"))
		}
		for name, requests := range f.seen {
			for _, r := range requests {
				for header, values := range r.Header {
					if strings.Contains(strings.Join(values, " "), mark) {
						t.Errorf("%s was sent %s: %s", name, header, values)
					}
				}
				checkOwn(t, name, r)
			}
		}
	})
}

// checkOwn makes sure that a target got its own credential and headers.
func checkOwn(t *testing.T, name string, r *http.Request) {
	t.Helper()
	if got := r.Header.Values("Authorization"); len(got) != 1 || got[0] != "Bearer key-of-"+name {
		t.Errorf("%s got the credential %q", name, got)
	}
	if got := r.Header.Values("OpenAI-Organization"); len(got) != 1 || got[0] != "org-of-"+name {
		t.Errorf("%s got the organisation %q", name, got)
	}
}

// Under failover every target gets its own credential and headers, and those of
// no other: the fleet looks at each request for the latter.
func TestCredentialsUnderFailover(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				targets := inOrder("one", "two", "three")
				for i := range targets {
					name := targets[i].Name
					targets[i].Headers = map[string]string{
						"OpenAI-Organization": "org-of-" + name, "OpenAI-Project": "proj-of-" + name,
						"X-Only-" + name: "own-of-" + name, "User-Agent": "agent-of-" + name,
					}
				}
				f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: chatBudget()}, "one", "two", "three")
				for _, name := range []string{"one", "two"} {
					f.servers[name].Script(upstream.Step{Fault: upstream.HTTPError}, upstream.Step{Fault: upstream.HTTPError})
				}
				f.answers(t, say, f.chat(), "three")
				for name, requests := range f.seen {
					if len(requests) != 1 {
						t.Errorf("%s got %d requests, want 1", name, len(requests))
					}
					for _, r := range requests {
						checkOwn(t, name, r)
						for header, want := range targets[strings.Index("one two three", name)/4].Headers {
							if got := r.Header.Get(header); got != want {
								t.Errorf("%s got %s: %q, want %q", name, header, got, want)
							}
						}
					}
				}
			})
		})
	}
}

func TestApplicationsHeadersTravel(t *testing.T) {
	stays := map[string]string{
		"OpenAI-Organization": "org-mine", "OpenAI-Project": "proj-mine", "X-Goog-User-Project": "mine",
		"Connection": "X-Hop", "X-Hop": "mine", "Keep-Alive": "timeout=5", "Te": "trailers", "Trailer": "X-T",
		"Transfer-Encoding": "chunked", "Upgrade": "h2c", "Proxy-Connection": "keep-alive", "Expect": "100-continue",
		"Accept-Encoding": "br",
		// How the request came to us, and whose it is.
		"Forwarded": "for=mine", "Via": "1.1 mine", "X-Real-Ip": "mine", "X-Client-Ip": "mine", "X-Cluster-Client-Ip": "mine",
		"True-Client-Ip": "mine", "X-Forwarded-For": "mine", "X-Forwarded-Host": "mine", "Cf-Connecting-Ip": "mine",
		"Cf-Ray": "mine", "X-Envoy-External-Address": "mine", "X-Original-Url": "mine", "X-Ms-Client-Principal": "mine",
		"X-Amzn-Trace-Id": "mine", "X-Amz-Date": "mine", "Dpop": "mine", "Proxy-Anything": "mine",
		// Secrets, by their names.
		"X-Acme-Token": "mine", "X-Client-Secret": "mine", "X-Apikey": "mine", "acme_key": "mine", "X-Authentication": "mine",
		"X-Cookies": "mine", "X-Session-Id": "mine", "X-Password": "mine", "X-User-Credential": "mine",
		"X-Goog-Iap-Jwt-Assertion": "mine", "Cf-Aig-Authorization": "mine", "Cf-Access-Jwt-Assertion": "mine",
	}
	travels := map[string]string{
		"X-Trace": "abc", "OpenAI-Beta": "assistants=v2", "Idempotency-Key": "k1", "X-Stainless-Lang": "go",
		"User-Agent": "app/1", "Traceparent": "00-1-2-01",
		"Accept-Language": "de", "Anthropic-Beta": "b", "Anthropic-Version": "v", "X-Request-Id": "r", "X-Client-Request-Id": "c",
		"Http-Referer": "https://app.test", "X-Title": "app", "X-Session-Affinity": "s", "X-Idempotency-Key": "k2",
		"Cf-Aig-Cache-Ttl": "60", "X-Amzn-Bedrock-Guardrailidentifier": "g", "Sec-Websocket-Key": "w",
	}
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		var opts []option.RequestOption
		for _, headers := range []map[string]string{stays, travels} {
			for name, value := range headers {
				opts = append(opts, option.WithHeader(name, value))
			}
		}
		opts = append(opts, option.WithOrganization("org-mine"), option.WithProject("proj-mine"))
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError})
		if _, err := ask(t.Context(), f.chat(), question("hello"), opts...); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Models.List(t.Context(), opts[:len(opts)-2]...); err != nil {
			t.Fatal(err)
		}
		if f.requests("one") != 2 || f.requests("two") != 1 {
			t.Fatalf("%d and %d requests, want 2 and 1", f.requests("one"), f.requests("two"))
		}
		for _, requests := range f.seen {
			for _, r := range requests {
				for name, want := range travels {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s: %s is %q, want %q", r.URL.Path, name, got, want)
					}
				}
				for name, mine := range stays {
					// A hop-by-hop header of an upgrade is sent again for unrouted requests.
					if upgrade := name == "Connection" || name == "Upgrade"; upgrade && r.Method == "GET" {
						continue
					}
					if strings.Contains(r.Header.Get(name), mine) {
						t.Errorf("%s: %s: %s travelled", r.URL.Path, name, mine)
					}
				}
			}
		}
	})
}

func TestTargetsHeadersWinOverTheApplications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{
			{Name: "one", Headers: map[string]string{"x-title": "title-of-one"}},
		}}, "one")
		if _, err := ask(t.Context(), &f.Client.Client, question("hello"), option.WithHeader("X-Title", "the application's")); err != nil {
			t.Fatal(err)
		}
		if r, _ := f.last(t, "one"); strings.Join(r.Header.Values("X-Title"), ",") != "title-of-one" {
			t.Errorf("X-Title is %q, want the target's", r.Header.Values("X-Title"))
		}
	})
}

func TestAnswerTellsTargetAndAttempts(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(upstream.Step{Fault: upstream.Refused})
				var resp *http.Response
				ctx, call := middleware.WithCall(t.Context())
				if _, err := say(ctx, f.chat(), question("hello"), option.WithResponseInto(&resp)); err != nil {
					t.Fatal(err)
				}
				if h := resp.Header; h.Get("X-Ontime-Target") != "two" || h.Get("X-Ontime-Attempts") != "2" || h.Get("X-Should-Retry") != "false" {
					t.Errorf("headers are %v", h)
				}
				if call.Target != "two" || len(call.Attempts) != 2 {
					t.Errorf("call is %+v", call)
				}
			})
		})
	}
}
