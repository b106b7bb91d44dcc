//! Frame of each row: the first of its rows and the end of them. Both only move forward within a partition.

use yunti_base::Result;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Frame, FrameEnd, FrameUnit, Offset};

use super::ranges::{Key, edges};
use super::segment::Segment;

/// Frames of the rows of a segment.
pub struct Frames {
    pub first: Vec<u32>,
    /// Not before `first`; equal if there is no row.
    pub end: Vec<u32>,
}

impl Frames {
    /// Returns the frames; `key` is needed for ranges with an offset.
    pub fn of(frame: &Frame, segment: &Segment, key: Option<&Key>) -> Result<Frames> {
        let first = side(frame.unit, &frame.start, false, segment, key)?;
        let mut end = side(frame.unit, &frame.end, true, segment, key)?;
        end.iter_mut().zip(&first).for_each(|(end, first)| *end = (*end).max(*first));
        Ok(Frames { first, end })
    }
}

/// Returns the first row of each frame, or its end.
fn side(unit: FrameUnit, of: &FrameEnd, is_end: bool, segment: &Segment, key: Option<&Key>) -> Result<Vec<u32>> {
    let mut rows = vec![0u32; segment.rows];
    // Steps from the current row: 0 for itself.
    let (is_ahead, offset) = match of {
        FrameEnd::UnboundedPreceding => {
            segment.each_partition(|first, end| rows[first..end].fill(first as u32));
            return Ok(rows);
        }
        FrameEnd::UnboundedFollowing => {
            segment.each_partition(|first, end| rows[first..end].fill(end as u32));
            return Ok(rows);
        }
        FrameEnd::CurrentRow => (true, None),
        FrameEnd::Preceding(offset) => (false, Some(offset)),
        FrameEnd::Following(offset) => (true, Some(offset)),
    };
    if let (FrameUnit::Range, Some(offset)) = (unit, offset) {
        edges(key, offset, is_ahead, is_end, segment, &mut rows)?;
        return Ok(rows);
    }
    let steps = match offset {
        Some(Offset::Value(Value::Int(steps))) => *steps,
        _ => 0,
    };
    let steps = if is_ahead { steps } else { -steps }.saturating_add(is_end.into());
    match unit {
        FrameUnit::Rows => segment.each_partition(|first, end| {
            for (row, to) in rows[first..end].iter_mut().enumerate() {
                *to = (first as i64 + row as i64).saturating_add(steps).clamp(first as i64, end as i64) as u32;
            }
        }),
        FrameUnit::Range | FrameUnit::Groups => segment.each_with_peers(|_, _, peers| {
            let groups = peers.len() - 1;
            for group in 0..groups {
                let to = (group as i64).saturating_add(steps).clamp(0, groups as i64);
                rows[peers[group] as usize..peers[group + 1] as usize].fill(peers[to as usize]);
            }
        }),
    }
    Ok(rows)
}
