package wire

import (
	"net/http"
	"strings"
	"time"
)

// Service is a model at a service, what every protocol's New takes. Nothing is
// read from the environment.
type Service struct {
	Name    string            // the provider's name, as in provider/model
	Model   string            // the provider's own model name
	BaseURL string            // "": the protocol's own service
	Key     string            // "": none is sent
	Effort  string            // how hard to think; "": the service's own default
	Told    func(text string) // what the service refused and is left out from then on; nil: nobody is told
	HTTP    *http.Client      // nil: Client
	Stall   time.Duration     // 0: StallFor; without effect where HTTP is given
}

// At fills in what was left out. base is the protocol's own service, tail what
// its SDK adds to the address by itself.
func (s Service) At(base, tail string) Service {
	if s.BaseURL == "" {
		s.BaseURL = base
	}
	s.BaseURL = strings.TrimSuffix(strings.TrimRight(s.BaseURL, "/"), tail)
	s.Key = strings.TrimSpace(s.Key) // a file read into a variable ends in a line end
	if s.HTTP == nil {
		s.HTTP = Client(Options{Stall: StallFor(s.BaseURL, s.Stall)})
	}
	return s
}
