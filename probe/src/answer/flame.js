'use strict';
// Draws the tree of #data on #flame: the root on top, callees below their callers, widths as costs.
// A click zooms; a search marks frames.
(() => {
  const ROW = 18, TEXT = 12, NARROWEST = 0.4;
  const data = JSON.parse(document.getElementById('data').textContent);
  const rows = data.tree.nodes, names = data.tree.names;
  const [PARENT, NAME, KIND, TOTAL, OWN, BEFORE] = [0, 1, 2, 3, 4, 5];
  const compares = rows[0].length > BEFORE;
  const n = rows.length;

  // ---- positions of frames, in units of cost ----
  const children = rows.map(() => []);
  for (let i = 1; i < n; i++) children[rows[i][PARENT]].push(i);
  const from = new Float64Array(n), depth = new Int32Array(n);
  const levels = [];
  for (let i = 0; i < n; i++) { // parents come before their children
    if (i > 0) depth[i] = depth[rows[i][PARENT]] + 1;
    (levels[depth[i]] ||= []).push(i);
    let at = from[i];
    children[i].sort((a, b) => names[rows[a][NAME]] < names[rows[b][NAME]] ? -1 : 1);
    for (const child of children[i]) { from[child] = at; at += rows[child][TOTAL]; }
  }
  for (const level of levels) level.sort((a, b) => from[a] - from[b]);

  // ---- drawing ----
  const box = document.getElementById('graph-window'), canvas = document.getElementById('flame');
  const tip = document.getElementById('tip');
  const found = document.getElementById('found'), search = document.getElementById('search');
  const context = canvas.getContext('2d');
  let zoomed = 0, marked = null, hovered = -1, colours = {};

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue('--' + name).trim();
    const [ink, hit, more, less, same] = ['frame-ink', 'hit', 'more', 'less', 'same'].map(of);
    colours = { kinds: data.kinds.map(of), ink, hit, more, less, same };
  }

  const scale = () => canvas.clientWidth / Math.max(1, rows[zoomed][TOTAL]);
  const left = i => (from[i] - from[zoomed]) * scale();
  const isAbove = i => { let at = zoomed; while (depth[at] > depth[i]) at = rows[at][PARENT]; return at === i; };

  /** Returns the index of the first frame of a level that ends right of a cost. */
  function first(level, cost) {
    let low = 0, high = level.length;
    while (low < high) {
      const middle = (low + high) >> 1, i = level[middle];
      if (from[i] + rows[i][TOTAL] > cost) high = middle; else low = middle + 1;
    }
    return low;
  }

  function draw() {
    const width = box.clientWidth, height = box.clientHeight, ratio = window.devicePixelRatio || 1;
    document.getElementById('graph-height').style.height = Math.max(height - 2, levels.length * ROW) + 'px';
    canvas.style.width = width + 'px';
    canvas.style.height = (height - 2) + 'px';
    canvas.width = width * ratio;
    canvas.height = (height - 2) * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = TEXT + 'px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const top = box.scrollTop, begin = from[zoomed], end = begin + rows[zoomed][TOTAL];
    for (let level = Math.floor(top / ROW); level < Math.min(levels.length, (top + height) / ROW + 1); level++) {
      const all = levels[level];
      for (let k = first(all, begin); k < all.length && from[all[k]] < end; k++) {
        frame(all[k], level * ROW - top, width);
      }
    }
  }

  function frame(i, y, width) {
    const above = depth[i] <= depth[zoomed];
    const x = above ? 0 : left(i), wide = above ? width : rows[i][TOTAL] * scale();
    if (wide < NARROWEST || above && !isAbove(i)) return;
    context.globalAlpha = above && i !== zoomed ? 0.5 : 1;
    const isHit = marked && marked[rows[i][NAME]];
    context.fillStyle = isHit ? colours.hit : compares ? colours.same : colours.kinds[rows[i][KIND]];
    context.fillRect(x, y, Math.max(NARROWEST, wide - 0.7), ROW - 1);
    if (compares && !isHit) change(i, x, y, wide);
    if (i === hovered) {
      context.strokeStyle = colours.ink;
      context.strokeRect(x + 0.5, y + 0.5, Math.max(1, wide - 1.7), ROW - 2);
    }
    if (wide > 24) {
      context.fillStyle = colours.ink;
      context.fillText(fitted(names[rows[i][NAME]], wide - 8), x + 4, y + ROW / 2);
    }
    context.globalAlpha = 1;
  }

  /** Colours a frame by its change: a change by a tenth of the total has the full colour. */
  function change(i, x, y, wide) {
    const by = (rows[i][TOTAL] - rows[i][BEFORE]) / Math.max(1, rows[0][TOTAL]), alpha = context.globalAlpha;
    context.globalAlpha = alpha * Math.min(1, Math.abs(by) * 10);
    context.fillStyle = by > 0 ? colours.more : colours.less;
    context.fillRect(x, y, Math.max(NARROWEST, wide - 0.7), ROW - 1);
    context.globalAlpha = alpha;
  }

  /** Shortens a name to fit: its end is more useful than its packages. */
  function fitted(name, wide) {
    const room = Math.floor(wide / (TEXT * 0.54));
    if (name.length <= room) return name;
    const short = name.split('.').slice(-2).join('.');
    return short.length <= room ? short : room > 3 ? short.slice(0, room - 1) + '…' : '';
  }

  // ---- numbers ----
  function amount(value) {
    if (data.perSecond > 0) {
      const seconds = value / data.perSecond;
      return seconds >= 1 ? seconds.toFixed(2) + ' s' : (seconds * 1000).toFixed(seconds >= 0.1 ? 0 : 2) + ' ms';
    }
    if (value >= 1e9) return (value / 1e9).toFixed(2) + ' GB';
    return value >= 1e6 ? (value / 1e6).toFixed(1) + ' MB' : (value / 1e3).toFixed(1) + ' kB';
  }
  const percent = (value, of) => (100 * value / Math.max(1, of)).toFixed(1) + ' %';

  function showTip(i) {
    tip.textContent = '';
    if (i < 0) return;
    const name = document.createElement('b');
    name.textContent = names[rows[i][NAME]];
    const [total, own] = [rows[i][TOTAL], rows[i][OWN]];
    const all = rows[0][TOTAL];
    tip.append(name, ` (${data.kinds[rows[i][KIND]]}): ${amount(total)}, ${percent(total, all)} of all; `,
      `in itself ${amount(own)}, ${percent(own, all)}`);
    if (compares) tip.append(`; before ${percent(rows[i][BEFORE], rows[0][TOTAL])}`);
  }

  // ---- input ----
  function at(event) {
    const place = canvas.getBoundingClientRect();
    const level = Math.floor((event.clientY - place.top + box.scrollTop) / ROW), x = event.clientX - place.left;
    const all = levels[level] || [];
    if (level <= depth[zoomed]) return all.find(isAbove) ?? -1;
    const i = all[first(all, from[zoomed] + x / scale())];
    return i !== undefined && x >= left(i) && x <= left(i) + rows[i][TOTAL] * scale() ? i : -1;
  }
  function zoom(i) {
    zoomed = i;
    draw();
  }
  canvas.addEventListener('mousemove', event => {
    const i = at(event);
    if (i !== hovered) { hovered = i; showTip(i); draw(); }
  });
  canvas.addEventListener('mouseleave', () => { hovered = -1; showTip(-1); draw(); });
  canvas.addEventListener('click', event => { const i = at(event); if (i >= 0) zoom(i); });
  box.addEventListener('scroll', draw);
  box.addEventListener('keydown', event => { if (event.key === 'Escape') zoom(0); });
  document.getElementById('reset').addEventListener('click', () => zoom(0));
  search.addEventListener('input', () => {
    marked = null;
    found.textContent = '';
    if (search.value) {
      let test;
      try { const regex = new RegExp(search.value, 'i'); test = name => regex.test(name); }
      catch { const plain = search.value.toLowerCase(); test = name => name.toLowerCase().includes(plain); }
      marked = names.map(test);
      // Only the outermost of nested frames counts.
      const within = new Uint8Array(n);
      let sum = 0;
      for (let i = 0; i < n; i++) {
        const hit = marked[rows[i][NAME]];
        const inner = i > 0 && within[rows[i][PARENT]];
        within[i] = inner || hit ? 1 : 0;
        if (hit && !inner) sum += rows[i][TOTAL];
      }
      found.textContent = `${percent(sum, rows[0][TOTAL])} of all, ${amount(sum)}`;
    }
    draw();
  });
  // The box is at most as high as the graph, and most of the window.
  function fit() {
    box.style.height = Math.min(levels.length * ROW + 4, Math.max(240, window.innerHeight * 0.7)) + 'px';
  }
  window.addEventListener('resize', fit);
  fit();
  new ResizeObserver(draw).observe(box);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });
  readColours();
  draw();
})();
