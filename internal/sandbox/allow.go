package sandbox

import (
	"fmt"
	"net/netip"
	"strings"
)

// domains are the hosts that commands may reach: x is x and what lies below
// it, *.x only what lies below, * any name. An IP address is reached only where
// it is listed itself.
type domains []string

// CheckDomains gives the first entry that names no host, "" where all do.
func CheckDomains(list []string) string {
	for _, d := range list {
		if _, ok := hostOf(d); !ok {
			return d
		}
	}
	return ""
}

// hostOf is an entry or a request's host in one form: lower case, no dot at
// the end, no brackets.
func hostOf(s string) (string, bool) {
	h := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), ".")
	if h == "*" {
		return h, !strings.Contains(s, ".")
	}
	if ip, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return ip.Unmap().String(), ip.Zone() == ""
	}
	name := strings.TrimPrefix(h, "*.")
	if name == "" || len(name) > 253 || strings.Trim(name, "0123456789.") == "" {
		return "", false // nothing, or an address in a form of its own
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, "-") != label {
			return "", false
		}
		for _, c := range label {
			if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return "", false
			}
		}
	}
	return h, true
}

// match says whether a host may be reached, and by an entry that is exactly
// it.
func (d domains) match(host string) (ok, exact bool) {
	host, valid := hostOf(host)
	if !valid || strings.Contains(host, "*") {
		return false, false
	}
	_, err := netip.ParseAddr(host)
	isIP := err == nil
	for _, entry := range d {
		e, valid := hostOf(entry)
		switch {
		case !valid:
		case e == host:
			return true, true
		case isIP:
		case e == "*":
			ok = true
		default:
			if below, cut := strings.CutPrefix(e, "*."); cut {
				e = below
			}
			ok = ok || strings.HasSuffix(host, "."+e)
		}
	}
	return ok, false
}

// metadata are addresses at which clouds hand out the machine's credentials.
// They are refused even where they are listed.
var metadata = [...]netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("fd20:ce::/32"),
}

// nat64 and sixToFour carry an IPv4 address inside.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// dialable says whether an address that a host has may be dialled. exact: the
// user listed this very host, so an address of the local network is meant.
// Any other name leads to public addresses only, whoever answers for it.
func dialable(host string, ip netip.Addr, exact bool) error {
	ip = plain(ip)
	for _, p := range metadata {
		if p.Contains(ip) {
			return fmt.Errorf("%s is a link-local or metadata address", ip)
		}
	}
	if ip.IsUnspecified() || ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf("%s is no address of a host", ip)
	}
	_, err := netip.ParseAddr(host)
	listedIP := err == nil && exact
	if ip.IsLoopback() && !listedIP && !(exact && host == "localhost") {
		return fmt.Errorf("%s leads to this machine", host)
	}
	if ip.IsPrivate() && !exact {
		return fmt.Errorf("%s leads into the local network; list it by its full name", host)
	}
	return nil
}

// plain is the IPv4 address that another form carries, else the address.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	b := ip.As16()
	switch {
	case ip.Is4():
	case nat64.Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}
