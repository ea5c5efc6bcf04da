// Runs before the first paint, so that a chosen theme never flashes the other.
// "auto" is the absence of the attribute: the sheet then asks the system.
(() => {
  let chosen = '';
  try { chosen = localStorage.getItem('larva-theme') ?? ''; } catch { /* storage is off: auto */ }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
