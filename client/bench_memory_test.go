package client_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/ontime-llm/ontime/client"
)

const holdEnv = "ONTIME_TEST_HOLD" // makes the test binary a server that holds streams open

// holdServer serves streams that have begun and do not end, in a process of its
// own, so that only the client's memory is measured.
func holdServer(b *testing.B) (base string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		b.Fatal(err)
	}
	_ = listener.Close()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestHoldServer$")
	cmd.Env = append(os.Environ(), holdEnv+"=1")
	cmd.ExtraFiles = []*os.File{file}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = file.Close()
	})
	return "http://" + listener.Addr().String()
}

// TestHoldServer is that server, when it is asked to be.
func TestHoldServer(t *testing.T) {
	if os.Getenv(holdEnv) == "" {
		t.Skip("runs as the server of BenchmarkOpenStreams")
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		t.Fatal(err)
	}
	begin, _, _ := strings.Cut(answer(8), `data: {"id":"chatcmpl-A"`)
	begin = begin[:strings.LastIndex(begin[:len(begin)-2], "\n\n")+2] // without the finish
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(begin))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
}

// BenchmarkOpenStreams measures what an open stream costs in memory: B/stream
// is the growth of heap and stacks with all streams begun.
func BenchmarkOpenStreams(b *testing.B) {
	base := holdServer(b)
	plain := openai.NewClient(option.WithBaseURL(base+"/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}))
	routed, err := client.New(client.Config{Targets: []client.Target{{Name: "one", BaseURL: base + "/v1"}}, Grace: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = routed.Close() })
	for _, n := range []int{1_000, 10_000} {
		for _, side := range []struct {
			name   string
			client *openai.Client
		}{{"plain", &plain}, {"ontime", &routed.Client}} {
			b.Run(fmt.Sprintf("%s/%d", side.name, n), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(float64(openStreams(b, side.client, n))/float64(n), "B/stream")
				}
			})
		}
	}
}

// openStreams begins n streams, and returns the memory that they hold.
func openStreams(b *testing.B, c *openai.Client, n int) uint64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := memory()
	streams := make([]*ssestream.Stream[openai.ChatCompletionChunk], n)
	var begin sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range streams {
		slots <- struct{}{}
		begin.Go(func() {
			defer func() { <-slots }()
			s := c.Chat.Completions.NewStreaming(ctx, question("hi"))
			for range 5 {
				if !s.Next() {
					b.Errorf("a stream ended: %v", s.Err())
					break
				}
			}
			streams[i] = s
		})
	}
	begin.Wait()
	held := memory() - before
	for _, s := range streams {
		_ = s.Close()
	}
	return held
}

func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
