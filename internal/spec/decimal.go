package spec

import "strings"

// integral says whether n is written as an integer: 1 is, 1.0 and 1e3 are not.
func integral(n Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// decimal is a JSON number taken apart: ±0.DIGITS × 10^exp, where DIGITS are
// the digits of s from first on, a dot in between skipped.
type decimal struct {
	neg   bool
	zero  bool
	s     string
	first int
	exp   int64
}

// expCap bounds an exponent, so that one of a thousand digits does not
// overflow. Two numbers beyond it on the same side count as equal in size,
// which no bound comes near.
const expCap = 1 << 40

func parseDecimal(n string) decimal {
	d := decimal{zero: true}
	if strings.HasPrefix(n, "-") {
		d.neg, n = true, n[1:]
	}
	mantissa, exponent := n, ""
	if i := strings.IndexAny(n, "eE"); i >= 0 {
		mantissa, exponent = n[:i], n[i+1:]
	}
	d.s = mantissa
	point := strings.IndexByte(mantissa, '.')
	if point < 0 {
		point = len(mantissa)
	}
	for i := 0; i < len(mantissa); i++ {
		if c := mantissa[i]; c != '.' && c != '0' {
			d.zero, d.first = false, i
			d.exp = int64(point - i)
			if i > point {
				d.exp++
			}
			break
		}
	}
	d.exp += parseExponent(exponent)
	return d
}

func parseExponent(s string) int64 {
	neg := strings.HasPrefix(s, "-")
	var e int64
	for _, c := range []byte(strings.TrimLeft(s, "+-")) {
		if e = e*10 + int64(c-'0'); e > expCap {
			e = expCap
		}
	}
	if neg {
		return -e
	}
	return e
}

// compareDecimal orders two JSON numbers by their exact values; a float64
// would lose 2.0000000000000000001 and the sign of -1e-400.
func compareDecimal(a, b string) int {
	x, y := parseDecimal(a), parseDecimal(b)
	switch {
	case x.sign() != y.sign():
		if x.sign() < y.sign() {
			return -1
		}
		return 1
	case x.zero:
		return 0
	case x.neg:
		return -x.compareSize(y)
	}
	return x.compareSize(y)
}

func (d decimal) sign() int {
	switch {
	case d.zero:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compareSize(o decimal) int {
	if d.exp != o.exp {
		if d.exp < o.exp {
			return -1
		}
		return 1
	}
	i, j := d.first, o.first
	for i < len(d.s) || j < len(o.s) {
		var p, q byte
		p, i = digitAt(d.s, i)
		q, j = digitAt(o.s, j)
		if p != q {
			if p < q {
				return -1
			}
			return 1
		}
	}
	return 0
}

// digitAt gives the digit at i and the place after it; past the end it is 0.
func digitAt(s string, i int) (byte, int) {
	if i < len(s) && s[i] == '.' {
		i++
	}
	if i >= len(s) {
		return '0', i
	}
	return s[i], i + 1
}
