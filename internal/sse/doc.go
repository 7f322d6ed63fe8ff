// Package sse splits a text/event-stream into its blocks, as the WHATWG HTML
// grammar says, while the bytes come in: LF, CRLF or bare CR line ends (a CR at
// the end of one read and its LF at the start of the next included), a byte order
// mark, comments, several data lines in one event, a missing space after the
// colon, an event that no blank line ends, lines of any length. How the input was
// cut into packets makes no difference to the events.
//
// A block keeps the bytes it was sent as, so that a stream can be passed on
// untouched, and says whether a simpler reader, such as the one in openai-go,
// would see the same event in them.
//
// The package owns framing only. It must never know what the data of an event
// means, nor where the bytes come from.
package sse
