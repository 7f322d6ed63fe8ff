package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// measureMemory is what an open stream holds, with its first content read.
func measureMemory(s *server, p plan) ([]table, error) {
	t := table{
		title:   "Memory of an open stream, KiB of heap and stacks, the reading goroutine included; in brackets: of openai-go's",
		command: "memory", head: []string{"client"},
	}
	rows := make([][]string, len(clients()))
	for _, n := range p.streams {
		t.head = append(t.head, fmt.Sprintf("%d streams", n))
		held, err := inRounds(s, holds, p.rounds, clients(), func(name string, call caller) (float64, error) {
			progress("memory, %d streams: %s", n, name)
			return hold(call, n)
		})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i] = append(rows[i], against("%.1f", median(held[i]), median(held[0])))
		}
	}
	for i, subject := range clients() {
		t.add(subject.name, rows[i]...)
	}
	return []table{t}, nil
}

// hold begins n streams and returns how many KiB each holds.
func hold(call caller, n int) (float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := memory()
	var open sync.WaitGroup
	began, failed := make(chan struct{}, n), make(chan error, n)
	slots := make(chan struct{}, 64)
	for range n {
		open.Go(func() {
			slots <- struct{}{}
			var once sync.Once
			err := call(ctx, func() {
				once.Do(func() {
					<-slots
					began <- struct{}{}
				})
			})
			if ctx.Err() == nil {
				failed <- fmt.Errorf("a stream ended: %w", err)
			}
		})
	}
	for range n {
		select {
		case <-began:
		case err := <-failed:
			return 0, err
		}
	}
	held := memory() - before
	cancel()
	open.Wait()
	return held / float64(n), nil
}

func memory() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc+m.StackInuse) / 1024
}
