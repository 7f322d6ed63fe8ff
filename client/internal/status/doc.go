// Package status is the status page of a client: what the router knows and the
// last calls, for people as a page that is kept up to date, for scripts as JSON.
//
//	p := status.New(c.Snapshot)        // a middleware.Observer, which notes nothing yet
//	p.Open()                           // from now on it does
//	http.Handle("/debug/llm", p)       // wherever it is mounted
//	defer p.Close()                    // ends the streams of those who look
//
// # What it costs
//
// Nothing at all before Open. From then on each call that ends is noted once: some
// microseconds and allocations on the goroutine that ended it, after its answer has
// been read; one call in 10 s also takes a sample of the routes (a Snapshot, some 15 us
// for ten of them). Nothing is done for the events of a stream, and no goroutine is started:
// a viewer's stream is written by the goroutine of its own request.
//
// Why a plan chose as it did is worked out for one call of each endpoint a second
// ([Page.Wants]), while its first attempt is under way, so that there is a story to
// look at even if nobody was looking when it happened. Plans are not kept, since each
// keeps alive all that was known of its routes; the line of text is.
//
// # What it keeps
//
// The last 200 calls with up to 8 attempts each (2 MiB at most, usually a tenth of
// it); of each endpoint the latest 1000 times of each metric (48 KiB); and of each
// route that has been tried 90 samples, 10 s apart (5 KiB). Texts are cut to
// 300 bytes, reasons to 600, names to 128.
//
// # What it shows
//
// Names from the configuration, models as the application and the provider name
// them, figures, and errors in the words of package middleware: a provider's status,
// type and code. Never a prompt, an answer, a credential, a provider's message, nor
// an error that quotes the application's own request.
//
// The page is one response: its style and script are in it and allowed by their
// hashes, so that it works under any prefix and behind any proxy. The script never
// makes HTML of data: its policy forbids that.
package status
