// Command soak runs another command while it serves simulated targets, each
// behind a proxy that resets connections, slows them down and goes away.
//
//	go run ./tools/soak go test ./client -count=1 -run '^TestSoak$' -soak 60s
//
// The command finds the targets in the environment variable ONTIME_SOAK_TARGETS,
// as name=URL with commas between. When it ends everything ends, with its status.
// It is a process of its own, so that nothing of a server or a proxy is in what
// it measures of its memory and goroutines.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
)

// names of the targets: so many that one is up most of the time.
var names = []string{"one", "two", "three", "four"}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: soak command [argument ...]")
		os.Exit(2)
	}
	zerolog.SetGlobalLevel(zerolog.Disabled) // parts of toxiproxy have a logger of their own
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		if status, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(max(status.ExitCode(), 1))
		}
		os.Exit(1)
	}
}

// run serves the targets for as long as the command takes. It does not wait for
// those who make trouble: a proxy can be stuck, and the process ends them anyway.
func run(ctx context.Context, command []string) error {
	var (
		addresses []string
		counts    tally
	)
	for i, name := range names {
		t, err := newTarget(name, uint64(i))
		if err != nil {
			return err
		}
		addresses = append(addresses, name+"=http://"+t.proxy.Listen)
		go t.trouble(rand.New(rand.NewPCG(1, uint64(i))), &counts)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "ONTIME_SOAK_TARGETS="+strings.Join(addresses, ","))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err := cmd.Run()
	fmt.Println("soak:", counts.String())
	return err
}
