//! Rows whose value a call takes: the first, last or nth row of the frame, or a row some rows away.

use yunti_sql_plan::WindowFunction;

use super::super::frames::Frames;
use super::super::segment::Segment;
use crate::store::NO_ROW;

/// Rows that have a value, if those without are passed over.
struct Valued {
    /// Their numbers.
    rows: Vec<u32>,
    /// Number of them before each row, and of all.
    before: Vec<u32>,
}

impl Valued {
    fn of(nulls: &[bool]) -> Valued {
        let (mut rows, mut before) = (Vec::new(), Vec::with_capacity(nulls.len() + 1));
        for (row, null) in nulls.iter().enumerate() {
            before.push(rows.len() as u32);
            if !null {
                rows.push(row as u32);
            }
        }
        before.push(rows.len() as u32);
        Valued { rows, before }
    }
}

/// Returns the row of each frame that a function takes; `NO_ROW` if it has none. `nulls`: rows that are passed over.
pub fn in_frames(function: WindowFunction, frames: &Frames, nulls: Option<&[bool]>) -> Vec<u32> {
    let valued = nulls.map(Valued::of);
    let mut all = vec![0; frames.first.len()];
    for ((to, &first), &end) in all.iter_mut().zip(&frames.first).zip(&frames.end) {
        let (first, end) = match &valued {
            Some(valued) => (valued.before[first as usize], valued.before[end as usize]),
            None => (first, end),
        };
        let place = match function {
            WindowFunction::LastValue => i64::from(end) - 1,
            WindowFunction::NthValue(0) => -1,
            WindowFunction::NthValue(n) if n < 0 => i64::from(end).saturating_add(n),
            WindowFunction::NthValue(n) => (i64::from(first) - 1).saturating_add(n),
            _ => first.into(),
        };
        let is_within = i64::from(first) <= place && place < i64::from(end);
        *to = match &valued {
            _ if !is_within => NO_ROW,
            Some(valued) => valued.rows[place as usize],
            None => place as u32,
        };
    }
    all
}

/// Returns the row that is `back` rows before each row of its partition, or ahead if it is below 0; `NO_ROW` if there
/// is none. `nulls`: rows that are passed over and do not count.
pub fn shifted(back: i64, segment: &Segment, nulls: Option<&[bool]>) -> Vec<u32> {
    let mut all = vec![NO_ROW; segment.rows];
    let valued = if back == 0 { None } else { nulls.map(Valued::of) };
    segment.each_partition(|first, end| match &valued {
        None => {
            let distance = back.unsigned_abs().min(u32::MAX.into()) as usize;
            let from = |row: usize| if back > 0 { row.checked_sub(distance) } else { Some(row + distance) };
            for row in first..end {
                if let Some(from) = from(row).filter(|from| (first..end).contains(from)) {
                    all[row] = from as u32;
                }
            }
        }
        Some(valued) => {
            let bounds = i64::from(valued.before[first])..i64::from(valued.before[end]);
            for row in first..end {
                let place = match back > 0 {
                    true => i64::from(valued.before[row]).saturating_sub(back),
                    false => (i64::from(valued.before[row + 1]) - 1).saturating_sub(back),
                };
                if bounds.contains(&place) {
                    all[row] = valued.rows[place as usize];
                }
            }
        }
    });
    all
}
