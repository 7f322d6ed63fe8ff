package status_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// What a call costs when it ends.
func BenchmarkObserveCall(b *testing.B) {
	p := opened()
	c := call()
	b.ReportAllocs()
	for b.Loop() {
		p.ObserveCall(c)
	}
}

// What an answer as JSON costs, with 200 calls in it.
func BenchmarkJSON(b *testing.B) {
	p := opened()
	for range 200 {
		p.ObserveCall(call())
	}
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", "/?format=json", nil))
		if !json.Valid(w.Body.Bytes()) {
			b.Fatal("not JSON")
		}
	}
}
