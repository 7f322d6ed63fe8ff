package sim

import "time"

// event is something that happens at a time.
type event struct {
	at      time.Duration
	order   uint64 // among those of the same time
	kind    eventKind
	call    int32
	request int32 // of the call's
}

type eventKind uint8

const (
	headersCame eventKind = iota
	contentCame
	requestEnded
	patienceOver
	hedgeDue
	deadlinePassed
)

// events is a binary heap, the earliest first.
type events struct {
	heap  []event
	order uint64
}

func (q *events) push(e event) {
	q.order++
	e.order = q.order
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *events) pop() event {
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return first
		}
		if down+1 < last && q.heap[down+1].before(&q.heap[down]) {
			down++
		}
		if !q.heap[down].before(&q.heap[i]) {
			return first
		}
		q.heap[i], q.heap[down] = q.heap[down], q.heap[i]
		i = down
	}
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.order < other.order
}
