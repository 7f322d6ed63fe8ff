// Compare measures what this library costs and what its hedges save, beside the clients
// and hedging transports that could be used instead, against one server in one run.
//
//	go run ./tools/compare            all tables, some ten minutes on two cores
//	go run ./tools/compare -quick     a look: every figure, from too few calls
//	go run ./tools/compare -only hedge,memory
//
// The server is a process of its own on this machine, so that CPU time, allocations and
// memory are those of the client alone. Subjects take turns, in several rounds; a figure
// is the median of its rounds. Read the ratios: the figures themselves are the machine's.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	if os.Getenv(serverEnv) != "" {
		serve()
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// plan is how much of everything is done.
type plan struct {
	rounds  int
	calls   map[int]int // by how many are under way at once
	paced   int
	streams []int
	hedged  int
}

var (
	thorough = plan{
		rounds: 3, calls: map[int]int{1: 1_500, 64: 6_000, 512: 6_000}, paced: 3_000,
		streams: []int{1_000, 10_000}, hedged: 10_000,
	}
	quick = plan{
		rounds: 1, calls: map[int]int{1: 100, 64: 300, 512: 600}, paced: 100,
		streams: []int{100}, hedged: 400,
	}
)

// part is some tables, under one name.
type part struct {
	name string
	make func(*server, plan) ([]table, error)
}

var parts = []part{
	{"calls", measureCalls},
	{"events", measureEvents},
	{"pace", measurePace},
	{"memory", measureMemory},
	{"hedge", measureHedges},
}

func run() error {
	isQuick := flag.Bool("quick", false, "few calls: to see that it works, not to quote")
	only := flag.String("only", "", "tables to make, with commas: calls, events, pace, memory, hedge")
	flag.Parse()
	p := thorough
	if *isQuick {
		p = quick
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if name != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no table %q: use calls, events, pace, memory or hedge", name)
		}
	}
	s, err := start()
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Printf("%s, %d cores, %s/%s, %s\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, time.Now().Format(time.DateOnly))
	if *isQuick {
		fmt.Println("From few calls: to see that it works, not to quote.")
	}
	for _, part := range parts {
		if *only != "" && !slices.Contains(wanted, part.name) {
			continue
		}
		tables, err := part.make(s, p)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		for _, t := range tables {
			t.print(os.Stdout)
		}
	}
	fmt.Println("\nall tables were made")
	return nil
}

// progress says what is being done, on one line of a terminal.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
}
