// A service with one thing that holds its event loop up, named by its argument. It prints "ready".
'use strict';
const http = require('node:http');
const child = require('node:child_process');

function distance(n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += Math.sqrt(i);
  return sum;
}

const replies = {
  hot: () => String(distance(3e6)),
  sync: () => child.execSync('sleep 0.15; echo x').toString(),
  paced: () => 'x',
};

let signals = 0;
if (process.argv[3] === 'handles') process.on('SIGUSR1', () => { signals++; });

function handle(request, response) {
  response.end(request.url === '/signals' ? String(signals) : replies[process.argv[2]]());
}

// The client is a process of its own: this program with a port.
function client(port) {
  const agent = new http.Agent({ keepAlive: true });
  const pause = process.argv[2] === 'hot' ? 0 : 50;
  const ask = () => http.get({ port, agent, host: '127.0.0.1' }, (answer) => {
    answer.resume();
    answer.on('end', () => (pause ? setTimeout(ask, pause) : ask()));
  }).on('error', () => process.exit());
  ask();
  process.on('disconnect', () => process.exit());
}

if (process.argv[3] === 'client') client(Number(process.argv[4]));
else {
  const server = http.createServer(handle).listen(0, '127.0.0.1', () => {
    child.fork(__filename, [process.argv[2], 'client', server.address().port]);
    ready();
  });
}

function ready() {
  process.stdin.on('data', () => process.stdout.write(`done ${signals}\n`));
  process.stdout.write('ready\n');
}
