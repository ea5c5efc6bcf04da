// Where the nodes of the spawn graph stand: callers at the left, callees at
// their right, layer by layer, with few crossings. Pure.

export const NODE = { width: 172, height: 38 };
const GAP = { x: 64, y: 14 };
const SWEEPS = 8; // more change nothing that an eye would see

/**
 * @param {{id: string}[]} nodes
 * @param {{from: string, to: string}[]} edges between ids of nodes
 * @returns {{places: Map<string, {x: number, y: number, layer: number}>, paths: {from: string, to: string, back: boolean, points: {x: number, y: number}[]}[], width: number, height: number}}
 */
export function layout(nodes, edges) {
  const back = cycles(nodes, edges);
  const layer = layers(nodes, edges.filter((e) => !back.has(e)));
  const columns = [];
  const put = (item, at) => { (columns[at] ??= []).push(item); return item; };
  const items = new Map(nodes.map((n) => [n.id, put({ id: n.id, next: [], before: [], height: NODE.height }, layer.get(n.id))]));
  const link = (a, b) => { a.next.push(b); b.before.push(a); };
  const chains = new Map();
  for (const e of edges) {
    if (e.from === e.to) continue;
    const [a, b] = back.has(e) ? [e.to, e.from] : [e.from, e.to];
    let last = items.get(a);
    const chain = [last];
    for (let at = layer.get(a) + 1; at < layer.get(b); at++) { // a knee in each layer that the line crosses
      const knee = put({ next: [], before: [], height: 4 }, at);
      link(last, knee);
      chain.push(knee);
      last = knee;
    }
    link(last, items.get(b));
    chain.push(items.get(b));
    chains.set(e, chain);
  }
  order(columns);
  stand(columns);
  columns.forEach((column, at) => column.forEach((item) => { item.x = at * (NODE.width + GAP.x); }));
  const all = columns.flat();
  const top = Math.min(...all.map((i) => i.y - i.height / 2));
  for (const item of all) item.y -= top;
  const places = new Map([...items].map(([id, i]) => [id, { x: i.x, y: i.y, layer: layer.get(id) }]));
  const paths = edges.map((e) => ({ ...e, back: back.has(e), points: points(e, chains.get(e), places, back.has(e)) }));
  return {
    places, paths,
    width: columns.length * (NODE.width + GAP.x) - GAP.x,
    height: Math.max(...all.map((i) => i.y + i.height / 2)),
  };
}

/** The edges that close a cycle, by a walk in depth. */
function cycles(nodes, edges) {
  const out = new Map(nodes.map((n) => [n.id, []]));
  for (const e of edges) out.get(e.from).push(e);
  const state = new Map();
  const back = new Set();
  for (const n of nodes) {
    if (state.has(n.id)) continue;
    const stack = [[n.id, 0]];
    state.set(n.id, 'open');
    while (stack.length) {
      const top = stack[stack.length - 1];
      const e = out.get(top[0])[top[1]++];
      if (!e) { state.set(top[0], 'done'); stack.pop(); continue; }
      if (state.get(e.to) === 'open') back.add(e);
      else if (!state.has(e.to)) { state.set(e.to, 'open'); stack.push([e.to, 0]); }
    }
  }
  return back;
}

/** The longest way from a node without callers. */
function layers(nodes, edges) {
  const waits = new Map(nodes.map((n) => [n.id, 0]));
  const out = new Map(nodes.map((n) => [n.id, []]));
  for (const e of edges) { waits.set(e.to, waits.get(e.to) + 1); out.get(e.from).push(e.to); }
  const layer = new Map(nodes.map((n) => [n.id, 0]));
  const ready = nodes.filter((n) => waits.get(n.id) === 0).map((n) => n.id);
  for (let i = 0; i < ready.length; i++) {
    for (const to of out.get(ready[i])) {
      layer.set(to, Math.max(layer.get(to), layer.get(ready[i]) + 1));
      waits.set(to, waits.get(to) - 1);
      if (waits.get(to) === 0) ready.push(to);
    }
  }
  return layer;
}

/** Order each column by the mean place of its neighbours, there and back. */
function order(columns) {
  const number = (column) => column.forEach((item, i) => { item.rank = i; });
  columns.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0;
    for (const column of forth ? columns : [...columns].reverse()) {
      for (const item of column) {
        const near = forth ? item.before : item.next;
        item.weight = near.length ? near.reduce((n, x) => n + x.rank, 0) / near.length : item.rank;
      }
      column.sort((a, b) => a.weight - b.weight || a.rank - b.rank);
      number(column);
    }
  }
}

/** Give each item a height near its neighbours', without overlaps. */
function stand(columns) {
  for (const column of columns) {
    let y = 0;
    for (const item of column) { item.y = y + item.height / 2; y += item.height + GAP.y; }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 ? [...columns].reverse() : columns) {
      const wish = column.map((item) => {
        const near = [...item.before, ...item.next];
        return near.length ? near.reduce((n, x) => n + x.y, 0) / near.length : item.y;
      });
      spread(column, wish);
    }
  }
}

/** Stand as near to the wishes as order and gaps allow: blocks that would overlap share their mean. */
function spread(column, wish) {
  const blocks = [];
  column.forEach((item, i) => {
    let block = { items: [item], height: item.height, sum: wish[i], n: 1 };
    block.y = wish[i];
    for (let last = blocks[blocks.length - 1]; last && last.y + last.height / 2 + GAP.y > block.y - block.height / 2; last = blocks[blocks.length - 1]) {
      blocks.pop();
      const items = [...last.items, ...block.items];
      const height = last.height + GAP.y + block.height;
      const n = last.n + block.n;
      const y = (last.y * last.n + block.y * block.n) / n;
      block = { items, height, n, y };
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    let y = block.y - block.height / 2;
    for (const item of block.items) { item.y = y + item.height / 2; y += item.height + GAP.y; }
  }
}

function points(e, chain, places, back) {
  const from = places.get(e.from);
  if (!chain) return [{ x: from.x + NODE.width, y: from.y }]; // calls itself
  const knees = chain.slice(1, -1).flatMap((k) => [{ x: k.x, y: k.y }, { x: k.x + NODE.width, y: k.y }]);
  const [a, b] = [places.get(back ? e.to : e.from), places.get(back ? e.from : e.to)];
  const line = [{ x: a.x + NODE.width, y: a.y }, ...knees, { x: b.x, y: b.y }];
  return back ? line.reverse() : line;
}

/** An SVG path through points that all lie in one direction of x. */
export function curve(line) {
  if (line.length === 1) {
    const { x, y } = line[0];
    return `M${x} ${y - 6} c28 -22 28 34 4 14`;
  }
  let d = `M${line[0].x} ${line[0].y}`;
  for (let i = 1; i < line.length; i++) {
    const a = line[i - 1];
    const b = line[i];
    const mid = (a.x + b.x) / 2;
    d += ` C${mid} ${a.y} ${mid} ${b.y} ${b.x} ${b.y}`;
  }
  return d;
}
