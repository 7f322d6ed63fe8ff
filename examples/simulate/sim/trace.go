package sim

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Trace is what was measured of real providers, and what was asked of a real service. It
// takes the place of what is built in. The zero value and nil have nothing.
type Trace struct {
	places []site
	asked  []ask
}

// TraceFormats says which files a Trace reads.
const TraceFormats = "CSV with a header, of (1) calls to APIs with the columns provider, model, ttft_s, tpot_s; " +
	"(2) llmperf results with provider_size, ttft_s, itl_s; (3) the Azure LLM trace with TIMESTAMP, ContextTokens, GeneratedTokens; " +
	"(4) the Mooncake trace with timestamp_ms, input_length, output_length"

// Read adds what a file has: times of targets, or calls. Its header tells which.
func (t *Trace) Read(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := t.read(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (t *Trace) read(r io.Reader) error {
	table, err := readTable(r)
	if err != nil {
		return err
	}
	switch {
	case table.has("provider", "model", "ttft_s", "tpot_s"):
		t.places, err = table.places(func(row []string) string {
			return table.cell(row, "provider") + "-" + table.cell(row, "model")
		}, "tpot_s")
	case table.has("provider_size", "ttft_s", "itl_s"):
		t.places, err = table.places(func(row []string) string {
			return strings.ReplaceAll(table.cell(row, "provider_size"), "_", "-")
		}, "itl_s")
	case table.has("TIMESTAMP", "ContextTokens", "GeneratedTokens"):
		t.asked, err = table.asks("TIMESTAMP", "ContextTokens", "GeneratedTokens", azureTime)
	case table.has("timestamp_ms", "input_length", "output_length"):
		t.asked, err = table.asks("timestamp_ms", "input_length", "output_length", mooncakeTime)
	default:
		err = fmt.Errorf("the columns %s are not known. What is read: %s", strings.Join(table.columns, ","), TraceFormats)
	}
	return err
}

// table is a file of comma-separated values with a header.
type table struct {
	columns []string
	rows    [][]string
}

func readTable(r io.Reader) (*table, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("there is no header with rows below it. What is read: %s", TraceFormats)
	}
	return &table{rows[0], rows[1:]}, nil
}

func (t *table) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(t.columns, c) })
}

// cell is a row's value in a column that there is.
func (t *table) cell(row []string, column string) string {
	return row[slices.Index(t.columns, column)]
}
