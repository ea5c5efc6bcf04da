// JSON that keeps the text of its numbers: 1.0 stays 1.0 and an integer of
// thirty digits keeps them all, as the digest needs (an integer and a float
// are told apart by how they are written). Objects are Maps, in their order.

/** A number as it was written. */
export class Num {
  /** @param {string} raw a number by JSON's grammar */
  constructor(raw) { this.raw = raw; }
  valueOf() { return Number(this.raw); }
}

/** A fault in a text: a message and its place, both counted from 1. */
export class JSONFault extends Error {
  constructor(message, line, column) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const DEPTH = 500; // a tree deeper than this is no persona, and must not end the stack

/**
 * Parse one JSON value.
 * @param {string} text
 * @returns {any} Map, Array, string, Num, boolean or null
 * @throws {JSONFault}
 */
export function parse(text) {
  let at = 0;
  const fault = (message) => {
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    throw new JSONFault(message, line, [...before.slice(before.lastIndexOf('\n') + 1)].length + 1);
  };
  const match = (re) => {
    re.lastIndex = at;
    const m = re.exec(text);
    if (m) at += m[0].length;
    return m?.[0];
  };
  const skip = () => match(SPACE);
  const expect = (ch) => {
    skip();
    if (text[at] !== ch) fault(at < text.length ? `expected ${ch}` : `the text ends where ${ch} should stand`);
    at++;
  };
  function string() {
    expect('"');
    let out = '';
    for (;;) {
      out += match(PLAIN);
      const ch = text[at];
      if (ch === '"') { at++; return out; }
      if (ch !== '\\') fault(ch === undefined ? 'the string does not end' : 'a control character in a string must be escaped');
      const esc = text[at + 1];
      if (esc === 'u') {
        const hex = text.slice(at + 2, at + 6);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fault('\\u wants four hexadecimal digits');
        out += String.fromCharCode(parseInt(hex, 16));
        at += 6;
      } else {
        if (!Object.hasOwn(ESCAPES, esc ?? '')) fault('an unknown escape');
        out += ESCAPES[esc];
        at += 2;
      }
    }
  }
  function list(depth, end, item) {
    at++;
    skip();
    if (text[at] === end) { at++; return; }
    for (;;) {
      item(depth);
      skip();
      if (text[at] === ',') { at++; continue; }
      expect(end);
      return;
    }
  }
  function value(depth) {
    if (depth > DEPTH) fault('nested too deep');
    skip();
    const ch = text[at];
    if (ch === '{') {
      const out = new Map();
      list(depth, '}', (d) => {
        skip();
        const start = at;
        const key = string();
        if (out.has(key)) { at = start; fault(`the key ${key} stands twice`); }
        expect(':');
        out.set(key, value(d + 1));
      });
      return out;
    }
    if (ch === '[') {
      const out = [];
      list(depth, ']', (d) => out.push(value(d + 1)));
      return out;
    }
    if (ch === '"') return string();
    for (const [word, v] of [['true', true], ['false', false], ['null', null]]) {
      if (text.startsWith(word, at)) { at += word.length; return v; }
    }
    const raw = match(NUMBER);
    if (raw === undefined) fault(ch === undefined ? 'the text ends where a value should stand' : 'expected a value');
    return new Num(raw);
  }
  const out = value(0);
  skip();
  if (at < text.length) fault('something stands after the value');
  return out;
}

/**
 * Write a value as JSON. Indent 0 is the compact form.
 * @param {any} value what parse gives; plain numbers and objects are taken too
 */
export function stringify(value, indent = 0) {
  const line = (depth) => (indent ? '\n' + ' '.repeat(indent * depth) : '');
  const write = (v, depth) => {
    if (v instanceof Num) return v.raw;
    if (v === null || typeof v !== 'object') return JSON.stringify(v);
    if (Array.isArray(v)) {
      if (!v.length) return '[]';
      return '[' + v.map((x) => line(depth + 1) + write(x, depth + 1)).join(',') + line(depth) + ']';
    }
    const members = v instanceof Map ? [...v] : Object.entries(v);
    if (!members.length) return '{}';
    return '{' + members.map(([k, x]) => line(depth + 1) + JSON.stringify(k) + (indent ? ': ' : ':') + write(x, depth + 1)).join(',') + line(depth) + '}';
  };
  return write(value, 0);
}

/** Whether two values are the same JSON, in the order-free sense of the digest. */
export function equal(a, b) {
  if (a instanceof Num || b instanceof Num) return a instanceof Num && b instanceof Num && a.raw === b.raw;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => equal(v, b[i]));
  }
  return a.size === b.size && [...a].every(([k, v]) => b.has(k) && equal(v, b.get(k)));
}

/** A copy that shares nothing that can change. */
export function clone(v) {
  if (Array.isArray(v)) return v.map(clone);
  if (v instanceof Map) return new Map([...v].map(([k, x]) => [k, clone(x)]));
  return v;
}
