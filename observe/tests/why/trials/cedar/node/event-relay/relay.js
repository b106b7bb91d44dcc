'use strict';
// Takes events in, hands them to the subscribers in order; a window of events stays waiting.
const { Backlog, Ring } = require('./backlog');

const waiting = process.argv[2] === 'ring' ? new Ring(1 << 18) : new Backlog();
const subscribers = new Map();
let relayed = 0;
let number = 0;

function event() {
  number++;
  return { number, topic: `topic-${number % 40}`, at: number * 3, data: 'x'.repeat(number % 20) };
}

for (let i = 0; i < 40; i++) {
  subscribers.set(`topic-${i}`, [(e) => e.number % 7, (e) => e.data.length, (e) => e.at]);
}

function relay() {
  for (let i = 0; i < 200; i++) {
    waiting.put(event());
    const e = waiting.take();
    for (const s of subscribers.get(e.topic)) if (s(e) < 0) throw new Error('bad event');
    relayed++;
  }
  setImmediate(relay);
}

for (let i = 0; i < 150000; i++) waiting.put(event());
relay();
console.log('ready');
setInterval(() => console.log('total', relayed), 500);
