package wire

import (
	"fmt"
	"mime"
	"net/http"

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
