package upstream

import "net/http"

// apiError is an error as OpenAI writes it.
type apiError struct {
	status                     int
	message, kind, param, code string
}

type errorBody struct {
	Error errorObject `json:"error"`
}

type errorObject struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (e *apiError) object() errorObject {
	return errorObject{e.message, e.kind, orNull(e.param), orNull(e.code)}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func badRequest(message, param, code string) *apiError {
	return &apiError{http.StatusBadRequest, message, "invalid_request_error", param, code}
}

func unsupported(param string) *apiError {
	return badRequest("Unsupported parameter: '"+param+"' is not supported with this model.", param, "unsupported_parameter")
}

func modelNotFound(model string) *apiError {
	return &apiError{http.StatusNotFound, "The model `" + model + "` does not exist or you do not have access to it.",
		"invalid_request_error", "model", "model_not_found"}
}

// errorFor is the usual error of a status.
func errorFor(status int) *apiError {
	e := &apiError{status: status, message: "Simulated: " + http.StatusText(status) + ".", kind: "server_error", code: "server_error"}
	switch status {
	case http.StatusUnauthorized:
		e.kind, e.code = "invalid_request_error", "invalid_api_key"
	case http.StatusTooManyRequests:
		e.kind, e.code = "requests", "rate_limit_exceeded"
	case http.StatusRequestTimeout:
		e.kind, e.code = "timeout", "timeout"
	case 529: // Anthropic's own
		e.message, e.kind, e.code = "Simulated: Overloaded.", "overloaded_error", "overloaded"
	default:
		if status < 500 {
			e.kind, e.code = "invalid_request_error", ""
		}
	}
	return e
}
