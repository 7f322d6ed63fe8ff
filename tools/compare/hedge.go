package main

import "fmt"

// measureHedges is what hedges save of the tail, and how many calls they add.
func measureHedges(s *server, p plan) (tables []table, err error) {
	const concurrent = 16
	for _, what := range []string{early, late} {
		t := table{
			title:   fmt.Sprintf("Hedges, headers %s; ms to the first content, %d calls", map[string]string{early: "at once", late: "with the first token"}[what], p.hedged),
			command: "hedge", head: []string{"client", "p50", "p95", "p99", "p99.9", "more requests"},
		}
		for _, subject := range hedgers() {
			progress("hedge, %s: %s", what, subject.name)
			call, end, err := subject.dial(s.base(what))
			if err != nil {
				return nil, err
			}
			before, err := s.count(what)
			if err != nil {
				return nil, err
			}
			ts, err := firsts(call, concurrent, p.hedged)
			end()
			if err != nil {
				t.add(subject.name, "failed: "+err.Error(), "", "", "", "")
				continue
			}
			after, err := s.count(what)
			if err != nil {
				return nil, err
			}
			made := float64(p.hedged + 2*concurrent)
			t.add(subject.name, fmt.Sprintf("%.0f", ts.at(0.5)), fmt.Sprintf("%.0f", ts.at(0.95)), fmt.Sprintf("%.0f", ts.at(0.99)),
				fmt.Sprintf("%.0f", ts.at(0.999)), fmt.Sprintf("%.1f%%", 100*(float64(after-before)/made-1)))
		}
		tables = append(tables, t)
	}
	return tables, nil
}
