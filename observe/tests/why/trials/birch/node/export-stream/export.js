// Streams the sales of a chain of shops as CSV to their readers.
'use strict';
const http = require('http');

function* sales(rows) {
  for (let i = 0; i < rows; i += 100) {
    let chunk = '';
    for (let k = i; k < i + 100; k++) {
      chunk += `${k},store-${k % 173},${(k * 7919) % 100000},${((k % 9999) / 100).toFixed(2)},` +
        `2026-0${k % 9 + 1}-1${k % 10}\n`;
    }
    yield chunk;
  }
}

http.createServer(async (req, res) => {
  let gone = false;
  let wake = () => {};
  res.on('close', () => { gone = true; wake(); });
  res.on('drain', () => wake());
  res.writeHead(200, { 'Content-Type': 'text/csv' });
  for (const chunk of sales(500000)) {
    if (gone) return;
    if (!res.write(chunk)) await new Promise((resolve) => { wake = resolve; });
  }
  res.end();
}).listen(Number(process.argv[2]), '127.0.0.1');
