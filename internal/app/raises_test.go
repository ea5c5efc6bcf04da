package app

import (
	"slices"
	"testing"

	"larva.dev/larva/internal/profile"
)

// A yes to a profile is no yes to its hooks and servers, and must not be asked
// for as one.
func TestRaisesLeavesOutItemsOfTheirOwn(t *testing.T) {
	t.Parallel()
	hooks := profile.Profile{Hooks: map[string][]profile.Hooks{"Stop": {{}}}}
	if got, want := raises(hooks), []string{"nothing by itself; hooks and servers are items of their own"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	hooks.Models = map[string]string{"smart": "a/b"}
	if got, want := raises(hooks), []string{"models"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
