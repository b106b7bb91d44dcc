//! Values of one group, and the buffer of groups that span batches.

use std::marker::PhantomData;

use crate::error::{Result, fail};
use crate::layout::{Groups, ValueRange};
use crate::types::{Type, View};

/// Values of a group, in the order (split, order of emission). Valid until the call returns.
pub struct Values<'a, T: Type> {
    range: ValueRange<'a>,
    next: usize,
    types: PhantomData<fn(T)>,
}

impl<'a, T: Type> Values<'a, T> {
    /// Fails if T is a number and the values have another length.
    pub(crate) fn new(range: ValueRange<'a>) -> Result<Self> {
        let fits = match T::BYTES {
            0 => true,
            8 => range.groups().has_numbers() || range.len() == 0,
            n => !range.groups().has_numbers() && (0..range.len()).all(|i| range.bytes(i).len() == n),
        };
        if !fits {
            return wrong_values(T::BYTES);
        }
        Ok(Values { range, next: 0, types: PhantomData })
    }

    /// Returns the key of the value that comes next, if groups share only a part of the key; else nothing, since it is
    /// the group's key.
    pub fn next_key(&self) -> Option<&'a [u8]> {
        (self.next < self.range.len() && self.range.groups().has_value_keys()).then(|| self.range.key(self.next))
    }
}

#[cold]
fn wrong_values<T>(bytes: usize) -> Result<T> {
    fail(format!(
        "the class expects values of {bytes} bytes, but the mapper emits others: declare the same value type in both"
    ))
}

impl<'a, T: Type> Iterator for Values<'a, T> {
    type Item = View<'a, T>;

    #[inline(always)]
    fn next(&mut self) -> Option<View<'a, T>> {
        if self.next == self.range.len() {
            return None;
        }
        let bytes = self.range.bytes(self.next);
        self.next += 1;
        T::decode(bytes)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.range.len() - self.next;
        (n, Some(n))
    }
}

impl<T: Type> ExactSizeIterator for Values<'_, T> {}

/// Values of a group that spans batches, for reducers that see whole groups.
pub struct GroupBuffer {
    bytes_max: usize,
    bytes: Vec<u8>,
    values: [Vec<u32>; 2],
    keys: [Vec<u32>; 2],
    numbers: Vec<u64>,
}

/// Bytes from which on the memory of a group is returned after it.
const KEPT_BYTES_MAX: usize = 1 << 20;

impl GroupBuffer {
    pub fn new(bytes_max: usize) -> GroupBuffer {
        let none = || [Vec::new(), Vec::new()];
        // Places are offsets of 32 bits.
        let bytes_max = bytes_max.min(u32::MAX as usize);
        GroupBuffer { bytes_max, bytes: Vec::new(), values: none(), keys: none(), numbers: Vec::new() }
    }

    /// Adds values. Fails above the limit.
    pub fn add(&mut self, range: &ValueRange<'_>) -> Result<()> {
        for i in 0..range.len() {
            let bytes = range.bytes(i);
            let key = if range.groups().has_value_keys() { range.key(i) } else { &[] };
            if self.held() + 24 + bytes.len() + key.len() > self.bytes_max {
                return fail(format!(
                    "one key has more than {} bytes of values, and this reducer holds all of them: implement \
                     StepReducer instead, or raise yunti.reduce.buffer.bytes",
                    self.bytes_max
                ));
            }
            if range.groups().has_value_keys() {
                self.keys[0].push(self.bytes.len() as u32);
                self.keys[1].push(key.len() as u32);
                self.bytes.extend_from_slice(key);
            }
            match bytes.try_into() {
                Ok(number) if range.groups().has_numbers() => self.numbers.push(u64::from_ne_bytes(number)),
                _ => {
                    self.values[0].push(self.bytes.len() as u32);
                    self.values[1].push(bytes.len() as u32);
                    self.bytes.extend_from_slice(bytes);
                }
            }
        }
        Ok(())
    }

    /// Returns the values that were added.
    pub fn values(&self) -> ValueRange<'_> {
        let values = [&self.values[0][..], &self.values[1][..]];
        let keys = [&self.keys[0][..], &self.keys[1][..]];
        Groups::values_of(&self.bytes, values, &self.numbers, keys).all_values()
    }

    pub fn clear(&mut self) {
        if self.held() > KEPT_BYTES_MAX {
            *self = GroupBuffer::new(self.bytes_max);
            return;
        }
        self.bytes.clear();
        self.numbers.clear();
        self.values.iter_mut().chain(&mut self.keys).for_each(Vec::clear);
    }

    fn held(&self) -> usize {
        8 * (self.numbers.len() + self.values[0].len() + self.keys[0].len()) + self.bytes.len()
    }
}
