// Fleet runs an application as three processes that share what they see through Redis.
// Of four simulated targets all but north have turned slow. A and B find out; C, which begins
// later and has never called anyone, avoids them from its first call on. Beside it the same
// process without the store, D, has to find out for itself.
//
//	go run ./examples/fleet
//
// It starts a Redis of its own, which has to be on the PATH.
package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// replicaVar names the replica that a process is to be; without it the process starts
// the others.
const replicaVar = "ONTIME_FLEET_REPLICA"

// targets by name; the first one is well.
var targets = []string{"north", "south", "east", "west"}

func main() {
	run := demonstrate
	if name := os.Getenv(replicaVar); name != "" {
		run = func() error { return replica(name, os.Args[1:]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func demonstrate() error {
	redis, err := startRedis()
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Println("redis-server is not on the PATH. Install it (apt-get install redis-server, brew install redis) and try again.")
		return nil
	}
	if err != nil {
		return err
	}
	defer redis.stop()
	urls, err := serveAll()
	if err != nil {
		return err
	}
	fmt.Println("all targets but north have turned slow: the first token takes a second, where p95 is to be 400 ms")
	var busy []*exec.Cmd
	for _, name := range []string{"A", "B"} {
		cmd := process(name, append([]string{"80", redis.address}, urls...)...)
		if err := cmd.Start(); err != nil {
			return err
		}
		busy = append(busy, cmd)
	}
	time.Sleep(10 * time.Second)
	if err := process("C", append([]string{"10", redis.address}, urls...)...).Run(); err != nil {
		return err
	}
	if err := process("D", append([]string{"10", ""}, urls...)...).Run(); err != nil {
		return err
	}
	for _, cmd := range busy {
		if err := cmd.Wait(); err != nil {
			return err
		}
	}
	fmt.Println("C had never called anyone, and knew; D had no store to learn from.")
	return nil
}

// serveAll starts the targets, and returns their URLs in the order of their names below.
func serveAll() (urls []string, err error) {
	for _, name := range targets {
		ttft := time.Second
		if name == targets[0] {
			ttft = 60 * time.Millisecond
		}
		url, err := serve(name, ttft)
		if err != nil {
			return nil, err
		}
		urls = append(urls, url)
	}
	return urls, nil
}

// serve starts a simulated target with that median time to the first token.
func serve(name string, ttft time.Duration) (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(l, upstream.New(name, upstream.Behaviour{TTFT: upstream.Latency{Median: ttft, Sigma: 0.2}}, 1))
	return "http://" + l.Addr().String() + "/v1", nil
}

// process is this program as a replica.
func process(name string, args ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(withoutKeys(os.Environ()), replicaVar+"="+name)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// withoutKeys leaves credentials behind: nothing here needs any.
func withoutKeys(environment []string) (rest []string) {
	for _, line := range environment {
		if name, _, _ := strings.Cut(line, "="); !strings.Contains(name, "KEY") {
			rest = append(rest, line)
		}
	}
	return rest
}
