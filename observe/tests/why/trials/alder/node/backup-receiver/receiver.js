// Backup receiver: every connection sends streams: 8 hex digits of length, then the bytes.
const net = require('net');
const crypto = require('crypto');

const mode = process.argv[2];
const SIZE = 6 * 1024 * 1024;
let streams = 0;
const digests = new Map();

function finish(data, from) {
  const d = crypto.createHash('md5').update(data.subarray(0, 65536)).digest('hex');
  digests.set(d, (digests.get(d) || 0) + 1);
  if (digests.size > 100) digests.delete(digests.keys().next().value);
  streams++;
  from.write('ok\n');
}

function receive(sock) {
  let held = Buffer.alloc(0);
  let parts = [];
  let length = 0;
  sock.on('data', (chunk) => {
    length += chunk.length;
    if (mode === 'whole') {
      held = Buffer.concat([held, chunk]);
    } else {
      parts.push(chunk);
    }
    if (length >= SIZE) {
      finish(mode === 'whole' ? held : Buffer.concat(parts), sock);
      held = Buffer.alloc(0);
      parts = [];
      length = 0;
    }
  });
  sock.on('error', () => {});
}

const server = net.createServer(receive).listen(0, '127.0.0.1', () => {
  // the agents of this host
  const { Worker } = require('worker_threads');
  const agent = `
    const net = require('net');
    const { port, size } = require('worker_threads').workerData;
    for (let i = 0; i < 2; i++) {
      const s = net.connect(port, '127.0.0.1');
      const b = Buffer.alloc(size, 65 + i);
      const send = () => s.write(b);
      s.on('connect', send);
      s.on('data', send);
    }`;
  new Worker(agent, { eval: true, workerData: { port: server.address().port, size: SIZE } });
});
setInterval(() => console.log('done ' + streams), 1000);
