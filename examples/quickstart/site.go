package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// site is one set of the regions, each a server on a loopback socket.
type site struct {
	servers   []*upstream.Server
	web       []*http.Server
	urls      []string
	transport *http.Transport // of the plain clients
	serving   sync.WaitGroup
}

func newSite(seed uint64) (*site, error) {
	s := &site{transport: http.DefaultTransport.(*http.Transport).Clone()}
	s.transport.MaxIdleConnsPerHost = 64 // ontime keeps connections too
	for _, r := range regions {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.close()
			return nil, fmt.Errorf("a simulated region has no socket: %w", err)
		}
		s.serve(r.name, listener, upstream.New(r.name, r.behaviour(), seed))
	}
	return s, nil
}

func (s *site) serve(name string, listener net.Listener, server *upstream.Server) {
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	s.servers = append(s.servers, server)
	s.web = append(s.web, web)
	s.urls = append(s.urls, "http://"+listener.Addr().String()+"/v1")
	s.serving.Go(func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, name, "stopped serving:", err)
		}
	})
}

// targets are the regions as an application configures them.
func (s *site) targets() []client.Target {
	var targets []client.Target
	for i, r := range regions {
		targets = append(targets, client.Target{
			Name: r.name, Region: r.name, BaseURL: s.urls[i], APIKey: "simulated",
			Models: map[string]string{model: model}, Price: r.price,
		})
	}
	return targets
}

// plain are openai-go's own clients, one for each region, with what openai-go
// does by itself: two retries.
func (s *site) plain() []openai.Client {
	var clients []openai.Client
	for _, url := range s.urls {
		clients = append(clients, openai.NewClient(
			option.WithBaseURL(url), option.WithAPIKey("simulated"),
			option.WithHTTPClient(&http.Client{Transport: s.transport}),
		))
	}
	return clients
}

func (s *site) close() {
	s.transport.CloseIdleConnections()
	for _, web := range s.web {
		web.Close()
	}
	s.serving.Wait()
}
