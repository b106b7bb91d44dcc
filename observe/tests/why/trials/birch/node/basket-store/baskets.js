// Keeps the shopping baskets of a web shop in memory.
'use strict';
const http = require('http');

const port = Number(process.argv[2]);
const baskets = new Map();

function item(sku, n) {
  return { sku, quantity: n % 3 + 1, note: `for ${sku}/${n}`, added: n * 1.5 };
}

for (let i = 0; i < 160000; i++) {
  baskets.set(i, { owner: `customer-${i}`, items: [item(`sku${i % 997}`, i), item(`sku${i % 89}`, i + 1)] });
}

function offer(basket) {
  const lines = [];
  for (let i = 0; i < 150; i++) {
    const it = basket.items[i % basket.items.length];
    lines.push({ ...it, rank: i, text: `${it.sku} goes with ${basket.owner} ${i}` });
  }
  return lines.sort((a, b) => (a.text < b.text ? -1 : 1));
}

http.createServer((req, res) => {
  const u = new URL(req.url, 'http://localhost');
  const id = Number(u.pathname.split('/').pop());
  const old = baskets.get(id);
  const next = { owner: old.owner, items: [old.items[1], item(u.searchParams.get('add'), Date.now() % 1e6)] };
  baskets.set(id, next);
  const body = JSON.stringify({ basket: next, offers: offer(next).slice(0, 5) });
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}).listen(port, '127.0.0.1');
