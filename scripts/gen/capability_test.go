package main

import (
	"strings"
	"testing"
)

// TestFamiliesKnown: a mistyped family is found at any depth of the table.
func TestFamiliesKnown(t *testing.T) {
	t.Parallel()
	bad := commandNeeds{Flags: map[string]map[string]string{"-x": {"netwrk": "read_write"}}}
	rows := map[string]commandNeeds{"git": {Needs: map[string]string{"git": "read_only"}, Sub: map[string]commandNeeds{"push": bad}}}
	err := familiesKnown(rows, []string{"git", "network"})
	if err == nil || !strings.Contains(err.Error(), `push: no family "netwrk"`) || !strings.Contains(err.Error(), "in git") {
		t.Errorf("got %v, want the command and the family", err)
	}
}
