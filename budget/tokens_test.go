package budget_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
)

func TestCap(t *testing.T) {
	for name, c := range map[string]struct {
		tokens         budget.MaxTokens
		asked, ceiling int
		reasoning      bool
		want           int
	}{
		"default":                         {want: 4096},
		"default of a reasoning model":    {reasoning: true, want: 32768},
		"default under the ceiling":       {ceiling: 2000, want: 2000},
		"default under the limit":         {tokens: budget.MaxTokens{Limit: 1000}, want: 1000},
		"reasoning under the limit":       {tokens: budget.MaxTokens{Limit: 8000}, reasoning: true, want: 8000},
		"a low default stays":             {tokens: budget.MaxTokens{Default: 500, Limit: 1000}, ceiling: 800, want: 500},
		"own default":                     {tokens: budget.MaxTokens{Default: 700}, want: 700},
		"own default, reasoning":          {tokens: budget.MaxTokens{Default: 700}, reasoning: true, want: 700},
		"own default under the ceiling":   {tokens: budget.MaxTokens{Default: 9000}, ceiling: 8192, want: 8192},
		"no default":                      {tokens: budget.MaxTokens{Default: -1}, ceiling: 8192, want: 0},
		"no default, reasoning":           {tokens: budget.MaxTokens{Default: -1}, reasoning: true, want: 0},
		"no default, but a limit":         {tokens: budget.MaxTokens{Default: -1, Limit: 1000}, want: 1000},
		"no default, ceiling below limit": {tokens: budget.MaxTokens{Default: -1, Limit: 1000}, ceiling: 600, want: 600},
		"a negative ask is none":          {asked: -1, want: 4096},
		"asked":                           {asked: 100, want: 100},
		"asked above the default":         {asked: 9000, want: 9000},
		"asked above the ceiling":         {asked: 9000, ceiling: 8192, want: 8192},
		"asked above the limit":           {tokens: budget.MaxTokens{Limit: 1000}, asked: 9000, ceiling: 8192, want: 1000},
		"asked at the limit":              {tokens: budget.MaxTokens{Limit: 1000, Strict: true}, asked: 1000, want: 1000},
		"strict lowers a default":         {tokens: budget.MaxTokens{Limit: 1000, Strict: true}, want: 1000},
		"strict, default, low ceiling":    {tokens: budget.MaxTokens{Strict: true}, ceiling: 1000, want: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.tokens.Cap(c.asked, c.ceiling, c.reasoning)
			if err != nil || got != c.want {
				t.Errorf("Cap(%d, %d, %v) = %d, %v, want %d", c.asked, c.ceiling, c.reasoning, got, err, c.want)
			}
		})
	}
}

func TestCapStrict(t *testing.T) {
	for name, c := range map[string]struct {
		limit, ceiling int
		want           budget.OverCapError
		says           string
	}{
		"limit": {
			limit: 4096,
			want:  budget.OverCapError{Asked: 9000, Cap: 4096},
			says:  "max_tokens.limit is 4096: ask for 4096 or less, raise the limit",
		},
		"ceiling": {
			ceiling: 8192,
			want:    budget.OverCapError{Asked: 9000, Cap: 8192, Ceiling: true},
			says:    "the model writes at most 8192: ask for 8192 or less",
		},
		"ceiling below limit": {
			limit: 8500, ceiling: 8192,
			want: budget.OverCapError{Asked: 9000, Cap: 8192, Ceiling: true},
			says: "the model writes at most 8192",
		},
		"ceiling at limit": {
			limit: 4096, ceiling: 4096,
			want: budget.OverCapError{Asked: 9000, Cap: 4096},
			says: "max_tokens.limit is 4096",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := budget.MaxTokens{Limit: c.limit, Strict: true}
			got, err := m.Cap(9000, c.ceiling, false)
			var over *budget.OverCapError
			if !errors.As(err, &over) || got != 0 {
				t.Fatalf("Cap = %d, %v, want an *OverCapError", got, err)
			}
			if diff := cmp.Diff(c.want, *over); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %q does not say %q", err, c.says)
			}
		})
	}
}

func TestCapNeverExceeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.IntRange(-10, 50_000)
		m := budget.MaxTokens{
			Default: tokens.Draw(t, "default"),
			Limit:   rapid.IntRange(0, 50_000).Draw(t, "limit"),
			Strict:  rapid.Bool().Draw(t, "strict"),
		}
		asked, ceiling := tokens.Draw(t, "asked"), tokens.Draw(t, "ceiling")
		got, err := m.Cap(asked, ceiling, rapid.Bool().Draw(t, "reasoning"))
		over := asked > 0 && (m.Limit > 0 && asked > m.Limit || ceiling > 0 && asked > ceiling)
		switch {
		case (err != nil) != (m.Strict && over):
			t.Fatalf("asked %d, strict %v: error %v", asked, m.Strict, err)
		case err != nil:
		case got == 0 && (asked > 0 || m.Default >= 0 || m.Limit > 0):
			t.Fatal("uncapped without leave")
		case asked > 0 && got > asked, m.Limit > 0 && got > m.Limit, ceiling > 0 && got > ceiling, got < 0:
			t.Fatalf("cap %d is too high", got)
		case asked > 0 && !over && got != asked:
			t.Fatalf("cap %d changes an ask of %d for no reason", got, asked)
		}
	})
}
