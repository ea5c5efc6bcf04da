package worktree

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"larva.dev/larva/internal/proc"
)

// setting is one line of git's configuration, put over what the repository,
// the user and the machine say.
type setting struct{ key, value string }

// always are off in every call. What needs a transport fails: no object is
// fetched, since the way there is named by the repository (ext::, sshCommand,
// credential helpers, uploadpack).
var always = [...]setting{
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.editor", "false"},
	{"core.askPass", ""},
	{"core.sshCommand", "false"},
	{"credential.helper", ""},
	{"protocol.allow", "never"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"diff.ignoreSubmodules", "all"},
	{"submodule.recurse", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"advice.addEmbeddedRepo", "false"},
}

// kept are the variables of git that a caller's environment may set: who
// commits, and which files the user's own configuration is.
var kept = [...]string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_NOSYSTEM=", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_EXEC_PATH="}

// env is the whole environment of one call. Settings go through variables and
// not through -c, where a driver's name may hold a "=".
func (g git) env() []string {
	base := slices.DeleteFunc(proc.Env(g.environ), func(kv string) bool {
		return strings.HasPrefix(strings.ToUpper(kv), "GIT_") && !slices.ContainsFunc(kept[:], func(p string) bool { return strings.HasPrefix(kv, p) })
	})
	set := []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PROTOCOL_FROM_USER=0",
		"GIT_LITERAL_PATHSPECS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat", "GIT_EDITOR=false", "LC_ALL=C"}
	set = append(append(set, g.at...), g.quiet...)
	all := append(always[:len(always):len(always)], g.off...)
	set = append(set, "GIT_CONFIG_COUNT="+strconv.Itoa(len(all)))
	for i, s := range all {
		n := strconv.Itoa(i)
		set = append(set, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return append(base, set...)
}

// maxDrivers bounds what a configuration may name.
const maxDrivers = 2000

// disarm gives g with every filter and merge driver off that the configuration
// knows here: of the repository, of those below it, and of the user, too, for
// a user's own filter (git-lfs, say) takes its orders from the repository. It
// is to be asked anew wherever the configuration may have changed, as on
// another branch (includeIf).
func (g git) disarm(ctx context.Context, below ...git) (git, []string, error) {
	g.off = nil
	filters, merges := map[string]bool{}, map[string]bool{}
	for _, r := range append([]git{g}, below...) {
		r.off = nil
		out, err := r.run(ctx, "config", "-z", "--name-only", "--get-regexp", `^(filter|merge)\..*\.(clean|smudge|process|required|driver)$`)
		if exitIs(err, 1) {
			continue
		}
		if err != nil {
			return g, nil, err
		}
		for _, key := range fields(out) {
			section, rest, _ := strings.Cut(key, ".")
			i := strings.LastIndexByte(rest, '.')
			if i < 0 {
				continue
			}
			name, last := rest[:i], rest[i+1:]
			switch {
			case section == "filter" && last != "driver":
				filters[name] = true
			case section == "merge" && last == "driver":
				merges[name] = true
			}
		}
	}
	if len(filters)+len(merges) > maxDrivers {
		return g, nil, fmt.Errorf("git's configuration names %d filters and merge drivers", len(filters)+len(merges))
	}
	names := sorted(filters)
	for _, n := range names {
		f := "filter." + n + "."
		g.off = append(g.off, setting{f + "clean", ""}, setting{f + "smudge", ""}, setting{f + "process", ""}, setting{f + "required", "false"})
	}
	for _, n := range sorted(merges) {
		g.off = append(g.off, setting{"merge." + n + ".driver", "false"}) // ends with 1: a conflict
	}
	return g, names, nil
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
