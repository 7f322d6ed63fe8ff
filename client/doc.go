// Package client is an openai.Client over several targets: unchanged openai-go
// code is measured, capped, routed and failed over so that each endpoint keeps
// the latency that it promised.
//
//	c, err := client.New(client.Config{
//		Targets: []client.Target{
//			{Name: "openai", Provider: "openai"},
//			{Name: "azure-eu", Provider: "azure", Region: "swedencentral",
//				BaseURL: "https://example.openai.azure.com/openai/v1"},
//		},
//		Endpoints: map[string]budget.Budget{
//			"chat": {TTFT: budget.Layers{50: 300 * time.Millisecond, 95: 600 * time.Millisecond}},
//		},
//	})
//	...
//	defer c.Close()
//	stream := c.Endpoint("chat").Chat.Completions.NewStreaming(ctx, params)
//
// # Which piece to use
//
//   - [Client] itself is an openai.Client; its calls belong to the endpoint that
//     the context names ([budget.With]), or to "default".
//   - [Client.Endpoint] is the same client bound to one endpoint.
//   - [Client.HTTPClient] serves any other SDK.
//   - [Client.Handler] is the status page, and the same as JSON.
//   - [Load] reads a [Config] from a file, [Client.Reload] changes to another one.
//
// Chat completions, completions, responses, embeddings and Anthropic messages
// are routed, each to targets that speak its format ([Target.Formats]).
// Everything else goes to [Config.Home], and a call that names stored state goes
// to the target that made it.
//
// # Providers
//
// A preset ([Target.Provider]) knows where a provider is, how it takes a
// credential, in which environment variable its own SDK looks for one, what it
// speaks, and what it has to be asked for in its own way. Most need nothing else:
//
//	azure                            BaseURL, the resource's
//	bedrock                          Region
//	vertex                           Region, Project, and Auth: its tokens expire
//	compatible                       BaseURL; no credential is looked for
//	vllm, sglang, llama.cpp, ollama  BaseURL, if not at the usual port of localhost
//
// A key is one of these: [Target.APIKey], [Target.APIKeys] used in turn, the
// environment's, or [Target.Auth] for tokens that expire and for signatures.
//
// # What the SDK's options do here
//
// Headers of the application travel to the target, except credentials and what is
// named like one, organisation and project, and those of a connection or a proxy
// (SECURITY.md lists them). A request with a base URL or a credential of its own fails
// with [middleware.ErrForeignOrigin] or [middleware.ErrForeignCredential]: credentials
// belong to targets. A per-call option.WithHTTPClient bypasses the client and reaches
// nothing, since the base URL is a name that does not exist.
//
// The SDK's own retries are off. An option.WithMaxRetries, per call or in [New], has
// an effect on transport errors only, which the SDK retries whatever we answer: leave
// it out. When the caller's context has ended the SDK returns the context's error; what
// happened is in the call ([middleware.WithCall]).
//
// This package owns credentials, presets and configuration. How a call is
// served is package middleware, which way it goes package router.
package client
