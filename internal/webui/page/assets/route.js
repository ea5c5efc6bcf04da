// Addresses within the page. Each view has one, so that it can be linked,
// reloaded and gone back to.

/**
 * @param {string} hash
 * @returns {{view: 'home'|'persona'|'compare'|'graph', id?: string, variant?: string, other?: string}}
 */
export function parseRoute(hash) {
  const parts = hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decode);
  const [view, ...rest] = parts;
  if (view === 'persona' && rest[0]) return { view, id: rest[0], variant: rest[1] };
  if (view === 'compare' && rest[0]) return { view, id: rest[0], variant: rest[1], other: rest[2] };
  if (view === 'graph') return { view, id: rest[0] };
  return { view: 'home' };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const path = (...parts) => '#/' + parts.filter((p) => p !== undefined && p !== '').map(encodeURIComponent).join('/');

export const personaHref = (id, variant) => path('persona', id, variant);
export const compareHref = (id, a, b) => path('compare', id, a, b);
export const graphHref = (id) => path('graph', id);

/** The route now. */
export const here = () => parseRoute(location.hash);

/** Go to an address; `back` leaves no step in the history. */
export function go(href, { back = false } = {}) {
  if (back) {
    history.replaceState(null, '', href);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else {
    location.hash = href.slice(1);
  }
}
