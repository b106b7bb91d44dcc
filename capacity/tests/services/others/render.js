// Page service on Node.js: asks another service, then parses and renders on the one event loop.
//
//     node render.js --port N --threads N --rows N --articles PORT
//     node render.js --calibrate
'use strict';
const http = require('http');

const DOCUMENT = JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ id: i, name: `article ${i}`, price: i * 31 })));

// Returns the length of the text of `rounds` documents, each parsed and written again.
function render(rounds) {
  let length = 0;
  for (let i = 0; i < rounds; i++) {
    const articles = JSON.parse(DOCUMENT);
    articles[i % articles.length].price = i;
    length += JSON.stringify(articles).length;
  }
  return length;
}

function calibrate() {
  let best = 0;
  for (let i = 0; i < 300; i++) {
    const start = process.hrtime.bigint();
    render(100);
    best = Math.max(best, 100 / (Number(process.hrtime.bigint() - start) / 1e6));
  }
  console.log(JSON.stringify({ 'node.render': best }));
}

function serve(options) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
  const remote = { host: '127.0.0.1', port: Number(options.articles), path: '/articles', agent };
  const rounds = Number(options.rows);
  const server = http.createServer((request, response) => {
    http.get(remote, (answer) => {
      let text = '';
      answer.on('data', (part) => { text += part; });
      answer.on('end', () => {
        const body = `${text} ${render(rounds)}`;
        response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
      });
    }).on('error', (error) => {
      response.writeHead(502, { 'Content-Length': 0 });
      response.end();
      console.error(String(error));
    });
  });
  server.keepAliveTimeout = 600000;
  server.listen(Number(options.port), '127.0.0.1', 1024, () => console.log(`ready ${server.address().port}`));
}

if (process.argv[2] === '--calibrate') {
  calibrate();
} else {
  const options = {};
  for (let i = 2; i + 1 < process.argv.length; i += 2) {
    options[process.argv[i].slice(2)] = process.argv[i + 1];
  }
  serve(options);
}
