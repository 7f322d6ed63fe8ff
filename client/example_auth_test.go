package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"github.com/ontime-llm/ontime/client"
)

// tokens is where access tokens come from: azidentity, golang.org/x/oauth2/google, a
// file. It keeps a token until shortly before it expires.
type tokens interface {
	Token(ctx context.Context) (string, error)
}

// Azure with a token of Entra ID in place of a key. The scope to ask a token for is
// https://cognitiveservices.azure.com/.default. With Google's tokens the same serves
// vertex.
func ExampleTarget_entra() {
	var entra tokens = yourTokens{}
	azure := client.Target{
		Name: "azure-eu", Provider: "azure", Region: "swedencentral",
		BaseURL: "https://example.openai.azure.com/openai/v1",
		Auth: func(r *http.Request) error {
			token, err := entra.Token(r.Context())
			if err != nil {
				return err // the call goes on to another target
			}
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	}
	c, err := client.New(client.Config{Targets: []client.Target{azure}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	_ = c.Close()
	// Output: ready
}

// signer is what *v4.Signer of the AWS SDK does, once it has been given credentials:
//
//	func (s mine) SignHTTP(ctx context.Context, r *http.Request, hash, service, region string) error {
//		who, err := s.config.Credentials.Retrieve(ctx)
//		if err != nil {
//			return err
//		}
//		return s.signer.SignHTTP(ctx, who, r, hash, service, region, time.Now())
//	}
type signer interface {
	SignHTTP(ctx context.Context, r *http.Request, bodySHA256, service, region string) error
}

// Bedrock with AWS credentials in place of a key: each attempt is signed. (The
// service is "bedrock-mantle" on the hosts of that name.)
func ExampleTarget_sigV4() {
	const region = "us-west-2"
	var aws signer = yourSigner{}
	bedrock := client.Target{
		Name: "bedrock", Provider: "bedrock", Region: region,
		Auth: func(r *http.Request) error {
			hash := sha256.New()
			if r.Body != nil {
				if _, err := io.Copy(hash, r.Body); err != nil { // it is sent all the same
					return err
				}
			}
			return aws.SignHTTP(r.Context(), r, hex.EncodeToString(hash.Sum(nil)), "bedrock", region)
		},
	}
	c, err := client.New(client.Config{Targets: []client.Target{bedrock}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	_ = c.Close()
	// Output: ready
}

type yourTokens struct{}

func (yourTokens) Token(context.Context) (string, error) { return "token", nil }

type yourSigner struct{}

func (yourSigner) SignHTTP(_ context.Context, r *http.Request, _, _, _ string) error {
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 ...")
	return nil
}
