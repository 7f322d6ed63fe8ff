package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3/auth"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// doer records what reaches an HTTP client that is not ours.
type doer struct{ seen []*http.Request }

var errUnreachable = errors.New("no such host")

func (d *doer) Do(r *http.Request) (*http.Response, error) {
	d.seen = append(d.seen, r)
	return nil, errUnreachable
}

func TestPerCallHTTPClientReachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		var outside doer
		_, err := ask(t.Context(), f.chat(), question("hello"), option.WithHTTPClient(&outside))
		mustBe(t, err, errUnreachable)
		_, err = f.Models.List(t.Context(), option.WithHTTPClient(&outside))
		mustBe(t, err, errUnreachable)
		if f.allRequests() != 0 || len(outside.seen) != 2 {
			t.Errorf("targets got %d requests, the other client %d; want 0 and 2", f.allRequests(), len(outside.seen))
		}
		for _, r := range outside.seen {
			if r.URL.Host != "ontime.invalid" || r.Header.Get("Authorization") != "Bearer "+client.APIKey {
				t.Errorf("the other client got %s with %q", r.URL, r.Header.Get("Authorization"))
			}
			checkNoSecret(t, "request outside", r)
		}
	})
}

// What a per-call option of the SDK, or of its azure and bedrock packages, does
// to a request. Those packages are not in this module: an azure endpoint is a
// base URL, a query and an Api-Key header, bedrock a base URL and a signature.
func TestPerCallOptionsThatAreRefused(t *testing.T) {
	const secret = "sk-secret"
	azure := []option.RequestOption{
		option.WithQueryAdd("api-version", "2024-06-01"),
		option.WithBaseURL("https://example.openai.azure.com/openai/deployments/m"),
	}
	for name, test := range map[string]struct {
		opts []option.RequestOption
		want error
	}{
		"base URL":          {[]option.RequestOption{option.WithBaseURL("https://api.openai.com/v1")}, middleware.ErrForeignOrigin},
		"base URL, http":    {[]option.RequestOption{option.WithBaseURL("http://ontime.invalid/v1")}, middleware.ErrForeignOrigin},
		"base URL, port":    {[]option.RequestOption{option.WithBaseURL("https://ontime.invalid:8443/v1")}, middleware.ErrForeignOrigin},
		"a target's URL":    {[]option.RequestOption{option.WithBaseURL("https://one.test/v1")}, middleware.ErrForeignOrigin},
		"user in the URL":   {[]option.RequestOption{option.WithBaseURL("https://u:" + secret + "@ontime.invalid/v1")}, middleware.ErrForeignCredential},
		"data residency":    {[]option.RequestOption{option.WithDataResidency(option.DataResidencyEU)}, middleware.ErrForeignOrigin},
		"API key":           {[]option.RequestOption{option.WithAPIKey(secret)}, middleware.ErrForeignCredential},
		"Authorization":     {[]option.RequestOption{option.WithHeader("Authorization", "Basic "+secret)}, middleware.ErrForeignCredential},
		"second one":        {[]option.RequestOption{option.WithHeaderAdd("Authorization", "Bearer "+secret)}, middleware.ErrForeignCredential},
		"Api-Key":           {[]option.RequestOption{option.WithHeader("api-key", secret)}, middleware.ErrForeignCredential},
		"X-Api-Key":         {[]option.RequestOption{option.WithHeader("x-api-key", secret)}, middleware.ErrForeignCredential},
		"X-Goog-Api-Key":    {[]option.RequestOption{option.WithHeader("x-goog-api-key", secret)}, middleware.ErrForeignCredential},
		"Cookie":            {[]option.RequestOption{option.WithHeader("Cookie", "session="+secret)}, middleware.ErrForeignCredential},
		"azure endpoint":    {azure, middleware.ErrForeignOrigin},
		"azure key":         {append(azure, option.WithHeader("Api-Key", secret)), middleware.ErrForeignCredential},
		"bedrock signature": {[]option.RequestOption{option.WithHeader("Authorization", "AWS4-HMAC-SHA256 Credential="+secret)}, middleware.ErrForeignCredential},
		"token exchange":    {[]option.RequestOption{workloadIdentity(secret)}, middleware.ErrForeignOrigin},
		"set by middleware": {[]option.RequestOption{setHeader("Api-Key", secret)}, middleware.ErrForeignCredential},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				for _, say := range ways {
					_, err := say(t.Context(), f.chat(), question("hello"), append(test.opts, option.WithMaxRetries(0))...)
					mustBe(t, err, test.want)
					ours(t, err)
					if strings.Contains(err.Error(), secret) {
						t.Errorf("the error tells the credential: %v", err)
					}
				}
				if _, err := f.Models.List(t.Context(), append(test.opts, option.WithMaxRetries(0))...); !errors.Is(err, test.want) {
					t.Errorf("error is %v, want %v", err, test.want)
				}
				if f.allRequests() != 0 {
					t.Errorf("targets got %d requests, want none", f.allRequests())
				}
			})
		})
	}
}

// The same options given to New are refused by every call, not overwritten.
func TestClientOptionsThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		for _, test := range []struct {
			opt  option.RequestOption
			want error
		}{
			{option.WithBaseURL("https://api.openai.com/v1"), middleware.ErrForeignOrigin},
			{option.WithAPIKey("sk-secret"), middleware.ErrForeignCredential},
		} {
			c, err := client.New(client.Config{
				Targets:   []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}},
				Transport: f.servers["one"],
			}, test.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = ask(t.Context(), &c.Client, question("hello"))
			mustBe(t, err, test.want)
		}
		if f.allRequests() != 0 {
			t.Errorf("the target got %d requests, want none", f.allRequests())
		}
	})
}

// The placeholder is welcome in the header that another SDK uses for its key.
func TestPlaceholderInAnyHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		for _, header := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
			if _, err := ask(t.Context(), &f.Client.Client, question("hello"), option.WithHeader(header, client.APIKey)); err != nil {
				t.Errorf("%s: %v", header, err)
			}
			r, _ := f.last(t, "one")
			if header != "Authorization" && r.Header.Get(header) != "" {
				t.Errorf("the target was sent %s: %s", header, r.Header.Get(header))
			}
		}
	})
}

func setHeader(name, value string) option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		r.Header.Set(name, value)
		return next(r)
	})
}

// token is a subject token for a workload identity.
type token string

func (token) TokenType() auth.SubjectTokenType { return auth.SubjectTokenTypeJWT }

func (t token) GetToken(context.Context, auth.HTTPDoer) (string, error) { return string(t), nil }

func workloadIdentity(secret string) option.RequestOption {
	return option.WithWorkloadIdentity(auth.WorkloadIdentity{
		ClientID: "c", IdentityProviderID: "p", ServiceAccountID: "s", Provider: token(secret),
	})
}
