// Dashboard shows the status page and the Prometheus metrics of a client under load.
// Its four providers are simulated; for twenty seconds of every minute the nearest
// one spikes, and what becomes of that is on the page.
//
//	go run ./examples/dashboard                       # until Ctrl-C, on a port that is free
//	go run ./examples/dashboard -addr 127.0.0.1:8080
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ontime-llm/ontime/client"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	length := flag.Duration("for", 0, "end after so long, having looked at its own page; 0: run until Ctrl-C")
	flag.Parse()
	if err := run(*addr, *length); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr string, length time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	reg := prometheus.NewRegistry()
	sim := newProviders()
	c, err := client.New(client.Config{
		Targets: sim.targets(), Endpoints: promises, Transport: sim.network(), Registerer: reg,
	})
	if err != nil {
		return err
	}
	defer c.Close()

	// In an application this is behind its own authentication.
	mux := http.NewServeMux()
	mux.Handle("/status/", c.Handler())
	mux.Handle("/metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.Handle("/{$}", http.RedirectHandler("/status/", http.StatusSeeOther))
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop()
	}()
	defer server.Close()

	site := "http://" + listener.Addr().String()
	fmt.Printf("status   %s/status/\nmetrics  %s/metrics\n", site, site)
	if length > 0 {
		fmt.Printf("for %v\n", length)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, length)
		defer cancel()
	} else {
		fmt.Println("Ctrl-C to end")
	}
	go sim.spikeEveryMinute(ctx)
	load(ctx, c)
	if length > 0 {
		return look(site)
	}
	select {
	case err := <-served:
		if !errors.Is(err, http.ErrServerClosed) {
			return err
		}
	default:
	}
	return nil
}
