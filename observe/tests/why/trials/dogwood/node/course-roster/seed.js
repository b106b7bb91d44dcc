'use strict';
const { Client } = require('pg');

async function main() {
  const db = new Client({ host: '127.0.0.1', port: Number(process.argv[2]), user: 'app', database: 'postgres' });
  await db.connect();
  await db.query(`
    create table student (id int primary key, name text, city text);
    create table course (id int primary key, term int, title text);
    create table seat (course int, student int, primary key (course, student));
    create index on course (term);
    insert into student select n, 'student ' || n, 'city ' || n % 40 from generate_series(1, 5000) n;
    insert into course select n, n % 20, 'course ' || n from generate_series(1, 200) n;
    insert into seat select c, 1 + (c * 37 + k * 101) % 5000 from generate_series(1, 200) c, generate_series(1, 25) k;
    analyze`);
  await db.end();
}

main();
