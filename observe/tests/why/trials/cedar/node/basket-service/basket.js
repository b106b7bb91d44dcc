'use strict';
// GET /basket/ID: the basket of a customer at today's prices.
const http = require('http');
const { price } = require('./pricing');

const shared = process.argv[3] === 'shared';
const baskets = new Map();
let answered = 0;

function basketOf(id) {
  let b = baskets.get(id);
  if (!b) {
    b = { id, lines: [] };
    for (let i = 0; i < 12; i++) b.lines.push({ sku: `sku-${(id * 31 + i * 7) % 4000}`, pieces: i % 3 + 1 });
    baskets.set(id, b);
  }
  return b;
}

http.createServer((req, res) => {
  const id = Number(req.url.split('/').pop());
  const priced = price(basketOf(id), shared);
  answered++;
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify(priced));
}).listen(Number(process.argv[2]), '127.0.0.1');

setInterval(() => {
  if (baskets.size > 10000) baskets.clear();
}, 5000).unref();
