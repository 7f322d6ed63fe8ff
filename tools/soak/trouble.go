package main

import (
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

// stuck is far longer than any trouble lasts.
const stuck = 30 * time.Second

// trouble makes one thing after another go wrong for good. Should toxiproxy lock
// itself up while it changes a link, the target hangs for the rest of the run. A
// client has to bear that too, but whoever reads the counts should know.
func (t *target) trouble(luck *rand.Rand, counts *tally) {
	for {
		pause(200 + luck.IntN(800))
		kind, cause := t.pick(luck)
		watch := time.AfterFunc(stuck, func() {
			log.Printf("soak: %s: the proxy is stuck in %q, after %v", t.name, kind, stuck)
		})
		if err := cause(); err != nil {
			log.Fatal("soak: ", err) // the targets are not what they ought to be
		}
		watch.Stop()
		counts.add(kind)
	}
}

// pick draws what goes wrong next.
func (t *target) pick(luck *rand.Rand) (kind string, cause func() error) {
	switch n := luck.IntN(len(toxics) + 2); {
	case n < len(toxics):
		return toxics[n].kind, func() error { return t.poison(luck, n) }
	case n == len(toxics):
		return "server killed", func() error { return t.restart(luck) }
	default:
		return "proxy stopped", func() error { return t.interrupt(luck) }
	}
}

// poison has one toxic at work for a while, also on connections that there are. Then
// another proxy takes the place of this one: where a client is gone, toxiproxy takes 5 s
// for each piece that still waits for it when a toxic is taken out, for hours if it was
// "latency".
func (t *target) poison(luck *rand.Rand, n int) error {
	toxic := toxics[n]
	config := fmt.Sprintf(`{"name":"it","type":%q,"toxicity":%g,"attributes":{%q:%d%s}}`,
		toxic.kind, toxic.share, toxic.attribute, 6+luck.IntN(toxic.most), toxic.also)
	if _, err := t.proxy.Toxics.AddToxicJson(strings.NewReader(config)); err != nil {
		return err
	}
	pause(100 + luck.IntN(900))
	t.proxy.Stop()
	return t.front(t.proxy.Listen)
}

func (t *target) restart(luck *rand.Rand) error {
	if err := t.down(); err != nil {
		return err
	}
	pause(luck.IntN(500))
	return t.up()
}

func (t *target) interrupt(luck *rand.Rand) error {
	t.proxy.Stop()
	pause(luck.IntN(500))
	return t.proxy.Start()
}

func pause(milliseconds int) { time.Sleep(time.Duration(milliseconds) * ms) }

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
