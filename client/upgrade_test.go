package client_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/realtime"

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

// webSocket accepts a connection (RFC 6455), says one word and hangs up.
func webSocket(w http.ResponseWriter, r *http.Request) {
	if r.URL.RequestURI() != "/v1/realtime?model=m" || r.Header.Get("Authorization") != "Bearer key" {
		http.Error(w, "not what was expected: "+r.URL.RequestURI(), http.StatusBadRequest)
		return
	}
	const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	accept := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + magic))
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(accept[:])+"\r\n\r\n")
	const event = `{"type":"session.created","event_id":"ev_1"}`
	_, _ = conn.Write(append([]byte{0x81, byte(len(event))}, event...)) // one text frame
	_, _ = buffered.ReadByte()                                          // the other side's close
}

// The SDK's own WebSocket goes home like all that is not inference.
func TestRealtimeOfTheSDK(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(webSocket))
	defer server.Close()
	c, err := client.New(client.Config{Targets: []client.Target{{Name: "one", BaseURL: server.URL + "/v1", APIKey: "key"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, err := c.Realtime.Connect(t.Context(), realtime.RealtimeConnectionOptions{}, option.WithQuery("model", "m"))
	if err != nil {
		t.Fatal(err)
	}
	event, err := conn.Recv(t.Context())
	if err != nil || event.Type != "session.created" {
		t.Errorf("event is %+v, %v", event, err)
	}
	conn.Abort()
}
