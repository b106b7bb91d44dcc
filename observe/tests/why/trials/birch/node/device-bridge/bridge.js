// Reads the serial lines of machines (as named pipes) and serves their state and configuration.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const [port, conf, ...lines] = process.argv.slice(2);
const state = new Map();

function follow(line, number) {
  const input = fs.createReadStream(line, { encoding: 'latin1' });
  let rest = '';
  input.on('data', (part) => {
    const all = (rest + part).split('\n');
    rest = all.pop();
    for (const message of all) {
      const values = Object.fromEntries(message.split(' ').map((kv) => kv.split('=')));
      state.set(number, { at: Date.now(), values });
    }
  });
  input.on('end', () => setTimeout(follow, 1000, line, number));
}

async function describe(device) {
  const text = await fs.promises.readFile(path.join(conf, `device-${device}.json`), 'utf8');
  return { ...JSON.parse(text), now: state.get(device % lines.length) };
}

lines.forEach(follow);
http.createServer(async (req, res) => {
  try {
    const device = Number(req.url.split('/').pop());
    const body = JSON.stringify(await describe(device));
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    res.end(body);
  } catch (e) {
    res.writeHead(500, { 'Content-Length': 0 });
    res.end();
  }
}).listen(Number(port), '127.0.0.1');
