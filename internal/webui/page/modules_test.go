package page_test

import (
	"context"
	"testing"
)

// modules runs the page's pure modules in the browser that they are for.
// Each case gives true or what it got instead.
func modules(t *testing.T, browser context.Context) {
	p := newPlace(t)
	tb := newTab(t, browser, p.url)
	tb.open("")
	for _, c := range []struct{ name, js string }{
		{"numbers keep their text", `const s = '{"a":1.0,"b":-0,"c":1e400,"d":12345678901234567890,"e":[0.10,-0.0,1E+2]}'; return lexical.stringify(lexical.parse(s)) === s`},
		{"strings", `const s = '"\\u0041\\ud83d\\ude00\\n\\"\\\\/\\/"'; return lexical.parse(s) === JSON.parse(s)`},
		{"keys in order, whatever they are called", `return [...lexical.parse('{"2":1,"1":2,"__proto__":3,"constructor":4}').keys()].join() === '2,1,__proto__,constructor'`},
		{"indent", `return lexical.stringify(lexical.parse('{"a":[1,{}],"b":{}}'), 2) === JSON.stringify({a: [1, {}], b: {}}, null, 2)`},
		{"faults", `return ['', '{', '[1,]', '{"a":1,}', '01', '1.', '+1', 'nul', '"\u0001"', '"\\x"', '"\\u12"', '{"a":1,"a":2}', '1 2', '.5', 'NaN', '{a:1}', "'a'", '['.repeat(9999)].filter(s => { try { lexical.parse(s); return true } catch (e) { return !(e instanceof lexical.JSONFault) } }).join(' ; ') || true`},
		{"place of a fault", `try { lexical.parse('{\n  "\u{1f30a}": oops}') } catch (e) { return e.line === 2 && e.column === 8 || [e.line, e.column] }`},
		{"equal", `const q = s => lexical.parse(s); return lexical.equal(q('{"a":1,"b":[2]}'), q('{"b":[2],"a":1}')) && !lexical.equal(q('1'), q('1.0')) && !lexical.equal(q('{"a":null}'), q('{}')) && !lexical.equal(q('[]'), q('{}')) && !lexical.equal(q('"1"'), q('1'))`},
		{"coerce", `return ['1', '1.0', '"1"', 'text', ' 5 ', '{"a":1}', '', 'true', 'tr ue', '[1', '-'].map(s => params.display(params.coerce(s))).join('|') === '1|1.0|"1"|text|5|{"a":1}|""|true|tr ue|[1|-'`},
		{"complaints", `const c = (k, s) => params.paramComplaint(k, params.coerce(s)) === ''; return [c('temperature', '2'), c('temperature', '2.1'), c('temperature', 'true'), c('top_p', '1.0'), c('top_k', '1.0'), c('top_k', '0'), c('max_tokens', '1'), c('constructor', 'x'), c('other', 'x')].join() === 'true,false,false,true,false,false,true,true,true'`},

		{"plan parts", `const a = spec({description: 'd', model: 'm', prompt: 'p'}), b = spec({description: 'e', model: 'n', prompt: 'p'}); const p = edits.plan(a, b); return [...p.contract.keys()].join() === 'description' && [...p.implementation.keys()].join() === 'model' && !p.whole`},
		{"plan of nothing", `const p = edits.plan(spec({model: 'm'}), spec({model: 'm'})); return p.contract === null && p.implementation === null && !p.whole`},
		{"plan of a loss", `const p = edits.plan(spec({model_params: {a: {b: 1, c: 2}}}), spec({model_params: {a: {b: 1}}})); return p.whole && p.implementation.has('model_params')`},
		{"plan of a field gone", `const p = edits.plan(spec({compaction_prompt: 'x'}), spec({})); return p.whole && p.implementation.size === 0`},
		{"plan of a gain", `return !edits.plan(spec({model_params: {a: 1}}), spec({model_params: {a: 2, b: 3}})).whole`},
		{"rebase", `const r = edits.rebase(spec({model: 'a', description: 'd', model_params: {x: 1, y: 1, z: 1}}), spec({model: 'b', description: 'd', model_params: {x: 2, z: 1}}), spec({model: 'c', description: 'e', model_params: {x: 3, y: 1, z: 9, n: 1}}));
			return lexical.equal(r.draft, spec({model: 'b', description: 'e', model_params: {x: 2, z: 9, n: 1}})) && r.both.join() === 'model,model_params' && r.theirs.join() === 'description,model,model_params' || lexical.stringify(r.draft)`},
		{"rebase onto a field gone", `const r = edits.rebase(spec({compaction_prompt: 'a', model: 'm'}), spec({compaction_prompt: 'b', model: 'm'}), spec({model: 'm'})); return r.draft.get('compaction_prompt') === 'b'`},
		{"rebase of a removal", `const r = edits.rebase(spec({compaction_prompt: 'a', model: 'm'}), spec({model: 'm'}), spec({compaction_prompt: 'a', model: 'n'})); return !r.draft.has('compaction_prompt') && r.draft.get('model') === 'n'`},

		{"diff", `return rows('a\nb\nc', 'a\nx\nc') === 'a=a b/x c=c'`},
		{"diff of insertions", `return rows('a\nc', 'a\nb\nc\nd') === 'a=a -/b c=c -/d'`},
		{"diff of nothing", `return rows('', '') === '' && rows('', 'a') === '-/a' && rows('a', '') === 'a/-'`},
		{"diff holds both texts", `let seed = 7; const next = n => (seed = (seed * 48271) % 2147483647) % n; const text = () => Array.from({length: next(30)}, () => 'abcd'[next(4)]).join('\n');
			for (let i = 0; i < 500; i++) { const a = text(), b = text(), d = diff.lineDiff(a, b); const side = k => d.map(r => r[k]).filter(l => l !== null).join('\n');
				if (side('left') !== a || side('right') !== b) return JSON.stringify([a, b, d]) } return true`},
		{"diff is the shortest", `const d = diff.lineDiff('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc'); return d.filter(r => r.left === r.right).length === 4 || d.length`},
		{"diff of two long texts", `const a = Array.from({length: 20000}, (_, i) => 'a' + i).join('\n'), b = Array.from({length: 20000}, (_, i) => 'b' + i).join('\n'); const t = performance.now(); const n = diff.lineDiff(a, b).length; return n === 20000 && performance.now() - t < 5000 || [n, performance.now() - t]`},
		{"inner diff cuts no character", `const d = diff.innerDiff('x\u{1f30a}y', 'x\u{1f30b}y'); return d.left === '\u{1f30a}' && d.right === '\u{1f30b}' && d.before === 'x' && d.after === 'y'`},

		{"layout", `let seed = 11; const next = n => (seed = (seed * 48271) % 2147483647) % n;
			for (let round = 0; round < 60; round++) { const n = 1 + next(25); const nodes = Array.from({length: n}, (_, i) => ({id: 'n' + i})); const edges = Array.from({length: next(40)}, () => ({from: 'n' + next(n), to: 'n' + next(n)})).filter((e, i, all) => all.findIndex(f => f.from === e.from && f.to === e.to) === i);
				const l = layout.layout(nodes, edges); const ps = [...l.places.values()];
				if (ps.some(p => !Number.isFinite(p.x + p.y) || p.x < 0 || p.y < 0 || p.x + layout.NODE.width > l.width + 1 || p.y > l.height)) return 'outside';
				if (ps.some((p, i) => ps.some((q, j) => i < j && p.x === q.x && Math.abs(p.y - q.y) < layout.NODE.height))) return 'overlap';
				if (l.paths.some(p => p.from !== p.to && !p.back && l.places.get(p.from).layer >= l.places.get(p.to).layer)) return 'backwards';
				if (l.paths.some(p => layout.curve(p.points).includes('NaN'))) return 'curve' }
			return true`},
		{"search", `const f = search.searcher([{id: 'b', model: 'x', description: 'has an a'}, {id: 'a', model: 'M', description: ''}, {id: 'ba', model: 'y', description: null}]); return f('a').map(p => p.id).join() === 'a,ba,b' && f('m').map(p => p.id).join() === 'a' && f(' ').length === 3 && f('.*').length === 0`},
		{"routes", `const r = s => JSON.stringify(route.parseRoute(s)); return r('#/persona/a/b') === '{"view":"persona","id":"a","variant":"b"}' && r('#/persona') === '{"view":"home"}' && r('') === '{"view":"home"}' && r('#/graph') === '{"view":"graph"}' && r('#/persona/%E0%A4%A') === '{"view":"persona","id":"%E0%A4%A"}' && route.parseRoute(route.personaHref('a/b', 'c?d')).id === 'a/b'`},
	} {
		js := `(async () => { const [lexical, edits, diff, layout, search, route, params] = await Promise.all(['lexical', 'edits', 'diff', 'layout', 'search', 'route', 'field_params'].map(n => import('/assets/' + n + '.js')));
			const spec = o => lexical.parse(JSON.stringify(o));
			const rows = (a, b) => diff.lineDiff(a, b).map(r => (r.left ?? '-') + (r.left === r.right ? '=' : '/') + (r.right ?? '-')).join(' ');
			return JSON.stringify(await (async () => {` + c.js + `})()) })()`
		if got := eval[string](tb, js); got != "true" {
			t.Errorf("%s: got %s, want true", c.name, got)
		}
	}
}
