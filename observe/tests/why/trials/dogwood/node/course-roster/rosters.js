'use strict';

const COURSES = { name: 'courses', text: 'select id, title from course where term = $1 order by id' };
const SEATS = { name: 'seats', text: 'select student from seat where course = $1 order by student' };
const STUDENT = { name: 'student', text: 'select id, name, city from student where id = $1' };
const TERM = {
  name: 'term',
  text: `select c.id, c.title, s.name, s.city from course c join seat t on t.course = c.id
         join student s on s.id = t.student where c.term = $1 order by c.id, s.id`,
};

class Rosters {
  constructor(pool) { this.pool = pool; }

  async student(id) {
    return (await this.pool.query({ ...STUDENT, values: [id] })).rows[0];
  }

  async members(course) {
    const seats = await this.pool.query({ ...SEATS, values: [course.id] });
    const list = [];
    for (const seat of seats.rows) list.push(await this.student(seat.student));
    return list;
  }

  async term(term) {
    const courses = await this.pool.query({ ...COURSES, values: [term] });
    const list = [];
    for (const course of courses.rows) list.push({ course, members: await this.members(course) });
    return list;
  }
}

class JoinedRosters extends Rosters {
  async term(term) {
    const found = await this.pool.query({ ...TERM, values: [term] });
    const byId = new Map();
    for (const row of found.rows) {
      if (!byId.has(row.id)) byId.set(row.id, { course: { id: row.id, title: row.title }, members: [] });
      byId.get(row.id).members.push({ name: row.name, city: row.city });
    }
    return [...byId.values()];
  }
}

exports.rosters = (pool, plan) => (plan === 'b' ? new JoinedRosters(pool) : new Rosters(pool));
