package middleware

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// What is written comes out in order, whatever the sizes of writes and reads.
func TestQueueKeepsTheBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want bytes.Buffer
		q := new(queue)
		q.init()
		go func() {
			for range 200 {
				p := make([]byte, rnd.IntN(3*segmentSize/2))
				for i := range p {
					p[i] = byte(rnd.Uint32())
				}
				want.Write(p)
				q.write(p)
				q.flush()
				q.drained(nil)
			}
			q.close(io.EOF)
		}()
		got, err := io.ReadAll(q)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("read %d bytes, error %v; want %d", len(got), err, want.Len())
		}
	}
}

func TestQueueReadsByteByByte(t *testing.T) {
	q := new(queue)
	q.init()
	text := bytes.Repeat([]byte("0123456789"), segmentSize)
	q.write(text)
	q.close(io.EOF)
	got, err := io.ReadAll(iotest.OneByteReader(q))
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("read %d bytes, error %v; want %d", len(got), err, len(text))
	}
}

func TestQueueGivesTheBytesBeforeTheError(t *testing.T) {
	broken := errors.New("broken")
	q := new(queue)
	q.init()
	q.write([]byte("rest"))
	q.close(broken)
	got, err := io.ReadAll(q)
	if string(got) != "rest" || err != broken {
		t.Errorf("read %q, error %v; want %q, %v", got, err, "rest", broken)
	}
	if n, err := q.Read(make([]byte, 1)); n != 0 || err != broken {
		t.Errorf("a second read gives %d, %v; want 0, %v", n, err, broken)
	}
}

// A writer who is a bound ahead waits for the reader, and no longer.
func TestQueueHoldsTheWriterBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := new(queue)
		q.init()
		q.write(make([]byte, queueBound))
		done := make(chan time.Duration)
		start := time.Now()
		go func() {
			q.drained(nil)
			done <- time.Since(start)
		}()
		time.Sleep(3 * time.Second)
		if _, err := q.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if waited := <-done; waited != 3*time.Second {
			t.Errorf("the writer waited %v, want 3s", waited)
		}
		q.write(make([]byte, queueBound))
		stop := make(chan struct{})
		close(stop)
		q.drained(stop) // returns at once
	})
}

func BenchmarkQueue(b *testing.B) {
	q := new(queue)
	q.init()
	event := make([]byte, 250)
	out := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		q.write(event)
		q.flush()
		if _, err := q.Read(out); err != nil {
			b.Fatal(err)
		}
	}
}
