package mcpserve

// members walks the members of an object whose JSON is known to be valid, and
// calls each with a key as it stands between its quotes and with the value's
// text; false ends the walk. It gives false where data is no object, or where
// each said so.
func members(data []byte, each func(key, value []byte) bool) bool {
	i := space(data, 0)
	if i >= len(data) || data[i] != '{' {
		return false
	}
	for i = space(data, i+1); i < len(data) && data[i] != '}'; {
		end := text(data, i)
		key := data[i+1 : end-1]
		i = space(data, space(data, end)+1) // past the colon
		end = value(data, i)
		if !each(key, data[i:end]) {
			return false
		}
		if i = space(data, end); i < len(data) && data[i] == ',' {
			i = space(data, i+1)
		}
	}
	return true
}

func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

// text gives the end of the string that starts at i.
func text(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// value gives the end of the value that starts at i.
func value(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = text(data, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // of what stands around a number or a word
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
