package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table is figures of subjects, as Markdown.
type table struct {
	title, command string
	head           []string
	rows           [][]string
}

func (t *table) add(name string, cells ...string) {
	t.rows = append(t.rows, append([]string{name}, cells...))
}

func (t *table) print(w io.Writer) {
	progress("")
	fmt.Fprintf(w, "\n%s (`go run ./tools/compare -only %s`)\n\n", t.title, t.command)
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Fprintf(w, "| %s%s |", cell, pad)
			} else {
				fmt.Fprintf(w, " %s%s |", pad, cell)
			}
		}
		fmt.Fprintln(w)
	}
	line(t.head)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n-1) + ":"
	}
	rule[0] = strings.Repeat("-", widths[0])
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
}

// median is of the figures of several rounds.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// against is a figure with what it is of the first subject's.
func against(format string, v, first float64) string {
	if first == 0 {
		return fmt.Sprintf(format, v)
	}
	return fmt.Sprintf(format+" (%.2f)", v, v/first)
}
