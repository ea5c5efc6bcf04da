// Server-sent events: the registry tells of each change, whoever made it.

import { byId } from './dom.js';

const QUIET = 60; // ms: one write of the registry touches several files
const RETRY = 2000; // ms before a stream that the server refused is asked for again

/** @param {() => void} changed called once for a burst of changes, and after each reconnection */
export function listen(changed) {
  const box = byId('live');
  const text = byId('live-text');
  let timer;
  let lost = false;
  const state = (name, words) => { box.dataset.state = name; text.textContent = words; };
  const soon = () => { clearTimeout(timer); timer = setTimeout(changed, QUIET); };
  let source;
  const connect = () => {
    source = new EventSource('/api/events');
    source.addEventListener('open', () => {
      state('live', 'live');
      if (lost) soon(); // what happened while nobody listened
      lost = false;
    });
    source.addEventListener('ready', soon); // from here on nothing is missed
    source.addEventListener('error', () => {
      lost = true;
      state('lost', 'reconnecting');
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY); // refused: the browser does not try again by itself
    });
    source.addEventListener('change', soon);
  };
  connect();
  // A browser opens six connections to one server. Tabs that nobody sees give
  // theirs back, or the seventh tab would wait for ever.
  document.addEventListener('visibilitychange', () => {
    source.close();
    if (document.hidden) return;
    lost = true;
    connect();
  });
  addEventListener('pagehide', () => source.close());
  addEventListener('pageshow', (e) => { if (e.persisted) { lost = true; connect(); } }); // back from the browser's cache
}
