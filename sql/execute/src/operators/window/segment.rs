//! Rows of whole partitions, in order, as a window's calls take them.
//!
//! ```text
//!   rows         a a a a b c c c c        partitions  0 4 5 9
//!   order key    1 1 2 3 1 1 1 2 2        peers       0 2 3 4 5 7 9
//! ```

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::Batch;

use super::changes;
use crate::store::column::Column;

/// A batch of sorted rows.
pub struct Part {
    pub batch: Batch,
    /// Values of the calls' arguments.
    pub arguments: Vec<Arc<Vector>>,
    /// Rows that begin a partition, and rows that begin a group of peers.
    pub partitions: Vec<u32>,
    pub peers: Vec<u32>,
    /// Bytes that it takes, with its results.
    pub bytes: u64,
}

/// Last row of a part, with which the next one's first row is compared.
pub struct LastRow {
    columns: Vec<Arc<Vector>>,
    row: usize,
}

impl Part {
    /// Returns a batch with the rows that begin partitions and peers, by the columns of both keys.
    pub fn new(
        batch: Batch,
        arguments: Vec<Arc<Vector>>,
        (partition, order): (&[usize], &[usize]),
        before: Option<&LastRow>,
    ) -> (Part, LastRow) {
        let mut marks = vec![false; batch.rows];
        let begins = |places: &[usize], columns: &mut dyn Iterator<Item = usize>| match before {
            None => true,
            Some(last) => {
                let mut pairs = places.iter().zip(columns);
                pairs.any(|(&place, n)| !changes::are_same((&last.columns[n], last.row), (&batch.columns[place], 0)))
            }
        };
        partition.iter().for_each(|&place| changes::mark(&batch.columns[place], &mut marks));
        marks[0] = begins(partition, &mut (0..));
        let partitions = set(&marks);
        order.iter().for_each(|&place| changes::mark(&batch.columns[place], &mut marks));
        marks[0] |= begins(order, &mut (partition.len()..));
        let peers = set(&marks);
        let columns = partition.iter().chain(order).map(|&place| batch.columns[place].clone()).collect();
        let last = LastRow { columns, row: batch.rows - 1 };
        (Part { batch, arguments, partitions, peers, bytes: 0 }, last)
    }

    /// Returns the rows before `row`, and the others. Both have some.
    pub fn split(self, row: u32) -> (Part, Part) {
        let rows = self.batch.rows as u32;
        let (head, tail): (Vec<u32>, Vec<u32>) = ((0..row).collect(), (row..rows).collect());
        let part = |rows: &[u32], first: u32| {
            let within = |all: &[u32]| {
                let end = first + rows.len() as u32;
                all.iter().filter(|&&at| first <= at && at < end).map(|&at| at - first).collect()
            };
            Part {
                batch: self.batch.select(rows),
                arguments: self.arguments.iter().map(|of| Arc::new(of.select(rows))).collect(),
                partitions: within(&self.partitions),
                peers: within(&self.peers),
                bytes: (u128::from(self.bytes) * rows.len() as u128 / self.batch.rows as u128) as u64,
            }
        };
        (part(&head, 0), part(&tail, row))
    }
}

fn set(marks: &[bool]) -> Vec<u32> {
    marks.iter().enumerate().filter(|(_, mark)| **mark).map(|(row, _)| row as u32).collect()
}

/// Rows of whole partitions.
pub struct Segment {
    pub rows: usize,
    /// First row of each partition, and the end.
    pub partitions: Vec<u32>,
    /// First row of each group of peers, and the end.
    pub peers: Vec<u32>,
    /// Values of the calls' arguments.
    pub arguments: Vec<Column>,
}

impl Segment {
    /// Returns the rows of parts, whose first row begins a partition. Errors: `Internal` for arguments of other shapes.
    pub fn of(parts: &[Part], kinds: &[Kind]) -> Result<Segment> {
        let rows = parts.iter().map(|part| part.batch.rows).sum::<usize>();
        let all = |of: &dyn Fn(&Part) -> Vec<u32>| {
            let mut all = Vec::new();
            let mut first = 0;
            for part in parts {
                all.extend(of(part).into_iter().map(|at| at + first));
                first += part.batch.rows as u32;
            }
            // Rows of a partition that an earlier segment began are like a new one's.
            if all.first() != Some(&0) {
                all.insert(0, 0);
            }
            all.push(first);
            all
        };
        let (partitions, peers) = (all(&|part| part.partitions.clone()), all(&|part| part.peers.clone()));
        let column = |(n, kind): (usize, &Kind)| {
            Column::of(parts.iter().map(|part| part.arguments[n].clone()).collect(), *kind, (rows, 1))
        };
        let arguments = kinds.iter().enumerate().map(column).collect::<Result<_>>()?;
        Ok(Segment { rows, partitions, peers, arguments })
    }

    /// Calls `f` with the first row and the end of each partition.
    #[inline(always)]
    pub fn each_partition(&self, mut f: impl FnMut(usize, usize)) {
        self.partitions.windows(2).for_each(|pair| f(pair[0] as usize, pair[1] as usize));
    }

    /// Calls `f` with the bounds of each partition, and its groups of peers: the first row of each, and the end.
    #[inline(always)]
    pub fn each_with_peers(&self, mut f: impl FnMut(usize, usize, &[u32])) {
        let mut at = 0;
        self.each_partition(|first, end| {
            let mut last = at;
            while self.peers[last] < end as u32 {
                last += 1;
            }
            f(first, end, &self.peers[at..=last]);
            at = last;
        });
    }
}
