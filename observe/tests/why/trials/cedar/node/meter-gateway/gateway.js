'use strict';
// Reads the building's meters and serves a page for each of them.
const fs = require('fs');
const http = require('http');
const path = require('path');

const [port, dir] = [Number(process.argv[2]), process.argv[3]];
const latest = new Map();

function follow(name) {
  fs.open(path.join(dir, name), 'r+', (err, fd) => {
    if (err) throw err;
    const buffer = Buffer.alloc(256);
    const next = () => fs.read(fd, buffer, 0, buffer.length, null, (e, n) => {
      if (e) throw e;
      latest.set(name, { at: Date.now(), text: buffer.toString('latin1', 0, n).trim() });
      next();
    });
    next();
  });
}

async function page(name) {
  const file = path.join(dir, path.basename(name));
  const info = await fs.promises.stat(file);
  const html = await fs.promises.readFile(file, 'utf8');
  const rows = [...latest].map(([k, v]) => `<tr><td>${k}<td>${v.text}<td>${v.at}`).join('\n');
  return `<!-- ${info.mtimeMs} -->${html}<table>${rows}</table>`;
}

http.createServer((req, res) => {
  page(req.url).then((html) => {
    res.setHeader('content-type', 'text/html');
    res.end(html);
  }, (e) => {
    res.statusCode = 404;
    res.end(String(e.message));
  });
}).listen(port, '127.0.0.1');

setInterval(() => {
  for (const [k, v] of latest) if (Date.now() - v.at > 60000) latest.delete(k);
}, 1000);

for (let i = 0; i < 4; i++) follow(`meter${i}`);
