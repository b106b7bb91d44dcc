'use strict';
const net = require('net');
const readline = require('readline');

const present = new Map();

function beat(who) {
  const old = present.get(who);
  if (old) clearTimeout(old.timer);
  const timer = setTimeout(() => present.delete(who), 60000);
  present.set(who, { timer, since: old ? old.since : Date.now(), beats: old ? old.beats + 1 : 1 });
  return present.get(who);
}

net.createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  readline.createInterface({ input: socket }).on('line', (line) => {
    const [verb, who] = line.split(' ');
    if (verb === 'beat') {
      const p = beat(who);
      socket.write(`${who} ${p.since} ${p.beats} of ${present.size}\n`);
    } else {
      socket.write('what?\n');
    }
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

setInterval(() => {
  let longest = 0;
  for (const p of present.values()) longest = Math.max(longest, Date.now() - p.since);
}, 2000);
