package spec

// The longest names, in bytes: a directory or file name and its temporary
// forms must fit into the 255 bytes that file systems allow.
const (
	MaxIDLength      = 128
	MaxVariantLength = 64
)

// ValidID says whether s is a persona id: lower-case letters and digits in
// parts joined by single hyphens, at most MaxIDLength bytes.
func ValidID(s string) bool { return len(s) <= MaxIDLength && kebab(s) }

// ValidVariant is ValidID for a variant's name, at most MaxVariantLength bytes.
func ValidVariant(s string) bool { return len(s) <= MaxVariantLength && kebab(s) }

func kebab(s string) bool {
	hyphen := true // a hyphen here would be misplaced
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			hyphen = false
		case c == '-' && !hyphen:
			hyphen = true
		default:
			return false
		}
	}
	return !hyphen
}
