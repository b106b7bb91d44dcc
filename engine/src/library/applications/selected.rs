//! Records that a mapper passes, in the form of a job without a mapper.

use crate::operator::cursor::StopStatus;
use crate::operator::{Batch, Out};

/// Emits record `i` of a batch. A line becomes the key.
pub fn pass_on(batch: &Batch<'_>, i: usize, out: &mut Out) -> Result<(), StopStatus> {
    let (key, value) = batch.record(i);
    match batch.keys() {
        Some(_) => out.emit(key, value),
        None => out.emit(value, &[]),
    }
}
