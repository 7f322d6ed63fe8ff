package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// toxics are what toxiproxy does to a share of the connections. An amount is
// drawn up to its limit each time.
var toxics = []struct {
	kind, attribute string
	most            int
	share           float64
	also            string // further attributes
}{
	{kind: "latency", attribute: "latency", most: 300, share: 1, also: `,"jitter":50`},           // ms
	{kind: "bandwidth", attribute: "rate", most: 20, share: 1},                                   // KB/s
	{kind: "slicer", attribute: "average_size", most: 20, share: 1, also: `,"size_variation":5`}, // bytes
	{kind: "slow_close", attribute: "delay", most: 500, share: 1},                                // ms
	{kind: "timeout", attribute: "timeout", most: 500, share: 0.5},                               // ms in which nothing passes, then it ends
	{kind: "reset_peer", attribute: "timeout", most: 200, share: 0.5},                            // ms to a reset
	{kind: "limit_data", attribute: "bytes", most: 8000, share: 0.5},                             // then it ends
}

// trouble makes one thing after another go wrong until ctx ends.
func (t *target) trouble(ctx context.Context, luck *rand.Rand, counts *tally) {
	defer t.down()
	defer t.proxy.Stop()
	for pause(ctx, 200+luck.IntN(800)) {
		var err error
		switch n := luck.IntN(len(toxics) + 2); {
		case n < len(toxics):
			err = t.poison(ctx, luck, n)
			counts.add(toxics[n].kind)
		case n == len(toxics):
			err = t.restart(ctx, luck)
			counts.add("server killed")
		default:
			t.proxy.Stop()
			pause(ctx, luck.IntN(500))
			err = t.proxy.Start()
			counts.add("proxy stopped")
		}
		if err != nil {
			log.Fatal("soak: ", err) // the targets are not what they ought to be
		}
	}
}

// poison has one toxic at work for a while.
func (t *target) poison(ctx context.Context, luck *rand.Rand, n int) error {
	toxic := toxics[n]
	config := fmt.Sprintf(`{"name":"it","type":%q,"toxicity":%g,"attributes":{%q:%d%s}}`,
		toxic.kind, toxic.share, toxic.attribute, 6+luck.IntN(toxic.most), toxic.also)
	if _, err := t.proxy.Toxics.AddToxicJson(strings.NewReader(config)); err != nil {
		return err
	}
	pause(ctx, 100+luck.IntN(900))
	return t.proxy.Toxics.RemoveToxic(context.WithoutCancel(ctx), "it")
}

func (t *target) restart(ctx context.Context, luck *rand.Rand) error {
	if err := t.down(); err != nil {
		return err
	}
	pause(ctx, luck.IntN(500))
	return t.up()
}

// pause reports whether it lasted to its end.
func pause(ctx context.Context, milliseconds int) bool {
	select {
	case <-time.After(time.Duration(milliseconds) * ms):
		return true
	case <-ctx.Done():
		return false
	}
}

// tally counts what went wrong, by kind. Safe for concurrent use.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[string]int)
	}
	c.of[kind]++
}

// String is in the order of the names.
func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimPrefix(fmt.Sprint(c.of), "map")
}
