'use strict';

// Everything that is shown of the data goes through textContent or an SVG number.

const SVG = 'http://www.w3.org/2000/svg';

// el makes an element with a class and children; a text is put in as text.
function el(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  for (const c of children) if (c !== null && c !== undefined) e.append(c);
  return e;
}

// name is a text from elsewhere: its direction must not spill over to what is beside it.
function name(text) { return el('bdi', '', text); }

function shape(tag, className, attributes) {
  const e = document.createElementNS(SVG, tag);
  if (className) e.setAttribute('class', className);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  return e;
}

function picture(width, height, label, ...shapes) {
  const s = shape('svg', '', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img'});
  s.setAttribute('aria-label', label);
  s.append(...shapes);
  return s;
}

// keyed keeps one child for each item, in their order. A child is made anew only if what
// it shows has changed, so that a selection or a pointer on the others is left alone.
function keyed(parent, items, keyOf, make) {
  const old = parent.children_ || new Map(), now = new Map();
  let place = null;
  for (const item of items) {
    const key = keyOf(item), text = JSON.stringify(item);
    let child = old.get(key);
    if (!child || child.text !== text) {
      const fresh = {text, node: make(item)};
      if (child) child.node.replaceWith(fresh.node);
      child = fresh;
    }
    now.set(key, child);
    const want = place ? place.nextSibling : parent.firstChild;
    if (child.node !== want) parent.insertBefore(child.node, want);
    place = child.node;
  }
  for (const [key, child] of old) if (!now.has(key)) child.node.remove();
  parent.children_ = now;
}

function put(e, text) { if (e.textContent !== text) e.textContent = text; }

// The figures.

function time(v) {
  if (v === null || v === undefined) return '–';
  if (v === 'unbounded') return '∞';
  if (v >= 10000) return (v / 1000).toFixed(1) + ' s';
  if (v >= 1000) return (v / 1000).toFixed(2) + ' s';
  return (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)) + ' ms';
}

function percent(v, digits = 1) { return (100 * v).toFixed(digits) + '%'; }

function count(n) { return n.toLocaleString('en-US'); }

function many(n, one) { return `${count(n)} ${one}${n === 1 ? '' : 's'}`; }

function money(v) {
  if (v > 0 && v < 1e-6) return '< $0.000001'; // toPrecision would write an exponent
  return '$' + (v === 0 ? '0' : v < 0.01 ? v.toPrecision(2) : v.toFixed(2));
}

function clock(at) {
  return new Date(at).toLocaleTimeString('en-GB');
}

function pill(text, kind) { return el('span', 'pill ' + kind, text); }

// curve is the path of a row of times between 0 and most; what is unbounded lies at the top.
function curve(at, values, from, to, most) {
  let d = '', before = null;
  values.forEach((v, i) => {
    if (v === null) return;
    const x = 200 * (at[i] - from) / Math.max(1, to - from);
    const y = v === 'unbounded' ? 1 : 33 - 31 * Math.min(1, v / most);
    d += (before === null || at[i] - before > 45 ? 'M' : 'L') + x.toFixed(1) + ' ' + y.toFixed(1);
    before = at[i];
  });
  return d;
}

// most is what the height of a history stands for.
function most(h, metric) {
  return 1.1 * Math.max(1, ...h[metric + '_p95_ms'].concat(h[metric + '_p50_ms']).filter(v => typeof v === 'number'));
}

// spark is a small history: the middle, and the 95th percentile above it.
function spark(h, metric, label) {
  const p50 = h[metric + '_p50_ms'], p95 = h[metric + '_p95_ms'], at = h.at_unix_s;
  const highest = most(h, metric), to = at[at.length - 1], from = to - 890;
  const p = picture(200, 34, label,
    shape('path', 'p95', {d: curve(at, p95, from, to, highest)}),
    shape('path', 'p50', {d: curve(at, p50, from, to, highest)}));
  p.setAttribute('class', 'spark');
  return p;
}
