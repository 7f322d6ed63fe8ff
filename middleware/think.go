package middleware

import "strings"

// leastThinking is the least that a reasoning model is left to think with: the
// least that Anthropic's take as a budget.
const leastThinking = 1024

// Families whose cap counts reasoning that the caller does not see, beside OpenAI's own,
// which spellingOf knows.
var reasoningModels = []string{"gpt-oss", "deepseek-r", "deepseek-reasoner", "magistral", "qwq", "grok-3-mini", "grok-4", "gemini-2.5", "gemini-3", "kimi-k2-thinking"}

// reasons reports whether the model spends output tokens on reasoning, as far as
// its name and the request tell.
func (in *inference) reasons() bool {
	model, effort := in.asks.Model, in.asks.Effort
	if effort != "" {
		return effort != "none"
	}
	if spellingOf(model) == "max_completion_tokens" {
		return true
	}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range reasoningModels {
		if rest, ok := strings.CutPrefix(name, family); ok && (rest == "" || !isLetter(rest[0])) {
			return true
		}
	}
	return strings.Contains(name, "thinking") || strings.Contains(name, "reasoning")
}

// thinking is how many tokens the model is to be left to reason with; 0: it does
// not.
func (in *inference) thinking() int {
	if !in.reasons() {
		return 0
	}
	return max(in.asks.ThinkingBudget, leastThinking)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
