// Status of the vehicles of a rental company, as asked from the telematics boxes.
'use strict';
const http = require('http');
const net = require('net');

const [port, boxPort, mode] = process.argv.slice(2);

class Telematics {
  constructor() {
    this.idle = [];
  }

  ask(vehicle) {
    return new Promise((resolve, reject) => {
      const s = this.idle.pop() || net.connect(Number(boxPort), '127.0.0.1').setNoDelay(true);
      let text = '';
      const done = (part) => {
        text += part;
        if (text.endsWith('\n')) {
          s.off('data', done).off('error', reject);
          this.idle.push(s);
          resolve(JSON.parse(text));
        }
      };
      s.on('data', done).on('error', reject);
      s.write(`STATUS ${vehicle}\n`);
    });
  }
}

const telematics = new Telematics();

async function status(fleet) {
  const vehicles = Array.from({ length: 30 }, (_, i) => fleet * 30 + i);
  if (mode === 'all') {
    return Promise.all(vehicles.map(async (v) => ({ vehicle: v, ...(await telematics.ask(v)) })));
  }
  const result = [];
  for (const v of vehicles) {
    const s = await telematics.ask(v);
    if (s.fuel < 10) s.warn = true;
    result.push({ vehicle: v, ...s });
  }
  return result;
}

http.createServer(async (req, res) => {
  const body = JSON.stringify(await status(Number(req.url.split('/').pop())));
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}).listen(Number(port), '127.0.0.1');
