//! Row with the least or largest value of each frame.
//!
//! ```text
//!   candidates   rows of the frame that no later row is as good as: the first of them is the result
//! ```
//!
//! A row enters and leaves the candidates once, so that frames of any size cost the same.

use std::cmp::Ordering;
use std::collections::VecDeque;

use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Data;

use super::super::frames::Frames;
use crate::store::NO_ROW;
use crate::store::column::{Column, Values};
use crate::store::texts::Texts;

/// Returns the row of each frame; `NO_ROW` if none counts. `counts`: rows that count, if not all do.
pub fn rows(column: &Column, largest: bool, frames: &Frames, counts: Option<&[bool]>) -> Vec<u32> {
    macro_rules! by {
        ($compare:expr) => {
            if largest {
                find(frames, counts, |new, old| $compare(new as usize, old as usize) != Ordering::Less)
            } else {
                find(frames, counts, |new, old| $compare(new as usize, old as usize) != Ordering::Greater)
            }
        };
    }
    match &column.values {
        Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => by!(|a: usize, b: usize| v[a].cmp(&v[b])),
        Values::Fixed(Data::Floats(v)) => {
            let words: Vec<u64> = v.iter().map(|&v| ordered_float(v)).collect();
            by!(|a: usize, b: usize| words[a].cmp(&words[b]))
        }
        Values::Fixed(Data::Bools(v)) => by!(|a: usize, b: usize| v[a].cmp(&v[b])),
        Values::Fixed(Data::Decimals(v)) => by!(|a: usize, b: usize| v[a].cmp(&v[b])),
        Values::Fixed(_) => vec![NO_ROW; frames.first.len()],
        Values::Texts(texts) => match ranks(texts) {
            Some(ranks) => by!(|a: usize, b: usize| ranks[a].cmp(&ranks[b])),
            None => by!(|a: usize, b: usize| texts.get(a).cmp(texts.get(b))),
        },
    }
}

/// Returns the place of each text in the order of a dictionary, if that has fewer texts than there are rows.
fn ranks(texts: &Texts) -> Option<Vec<u32>> {
    let Texts::Coded { codes, values } = texts else { return None };
    if values.len() > codes.len() {
        return None;
    }
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| values.get(a as usize).cmp(values.get(b as usize)));
    let mut ranks = vec![0; order.len()];
    order.iter().enumerate().for_each(|(rank, &code)| ranks[code as usize] = rank as u32);
    Some(codes.iter().map(|&code| ranks[code as usize]).collect())
}

#[inline(always)]
fn find(frames: &Frames, counts: Option<&[bool]>, is_as_good: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut candidates: VecDeque<u32> = VecDeque::new();
    let mut all = Vec::with_capacity(frames.first.len());
    let mut behind = 0;
    for (&first, &end) in frames.first.iter().zip(&frames.end) {
        if first >= behind {
            candidates.clear();
            behind = first;
        }
        for row in behind..end {
            if counts.is_none_or(|counts| counts[row as usize]) {
                while candidates.back().is_some_and(|&old| is_as_good(row, old)) {
                    candidates.pop_back();
                }
                candidates.push_back(row);
            }
        }
        behind = behind.max(end);
        while candidates.front().is_some_and(|&row| row < first) {
            candidates.pop_front();
        }
        all.push(candidates.front().copied().unwrap_or(NO_ROW));
    }
    all
}
