// The theme: the system's, or light, or dark, kept in this browser.

import { icon, replace } from './dom.js';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' };
const WORDS = { auto: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' };
const SHAPES = {
  auto: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  light: 'M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  dark: 'M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z',
};

/** @param {HTMLButtonElement} button */
export function themeButton(button) {
  const root = document.documentElement;
  const draw = () => {
    const theme = root.dataset.theme ?? 'auto';
    button.setAttribute('aria-label', WORDS[theme]);
    button.title = WORDS[theme];
    button.dataset.theme = theme;
    replace(button, icon(SHAPES[theme]));
  };
  button.addEventListener('click', () => {
    const next = NEXT[root.dataset.theme ?? 'auto'];
    if (next === 'auto') delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === 'auto') localStorage.removeItem('larva-theme');
      else localStorage.setItem('larva-theme', next);
    } catch { /* storage is off: the choice lasts as long as the page */ }
    draw();
  });
  draw();
}
