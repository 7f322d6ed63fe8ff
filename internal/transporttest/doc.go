// Package transporttest holds an http.RoundTripper to the contract of net/http,
// over real sockets and with a real server behind.
//
//	transporttest.Test(t, transporttest.Subject{
//		New: func(t *testing.T, h http.Handler) (http.RoundTripper, string) {
//			srv := httptest.NewServer(h)
//			t.Cleanup(srv.Close)
//			return srv.Client().Transport, srv.URL
//		},
//	})
//
// Checked are what the documentation of http.RoundTripper, http.Request and
// http.Response promises: the request stays as it was and its body is closed,
// there is either a response or an error, a response is not interpreted, a cancel
// and a deadline are heeded at any time, the body can be closed at any time and
// more than once, and nothing is left behind. Run it under the race detector: a
// transport that goes on using a request that it has done with is seen by that
// alone.
//
// A transport that has an opinion on what passes through it is given an
// [Exchange] to its taste; one that answers only once it has all of an answer
// says so in it. Nothing here measures how long a thing takes: a limit of seconds
// tells what waits from what hangs.
//
// It owns the contract of net/http, knows nothing of language models, and imports
// nothing of ours. Only tests use it.
package transporttest
