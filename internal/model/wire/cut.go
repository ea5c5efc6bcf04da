package wire

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"larva.dev/larva/internal/model"
)

// Cut is the error of a stream that ended without its last event: a clean end
// of the connection is no end of an answer. Where nothing of the protocol came
// at all, the content type usually says why.
func Cut(res *http.Response, began bool) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if !began && kind != "text/event-stream" && kind != "" {
		return &model.Error{Message: fmt.Sprintf("the answer is %s and no event stream: is base_url right?", kind)}
	}
	return &model.Error{Message: "the answer was cut off before its end", Retryable: true}
}

// Reported is an error that stands within the stream. A code that is an HTTP
// status is taken as one; without one it counts as the service's own fault.
func Reported(data []byte) error {
	code, message := Explain(data)
	if message == "" {
		message = "the service reports an error without a message"
	}
	status, err := strconv.Atoi(code)
	switch {
	case err == nil && status >= 400 && status < 600:
	case strings.HasPrefix(code, "rate_limit"):
		status = 429
	case code == "server_is_overloaded", code == "overloaded":
		status = 529
	case code == "invalid_request_error", code == "invalid_prompt":
		status = 400
	default:
		status = 0
	}
	e := model.Refused("", status, code, message, 0)
	e.Retryable = e.Retryable || status == 0 && !e.Overflow && code != "insufficient_quota"
	return e
}
