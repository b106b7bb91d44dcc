// Who of a chat's members is there?
'use strict';
const http = require('http');

const seen = new Map();
const timers = new Map();

function leave(user) {
  seen.delete(user);
  timers.delete(user);
}

setInterval(() => {
  const now = Date.now();
  let away = 0;
  for (const at of seen.values()) if (now - at > 5000) away++;
  seen.away = away;
}, 250);
setInterval(() => {}, 10);

http.createServer((req, res) => {
  const user = req.url.split('/').pop();
  clearTimeout(timers.get(user));
  timers.set(user, setTimeout(leave, 30000, user));
  seen.set(user, Date.now());
  const body = JSON.stringify({ user, there: seen.size, away: seen.away || 0 });
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}).listen(Number(process.argv[2]), '127.0.0.1');
