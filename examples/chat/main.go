// Chat is a conversation in the terminal: answers appear as they come, and below
// each stands what was measured. Ctrl-C ends an answer, a second one the program;
// so does Ctrl-D.
//
//	go run ./examples/chat                      two simulated providers, which answer with numbers
//	go run ./examples/chat -real                the providers whose API keys are set
//	go run ./examples/chat -config ontime.yaml  targets and promises from a file
//
// Where the input is no terminal, it plays a short conversation by itself.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/ontime-llm/ontime/client"
)

func main() {
	var s settings
	flag.StringVar(&s.file, "config", "", "take targets and endpoints from this `file`; see examples/config/ontime.yaml")
	flag.BoolVar(&s.real, "real", false, "call the providers whose API keys are in the environment; this costs money")
	flag.StringVar(&s.endpoint, "endpoint", "chat", "the endpoint whose promises are to be kept")
	flag.StringVar(&s.model, "model", "", "the `model`, as the configuration names it (default: the first of the first target)")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(s settings) error {
	cfg, err := s.config(os.Getenv)
	if err != nil {
		return err
	}
	model, err := s.pick(cfg)
	if err != nil {
		return err
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	talk := &conversation{client: c.Endpoint(s.endpoint), model: model, out: os.Stdout}
	if !isTerminal(os.Stdin) {
		return talk.play(context.Background(), script, interrupts)
	}
	talk.hold(context.Background(), lines(os.Stdin), interrupts)
	return nil
}

// script is what is asked where nobody is at the keyboard.
var script = []string{"Why is the sky blue?", "And at sunset?", "Say it in one line."}

// lines sends what is typed, and closes the channel at its end. Nothing can
// interrupt a read from a terminal, so that its goroutine ends with the program.
func lines(r io.Reader) <-chan string {
	typed := make(chan string)
	go func() {
		defer close(typed)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			typed <- scanner.Text()
		}
	}()
	return typed
}

// isTerminal tells whether somebody may type there. The null device looks like a
// terminal, being a device of characters too.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
