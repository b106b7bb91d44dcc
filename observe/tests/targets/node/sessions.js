// A service whose sessions hold most of its memory, and whose weak map holds nothing: node sessions.js SNAPSHOT
"use strict";
const v8 = require("v8");

const SESSIONS = 20000;
const PAGES = 30000;
const KEYS = 1001;

class Session {
  constructor(n) {
    this.user = "user " + n;
    this.cart = new Array(20).fill(n);
  }
}

class Page {
  constructor(n) {
    this.body = "page " + n;
  }
}

function service() {
  const sessions = new Map();
  return { open: (n) => sessions.set(n, new Session(n)), size: () => sessions.size };
}

// A server holds its service for good. V8 itself holds objects of a running function for a moment.
globalThis.web = service();
const web = globalThis.web;
for (let n = 0; n < SESSIONS; n++) web.open(n);
globalThis.audit = { history: [] };
for (let n = 0; n < PAGES; n++) globalThis.audit.history.push(new Page(n));
// Every second key is gone, and its value with it. The last one stays: a register may still hold it.
const values = new WeakMap();
globalThis.keys = [];
for (let n = 0; n < KEYS; n++) {
  const key = { n };
  values.set(key, new Session(n));
  if (n % 2 == 0) globalThis.keys.push(key);
}
globalThis.values = values;
v8.writeHeapSnapshot(process.argv[2]);
console.log(web.size());
