//! Groups of an input whose morsels have keys of their own: such as the lines of orders, in a table that is kept in the
//! order of orders.
//!
//! ```text
//!   morsel 1   keys 1 .. 700      table --> groups 2 .. 699 --> rows, at once
//!   morsel 2   keys 700 .. 1310   table --> groups 701 .. 1309 --> rows
//!                                       '-> groups 1, 700, 1310: shared partitions --> rows, at the end
//! ```
//!
//! The statistics of a file say where the keys of its units begin and end. A key between the ends is in no other unit,
//! so that its group is whole when the morsel ends. So there is no table of all groups, and a condition on a result
//! (`having`) sees groups while they are in the cache. Groups of the ends, and those of a morsel whose table does not
//! fit in memory, go the usual way.
//!
//! Rows come in another order than usual, so that this is only done below an operator that orders them anew.

use std::sync::{Arc, OnceLock};

use yunti_base::Result;
use yunti_sql_plan::{Batch, Expression, Join, JoinKind, MorselReader, Node, Operation};

use super::keys::Keys;
use super::output::{AllPartitions, batch_of};
use super::shared::Shared;
use super::table::Feed;
use super::worker::{Limits, Worker};
use crate::context::Context;
use crate::pipeline::{LocalStep, Next, Pipeline, Source, Step};

/// Keys that a morsel has, at least, on average, so that the groups of its ends are few among them.
const KEYS_MIN: i64 = if cfg!(test) { 1 } else { 256 };
/// A morsel's table. Memory of a worker for it: an eighth of its share of the budget.
const LIMITS: Limits = Limits { groups: if cfg!(test) { 12 } else { u32::MAX as usize }, bytes: 256 << 20, share: 8 };

/// A key whose values are apart in the morsels of a pipeline.
pub struct Cluster {
    /// Number of the key.
    pub key: usize,
    /// Range of each morsel.
    ranges: Vec<(i64, i64)>,
}

impl Cluster {
    /// Finds a key of an aggregate over `input`, which became a pipeline. `keys` are over the columns of `input`.
    pub fn of(keys: &[Expression], input: &Node, pipeline: &Pipeline, context: &Context) -> Result<Option<Cluster>> {
        let [branch] = &pipeline.branches[..] else { return Ok(None) };
        if !context.any_order {
            return Ok(None);
        }
        for (key, expression) in keys.iter().enumerate() {
            let Operation::Column(column) = expression.operation else { continue };
            let Some(column) = column_of_source(input, column) else { continue };
            let ranges: Option<Vec<(i64, i64)>> =
                (0..branch.source.morsels()?).map(|morsel| branch.source.own_range(morsel, column)).collect();
            if let Some(ranges) = ranges.filter(|ranges| !ranges.is_empty()) {
                let keys = ranges.iter().map(|(least, most)| most.saturating_sub(*least) / ranges.len() as i64);
                if keys.fold(0, i64::saturating_add) >= KEYS_MIN {
                    return Ok(Some(Cluster { key, ranges }));
                }
            }
        }
        Ok(None)
    }
}

/// Returns the column of the scan whose rows become those of the node one morsel at a time, if a column of the node is
/// one of it.
fn column_of_source(node: &Node, column: usize) -> Option<usize> {
    match node {
        Node::Scan(scan) => scan.limit.is_none().then_some(column),
        Node::Filter { input, .. } => column_of_source(input, column),
        Node::Project { input, expressions } => match expressions.get(column)?.operation {
            Operation::Column(column) => column_of_source(input, column),
            _ => None,
        },
        Node::Join(join) => column_of_probe(join, column),
        _ => None,
    }
}

/// Returns the same for a join, whose rows come in the morsels of the side that looks into the table.
fn column_of_probe(join: &Join, column: usize) -> Option<usize> {
    let left = join.left.types().len();
    let (is_left, column) = match join.kind {
        JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full if column >= left => (false, column - left),
        JoinKind::RightSemi | JoinKind::RightAnti => (false, column),
        _ => (true, column),
    };
    // The mark is no column of a side.
    let side = if is_left { &join.left } else { &join.right };
    (is_left != join.build_left && column < side.types().len()).then(|| column_of_source(side, column)).flatten()
}

/// Returns the rows of an aggregate whose key has a range in each morsel of the input. `at`: place of the key's word.
pub fn run(input: &Pipeline, shared: Shared, (cluster, at): (Cluster, usize)) -> Pipeline {
    let shared = Arc::new(shared);
    let mut pipeline = input.clone();
    let ranges = cluster.ranges.into();
    pipeline.push(Arc::new(Clustered { shared: shared.clone(), at, ranges }));
    pipeline.then(Arc::new(Rest { shared, partitions: OnceLock::new() }));
    pipeline
}

struct Clustered {
    shared: Arc<Shared>,
    /// Place of the key's word.
    at: usize,
    ranges: Arc<[(i64, i64)]>,
}

impl Step for Clustered {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        let worker = Worker::new(self.shared.clone(), LIMITS)?;
        Ok(Box::new(LocalClustered { worker, at: self.at, ranges: self.ranges.clone() }))
    }
}

struct LocalClustered {
    worker: Worker<Arc<Shared>>,
    at: usize,
    ranges: Arc<[(i64, i64)]>,
}

impl LocalStep for LocalClustered {
    fn push(&mut self, batch: Batch, _next: Next<'_>) -> Result<()> {
        self.worker.push_rows(batch)
    }

    fn flush(&mut self, morsel: usize, next: Next<'_>) -> Result<()> {
        let range = self.ranges.get(morsel).copied();
        let shared = self.worker.shared.clone();
        self.worker.end_of_morsel(|table| {
            let (words, width) = (table.groups.words(), table.keys().layout().width);
            let is_whole = |group: &u32| {
                let key = words[*group as usize * width + self.at] as i64;
                range.is_some_and(|(least, most)| least < key && key < most)
            };
            let (whole, ends): (Vec<u32>, Vec<u32>) = (0..table.groups.len() as u32).partition(is_whole);
            shared.partitions.add(&[(table, &ends)])?;
            let mut rest = &whole[..];
            while let Some(batch) = batch_of(&shared.partitions.plan, table, rest)? {
                rest = &rest[batch.rows..];
                next(batch)?;
            }
            Ok(())
        })
    }
}

/// Groups that more than one morsel may have.
struct Rest {
    shared: Arc<Shared>,
    partitions: OnceLock<AllPartitions>,
}

impl Source for Rest {
    fn morsels(&self) -> Result<usize> {
        self.partitions.get_or_init(|| AllPartitions::new(self.shared.partitions.clone())).morsels()
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        self.partitions.get_or_init(|| AllPartitions::new(self.shared.partitions.clone())).open(morsel)
    }
}
