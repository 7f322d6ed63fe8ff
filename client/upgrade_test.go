package client_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
)

// echo upgrades a connection and sends back what it gets.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "echo" || r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Authorization") != "Bearer key" {
		http.Error(w, fmt.Sprintf("unexpected headers: %v", r.Header), http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Own: as it is\r\n\r\n")
	line, _ := buffered.ReadString('\n')
	_, _ = io.WriteString(conn, "echo: "+line)
}

// An upgraded connection is the application's: both directions, unbuffered.
func TestUpgradePasses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	c, err := client.New(client.Config{Targets: []client.Target{{Name: "one", BaseURL: server.URL + "/v1", APIKey: "key"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	talk := func(resp *http.Response) {
		t.Helper()
		defer resp.Body.Close()
		both, ok := resp.Body.(io.ReadWriteCloser)
		if resp.StatusCode != 101 || !ok {
			t.Fatalf("status %d with a body of type %T, want 101 with one that can be written to", resp.StatusCode, resp.Body)
		}
		if resp.Header.Get("Upgrade") != "echo" || resp.Header.Get("X-Own") != "as it is" || resp.Header.Get("X-Ontime-Target") != "" {
			t.Errorf("headers are %v, want the target's untouched", resp.Header)
		}
		_, _ = io.WriteString(both, "hello\n")
		if line, err := bufio.NewReader(both).ReadString('\n'); err != nil || line != "echo: hello\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	t.Run("HTTPClient", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/v1/realtime", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "echo")
		resp, err := c.HTTPClient().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		talk(resp)
	})
	t.Run("embedded client", func(t *testing.T) {
		var resp *http.Response
		err := c.Get(t.Context(), "realtime", nil, &resp, option.WithHeader("Connection", "Upgrade"), option.WithHeader("Upgrade", "echo"))
		if err != nil {
			t.Fatal(err)
		}
		talk(resp)
	})
}
