'use strict';
// Lists of the courses of a school with the names of participants.
const express = require('express');
const { Pool } = require('pg');
const { rosters } = require('./rosters');

const [port, database, plan] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]];
const pool = new Pool({ host: '127.0.0.1', port: database, user: 'app', database: 'postgres', max: 10 });
const app = express();
const repository = rosters(pool, plan);

function summary(course, members) {
  const cities = new Set(members.map((m) => m.city));
  return { id: course.id, title: course.title, members: members.map((m) => m.name), cities: cities.size };
}

app.get('/term/:term', async (req, res) => {
  try {
    const out = [];
    for (const { course, members } of await repository.term(Number(req.params.term))) {
      out.push(summary(course, members));
    }
    res.json(out);
  } catch (e) {
    res.status(500).json({ error: e.message });
  }
});

app.listen(port, '127.0.0.1');
