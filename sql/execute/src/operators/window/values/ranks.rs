//! Numbers of rows within their partition.

use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};

use super::super::segment::Segment;

/// Returns whole numbers in the shape of a type.
pub fn integers(values: Vec<i64>, kind: Kind) -> Vector {
    Vector::of(match kind {
        Kind::Decimal { .. } => Data::SmallDecimals(values),
        _ => Data::Ints(values),
    })
}

/// Returns the number of each row, from 1.
pub fn row_numbers(segment: &Segment) -> Vec<i64> {
    let mut all = vec![0; segment.rows];
    segment.each_partition(|first, end| {
        all[first..end].iter_mut().enumerate().for_each(|(n, to)| *to = n as i64 + 1);
    });
    all
}

/// Returns the number of the first peer of each row.
pub fn ranks(segment: &Segment) -> Vec<i64> {
    let mut all = vec![0; segment.rows];
    segment.each_with_peers(|first, _, peers| {
        each_group(peers, |_, from, to| all[from..to].fill((from - first) as i64 + 1));
    });
    all
}

/// Returns the number of each row's group of peers.
pub fn dense_ranks(segment: &Segment) -> Vec<i64> {
    let mut all = vec![0; segment.rows];
    segment.each_with_peers(|_, _, peers| {
        each_group(peers, |group, from, to| all[from..to].fill(group as i64 + 1));
    });
    all
}

/// Returns the share of the other rows that are before each row's peers.
pub fn percent_ranks(segment: &Segment) -> Vec<f64> {
    let mut all = vec![0.0; segment.rows];
    segment.each_with_peers(|first, end, peers| {
        let others = (end - first - 1).max(1) as f64;
        each_group(peers, |_, from, to| all[from..to].fill((from - first) as f64 / others));
    });
    all
}

/// Returns the share of the rows that are not behind each row's peers.
pub fn cumulative(segment: &Segment) -> Vec<f64> {
    let mut all = vec![0.0; segment.rows];
    segment.each_with_peers(|first, end, peers| {
        let rows = (end - first) as f64;
        each_group(peers, |_, from, to| all[from..to].fill((to - first) as f64 / rows));
    });
    all
}

/// Returns the part of each row, where a partition is cut into parts of the same size; the first ones have a row more.
pub fn parts(segment: &Segment, parts: u64) -> Vec<i64> {
    let mut all = vec![0; segment.rows];
    segment.each_partition(|first, end| {
        let rows = (end - first) as u64;
        let (each, more) = (rows / parts, rows % parts);
        let mut rest = &mut all[first..end];
        let mut part = 0;
        while !rest.is_empty() {
            let len = (each + u64::from(part < more)).min(rest.len() as u64) as usize;
            part += 1;
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(len);
            own.fill(part as i64);
            rest = behind;
        }
    });
    all
}

/// Returns the end of the peers of each row.
pub fn peer_ends(segment: &Segment) -> Vec<i64> {
    let mut all = vec![0; segment.rows];
    segment.each_with_peers(|first, _, peers| {
        each_group(peers, |_, from, to| all[from..to].fill((to - first) as i64));
    });
    all
}

/// Returns the part of a row, counted from 0, of a partition of `rows` rows.
pub fn part_of(row: u64, rows: u64, parts: u64) -> i64 {
    let (each, more) = (rows / parts, rows % parts);
    let large = more * (each + 1);
    (if row < large { row / (each + 1) } else { more + (row - large) / each.max(1) }) as i64 + 1
}

/// Calls `f` with the number of each group of peers, its first row and its end.
#[inline(always)]
fn each_group(peers: &[u32], mut f: impl FnMut(usize, usize, usize)) {
    peers.windows(2).enumerate().for_each(|(group, pair)| f(group, pair[0] as usize, pair[1] as usize));
}
