// The spawn graph, drawn: who may call whom. One node has the Tab stop, arrows
// go along the lines, Enter opens a persona; the same stands in a table below.

import * as api from './api.js';
import { h, s, replace } from './dom.js';
import { layout, curve, NODE } from './layout.js';
import { personaHref, graphHref } from './route.js';
import { errorView, loadingView } from './states.js';
import { backLink } from './variants.js';

const MOST = 250; // nodes; a drawing of more helps nobody
const ANY = '*'; // the node that stands for every persona
const FONT = '500 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif'; // as views.css has it
const ZOOM = [0.5, 0.67, 0.8, 1, 1.25, 1.5];
const SMALLEST = 0.62; // of full size: what fitting the window may make of 13 px and still be read

/** @param {HTMLElement} main */
export function makeGraph(main) {
  let turn = 0;
  let now = null;
  let zoom = 3;

  async function open(id, { focus = false, quiet = false } = {}) {
    const mine = ++turn;
    now = { id };
    if (!quiet) replace(main, loadingView());
    try {
      const data = await api.graph();
      if (mine !== turn) return;
      render(data, id);
      if (focus) main.querySelector('h1')?.focus();
    } catch (err) {
      if (mine === turn) replace(main, backLink(), errorView(err, { again: () => open(id) }));
    }
  }

  function render(data, id) {
    document.title = id ? `Calls of ${id} · larva` : 'Spawn graph · larva';
    const whole = complete(data);
    const g = id ? around(whole, id) : linked(whole);
    const apart = whole.nodes.filter((n) => n.id !== ANY).length - linked(whole).nodes.filter((n) => n.id !== ANY).length;
    const dangling = g.nodes.filter((n) => n.exists === false).length;
    const facts = [
      `${count(g.nodes.filter((n) => n.id !== ANY && n.exists !== false).length, 'persona')}, ${count(g.edges.length, 'call')}`,
      dangling && `${count(dangling, 'id')} missing`,
      !id && apart > 0 && `${count(apart, 'persona')} without any`,
    ].filter(Boolean).join(' · ');
    const zoomed = (d) => { zoom = Math.max(0, Math.min(ZOOM.length - 1, zoom + d)); scale(); };
    let drawing = null;
    const scale = () => {
      if (!drawing) return;
      const { width, height } = drawing.viewBox.baseVal;
      const room = drawing.parentElement.clientWidth - 34; // its padding and border
      const fit = Math.max(SMALLEST, Math.min(1, room / width));
      drawing.setAttribute('width', width * fit * ZOOM[zoom]);
      drawing.setAttribute('height', height * fit * ZOOM[zoom]);
    };
    const head = h('header', { class: 'detail-head' },
      h('div', { class: 'title' }, id ? h('h1', { tabIndex: -1 }, 'Whom ', h('a', { href: personaHref(id), text: id }), ' may call') : h('h1', { tabIndex: -1, text: 'Who may call whom' })),
      h('div', { class: 'head-actions' }, h('span', { class: 'muted', text: facts }), h('span', { class: 'grow' }),
        id && h('a', { class: 'button quiet small', href: graphHref(), text: 'Show all' }),
        h('button', { type: 'button', class: 'icon', 'aria-label': 'Smaller', text: '\u2212', on: { click: () => zoomed(-1) } }),
        h('button', { type: 'button', class: 'icon', 'aria-label': 'Larger', text: '+', on: { click: () => zoomed(1) } })));
    const tooMany = g.nodes.length > MOST;
    const tells = g.edges.length > 0 && !tooMany;
    let body;
    if (id && !whole.byId.has(id)) body = h('p', { class: 'blank', text: `No persona ${id} is registered.` });
    else if (!g.edges.length && !id) body = h('p', { class: 'blank', text: 'No persona may call another one.' });
    else if (!g.edges.length) body = h('p', { class: 'blank', text: 'It may call nobody, and nobody may call it.' });
    else if (tooMany) body = begin(g);
    else { drawing = draw(g, id); body = h('div', { class: 'canvas' }, drawing); }
    replace(main, backLink(), h('article', { class: 'graph' }, head, body, tells && legend(g), tells && table(g)));
    scale();
  }

  return { open, refresh: () => now && open(now.id, { quiet: true }), close() { turn++; now = null; } };
}

const count = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

/** Where to begin in a graph that is too large to draw: with the most linked. */
function begin(g) {
  const degree = new Map();
  for (const e of g.edges) for (const id of [e.from, e.to]) degree.set(id, (degree.get(id) ?? 0) + 1);
  const first = g.nodes.filter((n) => n.id !== ANY && n.exists !== false).sort((a, b) => degree.get(b.id) - degree.get(a.id)).slice(0, 12);
  return h('div', { class: 'too-many' },
    h('p', { text: `${g.nodes.length.toLocaleString('en')} are too many to draw at once. Choose Calls on a persona to see what is around it; these have the most:` }),
    h('ul', { class: 'chips' }, ...first.map((n) => h('li', {}, h('a', { class: 'chip', href: graphHref(n.id) }, n.id, h('span', { class: 'muted', text: degree.get(n.id).toLocaleString('en') }))))));
}

/** Add the node that stands for all, and an edge to it from who may call anybody. */
function complete({ nodes, edges }) {
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const all = [...edges];
  const any = nodes.filter((n) => n.spawn === 'any');
  if (any.length) {
    byId.set(ANY, { id: ANY, exists: true });
    all.push(...any.map((n) => ({ from: n.id, to: ANY })));
  }
  for (const e of all) if (!byId.has(e.to)) byId.set(e.to, { id: e.to, exists: false });
  return { nodes: [...byId.values()], edges: all, byId };
}

function linked(g) {
  const used = new Set(g.edges.flatMap((e) => [e.from, e.to]));
  return { nodes: g.nodes.filter((n) => used.has(n.id)), edges: g.edges };
}

/** A persona, all it may reach, and who may call it directly. */
function around(g, id) {
  const seen = new Set([id]);
  const next = [id];
  for (let i = 0; i < next.length && seen.size <= MOST; i++) {
    for (const e of g.edges) if (e.from === next[i] && !seen.has(e.to)) { seen.add(e.to); next.push(e.to); }
  }
  for (const e of g.edges) if (e.to === id) seen.add(e.from);
  return { nodes: g.nodes.filter((n) => seen.has(n.id)), edges: g.edges.filter((e) => seen.has(e.from) && seen.has(e.to)) };
}

function draw(g, chosen) {
  const { places, paths, width, height } = layout(g.nodes, g.edges);
  const margin = 12;
  const loop = 24; // room for a call of oneself at the right
  const lines = paths.map((p) => s('path', { class: `edge${p.back ? ' back' : ''}${p.to === ANY ? ' any' : ''}`, d: curve(p.points), 'marker-end': 'url(#arrow)', data: { from: p.from, to: p.to } }));
  const svg = s('svg', { class: 'drawing', viewBox: `${-margin} ${-margin} ${width + 2 * margin + loop} ${height + 2 * margin}`, role: 'group', 'aria-label': 'Spawn graph. Arrow keys go along the calls, Enter opens a persona.' },
    s('defs', {}, s('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' }, s('path', { d: 'M0 0.8L7.5 4L0 7.2z' }))),
    s('g', {}, ...lines));
  const els = new Map(g.nodes.map((n) => [n.id, node(n, places.get(n.id), g, n.id === chosen)]));
  svg.append(...els.values());
  walk(svg, g, places, els, lines, chosen);
  return svg;
}

function node(n, { x, y }, g, chosen) {
  const callees = g.edges.filter((e) => e.from === n.id).map((e) => (e.to === ANY ? 'any persona' : e.to));
  const callers = g.edges.filter((e) => e.to === n.id).map((e) => e.from);
  const says = n.id === ANY ? `any persona, may be called by ${callers.join(', ')}`
    : [n.id, n.exists === false ? 'not registered' : '', callees.length ? `may call ${callees.join(', ')}` : 'may call nobody', callers.length ? `may be called by ${callers.join(', ')}` : ''].filter(Boolean).join(', ');
  const kind = n.id === ANY ? 'any' : n.exists === false ? 'dangling' : '';
  const text = n.id === ANY ? 'any persona' : n.id;
  const label = shortened(text, NODE.width - (kind === 'dangling' ? 82 : 28));
  const link = n.id !== ANY && n.exists !== false;
  return s(link ? 'a' : 'g', { class: `node ${kind} ${chosen ? 'chosen' : ''}`.trim(), href: link ? personaHref(n.id) : null, role: link ? null : 'img', tabindex: -1, 'aria-label': says, data: { id: n.id }, transform: `translate(${x} ${y - NODE.height / 2})` },
    s('title', { text: says }),
    s('rect', { width: NODE.width, height: NODE.height, rx: n.id === ANY ? NODE.height / 2 : 8 }),
    s('text', { x: 14, y: NODE.height / 2, text: label }),
    kind === 'dangling' && s('text', { class: 'node-note', x: NODE.width - 12, y: NODE.height / 2, text: 'missing' }));
}

const pen = document.createElement('canvas').getContext('2d');

/** A text cut with an ellipsis so that it is at most so wide. */
function shortened(text, width) {
  pen.font = FONT;
  const fits = (t) => pen.measureText(t).width <= width;
  if (fits(text)) return text;
  let chars = [...text];
  while (chars.length > 1 && !fits(`${chars.join('')}\u2026`)) chars = chars.slice(0, -1);
  return `${chars.join('')}\u2026`;
}

/** Arrow keys along the graph; what belongs to the node in focus stands out. */
function walk(svg, g, places, els, lines, chosen) {
  const by = (a, b) => places.get(a).layer - places.get(b).layer || places.get(a).y - places.get(b).y;
  const ids = [...els.keys()].sort(by);
  let at = chosen && els.has(chosen) ? chosen : ids[0];
  els.get(at).setAttribute('tabindex', 0);
  const nearest = (list) => list.filter((id) => id !== at).sort((a, b) => Math.abs(places.get(a).y - places.get(at).y) - Math.abs(places.get(b).y - places.get(at).y))[0];
  const column = () => ids.filter((id) => places.get(id).layer === places.get(at).layer);
  const moves = {
    ArrowRight: () => nearest(g.edges.filter((e) => e.from === at).map((e) => e.to)),
    ArrowLeft: () => nearest(g.edges.filter((e) => e.to === at).map((e) => e.from)),
    ArrowDown: () => column()[column().indexOf(at) + 1] ?? ids[ids.indexOf(at) + 1],
    ArrowUp: () => column()[column().indexOf(at) - 1] ?? ids[ids.indexOf(at) - 1],
    Home: () => ids[0], End: () => ids[ids.length - 1],
  };
  svg.addEventListener('keydown', (e) => {
    if (!moves[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const to = moves[e.key]();
    if (to === undefined) return;
    els.get(at).setAttribute('tabindex', -1);
    at = to;
    els.get(at).setAttribute('tabindex', 0);
    els.get(at).focus();
    els.get(at).scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  const light = (id) => {
    svg.classList.toggle('lit', id !== null);
    const near = new Set([id]);
    for (const l of lines) {
      const on = l.dataset.from === id || l.dataset.to === id;
      l.classList.toggle('on', on);
      if (on) near.add(l.dataset.from).add(l.dataset.to);
    }
    for (const [k, el] of els) el.classList.toggle('on', near.has(k));
  };
  for (const [id, el] of els) {
    el.addEventListener('focus', () => light(id));
    el.addEventListener('pointerenter', () => light(id));
    el.addEventListener('blur', () => light(null));
    el.addEventListener('pointerleave', () => light(null));
  }
}

const legend = (g) => h('ul', { class: 'legend', 'aria-label': 'Legend' },
  h('li', {}, h('span', { class: 'swatch' }), 'may call what its lines point at'),
  g.nodes.some((n) => n.id === ANY) && h('li', {}, h('span', { class: 'swatch round' }), 'stands for every persona'),
  g.nodes.some((n) => n.exists === false) && h('li', {}, h('span', { class: 'swatch dangling' }), 'named, but not registered'));

function table(g) {
  const names = (list) => (list.length ? list.map((id) => (id === ANY ? 'any persona' : id)).join(', ') : '\u2013');
  return h('details', { class: 'fold as-table' }, h('summary', { text: 'As a table' }),
    h('div', { class: 'scroll' }, h('table', { 'aria-label': 'Who may call whom' }, h('thead', {}, h('tr', {}, ...['Persona', 'May call', 'May be called by'].map((t) => h('th', { scope: 'col', text: t })))),
      h('tbody', {}, ...g.nodes.filter((n) => n.id !== ANY).map((n) => h('tr', {},
        h('th', { scope: 'row' }, n.exists === false ? h('span', { class: 'dangling-text', text: `${n.id} (missing)` }) : h('a', { href: personaHref(n.id), text: n.id })),
        h('td', { text: names(g.edges.filter((e) => e.from === n.id).map((e) => e.to)) }),
        h('td', { text: names(g.edges.filter((e) => e.to === n.id).map((e) => e.from)) })))))));
}
