package opencode

import "strings"

// Call is what a command line of OpenCode's says of the agents in it.
type Call struct {
	Agents []string // every --agent
	Empty  bool     // an --agent without a value
	Pure   bool     // --pure: no plugin
	Auto   bool     // --auto and its other names: every question is answered with yes
	Attach bool     // the agents are those of a server elsewhere
}

// ReadArgs reads a command line as OpenCode does, as far as it matters here. A
// flag counts wherever it stands before "--"; who writes --auto=false has not
// asked for it, and --auto false is taken for asking.
func ReadArgs(args []string) Call {
	var c Call
	run := false // what follows may be words of a message
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			break
		}
		run = run || a == "run"
		if a == "attach" && !run { // flags may stand before a command
			c.Attach = true
		}
		if !strings.HasPrefix(a, "--") {
			continue
		}
		name, value, has := strings.Cut(a[2:], "=")
		switch flat(name) {
		case "agent":
			if !has && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				value, has = args[i], true
			}
			if value == "" {
				c.Empty = true
			} else {
				c.Agents = append(c.Agents, value)
			}
		case "pure":
			c.Pure = c.Pure || value != "false"
		case "auto", "yolo", "dangerouslyskippermissions":
			c.Auto = c.Auto || value != "false"
		case "attach":
			c.Attach = true
		default:
			if strings.HasPrefix(name, "agent.") { // a parser's way to write an object
				c.Empty = true
			}
		}
	}
	return c
}

// flat takes the two spellings of a flag together.
func flat(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "")) }
