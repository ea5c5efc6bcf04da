// Line differences: the shortest script by Myers' greedy search, with the lines
// that both texts begin and end with taken off first.

const FARTHEST = 1500; // changed lines; beyond that the rest is told as one change, which stays quick

/**
 * @param {string} a
 * @param {string} b
 * @returns {{left: string|null, right: string|null}[]} one row a line; null where a side has none
 */
export function lineDiff(a, b) {
  const x = a === '' ? [] : a.split('\n');
  const y = b === '' ? [] : b.split('\n');
  let head = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  let tail = 0;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  const rows = x.slice(0, head).map(same);
  rows.push(...pair(script(x.slice(head, x.length - tail), y.slice(head, y.length - tail))));
  rows.push(...x.slice(x.length - tail).map(same));
  return rows;
}

const same = (line) => ({ left: line, right: line });

/** The moves from x to y: '=' keeps, '-' takes, '+' adds. */
function script(x, y) {
  const most = Math.min(x.length + y.length, FARTHEST);
  const mid = most + 1;
  const v = new Int32Array(2 * mid + 1); // v[mid + k]: how far into x the diagonal k was followed
  const trace = [];
  for (let d = 0; d <= most; d++) {
    trace.push(v.slice(mid - d - 1, mid + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let i = k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1]) ? v[mid + k + 1] : v[mid + k - 1] + 1;
      while (i < x.length && i - k < y.length && x[i] === y[i - k]) i++;
      v[mid + k] = i;
      if (i >= x.length && i - k >= y.length) return walkBack(trace, x, y);
    }
  }
  return [...x.map((line) => ['-', line]), ...y.map((line) => ['+', line])];
}

function walkBack(trace, x, y) {
  const moves = [];
  let i = x.length;
  let j = y.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = (k) => trace[d][d + 1 + k];
    const k = i - j;
    const down = k === -d || (k !== d && v(k - 1) < v(k + 1));
    const wasI = d === 0 ? 0 : v(down ? k + 1 : k - 1);
    const wasJ = d === 0 ? 0 : wasI - (down ? k + 1 : k - 1);
    while (i > wasI && j > wasJ) { moves.push(['=', x[--i]]); j--; }
    if (d > 0) moves.push(down ? ['+', y[--j]] : ['-', x[--i]]);
  }
  return moves.reverse();
}

/** Put what was taken and what was added in its place beside each other. */
function pair(moves) {
  const rows = [];
  let taken = [];
  let added = [];
  const flush = () => {
    for (let i = 0; i < Math.max(taken.length, added.length); i++) rows.push({ left: taken[i] ?? null, right: added[i] ?? null });
    taken = [];
    added = [];
  };
  for (const [move, line] of moves) {
    if (move === '=') { flush(); rows.push(same(line)); } else (move === '-' ? taken : added).push(line);
  }
  flush();
  return rows;
}

/**
 * What differs inside two lines: the common beginning and end, cut between
 * characters, never inside one.
 * @returns {{before: string, left: string, right: string, after: string}}
 */
export function innerDiff(a, b) {
  const x = [...a];
  const y = [...b];
  let head = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  let tail = 0;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  return {
    before: x.slice(0, head).join(''), after: x.slice(x.length - tail).join(''),
    left: x.slice(head, x.length - tail).join(''), right: y.slice(head, y.length - tail).join(''),
  };
}
