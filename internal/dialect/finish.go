package dialect

// finishReason puts a provider's finish reason into one of our words.
func finishReason(raw []byte) string {
	var buf [40]byte
	switch string(lower(buf[:], raw)) {
	case "stop", "end_turn", "stop_sequence", "eos_token", "eos", "complete", "completed":
		return "stop"
	case "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length",
		"model_context_window_exceeded", "error_limit":
		return "length"
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return "tool_calls"
	case "content_filter", "content_filtered", "safety", "recitation", "blocklist",
		"prohibited_content", "spii", "image_safety", "sensitive", "error_toxic",
		"guardrail_intervened":
		return "content_filter"
	case "refusal":
		return "refusal"
	case "error", "insufficient_system_resource", "network_error", "abort", "aborted", "failed",
		"timeout", "malformed_function_call", "unexpected_tool_call":
		return "error"
	}
	return "other"
}

// finishError is the error that a failed finish reason stands for.
func finishError(raw []byte) ErrorInfo {
	e := ErrorInfo{Present: true, Status: 500, Code: clean(raw)}
	var buf [40]byte
	switch string(lower(buf[:], raw)) {
	case "insufficient_system_resource":
		e.Status = 503
	case "network_error":
		e.Status = 502
	case "timeout":
		e.Status = 504
	}
	return e
}

// lower writes s to buf in lower case; what does not fit is nil, which equals no
// word.
func lower(buf, s []byte) []byte {
	if len(s) > len(buf) {
		return nil
	}
	for i, b := range s {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		buf[i] = b
	}
	return buf[:len(s)]
}
