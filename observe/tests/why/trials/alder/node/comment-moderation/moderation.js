// Moderation of comments: checks form, links and words; answers the verdict.
const http = require('http');

const [port, rules] = process.argv.slice(2);
const shout = rules === 'old' ? /^(\w+\s?)+[!.]$/ : /^\w[\w\s]*[!.]$/;
const link = /https?:\/\/[^\s]+/g;
const words = new Set(['casino', 'lottery', 'viagra', 'bitcoin']);
const verdicts = { ok: 0, spam: 0 };

function looksLikeSpam(text) {
  if ((text.match(link) || []).length > 2) return true;
  if (text.toLowerCase().split(/\W+/).some((w) => words.has(w))) return true;
  return shout.test(text) && text.length < 20;
}

const server = http.createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8');
  req.on('data', (d) => { body += d; });
  req.on('end', () => {
    const { text } = JSON.parse(body);
    const verdict = looksLikeSpam(text) ? 'spam' : 'ok';
    verdicts[verdict]++;
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ verdict, seen: verdicts }));
  });
});
server.listen(Number(port), '127.0.0.1');
