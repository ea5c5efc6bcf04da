package page_test

import "testing"

// The personas that most flows and the pictures are about.
const (
	reviewer = `{"id":"code-reviewer","description":"Reads changes for correctness, security and clarity, and never edits a file.",
		"prompt":"Read the whole change before you say anything.\n\nFor each problem:\n\n1. name the file and the line,\n2. say what breaks, and when,\n3. propose the smallest mend.\n\nDo not praise. Do not retell what the author knows.\n",
		"model":"anthropic/claude-sonnet-5","capabilities":{"filesystem":"read_only","git":"read_only","shell":"none"},"can_spawn":["test-writer"],
		"model_params":{"temperature":0.2,"max_tokens":8192},"compaction_prompt":"Keep the list of problems and where they stand.","spec_version":"0.1.0"}`
	reviewerTerse = `{"id":"code-reviewer","description":"Reads changes for correctness, security and clarity, and never edits a file.",
		"prompt":"Read the whole change before you say anything.\n\nFor each problem:\n\n1. name the file and the line,\n2. say what breaks.\n\nDo not praise. Five problems at most.\n",
		"model":"openai/gpt-6-mini","capabilities":{"filesystem":"read_only","git":"read_only","shell":"none"},"can_spawn":["test-writer"],
		"model_params":{"temperature":0.0,"max_tokens":2048},"spec_version":"0.1.0"}`
	testWriter = `{"id":"test-writer","description":"Writes the tests that a change is missing, and runs them.","prompt":"Write the missing tests.\nRun them.",
		"model":"anthropic/claude-sonnet-5","capabilities":{"filesystem":"read_write","shell":"read_write","git":"read_only"},"can_spawn":false,"spec_version":"0.1.0"}`
	planner = `{"id":"planner","description":"Parts a task into steps and hands each to the persona that fits it best.","prompt":"Make a plan.\nHand out its steps.",
		"model":"anthropic/claude-opus-5","capabilities":{"filesystem":"read_only"},"can_spawn":["code-reviewer","implementer","researcher","archivist"],"spec_version":"0.1.0"}`
	implementer = `{"id":"implementer","description":"Writes code in small commits that each pass the tests.","prompt":"Write code.",
		"model":"openai/gpt-6","capabilities":{"filesystem":"destructive","git":"read_write","shell":"destructive"},"can_spawn":["code-reviewer","test-writer"],"spec_version":"0.1.0"}`
	researcher = `{"id":"researcher","description":"Finds and reads sources, and names each of them.","prompt":"Look it up.",
		"model":"openai/gpt-6","capabilities":{"browser":"read_only","http":"read_only"},"spec_version":"0.1.0"}`
	conductor = `{"id":"conductor","description":"Starts whichever persona a task needs.","prompt":"Conduct.",
		"model":"anthropic/claude-opus-5","capabilities":{"shell":"none"},"can_spawn":true,"spec_version":"0.1.0"}`
	translator = `{"id":"translator","description":"Translates what users read, and keeps the tone of it.","prompt":"Translate.",
		"model":"mistral/large","capabilities":{},"spec_version":"0.1.0"}`
)

// company is a place with all of them, and a second variant of the reviewer.
func company(t *testing.T) *place {
	t.Helper()
	p := newPlace(t, reviewer, testWriter, planner, implementer, researcher, conductor, translator)
	p.register("terse", reviewerTerse)
	return p
}
