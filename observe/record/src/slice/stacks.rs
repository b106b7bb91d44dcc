//! Stacks of a profile with their costs: each frame and each stack once.

use std::collections::HashMap;

use super::{Frame, Measure};

/// Costs of a stack, in the order of [`Measure::ALL`].
pub type Values = [u64; Measure::ALL.len()];

/// Largest cost: formats of profiles have signed numbers.
pub const COST_MAX: u64 = i64::MAX as u64;

#[derive(Clone, Debug)]
struct Stack {
    /// Numbers of frames, outermost first.
    frames: Box<[u32]>,
    values: Values,
}

/// Call stacks with their costs.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    frames: Vec<Frame>,
    frame_numbers: HashMap<Frame, u32>,
    stacks: Vec<Stack>,
    stack_numbers: HashMap<Box<[u32]>, u32>,
}

impl Stacks {
    /// Adds the cost of a stack, outermost frame first. Costs of equal stacks add up.
    pub fn add<'a>(&mut self, frames: impl IntoIterator<Item = &'a Frame>, measure: Measure, value: u64) {
        let mut values = Values::default();
        values[measure as usize] = value;
        let numbers = frames.into_iter().map(|frame| self.number(frame)).collect();
        self.add_numbers(numbers, values);
    }

    /// Adds all stacks of others.
    pub fn join(&mut self, other: &Stacks) {
        let numbers: Vec<u32> = other.frames.iter().map(|frame| self.number(frame)).collect();
        for stack in &other.stacks {
            self.add_numbers(stack.frames.iter().map(|at| numbers[*at as usize]).collect(), stack.values);
        }
    }

    /// Returns all frames; a stack refers to them by their place.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns all stacks as places of frames, outermost first, with costs in the order of [`Measure::ALL`].
    pub fn all(&self) -> impl ExactSizeIterator<Item = (&[u32], &Values)> {
        self.stacks.iter().map(|stack| (&*stack.frames, &stack.values))
    }

    /// Returns the stacks that have a cost of this measure, outermost frame first.
    pub fn of(&self, measure: Measure) -> impl Iterator<Item = (impl Iterator<Item = &Frame>, u64)> {
        self.stacks.iter().filter(move |stack| stack.values[measure as usize] > 0).map(move |stack| {
            (stack.frames.iter().map(|at| &self.frames[*at as usize]), stack.values[measure as usize])
        })
    }

    /// Returns the cost of all stacks.
    pub fn total(&self, measure: Measure) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.values[measure as usize]))
    }

    /// Returns the measures that have a cost.
    pub fn measures(&self) -> Vec<Measure> {
        Measure::ALL.into_iter().filter(|measure| self.total(*measure) > 0).collect()
    }

    /// Returns the number of stacks.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns true if there is no stack.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Returns the place of a frame, which is added if it is new.
    pub fn number(&mut self, frame: &Frame) -> u32 {
        if let Some(number) = self.frame_numbers.get(frame) {
            return *number;
        }
        let fresh = u32::try_from(self.frames.len()).expect("frames fit the memory that 4 billion of them would need");
        self.frames.push(frame.clone());
        self.frame_numbers.insert(frame.clone(), fresh);
        fresh
    }

    /// Adds costs of a stack of frames that have places here. Costs of equal stacks add up, to [`COST_MAX`] at
    /// most; a stack without any cost is left out.
    pub fn add_numbers(&mut self, frames: Box<[u32]>, values: Values) {
        debug_assert!(frames.iter().all(|at| (*at as usize) < self.frames.len()));
        if values.iter().all(|value| *value == 0) {
            return;
        }
        if let Some(number) = self.stack_numbers.get(&frames) {
            let sums = &mut self.stacks[*number as usize].values;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(value).min(COST_MAX));
            return;
        }
        let fresh = u32::try_from(self.stacks.len()).expect("stacks fit the memory that 4 billion of them would need");
        self.stack_numbers.insert(frames.clone(), fresh);
        self.stacks.push(Stack { frames, values: values.map(|value| value.min(COST_MAX)) });
    }
}

/// Equal if all stacks have the same costs, in any order.
impl PartialEq for Stacks {
    fn eq(&self, other: &Stacks) -> bool {
        let sorted = |stacks: &Stacks| {
            let named = |stack: &Stack| {
                let frames: Vec<Frame> = stack.frames.iter().map(|at| stacks.frames[*at as usize].clone()).collect();
                (frames, stack.values)
            };
            let mut all: Vec<_> = stacks.stacks.iter().map(named).collect();
            all.sort();
            all
        };
        self.len() == other.len() && sorted(self) == sorted(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slice::FrameKind;

    fn frames(text: &str) -> Vec<Frame> {
        text.split_whitespace().map(|name| Frame::new(name, FrameKind::Compiled)).collect()
    }

    fn stacks(rows: &[(&str, Measure, u64)]) -> Stacks {
        let mut stacks = Stacks::default();
        for (text, measure, value) in rows {
            stacks.add(&frames(text), *measure, *value);
        }
        stacks
    }

    #[test]
    fn equal_stacks_add_up() {
        let stacks = stacks(&[("a b", Measure::Cpu, 1), ("a", Measure::Cpu, 2), ("a b", Measure::Alloc, 4)]);
        assert_eq!((stacks.len(), stacks.frames().len()), (2, 2));
        assert_eq!((stacks.total(Measure::Cpu), stacks.total(Measure::Alloc)), (3, 4));
        assert_eq!(stacks.measures(), [Measure::Cpu, Measure::Alloc]);
        assert_eq!(stacks.of(Measure::Alloc).count(), 1);
    }

    #[test]
    fn join_keeps_frames_apart() {
        let mut one = stacks(&[("a b", Measure::Cpu, 1), ("b", Measure::Lock, 7)]);
        one.join(&stacks(&[("b a", Measure::Cpu, 2), ("a b", Measure::Cpu, 4)]));
        assert_eq!(one, stacks(&[("b", Measure::Lock, 7), ("b a", Measure::Cpu, 2), ("a b", Measure::Cpu, 5)]),);
    }
}
