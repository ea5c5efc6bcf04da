package sandbox

import (
	"net/netip"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	d := domains{"Example.org", "*.wild.test", "10.0.0.1", "[::1]", "local.corp."}
	for host, want := range map[string][2]bool{
		"example.org": {true, true}, "EXAMPLE.ORG.": {true, true}, "a.example.org": {true, false}, "badexample.org": {}, "example.org.evil.test": {},
		"wild.test": {}, "a.wild.test": {true, false}, "a.b.wild.test": {true, false}, "xwild.test": {},
		"10.0.0.1": {true, true}, "10.0.0.2": {}, "1.10.0.0.1": {}, "::1": {true, true}, "::ffff:10.0.0.1": {true, true}, "::2": {},
		"167772161": {}, "0x0a000001": {}, "10.1": {}, "local.corp": {true, true}, "": {}, "*": {}, "*.wild.test": {}, "exa mple.org": {}, "example.org\n": {true, true},
	} {
		ok, exact := d.match(host)
		if got := [2]bool{ok, exact}; got != want {
			t.Errorf("match(%q) = %v, want %v", host, got, want)
		}
	}
	if ok, exact := (domains{"*"}).match("any.test"); !ok || exact {
		t.Errorf("* and any.test: %v %v, want true false", ok, exact)
	}
	if ok, _ := (domains{"*"}).match("9.9.9.9"); ok {
		t.Error("* and an IP: got allowed, want refused: addresses are listed one by one")
	}
	for entry, want := range map[string]string{"a.test": "", "*.a.test": "", "*": "", "1.2.3.4": "", "[::1]": "", "http://a": "http://a", "a..b": "a..b", "": "", "*.": "*.", "a/b": "a/b", "fe80::1%eth0": "fe80::1%eth0", "-a": "-a", "0177.1": "0177.1"} {
		if got := CheckDomains([]string{entry}); got != want {
			t.Errorf("CheckDomains(%q) = %q, want %q", entry, got, want)
		}
	}
}

func TestDialable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, ip string
		exact    bool
		want     bool
	}{
		{"a.test", "93.184.216.34", false, true},
		{"a.test", "2606:2800::1", true, true},
		{"169.254.169.254", "169.254.169.254", true, false}, // refused even where it is listed
		{"a.test", "169.254.169.254", true, false},
		{"a.test", "::ffff:169.254.169.254", true, false},
		{"a.test", "64:ff9b::a9fe:a9fe", true, false},
		{"a.test", "2002:a9fe:a9fe::1", true, false},
		{"fd00:ec2::254", "fd00:ec2::254", true, false},
		{"a.test", "fe80::1", true, false},
		{"a.test", "100.100.100.200", true, false},
		{"a.test", "168.63.129.16", true, false},
		{"a.test", "127.0.0.1", true, false},
		{"a.test", "::1", true, false},
		{"a.test", "::ffff:127.0.0.1", true, false},
		{"localhost", "127.0.0.1", true, true},
		{"localhost", "127.0.0.1", false, false},
		{"127.0.0.1", "127.0.0.1", true, true},
		{"a.test", "0.0.0.0", true, false},
		{"a.test", "224.0.0.1", true, false},
		{"a.test", "10.1.2.3", false, false}, // below a listed name, or *
		{"a.test", "10.1.2.3", true, true},
		{"a.test", "fd12::1", false, false},
		{"a.test", "192.168.1.1", false, false},
		{"192.168.1.1", "192.168.1.1", true, true},
	} {
		if got := dialable(c.host, netip.MustParseAddr(c.ip), c.exact) == nil; got != c.want {
			t.Errorf("dialable(%s, %s, %v) = %v, want %v", c.host, c.ip, c.exact, got, c.want)
		}
	}
}
