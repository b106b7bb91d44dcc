//! States of the user's aggregates: bytes of a fixed size, side by side.

use std::sync::Arc;

use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::ForeignAggregate;

use super::{Argument, Rows, State, same};

pub struct ForeignStates {
    function: Arc<dyn ForeignAggregate>,
    /// Bytes of a state.
    size: usize,
    states: Vec<u8>,
}

impl ForeignStates {
    pub fn new(function: Arc<dyn ForeignAggregate>) -> ForeignStates {
        let size = function.state_bytes();
        ForeignStates { function, size, states: Vec::new() }
    }

    fn get(&self, group: usize) -> &[u8] {
        &self.states[group * self.size..][..self.size]
    }
}

impl State for ForeignStates {
    fn resize(&mut self, groups: usize) {
        let before = self.states.len();
        self.states.resize(groups * self.size, 0);
        if let Some(new) = self.states.get_mut(before..).filter(|new| !new.is_empty()) {
            self.function.init(new);
        }
    }

    fn reserve(&mut self, groups: usize) {
        self.states.reserve_exact((groups * self.size).saturating_sub(self.states.len()));
    }

    fn clear(&mut self) {
        self.states.clear();
    }

    fn group_bytes(&self) -> usize {
        self.size
    }

    fn other_bytes(&self) -> usize {
        0
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, with, .. }) = argument else { return };
        let all: Vec<Arc<Vector>> = std::iter::once(vector).chain(with).cloned().collect();
        self.function.add(&mut self.states, rows.groups, rows.rows, &all);
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<ForeignStates>(from);
        self.function.merge(&mut self.states, to, &from.states, groups);
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.get(group));
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let (state, rest) = from.split_at_checked(self.size)?;
        self.function.merge(&mut self.states, &[group as u32], state, &[0]);
        *from = rest;
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        self.function.finish(&self.states, groups)
    }
}
