'use strict';
// Checks postal addresses which customers type in and brings them into one form.
const express = require('express');
const { checks } = require('./checks');

const [port, plan] = [Number(process.argv[2]), process.argv[3]];
const app = express();
const rules = checks(plan);
app.use(express.json());

function tidy(address) {
  const out = {};
  for (const [field, value] of Object.entries(address)) out[field] = String(value).trim().replace(/\s+/g, ' ');
  return out;
}

function faults(address) {
  return Object.entries(rules)
    .filter(([field, rule]) => !rule.test(address[field] ?? ''))
    .map(([field]) => field);
}

app.post('/check', (req, res) => {
  const address = tidy(req.body);
  const wrong = faults(address);
  res.json({ ok: wrong.length === 0, wrong, address });
});

app.listen(port, '127.0.0.1');
