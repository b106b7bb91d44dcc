// Chat rooms: a line goes to the author as receipt and to the backlog of the room.
const net = require('net');
const rooms = new Map();

function room(n) {
  if (!rooms.has(n)) rooms.set(n, { backlog: [], members: new Set() });
  return rooms.get(n);
}

net.createServer((s) => {
  s.setNoDelay(true);
  let rest = '';
  s.on('data', (d) => {
    const lines = (rest + d).split('\n');
    rest = lines.pop();
    for (const l of lines) {
      const r = room(l.split(' ')[1]);
      r.members.add(s);
      r.backlog.push(l);
      s.write('receipt ' + r.backlog.length + '\n');
    }
  });
  s.on('error', () => {});
  s.on('close', () => rooms.forEach((r) => r.members.delete(s)));
}).listen(Number(process.argv[2]), '127.0.0.1');

setInterval(() => rooms.forEach((r) => r.backlog.splice(0, Math.max(0, r.backlog.length - 100))), 200);
for (let i = 0; i < 50; i++) setInterval(() => {}, 1000 + i * 10);
