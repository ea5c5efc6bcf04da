package model

import (
	"strings"
	"time"
)

// RetryableStatus says whether an HTTP status is worth another try: timeouts,
// lock conflicts, rate limits and the service's own faults (529 is overloaded).
func RetryableStatus(status int) bool {
	switch status {
	case 408, 409, 425, 429:
		return true
	case 501, 505:
		return false
	}
	return status >= 500
}

// Overflowed says whether a refusal means that the context window was
// exceeded. The services agree on no code: 413, a code, or a sentence.
func Overflowed(status int, code, message string) bool {
	switch status {
	case 401, 402, 403, 404, 429:
		return false // "too many tokens a minute" is no overflow
	case 413:
		return true
	}
	switch code {
	case "context_length_exceeded", "request_too_large", "exceed_context_size_error", "model_context_window_exceeded":
		return true
	}
	m := strings.ToLower(message)
	for _, sign := range []string{
		"prompt is too long", "context length", "context window", "context limit", "context size",
		"maximum number of tokens allowed", "too many tokens", "context the overflows",
	} {
		if strings.Contains(m, sign) {
			return true
		}
	}
	return false
}

// Refused builds the error of an HTTP status. message must be redacted.
func Refused(name string, status int, code, message string, after time.Duration) *Error {
	return &Error{
		Model: name, Status: status, Message: message, RetryAfter: after,
		Retryable: RetryableStatus(status) && code != "insufficient_quota" && code != "billing_error",
		Overflow:  Overflowed(status, code, message),
	}
}
