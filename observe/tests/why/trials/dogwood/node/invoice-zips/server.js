'use strict';
// Packs the invoices of a month into one compressed file, signed with a keyed digest.
const express = require('express');
const crypto = require('crypto');
const zlib = require('zlib');
const { promisify } = require('util');

const gzip = promisify(zlib.gzip);
const scrypt = promisify(crypto.scrypt);
const port = Number(process.argv[2]);
const app = express();

function invoice(customer, number) {
  const lines = [];
  for (let k = 0; k < 30; k++) {
    lines.push({ item: `article ${(customer * 7 + k * number) % 997}`, count: k % 5, price: k * 1.5 });
  }
  return { customer, number, lines };
}

async function seal(data, secret) {
  const key = await scrypt(secret, 'month', 32, { N: 2048 });
  return crypto.createHmac('sha256', key).update(data).digest('hex');
}

app.get('/month/:customer', async (req, res) => {
  const customer = Number(req.params.customer);
  const list = Array.from({ length: 10 }, (_, n) => invoice(customer, n + 1));
  const data = await gzip(JSON.stringify(list), { level: 6 });
  res.set('X-Seal', await seal(data, `secret ${customer}`));
  res.type('application/gzip').send(data);
});

app.get('/health', (req, res) => res.json({ ok: true }));
app.listen(port, '127.0.0.1');
