'use strict';
// Prints parcel labels on the presses of the hall; each press is a device file, which takes one label at a time.
const express = require('express');
const fs = require('fs/promises');
const path = require('path');

const [port, hall] = [Number(process.argv[2]), process.argv[3]];
const app = express();
app.use(express.json());

async function template(kind) {
  return fs.readFile(path.join(hall, `${kind}.tpl`), 'utf8');
}

async function render(kind, values) {
  const text = await template(kind);
  return text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '');
}

class Press {
  constructor(number) {
    this.device = path.join(hall, `press${number}`);
    this.last = Promise.resolve();
  }

  print(text) {
    const job = this.last.then(() => this.feed(text));
    this.last = job.catch(() => {});
    return job;
  }

  async feed(text) {
    const device = await fs.open(this.device, 'w');
    try {
      await device.write(text);
    } finally {
      await device.close();
    }
  }
}

const presses = Array.from({ length: 16 }, (_, n) => new Press(n));

app.post('/print/:press', async (req, res) => {
  const text = await render('parcel', req.body);
  await presses[Number(req.params.press)].print(text);
  res.json({ printed: true });
});

app.post('/preview', async (req, res) => {
  const text = await render('parcel', req.body);
  res.json({ text });
});

app.listen(port, '127.0.0.1');
