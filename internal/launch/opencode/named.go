package opencode

import "encoding/json"

// NamesAgent says that a configuration of OpenCode's, JSON with comments and
// trailing commas, has an agent of that name under agent or mode. One that
// cannot be read names nobody.
func NamesAgent(text []byte, name string) bool {
	var c struct {
		Agent, Mode map[string]json.RawMessage
	}
	if json.Unmarshal(plainJSON(text), &c) != nil {
		return false
	}
	_, agent := c.Agent[name]
	_, mode := c.Mode[name]
	return agent || mode
}

// plainJSON takes comments and trailing commas out.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	comma := -1 // where out has a comma that nothing has followed yet
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			comma = -1
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text)-1)
			out = append(out, text[i:end+1]...)
			i = end
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			i += 2
			for i+1 < len(text) && (text[i] != '*' || text[i+1] != '/') {
				i++
			}
			i++
		case c == ',':
			comma = len(out)
			out = append(out, c)
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			out = append(out, c)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			out = append(out, c)
		default:
			comma = -1
			out = append(out, c)
		}
	}
	return out
}
