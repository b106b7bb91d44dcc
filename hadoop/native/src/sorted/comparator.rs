//! The job's own comparator, which runs in the host and is called for thousands of keys at once.
//!
//! Native code sorts by a key's bytes. Where a job's order is known only to its comparator, the host sorts and merges
//! keys, and native code moves the records (`compared_records.rs`, `compared_merge.rs`). A call takes only keys, so the
//! cost of crossing is the copy of each key.
//!
//! Any comparator may be wrong. Both operations end after a bounded number of comparisons and return each key once,
//! whatever the comparator returns.

use yunti_base::Result;

use crate::key::KeyBatch;

/// A comparator of keys in the host. Its errors have `Code::UserCode`.
pub trait Comparator: Send + Sync {
    /// Returns the numbers of the keys in their order; each number comes once. Equal keys stay in the order of the
    /// batch. Keys that are in order, or in the opposite order, cost one comparison each.
    fn sort(&self, keys: &KeyBatch) -> Result<Vec<u32>>;
    /// Starts a merge of `sources` sources, at least two.
    fn merge(&self, sources: usize) -> Result<Box<dyn KeyMerge>>;
}

/// A merge of sources of keys that are in order.
///
/// Call order: `put` for each source, then `next`; then `put` for the last source of the result, and again.
pub trait KeyMerge: Send {
    /// Gives the next keys of a source; none if the source has ended.
    fn put(&mut self, source: usize, keys: &KeyBatch) -> Result<()>;
    /// Returns the sources of the next keys in their order, up to the last key of a source that needs more; empty at
    /// the end.
    fn next(&mut self) -> Result<Vec<u32>>;
}

#[cfg(test)]
pub mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// A comparator from a function, for tests: `None` fails.
    pub struct Function(pub fn(&[u8], &[u8]) -> Option<Ordering>);

    fn key(keys: &KeyBatch, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { keys.ends[i - 1] as usize };
        &keys.bytes[start..keys.ends[i] as usize]
    }

    impl Function {
        /// Merge sort, because a sort of the standard library may panic if a function contradicts itself.
        fn sorted(&self, keys: &KeyBatch, range: std::ops::Range<u32>) -> Result<Vec<u32>> {
            if range.len() < 2 {
                return Ok(range.collect());
            }
            let middle = range.start + range.len() as u32 / 2;
            let mut left = self.sorted(keys, range.start..middle)?.into_iter().peekable();
            let mut right = self.sorted(keys, middle..range.end)?.into_iter().peekable();
            let mut merged = Vec::with_capacity(range.len());
            while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                let is_after = self.is_after(key(keys, *a as usize), key(keys, *b as usize))?;
                merged.extend(if is_after { right.next() } else { left.next() });
            }
            Ok(merged.into_iter().chain(left).chain(right).collect())
        }

        fn is_after(&self, a: &[u8], b: &[u8]) -> Result<bool> {
            let order = self.0(a, b);
            order.map(|o| o.is_gt()).ok_or_else(|| yunti_base::Error::new(yunti_base::Code::UserCode, "no order"))
        }
    }

    impl Comparator for Function {
        fn sort(&self, keys: &KeyBatch) -> Result<Vec<u32>> {
            self.sorted(keys, 0..keys.len() as u32)
        }

        fn merge(&self, sources: usize) -> Result<Box<dyn KeyMerge>> {
            Ok(Box::new(FunctionMerge { order: Function(self.0), windows: vec![(KeyBatch::default(), 0); sources] }))
        }
    }

    struct FunctionMerge {
        order: Function,
        windows: Vec<(KeyBatch, usize)>,
    }

    impl KeyMerge for FunctionMerge {
        fn put(&mut self, source: usize, keys: &KeyBatch) -> Result<()> {
            let (window, at) = &self.windows[source];
            assert!(*at == window.len(), "a window is replaced before its end");
            self.windows[source] = (keys.clone(), 0);
            Ok(())
        }

        fn next(&mut self) -> Result<Vec<u32>> {
            let mut sequence = Vec::new();
            loop {
                let mut least: Option<usize> = None;
                for (s, (window, at)) in self.windows.iter().enumerate().filter(|(_, (w, at))| *at < w.len()) {
                    let is_first = match least {
                        Some(l) => {
                            let (other, other_at) = &self.windows[l];
                            self.order.is_after(key(other, *other_at), key(window, *at))?
                        }
                        None => true,
                    };
                    least = if is_first { Some(s) } else { least };
                }
                let Some(least) = least else { return Ok(sequence) };
                sequence.push(least as u32);
                self.windows[least].1 += 1;
                if self.windows[least].1 == self.windows[least].0.len() {
                    return Ok(sequence);
                }
            }
        }
    }
}
