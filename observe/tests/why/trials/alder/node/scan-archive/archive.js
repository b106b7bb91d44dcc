// Scanned documents: keeps the newest digest of each document of the store.
const fs = require('fs');
const path = require('path');
const http = require('http');
const crypto = require('crypto');

const dir = process.argv[2];
const names = fs.readdirSync(dir).sort();
const digests = new Map();
let reads = 0;

const pause = (ms) => new Promise((ok) => setTimeout(ok, ms));

class Changes {
  constructor() { this.n = 0; this.last = null; }
  note(name, digest) {
    if (digests.get(name) !== digest) {
      this.n++;
      this.last = name;
    }
    digests.set(name, digest);
  }
}

const changes = new Changes();

async function watch(name) {
  for (;;) {
    const data = await fs.promises.readFile(path.join(dir, name));
    changes.note(name, crypto.createHash('sha1').update(data).digest('hex'));
    reads++;
    await pause(25);
  }
}

names.forEach((n) => watch(n).catch((e) => {
  console.error(e);
  process.exit(1);
}));

http.createServer((req, res) => {
  res.end(JSON.stringify({ changes: changes.n, last: changes.last, digests: [...digests] }));
}).listen(0, '127.0.0.1');
setInterval(() => console.log('done ' + reads), 1000);
