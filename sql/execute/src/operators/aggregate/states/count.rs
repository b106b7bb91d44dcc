//! Number of rows, or of values that are no nulls.

use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, State, put_number, same, take_number};

#[derive(Default)]
pub struct Count(Vec<i64>);

impl State for Count {
    fn resize(&mut self, groups: usize) {
        self.0.resize(groups, 0);
    }

    fn reserve(&mut self, groups: usize) {
        self.0.reserve_exact(groups - self.0.len());
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn group_bytes(&self) -> usize {
        8
    }

    fn other_bytes(&self) -> usize {
        0
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let nulls = argument.and_then(|argument| argument.vector.nulls.as_ref());
        match (nulls, rows.tally()) {
            (None, Some(tally)) => self.0.iter_mut().zip(tally).for_each(|(count, n)| *count += n),
            _ => rows.each(nulls, |group, _| self.0[group] += 1),
        }
    }

    fn add(&mut self, group: usize, _: i128, values: i64) {
        self.0[group] += values;
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Count>(from);
        groups.iter().zip(to).for_each(|(&group, &to)| self.0[to as usize] += from.0[group as usize]);
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        put_number(self.0[group].into(), out);
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        self.0[group] = self.0[group].checked_add(i64::try_from(take_number(from)?).ok()?)?;
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        Vector::of(Data::Ints(groups.iter().map(|&group| self.0[group as usize]).collect()))
    }
}
