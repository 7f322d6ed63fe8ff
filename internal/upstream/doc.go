// Package upstream simulates providers of language models, for tests and examples.
//
// A [Server] answers chat completions, legacy completions, responses, embeddings and Anthropic's messages, streamed and not, with
// the times, quirks and faults that its [Behaviour] describes. It has two faces over one state: as an http.Handler it stands
// behind a real socket, as an http.RoundTripper it needs none, and under testing/synctest its times are exact to the nanosecond.
//
//	eu := upstream.New("eu", upstream.Behaviour{TTFT: upstream.Latency{Median: 200 * time.Millisecond}}, 1)
//	client := openai.NewClient(
//		option.WithBaseURL("https://eu.test/v1/"), option.WithAPIKey("test"),
//		option.WithHTTPClient(&http.Client{Transport: upstream.Network{"eu.test": eu}}),
//	)
//	eu.Set(func(b *upstream.Behaviour) { b.Slow = upstream.Slow{Share: 0.35, TTFT: 8} }) // a brown-out begins
//	eu.Script(upstream.Step{Fault: upstream.Cut, Events: 3})                             // the next answer is cut
//
// Everything random depends on the seed and on a number of the request, never on the order in which requests end, so that
// different policies can be held against the same luck; see [DrawHeader].
//
// It owns what providers do on the wire. It must never know the library under test, and imports nothing of ours.
package upstream
