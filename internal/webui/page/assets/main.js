// Wires the page together: the list, the views, the addresses, the keys, and
// what the server tells.

import * as api from './api.js';
import { replace, byId } from './dom.js';
import { makeList } from './list.js';
import { makeDetail } from './detail.js';
import { makeCompare } from './compare.js';
import { makeGraph } from './graph.js';
import { openImport } from './importer.js';
import { choose } from './dialog.js';
import { listen } from './live.js';
import { here, parseRoute } from './route.js';
import { homeView, emptyView, errorView, loadingView } from './states.js';
import { themeButton } from './themes.js';

const main = byId('main');
const list = makeList();
const known = () => list.items.map((p) => p.id);
const detail = makeDetail(main, { known, gone: () => { location.hash = '#/'; } });
const compare = makeCompare(main);
const graph = makeGraph(main);
const views = { persona: detail, compare, graph };
let shown = location.hash; // the address of what is on the screen
let blocked = false; // the registry cannot be listed
let loaded = false;
let reading = false;
let again = false;

const importOptions = (file) => ({ known, file });

/** Show what the address says. */
function show({ focus = false } = {}) {
  const r = here();
  shown = location.hash;
  for (const [name, view] of Object.entries(views)) if (name !== r.view) view.close();
  document.body.dataset.view = r.view === 'home' ? 'list' : 'main';
  list.mark(r.id && r.view !== 'graph' ? r.id : undefined);
  byId('open-graph').toggleAttribute('aria-current', r.view === 'graph');
  main.setAttribute('aria-label', { persona: 'Persona', compare: 'Two variants', graph: 'Spawn graph', home: 'Personas' }[r.view]);
  if (r.view === 'persona') return detail.open(r.id, r.variant, { focus });
  if (r.view === 'compare') return compare.open(r.id, r.variant, r.other, { focus });
  if (r.view === 'graph') return graph.open(r.id, { focus });
  document.title = 'larva';
  if (blocked) return undefined;
  return replace(main, !loaded ? loadingView() : list.items.length ? homeView(list.items.length) : emptyView(() => openImport(importOptions())));
}

/** Read the list again; calls that come meanwhile make one more round. */
async function reload() {
  if (reading) { again = true; return; }
  reading = true;
  do {
    again = false;
    await read();
  } while (again);
  reading = false;
}

async function read() {
  try {
    const items = await api.list();
    const turned = blocked || (items.length === 0) !== (list.items.length === 0) || !loaded;
    const anew = blocked && !detail.dirty; // staged text outlives a registry that could not be read for a while
    const { view, id } = here();
    const first = !loaded;
    loaded = true;
    blocked = false;
    list.set(items);
    if (first && view !== 'graph') list.mark(id);
    if (anew || (view === 'home' && turned)) show();
    else views[view]?.refresh();
    detail.listed();
  } catch (err) {
    blocked = true;
    list.state('The list cannot be read.');
    if (detail.dirty) return;
    for (const view of Object.values(views)) view.close();
    replace(main, errorView(err, { again: reload }));
    document.body.dataset.view = 'main';
  }
}

/** Leave a persona with staged changes only by choice. */
async function leave() {
  const target = location.hash;
  const [from, to] = [parseRoute(shown), parseRoute(target)];
  if (from.view === to.view && from.id === to.id && from.variant === to.variant) return;
  history.replaceState(null, '', shown || '#/');
  const choice = await choose({
    title: 'Changes are not saved', text: `What is staged for ${from.id} is written nowhere yet.`,
    choices: [{ label: 'Stay', value: 'stay' }, { label: 'Discard', value: 'discard', kind: 'danger' }, { label: 'Save', value: 'save', kind: 'primary', first: true }],
  });
  if (choice === 'discard') detail.discard();
  else if (choice !== 'save' || !(await detail.store())) return;
  history.pushState(null, '', target);
  show({ focus: true });
}

addEventListener('hashchange', () => (detail.dirty ? leave() : show({ focus: true })));
addEventListener('beforeunload', (e) => { if (detail.dirty) e.preventDefault(); });

addEventListener('keydown', (e) => {
  const typing = e.target.closest?.('input, textarea, select, dialog');
  if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === 's') {
    e.preventDefault();
    if (!document.querySelector('dialog[open]')) detail.store();
  } else if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
    e.preventDefault();
    document.body.dataset.view = 'list';
    byId('search').focus();
    byId('search').select();
  } else if (e.key === 'Escape' && !typing && main.contains(e.target)) {
    if (matchMedia('(max-width: 720px)').matches) location.hash = '#/';
    else list.focus();
  }
});

byId('open-import').addEventListener('click', () => openImport(importOptions()));
addEventListener('dragover', (e) => { if (e.dataTransfer?.types.includes('Files')) e.preventDefault(); });
addEventListener('drop', (e) => {
  if (!e.dataTransfer?.files.length) return;
  e.preventDefault();
  if (!document.querySelector('dialog[open]')) openImport(importOptions(e.dataTransfer.files[0]));
});

themeButton(byId('theme'));
list.state('');
show();
reload();
listen(reload);
