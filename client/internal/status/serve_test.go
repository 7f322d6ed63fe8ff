package status_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	tests := []struct {
		method, query, accept string
		status                int
		content               string // type
	}{
		{"GET", "", browser, 200, "text/html; charset=utf-8"},
		{"GET", "", "*/*", 200, "text/html; charset=utf-8"},
		{"GET", "", "", 200, "text/html; charset=utf-8"},
		{"GET", "?format=html", "application/json", 200, "text/html; charset=utf-8"},
		{"HEAD", "", browser, 200, "text/html; charset=utf-8"},
		{"GET", "", "application/json", 200, "application/json"},
		{"GET", "", "text/html, application/json", 200, "text/html; charset=utf-8"},
		{"GET", "?format=json", browser, 200, "application/json"},
		{"HEAD", "?format=json", "", 200, "application/json"},
		{"HEAD", "", "text/event-stream", 200, "text/event-stream"},
		{"GET", "?format=xml", "", 400, "text/plain; charset=utf-8"},
		{"POST", "", "", 405, "text/plain; charset=utf-8"},
		{"PUT", "?format=json", "", 405, "text/plain; charset=utf-8"},
		{"DELETE", "", "", 405, "text/plain; charset=utf-8"},
		{"OPTIONS", "", "", 405, "text/plain; charset=utf-8"},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.query+" "+tt.accept, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/anywhere"+tt.query, nil)
			r.Header.Set("Origin", "https://elsewhere.test")
			if tt.accept != "" {
				r.Header.Set("Accept", tt.accept)
			}
			w := httptest.NewRecorder()
			opened().ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.content {
				t.Errorf("%d %q, want %d %q", w.Code, w.Header().Get("Content-Type"), tt.status, tt.content)
			}
			if allow := w.Header().Get("Allow"); (tt.status == 405) != (allow == "GET, HEAD") {
				t.Errorf("Allow %q", allow)
			}
			checkProtected(t, w.Header())
		})
	}
}

func checkProtected(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin", "Vary": "Accept",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	policy := h.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy is %q", policy)
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s is set", name)
		}
	}
}

// The page asks for nothing else, and its policy allows its own script and style only.
func TestPageIsWhole(t *testing.T) {
	w := get(t, opened(), "")
	page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	for _, tag := range []string{"script", "style"} {
		parts := regexp.MustCompile(`(?s)<`+tag+`>(.*)</`+tag+`>`).FindAllStringSubmatch(page, -1)
		if len(parts) != 1 {
			t.Fatalf("%d times <%s>", len(parts), tag)
		}
		sum := sha256.Sum256([]byte(parts[0][1]))
		want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %s", policy, want)
		}
	}
	local := strings.NewReplacer("'http://www.w3.org/2000/svg'", "", "http://www.w3.org/2000/svg", "").Replace(page)
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://", " src=", "@import", "url(", " style=", "/*script*/", "/*style*/"} {
		if strings.Contains(local, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if on := regexp.MustCompile(`<[^>]* on[a-z]+=`).FindString(page); on != "" {
		t.Errorf("the page has an inline handler: %s", on)
	}
}

// It does not know where it is mounted.
func TestMountedAnywhere(t *testing.T) {
	p := opened()
	mux := http.NewServeMux()
	mux.Handle("/a", p)
	mux.Handle("/b/c/", p)
	mux.Handle("/d/", http.StripPrefix("/d", p))
	for _, path := range []string{"/a", "/b/c/", "/b/c/anything", "/d/", "/d/x"} {
		for _, query := range []string{"", "?format=json&tenant=7"} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("GET", path+query, nil))
			if w.Code != 200 || w.Body.Len() == 0 {
				t.Errorf("%s%s: %d", path, query, w.Code)
			}
		}
	}
}
