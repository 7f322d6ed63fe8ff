package upstream

import (
	"encoding/json"
	"net/http"
	"time"
)

// Raw is a reply byte by byte.
type Raw struct {
	// Status of the response. 0: 200.
	Status int
	// Headers to send, as they are.
	Headers map[string]string
	// Delay is the time from the request's arrival to the headers.
	Delay time.Duration
	// Parts of the body; several parts may come at the same time.
	Parts []Part
	// End is how the body ends after the last part: None, Stall (not at all) or Reset. An empty body may also be Refused or
	// Hang: no status comes.
	End Fault
}

// Part is a piece of a Raw body.
type Part struct {
	// After is the time since the part before it, or since the headers.
	After time.Duration
	Data  string
}

// parts is the source of a body that is known beforehand. It is consumed as it is read.
type parts struct {
	at   time.Duration // age of the part before the first
	left []Part
	tail time.Duration
	end  Fault
}

func (p *parts) next() (time.Duration, ending) {
	switch {
	case len(p.left) > 0:
		return p.at + p.left[0].After, open
	case p.end == Stall:
		return never, open
	case p.end == Reset:
		return p.at, broken
	}
	return p.at + p.tail, closed
}

func (p *parts) append(dst []byte) []byte {
	part := p.left[0]
	p.left = p.left[1:]
	p.at += part.After
	return append(dst, part.Data...)
}

// length is the age of the last part.
func (p *parts) length() time.Duration {
	if p.end == Stall {
		return never
	}
	age := p.at
	for _, part := range p.left {
		age += part.After
	}
	return age
}

// whole is the source of an answer that is not streamed.
func whole(a *answer) *parts {
	data := string(a.format.whole(nil, a))
	p := &parts{at: a.end(), end: a.fault, tail: a.behaviour.Tail}
	switch a.fault {
	case Hang:
		p.end = Stall
		return p
	case Empty:
		return p
	case ErrorEvent, LateError:
		return object(errorBody{errorFor(http.StatusInternalServerError).object()}, a.end())
	case Stall, Cut, Reset:
		data = data[:len(data)/2]
	}
	p.left = []Part{{0, data}}
	return p
}

// page is what captive portals and gateways answer with.
const page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>\n"

// object is a JSON body that comes at an age.
func object(v any, age time.Duration) *parts {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own plain values are passed
	}
	return &parts{at: age, left: []Part{{0, string(b)}}}
}
