'use strict';

class Backlog {
  constructor() {
    this.events = [];
  }

  put(e) {
    this.events.push(e);
  }

  take() {
    return this.events.shift();
  }
}

class Ring {
  constructor(size) {
    this.slots = new Array(size);
    this.mask = size - 1;
    this.head = 0;
    this.tail = 0;
  }

  put(e) {
    this.slots[this.tail++ & this.mask] = e;
  }

  take() {
    const e = this.slots[this.head & this.mask];
    this.slots[this.head++ & this.mask] = undefined;
    return e;
  }
}

module.exports = { Backlog, Ring };
