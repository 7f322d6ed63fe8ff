package dialect

// classOf returns the HTTP status that a provider's error code or type stands for,
// 0 if neither is known. The code, being the narrower, goes first.
func classOf(code, typ string) int {
	if s := classOfWord(code); s != 0 {
		return s
	}
	return classOfWord(typ)
}

func classOfWord(word string) int {
	var buf [64]byte
	switch string(lower(buf[:], []byte(word))) {
	case "overloaded_error", "overloaded", "engine_overloaded", "engine_overloaded_error", "server_overloaded":
		return 529
	case "rate_limit_error", "rate_limit_exceeded", "rate_limited", "rate_limit_reached", "ratelimitreached",
		"too_many_requests", "toomanyrequests", "too_many_tokens_error", "insufficient_quota",
		"quota_exceeded", "token_quota_exceeded", "resource_exhausted", "throttling", "throttlingexception":
		return 429
	case "timeout_error", "timeout", "gateway_timeout", "deadline_exceeded", "request_timeout":
		return 504
	case "service_unavailable", "service_unavailable_error", "serviceunavailable", "unavailable",
		"insufficient_system_resource", "model_overloaded", "server_busy", "capacity_exceeded":
		return 503
	case "bad_gateway", "upstream_error", "provider_error", "provider_unavailable", "network_error":
		return 502
	case "api_error", "server_error", "internal_error", "internal_server_error", "internalservererror",
		"internal", "unknown_error", "processing_error":
		return 500
	case "invalid_request_error", "invalid_request", "bad_request", "badrequest", "badrequesterror",
		"invalid_argument", "invalidargument", "invalid_parameter", "invalidparameter",
		"invalid_prompt", "validation_error", "unsupported_parameter", "unsupported_value",
		"context_length_exceeded", "exceed_context_size_error", "string_above_max_length",
		"tool_use_failed", "json_validate_failed", "content_filter", "content_policy_violation",
		"failed_precondition", "unprocessable_entity":
		return 400
	case "authentication_error", "invalid_api_key", "unauthenticated", "unauthorized", "invalid_authentication_error":
		return 401
	case "billing_error", "payment_required", "insufficient_balance", "billing_hard_limit_reached":
		return 402
	case "permission_error", "permission_denied", "forbidden", "access_denied":
		return 403
	case "not_found_error", "not_found", "notfounderror", "model_not_found", "deploymentnotfound":
		return 404
	case "request_too_large":
		return 413
	}
	return 0
}
